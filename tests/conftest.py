"""What holds for all tests."""

from hypothesis import settings

# Machines here and in CI are shared and slow at times: how long one example takes says nothing.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
