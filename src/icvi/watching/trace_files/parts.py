"""The parts of a trace in a folder: where they are, and when the next one begins."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import as_number
from icvi.wording import short

#: Rows of a part where samples have no times.
ROWS = 1_000_000
#: Time of a part where they have.
DAY = timedelta(days=1)
_NAME = re.compile(r"part-(\d+)\.parquet")
_FOLDER = re.compile(r"date=\d{4,}-\d\d-\d\d")


@dataclass(frozen=True)
class Part:
    """A part that is complete.

    Parameters
    ----------
    number : int
        Of the part, from 0.
    name : str
        Its path in the folder.
    rows, size : int
        Readings in it, and bytes.
    end : int or None
        Time of its newest row in nanoseconds, where there are times.
    """

    number: int
    name: str
    rows: int
    size: int
    end: int | None

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)


class Periods:
    """Divides rows into parts: by their number, or by the time in which they were taken.

    Parameters
    ----------
    roll : int or timedelta, optional
        Rows of a part, or its time.
    timed : bool
        Whether rows have times.

    Examples
    --------
    >>> hours = Periods(timedelta(hours=1), timed=True)
    >>> times = np.array(["2026-01-01T05:10", "2026-01-01T05:59", "2026-01-01T06:00"], "M8[ns]")
    >>> hours.of(nanoseconds(times)).tolist() == [490901, 490901, 490902]
    True
    """

    def __init__(self, roll: int | timedelta | None, timed: bool) -> None:
        if roll is None:
            roll = DAY if timed else ROWS
        self.rows: int | None = None
        self._span: int | None = None
        if isinstance(roll, timedelta):
            if not timed:
                raise ValueError(
                    "trace_roll (--trace-roll) is a time: it needs times of samples, time=COL "
                    "(--time COL); or give a number of rows"
                )
            if roll < timedelta(seconds=1):
                raise ValueError(f"expected trace_roll of at least a second, got {short(roll)}")
            self._span = roll // timedelta(microseconds=1) * 1000
        else:
            number = as_number(roll, "trace_roll")
            if number < 1 or number != int(number):
                raise ValueError(
                    f"expected trace_roll (--trace-roll) as a number of rows from 1 on, or as a "
                    f"time such as 1d or 1h, got {short(roll)}"
                )
            self.rows = int(number)

    def of(self, times: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """The period of each row; None where rows are counted."""
        if self._span is None or times is None:
            return None
        return times // self._span


def nanoseconds(times: NDArray[Any]) -> NDArray[np.int64]:
    """Times since 1970 in nanoseconds."""
    if times.dtype.kind == "M":
        return times.astype("M8[ns]").view(np.int64)
    return (times * 1e9).astype(np.int64)


def part_name(number: int, day: str) -> str:
    """The path of a part in the folder.

    >>> part_name(7, "2026-01-31")
    'date=2026-01-31/part-000007.parquet'
    """
    return f"date={day}/part-{number:06}.parquet"


def parts_in(folder: str | os.PathLike[str]) -> list[tuple[int, Path]]:
    """Numbers and paths of the parts that are in a folder, in their order."""
    return sorted(_parts_in(Path(folder)))


def _parts_in(folder: Path) -> Iterator[tuple[int, Path]]:
    for date in folder.iterdir() if folder.is_dir() else ():
        if _FOLDER.fullmatch(date.name) and date.is_dir():
            for path in date.iterdir():
                if (found := _NAME.fullmatch(path.name)) is not None:
                    yield int(found[1]), path


def remove_part(path: Path) -> None:
    """Remove a part, and the folder of its day if that is empty."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other parts are there, or others have removed it
        path.parent.rmdir()
