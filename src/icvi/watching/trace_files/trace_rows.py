"""The rows of a trace: the readings of a step, column by column, as files can hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.watching.step import Step

#: The whole numbers that every format can hold.
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

#: Labels as files can hold them: whole numbers, or whole numbers and strings.
Labels = NDArray[np.int64] | list[int | str]


@dataclass(frozen=True, eq=False, slots=True)
class TraceRows:
    """Some rows of a trace.

    Parameters
    ----------
    sample : array of int64
        How many samples had been seen.
    time : array, optional
        When the last of them was taken: datetime64[ns] or float64 seconds.
    label : array of int64, or list of int and str
        Its label.
    k : array of int64
        The number of clusters.
    values : array of float64 of shape (indices, n)
        The readings.
    candidate : list of str, optional
        Where clusterers are compared: whose readings these are.
    """

    sample: NDArray[np.int64]
    time: NDArray[Any] | None
    label: Labels
    k: NDArray[np.int64]
    values: NDArray[np.float64]
    candidate: list[str] | None = None

    def __len__(self) -> int:
        return len(self.sample)

    def pieces(self, size: int) -> Iterator[TraceRows]:
        """The same rows, so many at a time."""
        for first in range(0, len(self), size):
            yield self.part(slice(first, first + size))

    def part(self, rows: slice) -> TraceRows:
        """Some of these rows."""
        return TraceRows(
            self.sample[rows],
            None if self.time is None else self.time[rows],
            self.label[rows],
            self.k[rows],
            self.values[:, rows],
            None if self.candidate is None else self.candidate[rows],
        )


def rows_of(step: Step, names: Sequence[str]) -> TraceRows:
    """The readings of a step; those of all candidates after the same sample stand together."""
    if step.candidates:
        return _interleaved({name: rows_of(each, names) for name, each in step.candidates.items()})
    trace = step.trace
    time = None
    if step.time is not None:
        at = trace.samples - 1 - step.first
        if len(at) and not (at[0] >= 0 and at[-1] < len(step.time)):
            raise ValueError(
                f"expected readings of samples {step.first + 1} to {step.stop}, got readings of "
                f"{trace.samples[0]} to {trace.samples[-1]}: the tracker had seen others before"
            )
        time = as_time(step.time)[at]
    values = np.empty((len(names), len(trace)))
    for row, name in zip(values, names):
        row[:] = step.column(name)
    return TraceRows(trace.samples, time, file_labels(trace.labels), trace.k, values)


def _interleaved(parts: Mapping[str, TraceRows]) -> TraceRows:
    """The first row of every part, then the second of every part, and so on."""
    n, m = len(next(iter(parts.values()))), len(parts)
    together = concatenate([*parts.values()])
    order = np.arange(n * m).reshape(m, n).T.ravel()
    label = together.label
    return TraceRows(
        together.sample[order],
        None if together.time is None else together.time[order],
        label[order] if isinstance(label, np.ndarray) else [label[i] for i in order.tolist()],
        together.k[order],
        together.values[:, order],
        [*parts] * n,
    )


def concatenate(parts: Sequence[TraceRows]) -> TraceRows:
    """Consecutive rows, at least one part, as one."""
    if len(parts) == 1:
        return parts[0]
    times = [part.time for part in parts if part.time is not None]
    numbers = [part.label for part in parts if isinstance(part.label, np.ndarray)]
    label: Labels
    if len(numbers) == len(parts):
        label = np.concatenate(numbers)
    else:
        label = list(chain.from_iterable(_listed(part.label) for part in parts))
    return TraceRows(
        np.concatenate([part.sample for part in parts]),
        np.concatenate(times) if times else None,
        label,
        np.concatenate([part.k for part in parts]),
        np.concatenate([part.values for part in parts], axis=1),
        [*chain.from_iterable(part.candidate or () for part in parts)] or None,
    )


def as_time(time: NDArray[Any]) -> NDArray[Any]:
    """Times as datetime64[ns] or float64 seconds."""
    if time.dtype.kind == "M":
        return time.astype("datetime64[ns]", copy=False)
    if time.dtype.kind in "fiu":
        return time.astype(np.float64, copy=False)
    raise TypeError(f"expected times as datetime64 or numbers of seconds, got dtype {time.dtype}")


def file_labels(labels: NDArray[Any]) -> Labels:
    """Labels as files can hold them.

    >>> file_labels(np.array([3, "a", (1, 2), True, 2**63], dtype=object))
    [3, 'a', '(1, 2)', 'True', '9223372036854775808']
    >>> file_labels(np.array([3, np.int8(4)], dtype=object))
    array([3, 4])
    """
    if labels.dtype.kind == "i" or (labels.dtype.kind == "u" and not (labels > _LARGEST).any()):
        return labels.astype(np.int64, copy=False)
    # Not tolist: a float32 of 0.1 is to be "0.1", whether in a float32 array or among objects.
    found = [_file_label(label) for label in labels]
    if all(type(label) is int for label in found):
        return np.array(found, dtype=np.int64)
    return found


def _file_label(label: Any) -> int | str:
    if type(label) is not str and _is_whole(label):
        return int(label)
    text = str(label)
    # Lone surrogates, which UTF-8 cannot encode, are escaped.
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _is_whole(label: Any) -> bool:
    # To numpy, timedelta64 is an integer; to Python, bool is.
    whole = isinstance(label, (int, np.integer)) and not isinstance(label, (bool, np.timedelta64))
    return whole and _SMALLEST <= int(label) <= _LARGEST


def _listed(label: Labels) -> list[int | str]:
    return label if isinstance(label, list) else label.tolist()
