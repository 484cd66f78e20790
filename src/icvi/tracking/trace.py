"""Trace: the readings of a stretch of a stream, as arrays, tables and plots."""

from __future__ import annotations

import csv
import operator
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from icvi.files import replacing
from icvi.indices import Index
from icvi.indices.index import Direction
from icvi.indices.undefined import UndefinedPolicy
from icvi.insight.alarms import Alarm
from icvi.kernels.undefined import why
from icvi.optional import needed
from icvi.plots.notebook import curve_rows, table
from icvi.plots.scale import UNBOUNDED
from icvi.wording import ARROWS, count, plural, short

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.figure import Figure


class Trace:
    """Readings of all indices over a stretch of a stream, one row per reading.

    Attributes
    ----------
    k : ndarray of int
        Number of clusters at each reading.
    labels : ndarray
        Label of the sample just before each reading.
    samples : ndarray of int
        How many samples of the stream had been seen, 1 for the first.
    names : list of str
        The names of the indices.
    indices : tuple of Index
        The indices.
    alarms : list of Alarm
        Alarms that were raised or withdrawn on the way, of a tracker with ``insight=True``.

    Examples
    --------
    >>> import icvi
    >>> t = icvi.Tracker(["CH"])
    >>> trace = t.update_many([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> trace["CH"].round(3).tolist(), trace.k.tolist()
    ([nan, nan, 75.0, 128.0], [1, 1, 2, 2])
    >>> trace[2:]["CH"].tolist()  # a part of it
    [75.0, 128.0]
    """

    def __init__(
        self,
        policy: UndefinedPolicy,
        values: NDArray[np.float64],
        k: NDArray[np.int64],
        samples: NDArray[np.int64],
        labels: NDArray[Any],
        alarms: Sequence[Alarm] = (),
    ) -> None:
        self.alarms = list(alarms)
        self._policy, self._values = policy, values
        self.k, self.samples = k, samples
        self.labels = labels.copy()
        self.names = [index.name for index in policy.indices]

    @property
    def indices(self) -> tuple[Index, ...]:
        """The indices."""
        return tuple(self._policy.indices)

    def __len__(self) -> int:
        return len(self.k)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    @overload
    def __getitem__(self, name: str | Index) -> NDArray[np.float64]: ...

    @overload
    def __getitem__(self, name: slice) -> Trace: ...

    def __getitem__(self, name: str | Index | slice) -> NDArray[np.float64] | Trace:
        """Readings of one index, an array of length ``len(trace)``; or a part of the trace.

        ``trace[:100]`` has the first hundred readings, and the alarms on the way to them.
        """
        if isinstance(name, slice):
            return self._part(name)
        position = self._position(name)
        return self._policy.column(position, self._values[:, position].copy())

    def why(self, name: str | Index) -> list[str | None]:
        """Per reading None, or the reason why it is undefined."""
        return [why(value) for value in self._values[:, self._position(name)].tolist()]

    def direction(self, name: str | Index) -> Direction:
        """Whether larger ("max") or smaller ("min") readings of an index are better."""
        return self._policy.indices[self._position(name)].direction

    def range(self, name: str | Index) -> tuple[float, float]:
        """Smallest and largest value that an index can take."""
        return self._policy.indices[self._position(name)].range

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with columns sample, label, k and one per index."""
        with needed("pandas", "pandas", "Trace.to_pandas"):
            import pandas
        return pandas.DataFrame(self._table())

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with columns sample, label, k and one per index."""
        with needed("pyarrow", "arrow", "Trace.to_arrow"):
            import pyarrow
        table = self._table()
        try:
            return pyarrow.table(table)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
            # Arrow's columns have one type; labels of several become strings.
            return pyarrow.table({**table, "label": [str(label) for label in self.labels]})

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file with columns sample, label, k and one per index.

        An existing file is replaced when the new one is complete. Undefined readings are empty
        fields, and numbers read back to the last bit.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        columns = [self.samples.tolist(), self.labels.tolist(), self.k.tolist()]
        for name in self.names:
            values = self[name]
            texts: list[Any] = values.tolist()
            for row in np.flatnonzero(np.isnan(values)).tolist():
                texts[row] = ""
            columns.append(texts)
        with replacing(path) as file:
            text = TextIOWrapper(file, encoding="utf-8", newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(["sample", "label", "k", *self.names])
            writer.writerows(zip(*columns, strict=True))
            text.flush()
            text.detach()

    def report(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a page for a browser: curves, cluster sizes, alarms. Needs bokeh.

        It is the page of ``icvi watch --report`` without what a trace does not hold: the samples,
        and how good the clustering is.

        Parameters
        ----------
        path : str or path-like
            The page, such as ``"page.html"``.
        overwrite : bool, default False
            Whether to replace an existing file.
        """
        # Pages are above traces: found by their name, as saved classes are.
        pages = import_module("icvi.watching.report.trace_page")
        pages.write_trace(self, path, overwrite=overwrite)

    def plot(self, names: list[str] | None = None, **options: Any) -> Figure:
        """One panel per index over the stream, one for the number of clusters. Needs matplotlib.

        Parameters
        ----------
        names : list of str, optional
            The indices to draw; all by default.
        **options
            See `icvi.plots.traces.plot_traces`.
        """
        from icvi.plots.traces import plot_traces

        return plot_traces({"": self}, names=names, **options)

    def __repr__(self) -> str:
        return f"Trace({len(self)} readings of {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        curves = {
            f"{name} {ARROWS[self.direction(name)]}": (self[name], self.range(name))
            for name in self.names
        }
        rows = curve_rows({"clusters": (self.k.astype(float), UNBOUNDED), **curves})
        span = f", samples {count(self.samples[0])} to {count(self.samples[-1])}" if self else ""
        head = ["", "last", "lowest", "highest", "curve"]
        return table(f"Trace: {plural(len(self), 'reading')}{span}", head, rows)

    def _part(self, rows: slice) -> Trace:
        if rows.step is not None and operator.index(rows.step) < 0:
            raise ValueError(f"expected a slice that goes forward, got {short(rows)}")
        start, stop, _ = rows.indices(len(self))
        # Alarms after the last reading belong to the end of the trace.
        first = self.samples[start - 1] if start else -np.inf
        last = self.samples[stop - 1] if stop < len(self) else np.inf
        inside = [a for a in self.alarms if first < a.sample <= last] if start < stop else []
        k, samples = self.k[rows].copy(), self.samples[rows].copy()
        return Trace(self._policy, self._values[rows].copy(), k, samples, self.labels[rows], inside)

    def _table(self) -> dict[str, Any]:
        columns = {name: self[name] for name in self.names}
        return {"sample": self.samples, "label": self.labels, "k": self.k, **columns}

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"{short(name)} is not in the trace; it holds {self.names}") from None


def no_readings(indices: Sequence[Index], alarms: Sequence[Alarm] = ()) -> Trace:
    """A trace without readings."""
    none = np.empty(0, dtype=np.int64)
    values = np.empty((0, len(indices)))
    return Trace(UndefinedPolicy(indices, "nan"), values, none, none, none, alarms)


def joined(traces: Sequence[Trace], alarms: Sequence[Alarm]) -> Trace:
    """Consecutive stretches of a stream as one."""
    # Private to traces: this is one of their constructors.
    columns = [(t._values, t.k, t.samples, t.labels) for t in traces]  # noqa: SLF001
    values, k, samples, labels = map(np.concatenate, zip(*columns))
    return Trace(traces[0]._policy, values, k, samples, labels, alarms)  # noqa: SLF001
