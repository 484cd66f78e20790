"""The page of a stream: remembers what it needs on the way, and is written at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from icvi.files import remove_unfinished, replacing
from icvi.optional import check, needed
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.report.about import About
from icvi.watching.report.glimpse import Glimpse
from icvi.watching.report.seen import Seen
from icvi.watching.step import Kept, Output, Step

_EXTRA = ("report", "a report")


class Report(Output):
    """One page for a browser with everything in it; no other file, no network.

    Parameters
    ----------
    path : str or path-like
        The page.
    tracker : Tracker
        The tracker of the stream.
    history : History, optional
        One that is fed and kept by somebody else; its own by default.
    glimpse : Glimpse, optional
        The same.
    about : About, optional
        What is watched. May be filled in until `finish`.
    overwrite : bool
        Whether a page that is there may be replaced.

    Attributes
    ----------
    note : str or None
        Why the stream was left before its end, for the reader: "stopped with Ctrl-C".
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        tracker: Tracker,
        *,
        history: History | None = None,
        glimpse: Glimpse | None = None,
        about: About | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self.tracker, self.about, self.overwrite = tracker, about or About(), overwrite
        names = [index.name for index in tracker.indices]
        self._own: dict[str, Output] = {}
        # Not `or`: those that are empty so far are false.
        self.history = self._make("history", History(names)) if history is None else history
        self.glimpse = self._make("glimpse", Glimpse()) if glimpse is None else glimpse
        self.note: str | None = None
        self._continued = False

    def check_new(self) -> None:
        """Refuse now what would be refused at the end of a long stream.

        Raises
        ------
        FileExistsError, FileNotFoundError, ImportError
            Where a page is there already that is not of this run, where there is no folder for
            it, or where bokeh or jinja2 is not installed.
        """
        check("bokeh", *_EXTRA)
        check("jinja2", *_EXTRA)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"{self.path}: there is no folder {self.path.parent}; make it first"
            )
        if self.path.exists() and not (self.overwrite or self._continued):
            raise FileExistsError(
                f"{self.path} exists already; give another name, or overwrite=True (--overwrite)"
            )

    def begin(self, again: bool = False) -> None:
        """Refuse what `check_new` refuses, unless a run that was killed had begun it."""
        if not again:
            self.check_new()
        remove_unfinished(self.path)

    def take(self, step: Step) -> None:
        """Take the next step."""
        self.tracker = step.tracker
        for part in self._own.values():
            part.take(step)

    def keep(self) -> Kept:
        """What has been remembered."""
        facts: dict[str, Any] = {"path": os.path.abspath(self.path)}
        arrays: dict[str, NDArray[Any]] = {}
        for name, part in self._own.items():
            facts[name], kept = part.keep()
            arrays |= {f"{name}.{key}": array for key, array in kept.items()}
        return facts, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Remember what was kept; a page of the same name is ours, and may be replaced."""
        self._continued = facts["path"] == os.path.abspath(self.path)
        self.check_new()
        for name, part in self._own.items():
            kept = {
                key.removeprefix(f"{name}."): array
                for key, array in arrays.items()
                if key.startswith(f"{name}.")
            }
            part.resume(facts[name], kept)
        remove_unfinished(self.path)

    def finish(self) -> None:
        """Write the page: what was there before stays until the new one is complete."""
        with needed("bokeh", *_EXTRA), needed("jinja2", *_EXTRA):
            from icvi.watching.report.page import render
        page = render(Seen(self.history, self.glimpse, self.tracker, self.about, self.note))
        try:
            with replacing(self.path) as file:
                file.write(page.encode("utf-8"))
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.path)) from error

    def _make(self, name: str, part: Any) -> Any:
        self._own[name] = part
        return part
