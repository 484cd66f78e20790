"""The time of each sample: seconds as numbers, or ISO timestamps; a stream has one kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.optional import load
from icvi.streams.values import is_number
from icvi.wording import short

SECONDS, LOCAL, ZONED = "seconds", "timestamps without zone", "timestamps with zone"


class Times:
    """Reads times of one kind: that of the first, unless it is given."""

    def __init__(self, kind: str | None = None) -> None:
        self.kind = kind

    def read_all(self, texts: Any) -> NDArray[Any]:
        """Times out of an Arrow array of text; ValueError where one of them is not a time."""
        compute = load("pyarrow.compute", "stream")
        texts = compute.ascii_trim_whitespace(texts)
        if self.kind is None and len(texts):
            self.kind = self._kind_of(texts[0].as_py())
        if self.kind is None:
            return np.empty(0)
        times: NDArray[Any] = texts.cast(_type(self.kind)).to_numpy(zero_copy_only=False)
        if self.kind == SECONDS and not np.isfinite(times).all():
            raise ValueError("times that are not finite")
        return times

    def read(self, value: Any) -> Any:
        """One time: a number of seconds or a datetime64."""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(f"expected seconds or an ISO timestamp, got {short(value)}")
        text = value.strip() if isinstance(value, str) else repr(value)
        if not text:
            raise ValueError("expected a time, got nothing")
        kind = self._kind_of(text)
        if self.kind not in (None, kind):
            raise ValueError(f"expected {self.kind} like the rows before, got {short(text)}")
        if kind == SECONDS:
            seconds = float(value)
            if not math.isfinite(seconds):
                raise ValueError(f"expected a finite number of seconds, got {short(text)}")
        self.kind = kind
        return seconds if kind == SECONDS else _scalar(text, kind)

    def require(self, kind: str) -> None:
        """Refuse times of this kind where those before were of another."""
        if self.kind not in (None, kind):
            raise ValueError(f"expected times as {self.kind} like the rows before, got {kind}")
        self.kind = kind

    def array(self, times: list[Any]) -> NDArray[Any]:
        """What `read` gave, as an array."""
        return np.array(times, dtype=np.float64 if self.kind == SECONDS else "datetime64[ns]")

    def _kind_of(self, text: str) -> str:
        if is_number(text):
            return SECONDS
        for kind in (LOCAL, ZONED):
            if _parses(text, kind):
                return kind
        raise ValueError(
            f"expected seconds or an ISO timestamp such as 2024-05-01T12:00:00, got {short(text)}"
        )


def _type(kind: str) -> Any:
    pa = load("pyarrow", "stream")
    if kind == SECONDS:
        return pa.float64()
    return pa.timestamp("ns", "UTC" if kind == ZONED else None)


def _parses(text: str, kind: str) -> bool:
    pa = load("pyarrow", "stream")
    try:
        pa.scalar(text).cast(_type(kind))
    except pa.ArrowInvalid:
        return False
    return True


def _scalar(text: str, kind: str) -> np.datetime64:
    pa = load("pyarrow", "stream")
    return np.datetime64(pa.scalar(text).cast(_type(kind)).value, "ns")
