"""A trace in a folder: one Parquet file after the other, each complete when the next begins."""

from __future__ import annotations

import contextlib
import errno
import os
import time as clocks
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.optional import load
from icvi.watching.step import Kept, Step
from icvi.watching.trace_files.parquet_trace import ParquetTrace
from icvi.watching.trace_files.parts import (
    Part,
    Periods,
    nanoseconds,
    part_name,
    parts_in,
    remove_part,
)
from icvi.watching.trace_files.trace_file import TimeKind, TraceFile
from icvi.watching.trace_files.trace_rows import TraceRows
from icvi.wording import short

_JOURNAL = "trace-{:06}.arrows"


class RollingTrace(TraceFile):
    """A folder with ``date=YYYY-MM-DD/part-N.parquet``, numbered through.

    Where a part ends depends on the rows alone, so that a run that was killed leaves the same
    parts, byte for byte. The date is that of the first row of a part: by the times of the samples
    (UTC), or by the clock of the machine where they have none. A row whose time is before that of
    the part, because its sample was late, stays in the part that is open.

    Parameters
    ----------
    path, names, time, overwrite
        As in `TraceFile`.
    journal : path-like, optional
        A folder for the journals of parts that a checkpoint may refer to.
    roll : int or timedelta, optional
        Rows of a part, or its time: an hour, a day. By default a day where samples have times, and
        1,000,000 rows otherwise.
    keep : timedelta, optional
        Remove parts whose rows are all older than that, compared with the newest row (or with the
        clock, where there are no times). Parts are never removed by default.
    """

    format = "parquet parts"

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        time: TimeKind,
        overwrite: bool,
        journal: str | os.PathLike[str] | None = None,
        *,
        roll: int | timedelta | None = None,
        keep: timedelta | None = None,
    ) -> None:
        super().__init__(path, names, time, overwrite)
        load("pyarrow.parquet", "stream")
        self._folder, self._journals = Path(path), journal
        if self._folder.exists() and not self._folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "expected a folder for the trace", path)
        parent = self._folder.parent
        if not parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "there is no such folder; create it first", str(parent)
            )
        self._periods = Periods(roll, time is not None)
        if keep is not None and not (isinstance(keep, timedelta) and keep > timedelta(0)):
            raise ValueError(
                f"expected trace_keep (--trace-keep) as a time such as 30d, got {short(keep)}"
            )
        self._keep = keep
        self.parts: list[Part] = []  # that are complete, and not removed
        self._before = 0  # rows in parts before the open one
        self._begin_part(0)
        # Journals of complete parts: the last checkpoint refers to them, or the next will not.
        self._used: list[str] = []
        self._unneeded: list[str] = []

    def _begin_part(self, number: int) -> None:
        self._number = number
        self._open: ParquetTrace | None = None  # from the first row on
        self._name, self._period, self._end = "", 0, -(2**63)

    @property
    def rows(self) -> int:
        """How many readings were taken."""
        return self._before + (0 if self._open is None else self._open.rows)

    @property
    def rows_in_file(self) -> int:
        """How many readings the Parquet files hold, also those that were removed since."""
        return self._before + (0 if self._open is None else self._open.rows_in_file)

    def check_new(self) -> None:
        """Refuse a folder that has parts, as `begin` would."""
        if not self._overwrite and parts_in(self._folder):
            raise FileExistsError(
                errno.EEXIST,
                "the folder has a trace: choose another, or overwrite=True replaces it",
                self.path,
            )

    def begin(self, again: bool = False) -> None:
        """Create the folder; remove the parts of another trace if that was requested."""
        if not again:
            self.check_new()
        self._folder.mkdir(exist_ok=True)
        self._remove_from(0)

    def take(self, step: Step) -> None:
        """Take the readings of the next step."""
        if not len(step.labels):
            return
        rows = self._rows_of(step)
        times = None if rows.time is None else nanoseconds(rows.time)
        for part in self._pieces(rows, times):
            self._take(rows.part(part), None if times is None else times[part])

    def flush(self) -> None:
        """Write everything to the journal; remove journals that no checkpoint refers to."""
        # A checkpoint has been written since they were set aside.
        for journal in self._unneeded:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(journal)
        self._unneeded = []
        if self._open is not None:
            self._open.flush()

    def keep(self) -> Kept:
        """The parts, and where the journal of the open one ends."""
        facts: dict[str, Any] = {
            **self._facts(),
            "number": self._number,
            "before": self._before,
            "parts": [part.as_json() for part in self.parts],
        }
        self._unneeded, self._used = [*self._unneeded, *self._used], []
        if self._open is not None:
            facts |= {"name": self._name, "period": self._period, "end": self._end}
            facts["open"] = self._open.keep()[0]
        return facts, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume in the part that was open; those that were begun after it are written again."""
        self._check_facts(facts)
        self.parts = [Part(**part) for part in facts["parts"]]
        for part in self.parts:
            path = self._folder / part.name
            # One that is gone may have been moved to an archive.
            if path.exists() and path.stat().st_size != part.size:
                raise ValueError(
                    f"{path} is not the file it was: {path.stat().st_size:,} bytes, not "
                    f"{part.size:,}; restore it, or start from scratch with overwrite=True"
                )
        self._folder.mkdir(exist_ok=True)
        self._before = facts["before"]
        self._begin_part(facts["number"])
        self._remove_from(self._number + ("open" in facts))
        if "open" in facts:
            self._name, self._period = facts["name"], facts["period"]
            self._end = facts["end"]
            self._open = self._new_part()
            self._open.resume(facts["open"], arrays)

    def finish(self) -> None:
        """Write the part that is open; it is written again if another run resumes it."""
        if self._open is not None:
            self._open.finish()

    def close(self) -> None:
        """Close the journal."""
        if self._open is not None:
            self._open.close()

    # -- inside ----------------------------------------------------------------------------

    def _pieces(self, rows: TraceRows, times: NDArray[np.int64] | None) -> Iterator[slice]:
        """Rows that belong to one part each."""
        start, n = 0, len(rows)
        periods = self._periods.of(times)
        while start < n:
            if periods is None:
                assert self._periods.rows is not None
                taken = 0 if self._open is None else self._open.rows
                left = self._periods.rows - taken
                stop = min(n, start + left) if left else start
            else:
                current = self._period if self._open is not None else int(periods[start])
                later = np.flatnonzero(periods[start:] > current)
                stop = start + int(later[0]) if len(later) else n
            if stop == start:
                self._roll()
                continue
            yield slice(start, stop)
            start = stop

    def _take(self, rows: TraceRows, times: NDArray[np.int64] | None) -> None:
        if self._open is None:
            now = clocks.time_ns() if times is None else int(times[0])
            day = np.datetime64(now, "ns").astype("M8[D]")
            self._name = part_name(self._number, str(day))
            periods = self._periods.of(times)
            self._period = 0 if periods is None else int(periods[0])
            self._open = self._new_part()
            self._open.begin(again=True)
        self._open.take_rows(rows)
        self._end = max(self._end, clocks.time_ns() if times is None else int(times.max()))

    def _roll(self) -> None:
        """Complete the part that is open."""
        part = self._open
        assert part is not None
        part.finish()
        part.close()
        if self._journals is not None:
            self._used.append(part.journal)
        size = (self._folder / self._name).stat().st_size
        self.parts.append(Part(self._number, self._name, part.rows_in_file, size, self._end))
        self._before += part.rows_in_file
        newest = self._end
        self._begin_part(self._number + 1)
        self._remove_old(newest)

    def _remove_old(self, newest: int) -> None:
        """Remove parts that are older than asked for."""
        if self._keep is None:
            return
        oldest = newest - self._keep // timedelta(microseconds=1) * 1000
        for part in list(self.parts):
            if part.end is not None and part.end < oldest:
                remove_part(self._folder / part.name)
                self.parts.remove(part)

    def _remove_from(self, number: int) -> None:
        """Remove parts that were written after a checkpoint, or by another run."""
        for found, path in parts_in(self._folder):
            if found >= number:
                remove_part(path)
        if self._journals is not None:
            for path in Path(self._journals).glob("trace-*.arrows"):
                text = path.stem.removeprefix("trace-")
                if text.isdigit() and int(text) != number - 1:
                    path.unlink(missing_ok=True)

    def _new_part(self) -> ParquetTrace:
        path = self._folder / self._name
        path.parent.mkdir(exist_ok=True)
        journal = None if self._journals is None else os.fspath(self._journals)
        name = _JOURNAL.format(self._number)
        return ParquetTrace(os.fspath(path), self.names, self._time, True, journal, name)
