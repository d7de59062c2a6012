"""The wire formats that the strict server speaks, one file each: what a request must be, what an
answer looks like whole and in pieces, and how an error is told."""
