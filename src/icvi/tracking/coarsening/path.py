"""Path: a clustering at every level from the clusters there are down to a few."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.index import Direction
from icvi.optional import needed
from icvi.tracking.coarsening.linkage import Linkage, Merges
from icvi.wording import short

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from icvi.insight.verdict import Verdict


@dataclass(frozen=True, eq=False)
class Path:
    """Clusters that merge two at a time, with the readings of all indices at every level.

    `Tracker.coarsen` makes it.

    Attributes
    ----------
    k : int
        The chosen number of clusters.
    by : tuple of str
        The indices that chose it.
    labels : tuple
        The clusters that there were.
    levels : ndarray of int
        The numbers of clusters, largest first.
    linkage : {"ward", "separation"}
        Which two merge next.
    merges : Merges
        The pairs that merge, in order, and what each merge costs.

    Examples
    --------
    >>> import numpy as np
    >>> import icvi
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(900) % 3]
    >>> fine = icvi.FuzzyART(rho=0.85).fit(X)
    >>> t = icvi.Tracker(["DB", "CH"])
    >>> trace = t.update_many(X, fine.labels_)
    >>> path = t.coarsen(by="DB")
    >>> t.n_clusters > 10, path.k
    (True, 3)
    >>> int(path["DB"].argmin()) == list(path.levels).index(3)
    True
    >>> t.apply(path)
    >>> t.n_clusters, bool(np.isclose(t["DB"], path.readings(3)["DB"]))
    (3, True)
    """

    k: int
    by: tuple[str, ...]
    labels: tuple[Hashable, ...]
    linkage: Linkage
    merges: Merges
    indices: Sequence[Index]
    table: NDArray[np.float64]
    judge: Callable[[Path], Verdict] | None = None

    @property
    def levels(self) -> NDArray[np.int64]:
        """The numbers of clusters, largest first."""
        return len(self.labels) - np.arange(len(self.table))

    @property
    def names(self) -> list[str]:
        """The indices."""
        return [index.name for index in self.indices]

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str | Index) -> NDArray[np.float64]:
        """Readings of one index at all `levels`; nan where it is undefined."""
        return self.table[:, self._position(name)].copy()

    def direction(self, name: str | Index) -> Direction:
        """Whether larger ("max") or smaller ("min") readings of an index are better."""
        return self.indices[self._position(name)].direction

    def readings(self, k: int | None = None) -> dict[str, float]:
        """Readings of all indices with k clusters; the chosen k by default."""
        return dict(zip(self.names, self.table[self._row(k)].tolist()))

    @property
    def groups(self) -> dict[Hashable, Hashable]:
        """Of every cluster the label that it has at the chosen level."""
        return self.groups_at(self.k)

    def groups_at(self, k: int) -> dict[Hashable, Hashable]:
        """Of every cluster the label that it has with k clusters: that of the group's first."""
        groups = {label: label for label in self.labels}
        for into, source in reversed(self.steps(k)):
            groups[source] = groups[into]
        return groups

    def steps(self, k: int | None = None) -> list[tuple[Hashable, Hashable]]:
        """The merges down to k clusters, in order: the label that stays, and the one that goes."""
        first = list(range(len(self.labels)))
        for a, b in self.merges.pairs[: self._row(k)].tolist():
            first.append(min(first[a], first[b]))
        pairs = self.merges.pairs[: self._row(k)].tolist()
        ends = (sorted((first[a], first[b])) for a, b in pairs)
        return [(self.labels[i], self.labels[j]) for i, j in ends]

    def at(self, k: int) -> Path:
        """The same path with another level chosen."""
        self._row(k)
        return replace(self, k=int(k), by=())

    def verdict(self, k: int | None = None) -> Verdict:
        """The verdict on the clustering with k clusters; needs a tracker with ``insight=True``."""
        if self.judge is None:
            raise ValueError("this path has no samples to judge by; use Tracker(insight=True)")
        return self.judge(self if k is None else self.at(k))

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with columns k, cost of the merge that made it, and one per index."""
        with needed("pandas", "pandas", "Path.to_pandas"):
            import pandas
        costs = np.concatenate([[np.nan], self.merges.costs])
        return pandas.DataFrame(
            {"k": self.levels, "cost": costs, **{name: self[name] for name in self.names}}
        )

    def plot(self, names: Sequence[str] | None = None, **options: Any) -> Figure:
        """Every index over k, and the tree of merges, with the chosen level. Needs matplotlib.

        Parameters
        ----------
        names : sequence of str, optional
            The indices to draw; all by default.
        **options
            See `icvi.plots.paths.plot_path`.
        """
        from icvi.plots.paths import plot_path

        return plot_path(self, names=names, **options)

    def __repr__(self) -> str:
        chosen = f"{self.k} by {' and '.join(self.by)}" if self.by else str(self.k)
        return f"Path({self.levels[0]} to {self.levels[-1]} clusters; chosen: {chosen})"

    def _row(self, k: int | None) -> int:
        k = self.k if k is None else k
        if not isinstance(k, (int, np.integer)) or not self.levels[-1] <= k <= self.levels[0]:
            raise ValueError(
                f"expected k from {self.levels[-1]} to {self.levels[0]}, got {short(k)}"
            )
        return len(self.labels) - int(k)

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"{short(name)} was not read; there are {self.names}") from None
