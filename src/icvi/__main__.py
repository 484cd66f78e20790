"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

import warnings
from typing import Any

from icvi import interrupting
from icvi.errors import CacheWarning


def run() -> None:
    """Run the command, and end."""
    interrupting.begin()
    warnings.formatwarning = _formatted
    try:
        from icvi.cli import main

        main(prog_name="icvi")
    finally:
        interrupting.finish()


def _formatted(
    message: Any, category: type[Warning], *where: Any, _format: Any = warnings.formatwarning
) -> str:
    """Warn in one line where the cause is not in the code, but in how the command is run."""
    if issubclass(category, CacheWarning):
        return f"Warning: {message}\n"
    return str(_format(message, category, *where))


if __name__ == "__main__":
    run()
