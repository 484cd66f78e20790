"""When samples came: counted, or by the time that the caller passes."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import as_number, refuse_masked
from icvi.wording import short

_SECOND = 1_000_000_000  # ticks are nanoseconds
_LONGEST = 200 * 365.25 * 86400.0  # seconds; half of what ticks can count


class Clock:
    """Ticks of samples: 1, 2, 3, ... or nanoseconds of their times, which never decrease.

    Parameters
    ----------
    span : int, float or timedelta
        A number of samples, or a time span; it decides which ticks are used.
    name : str
        Name of the span in error messages.
    """

    def __init__(self, span: Any, name: str) -> None:
        self.name = name
        self.timed = isinstance(span, (timedelta, np.timedelta64))
        self.now = 0
        self.started = False
        self.span = _as_span(span, name)

    def ticks(self, time: Any, n: int) -> NDArray[np.int64]:
        """Ticks of the next n samples; only `advance` moves the clock."""
        if not self.timed:
            if time is not None:
                raise ValueError(
                    f"{self.name}={self.span:g} counts samples; pass a timedelta to use time="
                )
            return self.now + np.arange(1, n + 1)
        if time is None:
            raise ValueError(f"{self.name} is a time span: pass time= with every sample")
        ticks = as_ticks(time, n)
        before = np.concatenate([ticks[:1] if not self.started else [self.now], ticks[:-1]])
        back = np.flatnonzero(ticks < before)
        if back.size:
            raise ValueError(
                f"expected times that do not decrease, got {_shown(time, int(back[0]))} "
                f"after a later one (sample {back[0]})"
            )
        return ticks

    def tick(self, time: Any) -> int:
        """Tick of the next sample."""
        if self.timed or time is not None:
            return int(self.ticks(time, 1)[0])
        return self.now + 1

    def moment(self, time: Any) -> int:
        """Tick of a time that passes without a sample."""
        if not self.timed:
            raise ValueError(
                f"{self.name}={self.span:g} counts samples, and no time passes without them; "
                f"advance is for a {self.name} that is a timedelta"
            )
        tick = int(as_ticks([time], 1)[0])
        if self.started and tick < self.now:
            raise ValueError(
                f"expected a time that is not before the last one, got {short(time)}; "
                "time does not go back"
            )
        return tick

    def advance(self, tick: int) -> None:
        """Move the clock to this tick."""
        self.now, self.started = int(tick), True


def _as_span(span: Any, name: str) -> float:
    if isinstance(span, (timedelta, np.timedelta64)):
        seconds = np.timedelta64(span) / np.timedelta64(1, "s")
        if not 0.0 < seconds < _LONGEST:
            raise ValueError(f"expected a {name} above zero, up to 200 years, got {short(span)}")
        return int(np.timedelta64(span).astype("timedelta64[ns]").astype(np.int64))
    if not isinstance(span, (int, float, np.integer, np.floating)) or isinstance(span, bool):
        raise TypeError(
            f"expected {name} as a number of samples or a timedelta, got {type(span).__name__}"
        )
    number = as_number(span, name)
    if not 0.0 < number < 2.0**62:  # ticks are counted up to there
        raise ValueError(f"expected a {name} above zero, below 2**62, got {short(span)}")
    return number if isinstance(span, (float, np.floating)) else int(span)


def as_times(time: Any, n: int) -> NDArray[Any]:
    """Times as an array of n datetimes, or of n numbers of seconds."""
    refuse_masked(time, "time")
    array = np.atleast_1d(np.asarray(time))
    if array.dtype.kind == "O" and all(isinstance(moment, date) for moment in array.tolist()):
        array = np.array([_naive(moment) for moment in array.tolist()], dtype="datetime64[ns]")
    if array.shape != (n,):
        raise ValueError(f"expected {n} times, one per sample, got shape {array.shape}")
    return array


def as_ticks(time: Any, n: int) -> NDArray[np.int64]:
    """Times as nanoseconds."""
    array = as_times(time, n)
    if array.dtype.kind == "M":
        missing = np.isnat(array)
        ticks = array.astype("datetime64[ns]").astype(np.int64)
    elif array.dtype.kind in "iuf":
        with np.errstate(over="ignore"):  # numbers too large for a double are refused below
            array = array.astype(np.longdouble if array.dtype.itemsize > 8 else np.float64)
            missing = ~(np.abs(array) < 9e9)
        seconds = np.where(missing, 0, array)
        whole = np.floor(seconds)
        ticks = whole.astype(np.int64) * _SECOND
        ticks += np.rint((seconds - whole) * _SECOND).astype(np.int64)
    else:
        raise TypeError(
            f"expected times as datetimes or numbers of seconds, got dtype {array.dtype}"
        )
    if missing.any():
        where = int(np.argmax(missing))
        raise ValueError(f"expected a time for every sample, got {array[where]} at {where}")
    return ticks


def _naive(moment: date) -> date:
    """Times with a time zone as UTC without one, which numpy supports."""
    offset = moment.utcoffset() if isinstance(moment, datetime) else None
    if offset is None:
        return moment
    assert isinstance(moment, datetime)
    return (moment - offset).replace(tzinfo=None)


def _shown(time: Any, position: int) -> Any:
    array = np.atleast_1d(np.asarray(time))
    return array[position] if position < len(array) else time
