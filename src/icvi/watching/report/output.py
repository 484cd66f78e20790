"""The page of a stream: records what it needs on the way, and is written at the end or before."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from icvi.files import remove_unfinished, replacing
from icvi.optional import check, needed
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.report.page_data import PageData, RunInfo
from icvi.watching.report.reservoir import Reservoir
from icvi.watching.step import Kept, Output, Step
from icvi.wording import short

_EXTRA = ("report", "a report")
_ENDINGS = (".html", ".htm")
_SHARE = 0.05  # of the time that writing the page again may take


class Report(Output):
    """One page for a browser with everything in it; no other file, no network.

    Parameters
    ----------
    path : str or path-like
        The page.
    tracker : Tracker
        The tracker of the stream.
    history : History, optional
        A history that the caller updates and saves; the report has its own by default.
    run : RunInfo, optional
        Facts about the run. The caller may complete them until `finish`.
    overwrite : bool
        Whether to replace a page that exists.
    every : float, optional
        Seconds after which `refresh` writes the page again; more where writing takes longer than a
        twentieth of them.

    Attributes
    ----------
    note : str or None
        Why the run ended before the stream did, for the reader: "stopped with Ctrl-C".
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        tracker: Tracker,
        *,
        history: History | None = None,
        run: RunInfo | None = None,
        overwrite: bool = False,
        every: float | None = None,
    ) -> None:
        self.path, self.every = Path(path), every
        self._next = time.monotonic() + (every or 0.0)
        self.tracker, self.run, self.overwrite = tracker, run or RunInfo(), overwrite
        self.history = History([index.name for index in tracker.indices])
        self.reservoir = Reservoir()
        # Keys of checkpoints, which older versions wrote, too.
        self._recorders: dict[str, Output] = {"history": self.history, "glimpse": self.reservoir}
        if history is not None:
            self.history = history
            del self._recorders["history"]
        self.note: str | None = None
        self._resumed = False

    def check_new(self) -> None:
        """Fail now instead of at the end of a long stream; see `check_page`."""
        check_page(self.path, overwrite=self.overwrite or self._resumed)

    def begin(self, again: bool = False) -> None:
        """Check the path, unless a run that was killed had begun the page."""
        if not again:
            self.check_new()
        remove_unfinished(self.path)

    def take(self, step: Step) -> None:
        """Process the next step."""
        self.tracker = step.tracker
        for recorder in self._recorders.values():
            recorder.take(step)

    def keep(self) -> Kept:
        """The state, for a checkpoint."""
        facts: dict[str, Any] = {"path": os.path.abspath(self.path)}
        arrays: dict[str, NDArray[Any]] = {}
        for name, recorder in self._recorders.items():
            facts[name], kept = recorder.keep()
            arrays |= {f"{name}.{key}": array for key, array in kept.items()}
        return facts, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from a checkpoint; a page of the same name may then be replaced."""
        self._resumed = facts["path"] == os.path.abspath(self.path)
        self.check_new()
        for name, recorder in self._recorders.items():
            kept = {
                key.removeprefix(f"{name}."): array
                for key, array in arrays.items()
                if key.startswith(f"{name}.")
            }
            recorder.resume(facts[name], kept)
        remove_unfinished(self.path)

    def refresh(self) -> None:
        """Write the page of the stream as it is now, if it is time to."""
        if self.every is None or time.monotonic() < self._next:
            return
        start = time.monotonic()
        write_page(self.path, self._data(running=True))
        end = time.monotonic()
        self._next = end + max(self.every, (end - start) / _SHARE)

    def finish(self) -> None:
        """Write the page; an existing one stays until the new one is complete."""
        write_page(self.path, self._data())

    def _data(self, running: bool = False) -> PageData:
        recorded = self.history, self.reservoir, self.tracker, self.run
        return PageData(*recorded, self.note, running=running)


def check_page(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse a page that could not be written.

    Raises
    ------
    ValueError
        If the name ends in something else than ``.html``.
    FileExistsError
        If there is a page already that is not of this run.
    FileNotFoundError
        If there is no folder for the page.
    ImportError
        If bokeh or jinja2 is not installed.
    """
    check("bokeh", *_EXTRA)
    check("jinja2", *_EXTRA)
    path = Path(path)
    if path.suffix.lower() not in _ENDINGS:
        raise ValueError(f"expected a report that ends in .html, got {short(str(path))}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} does not exist; create it first")
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already; give another name, or overwrite=True (--overwrite)"
        )


def write_page(path: Path, data: PageData) -> None:
    """Write a page; an existing one stays until the new one is complete."""
    with needed("bokeh", *_EXTRA), needed("jinja2", *_EXTRA):
        from icvi.watching.report.page import render
    page = render(data)
    try:
        with replacing(path) as file:
            file.write(page.encode("utf-8"))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
