"""The page of a comparison: written when the stream ends, or is stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icvi.files import remove_unfinished, replacing
from icvi.optional import needed
from icvi.watching.report.output import check_page
from icvi.watching.step import Kept, Output, Step

if TYPE_CHECKING:
    from icvi.comparing.result import Result

_EXTRA = ("report", "a report")


class ComparisonPage(Output):
    """One page for a browser with everything in it; no other file, no network.

    Parameters
    ----------
    path : str or path-like
        The page.
    overwrite : bool
        Whether to replace a page that exists.

    Attributes
    ----------
    result : callable
        Returns what was found.
    note : str or None
        Why the run ended before the stream did.
    """

    result: Callable[[], Result]

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.path, self._overwrite = Path(path), overwrite
        self.note: str | None = None

    def check_new(self) -> None:
        """Fail now instead of at the end of a long stream."""
        check_page(self.path, overwrite=self._overwrite)

    def begin(self, again: bool = False) -> None:
        """Check the path, unless a run that was killed had begun the page."""
        if not again:
            self.check_new()
        remove_unfinished(self.path)

    def take(self, step: Step) -> None:
        """Nothing to do: the standings have all readings."""

    def keep(self) -> Kept:
        """The path, for a checkpoint."""
        return {"path": os.path.abspath(self.path)}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """A page of the same name may be replaced after a checkpoint."""
        del arrays
        self._overwrite = self._overwrite or facts["path"] == os.path.abspath(self.path)
        self.begin()

    def finish(self) -> None:
        """Write the page; an existing one stays until the new one is complete."""
        _write(self.path, self.result(), self.note)


def write_comparison(
    path: str | os.PathLike[str], comparison: Result, *, overwrite: bool, note: str | None
) -> None:
    """Write the page of a comparison."""
    check_page(path, overwrite=overwrite)
    _write(Path(path), comparison, note)


def _write(path: Path, comparison: Result, note: str | None) -> None:
    with needed("bokeh", *_EXTRA), needed("jinja2", *_EXTRA):
        from icvi.comparing.report.page import render
    page = render(comparison, note)
    try:
        with replacing(path) as file:
            file.write(page.encode("utf-8"))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
