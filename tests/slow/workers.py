"""How many processes a study may use: one where pytest runs the tests side by side, else one per core."""

import os

WORKERS = 1 if "PYTEST_XDIST_WORKER" in os.environ else None
