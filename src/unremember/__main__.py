"""`python -m unremember`: the command line."""

from unremember.cli import main

if __name__ == "__main__":
    main()
