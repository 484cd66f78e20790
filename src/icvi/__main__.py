"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

import warnings

from icvi.cli import signals
from icvi.errors import CacheWarning

_python_format = warnings.formatwarning


def run() -> None:
    """Run the command and exit."""
    signals.begin()
    warnings.formatwarning = _formatted
    try:
        from icvi.cli.main import main

        main(prog_name="icvi")
    finally:
        signals.finish()


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
