"""Settings of all tests."""

from hypothesis import settings

# How long an example takes says more of the machine than of the code; and every run tries the same ones.
settings.register_profile("sondage", deadline=None, derandomize=True)
settings.load_profile("sondage")
