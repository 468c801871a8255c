"""Runs the command line, for ``python -m sondage``."""

import sys

from sondage.cli import main

if __name__ == "__main__":
    sys.exit(main())
