"""Trace: the readings of a stretch of a stream, as arrays, tables and plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.index import Direction
from icvi.indices.undefined import UndefinedPolicy
from icvi.insight.alarms import Alarm
from icvi.kernels.undefined import why
from icvi.optional import needed
from icvi.wording import short

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

    def __len__(self) -> int:
        return len(self.k)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str | Index) -> NDArray[np.float64]:
        """Readings of one index, an array of length ``len(trace)``."""
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

    def plot(self, names: list[str] | None = None, **options: Any) -> Figure:
        """One panel per index over the stream, with the number of clusters. Needs matplotlib.

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

    def _table(self) -> dict[str, Any]:
        columns = {name: self[name] for name in self.names}
        return {"sample": self.samples, "label": self.labels, "k": self.k, **columns}

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"{short(name)} is not in the trace; it holds {self.names}") from None


def joined(traces: Sequence[Trace], alarms: Sequence[Alarm]) -> Trace:
    """Consecutive stretches of a stream as one."""
    # Private to traces: this is one of their constructors.
    columns = [(t._values, t.k, t.samples, t.labels) for t in traces]  # noqa: SLF001
    values, k, samples, labels = map(np.concatenate, zip(*columns))
    return Trace(traces[0]._policy, values, k, samples, labels, alarms)  # noqa: SLF001
