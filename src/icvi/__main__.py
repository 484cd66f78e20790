"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from typing import NoReturn

from icvi.cli import signals
from icvi.errors import CacheWarning

_python_format = warnings.formatwarning


def run() -> None:
    """Run the command and exit."""
    signals.begin()
    warnings.formatwarning = _formatted
    code: object = 0
    try:
        from icvi.cli.main import main

        main(prog_name="icvi")
    except SystemExit as ended:
        code = ended.code
    finally:
        signals.finish()
    if not isinstance(code, int):
        sys.exit(code)  # type: ignore[arg-type]
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit, and leave memory to the system: Python takes half a second to free all that is loaded.

    Someone who types Ctrl-C waits for it.
    """
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no public way to run them
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                sys.exit(code)  # Python reports what could not be written
    os._exit(code)


def _formatted(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Print warnings about the environment, not the code, in one line."""
    if issubclass(category, CacheWarning):
        return f"Warning: {message}\n"
    return _python_format(message, category, filename, lineno, line)


if __name__ == "__main__":
    run()
