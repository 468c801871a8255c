"""The program ``sondage``, which ``python -m sondage`` is, too."""

import signal
import sys

__all__ = ["program"]


def program() -> None:
    """Run the command line as a process, and leave with its exit code."""
    try:
        from sondage.cli import main

        code = main()
    except KeyboardInterrupt:  # before there was anything to interrupt
        print("sondage: interrupted", file=sys.stderr)
        code = 128 + signal.SIGINT
    if hasattr(signal, "pthread_sigmask"):  # or Python, which remembers Ctrl-C, would end by the signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    sys.exit(code)


if __name__ == "__main__":
    program()
