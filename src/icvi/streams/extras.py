"""Optional packages, imported when they are used; a missing one says how to install it."""

from __future__ import annotations

import importlib
from typing import Any


def load(module: str, extra: str) -> Any:
    """A module of an optional package."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise ImportError(
            f"this needs {package}; install it with: pip install 'icvi[{extra}]'",
            name=package,
        ) from error
