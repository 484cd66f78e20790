"""What trace files of all formats have in common."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from icvi.watching.step import Output, Step
from icvi.watching.trace_files.trace_rows import TraceRows, rows_of
from icvi.wording import short

#: What times samples have; True for those of the first step.
TimeKind = Literal["datetime", "seconds", True] | None

_OR_STANDARD_OUTPUT = ", or '-' for standard output"
_OWN_COLUMNS = ("sample", "time", "label", "k")


class TraceFile(Output):
    """Every reading of a stream in a file. See `icvi.watching.trace_files.open_trace`.

    A file is started with `begin` or `resume`, takes steps, and is completed by `finish`. After an
    error of the system, such as a full disk, the file holds the readings of all steps before, and
    can be resumed.

    Parameters
    ----------
    path : str
        The file.
    names : sequence of str
        The indices.
    time : {None, "datetime", "seconds", True}
        What times the samples have.
    overwrite : bool
        Whether `begin` may replace an existing file.
    compared : bool
        Whether steps have readings of several candidates.
    """

    #: The format of the file.
    format: str

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        time: TimeKind,
        overwrite: bool,
        compared: bool = False,
    ) -> None:
        self.path, self.names, self.compared = path, tuple(names), compared
        self._overwrite = overwrite
        self._time: TimeKind = time or None
        _check_names(self.names, (*_OWN_COLUMNS, "candidate") if compared else _OWN_COLUMNS)
        if time not in (None, False, True, "datetime", "seconds"):
            raise ValueError(
                f"expected time None, 'datetime', 'seconds' or True, got {short(time)}"
            )
        if path != "-" and not is_folder(path):
            check_path(path)

    @property
    def rows(self) -> int:
        """How many readings were taken."""
        raise NotImplementedError

    @property
    def rows_in_file(self) -> int:
        """How many readings the file holds by now."""
        return self.rows

    def check_new(self) -> None:
        """Refuse to overwrite an existing file, as `begin` would."""
        raise NotImplementedError

    def begin(self, again: bool = False) -> None:
        """Create the file; nothing else does. With `again`, an existing file is overwritten."""
        raise NotImplementedError

    # -- inside ----------------------------------------------------------------------------

    @property
    def _may_replace(self) -> bool:
        """Whether an existing file may be replaced: on request, or because it has no readings."""
        return self._overwrite or (os.path.isfile(self.path) and self._is_empty_trace())

    def _is_empty_trace(self) -> bool:
        """Whether the existing file is a trace without a single reading."""
        raise NotImplementedError

    @property
    def _columns(self) -> list[str]:
        time = [] if self._time is None else ["time"]
        candidate = ["candidate"] if self.compared else []
        return ["sample", *time, *candidate, "label", "k", *self.names]

    def _rows_of(self, step: Step) -> TraceRows:
        """The readings of a step, with times of the kind that the steps before had."""
        rows = rows_of(step, self.names)
        kind: TimeKind = None
        if rows.time is not None:
            kind = "datetime" if rows.time.dtype.kind == "M" else "seconds"
        if self._time is True and kind is not None:
            self._time = kind
        if kind != self._time:
            raise ValueError(
                f"{self.path}: expected steps with {_in_words(self._time)}, got {_in_words(kind)}"
            )
        return rows

    def _facts(self) -> dict[str, Any]:
        facts = {"format": self.format, "names": list(self.names), "time": self._time}
        return {**facts, "compared": True} if self.compared else facts

    def _check_facts(self, facts: Mapping[str, Any]) -> None:
        """Refuse to resume a file of another format, or with other columns."""
        time = facts["time"]
        if None not in (self._time, time) and True in (self._time, time):
            self._time = time = time if self._time is True else self._time
        for now, before in (
            (f"format {self.format}", f"format {facts['format']}"),
            (_listed(self.names), _listed(facts["names"])),
            (_in_words(self._time), _in_words(time)),
        ):
            if now != before:
                raise ValueError(
                    f"{self.path} was started with {before} and cannot be resumed with {now}; give "
                    "the same, or start from scratch with overwrite=True"
                )


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a trace is to be a folder of parts: its path ends with a slash, or is such a folder.

    >>> is_folder("runs/"), is_folder("run.parquet")
    (True, False)
    """
    text = os.fspath(path)
    # A folder that is called like a file is probably a mistake.
    named = bool(os.path.splitext(text)[1])
    return text.endswith(("/", os.sep)) or (os.path.isdir(text) and not named)


def _listed(names: Sequence[str]) -> str:
    return f"the indices {', '.join(names)}"


def _in_words(time: TimeKind) -> str:
    if time is None:
        return "no times"
    return "times" if time is True else f"times as {time}"


def _check_names(names: tuple[str, ...], own: tuple[str, ...]) -> None:
    for position, name in enumerate(names):
        if name in own:
            raise ValueError(
                f"an index is called {name!r}, and so is a column that every trace file has "
                f"({', '.join(own)}); give the index another name"
            )
        if name in names[:position]:
            raise ValueError(f"expected indices of different names, got {name!r} twice")


def check_path(path: str, kind: str = "trace") -> None:
    """Refuse a path at which no file can be that grows and is truncated."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder; create it first", folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, f"expected a file for the {kind}, got a folder", path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(
            f"{path} is a device or a pipe, which cannot be truncated; give a file for the {kind}"
            f"{_OR_STANDARD_OUTPUT if kind == 'trace' else ''}"
        )
