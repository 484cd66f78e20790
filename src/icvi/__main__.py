"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

import signal
import sys

from icvi.exit_codes import INTERRUPTED


def run() -> None:
    """Run the command and end; Ctrl-C while it is loaded ends it without a traceback."""
    try:
        from icvi.cli import main

        main(prog_name="icvi")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        # What is left is what Python does when it exits, which takes no interruption well.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    run()
