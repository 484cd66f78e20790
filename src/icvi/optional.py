"""Optional packages, imported on first use; the error for a missing one says what to install."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_TITLES = {"sklearn": "scikit-learn"}


@contextmanager
def needed(package: str, extra: str, by: str = "this") -> Iterator[None]:
    """Name the extra when an import inside fails because a package is missing or too old.

    Parameters
    ----------
    package : str
        Top-level name of the package that is imported inside.
    extra : str
        The extra of icvi that installs it.
    by : str
        What needs it: the subject of the error message.

    Examples
    --------
    >>> with needed("scifi", "plot", by="Trace.plot"):
    ...     import scifi.axes
    Traceback (most recent call last):
        ...
    ImportError: Trace.plot needs scifi; install it with: pip install 'icvi[plot]'
    """
    try:
        yield
    except ImportError as error:
        # A package that is installed, but lacks a dependency, has its own error message.
        if (error.name or "").partition(".")[0] != package:
            raise
        raise _missing(package, extra, by, sys.modules.get(package)) from error


def load(module: str, extra: str, by: str = "this") -> Any:
    """Import a module of an optional package."""
    with needed(module.partition(".")[0], extra, by):
        return importlib.import_module(module)


def check(package: str, extra: str, by: str = "this") -> None:
    """Raise now if a package will be missing later; imports nothing."""
    if importlib.util.find_spec(package) is None:
        raise _missing(package, extra, by)


def _missing(package: str, extra: str, by: str, found: Any = None) -> ImportError:
    title = _TITLES.get(package, package)
    version = getattr(found, "__version__", None)
    what = title if version is None else f"a newer {title} than {version}"
    return ImportError(
        f"{by} needs {what}; install it with: pip install 'icvi[{extra}]'", name=package
    )
