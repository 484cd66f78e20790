"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

import warnings

from icvi.cli import signals as interrupting
from icvi.errors import CacheWarning

_usually = warnings.formatwarning


def run() -> None:
    """Run the command, and end."""
    interrupting.begin()
    warnings.formatwarning = _formatted
    try:
        from icvi.cli.main import main

        main(prog_name="icvi")
    finally:
        interrupting.finish()


def _formatted(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Warn in one line where the cause is not in the code, but in how the command is run."""
    if issubclass(category, CacheWarning):
        return f"Warning: {message}\n"
    return _usually(message, category, filename, lineno, line)


if __name__ == "__main__":
    run()
