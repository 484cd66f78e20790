"""MicroWard: online clustering that needs neither the number of clusters nor a vigilance."""

from __future__ import annotations

import os
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from icvi.art.scikit import ClusterMixin, check_is_fitted
from icvi.clustering.estimator import StreamEstimator
from icvi.clustering.levels import choosing_indices, compiled_votes
from icvi.clustering.micro_clusters import MicroClusters, Settings
from icvi.indices import Index
from icvi.inputs import as_sample, check_choice
from icvi.saving.kinds import save
from icvi.transactions import changes, exclusive, shares
from icvi.wording import short

Scale = Literal["spread", "none"]

#: How many micro-clusters there may be at most.
FEWEST, MOST_MICRO = 8, 4096

_OTHERS = attrgetter("max_micro", "half_life", "scale", "refresh")


class MicroWard(ClusterMixin, StreamEstimator):  # type: ignore[misc]
    r"""Clusters of a stream, however many there are.

    A bounded number of micro-clusters covers the samples. Ward's criterion merges them step by
    step, the indices are read at every level of that path, and the level that they prefer gives
    the clusters. It is chosen again whenever the micro-clusters have changed enough.

    Parameters
    ----------
    by : index, or list of indices, default ("DB", "CH", "SIL")
        Who chooses the number of clusters: the level with the least mean rank wins, of equals the
        one with fewer clusters. ``"vote"`` means CH, SIL, DB, XB and WB, as in
        `Tracker.coarsen`. With other indices than DB, CH and SIL, a choice takes some milliseconds
        instead of a tenth of one.
    max_micro : int, default 120
        The largest number of micro-clusters, 8 to 4096. At most a quarter as many clusters are
        found. A new value takes effect on the next `fit`.
    half_life : float, optional
        Samples after which a sample counts half. Nothing is forgotten by default.
    scale : {"spread", "none"}, default "spread"
        Divide every feature by its spread, as far as it is known, so that units do not matter; or
        take features as they are.
    refresh : float, default 0.2
        The number of clusters is chosen again when this share of the micro-clusters is new, or
        this share of the weight has come since the last time.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        After `fit`, what `predict` returns for the same samples: 0, 1, ... in order of
        appearance. After `partial_fit`, the label of each sample when it was learnt.
    n_clusters_ : int
        Number of clusters at present.
    clusters_ : ndarray of shape (k,)
        Their labels, in order.
    cluster_centers_, cluster_counts_ : ndarray of shape (k, d) and (k,)
        Their centroids, in units of the data, and their weights, in the order of `clusters_`.
    micro_centers_, micro_counts_, micro_labels_ : ndarray of shape (m, d), (m,) and (m,)
        Centroids and weights of the micro-clusters, and the cluster of each.
    n_choices_ : int
        How often the number of clusters was chosen.

    Notes
    -----
    A micro-cluster has a weight n, a centroid v and a compactness CP. With squared distances in
    scaled features, a sample enters the micro-cluster whose centroid is nearest if the variance
    stays below a limit,

    .. math::

        \frac{1}{n + 1} \left( CP + \frac{n}{n + 1} \| x - v \|^2 \right) \le L,

    and else starts a micro-cluster. When there are more than ``max_micro``, the two whose union has
    the least variance merge, until three quarters are left; L rises to the largest variance that
    came about. Ward's path merges the two with the least
    :math:`\frac{n_i n_j}{n_i + n_j} \| v_i - v_j \|^2`. The moments of a union are those of its
    parts, so that readings at all levels are exact for the micro-clusters.

    The spread of a feature is the least :math:`k \sqrt{W_k / N}` over k = 1 to 8 groups of its
    values, where :math:`W_k` is the scatter within them: the standard deviation where there is one
    group, and less where groups lie far apart, so that a feature which separates clusters is not
    shrunk for it. Groups far smaller than the others do not count, and no spread is below a quarter
    of the standard deviation.

    Between two choices, labels stay. At a choice, every cluster keeps the label that most of its
    weight has: the largest overlap first. A cluster that split off gets the label it had before it
    was merged, if that is free, or a new one. There are at least two clusters as soon as two
    samples differ: the indices cannot be read with one. Early choices rest on few samples.

    The result depends on the order of samples, not on how they are cut into chunks. Learning a
    sample costs O(m d) for m micro-clusters, a choice O(m^2 d); memory is bounded.

    References
    ----------
    .. [1] J. H. Ward, "Hierarchical Grouping to Optimize an Objective Function", Journal of the
       American Statistical Association 58, 1963.
    .. [2] T. Zhang, R. Ramakrishnan, M. Livny, "BIRCH: An Efficient Data Clustering Method for Very
       Large Databases", SIGMOD 1996.

    Examples
    --------
    >>> import icvi
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(900) % 3]
    >>> m = icvi.MicroWard().fit(X)
    >>> m.n_clusters_, m.labels_[:6].tolist()
    (3, [0, 1, 2, 0, 1, 2])
    >>> m.update([0.5, 8.0])
    2
    >>> m.predict([[8.0, 1.0]]).tolist()
    [1]
    """

    def __init__(
        self,
        by: str | Index | Iterable[str | Index] = ("DB", "CH", "SIL"),
        max_micro: int = 120,
        *,
        half_life: float | None = None,
        scale: Scale = "spread",
        refresh: float = 0.2,
    ) -> None:
        self.by = by
        self.max_micro = max_micro
        self.half_life = half_life
        self.scale = scale
        self.refresh = refresh

    # -- learning --------------------------------------------------------------------------

    @changes
    def fit(self, X: Any, y: Any = None) -> MicroWard:
        """Forget everything, then learn all samples in order, and choose once at the end.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : ignored
        """
        self._note(self.__dict__.copy())
        settings = self._settings()
        X = self._checked(X, reset=True)
        micro = MicroClusters(X[0], int(self.max_micro))
        micro.learn_unlabelled(X, settings)
        micro.choose(settings)
        labels = micro.label(X)
        micro.number_anew(labels)
        self._micro, self.labels_ = micro, labels
        return self

    @changes
    def partial_fit(self, X: Any, y: Any = None) -> MicroWard:
        """Learn more samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : ignored
        """
        self._note(self.__dict__.copy())
        self.labels_ = self._learn(self._more_samples(X))
        return self

    @changes
    def update(self, x: Any) -> int:
        """Learn one sample; its label."""
        self._note(self.__dict__.copy())
        d = self._micro.d if "_micro" in self.__dict__ else None
        row = as_sample(x, d).reshape(1, -1)
        return int(self._learn(row if d else self._more_samples(row))[0])

    @changes
    def learn_until_merge(
        self, X: Any, known: Iterable[int]
    ) -> tuple[dict[int, int], frozenset[int]]:
        """Learn samples up to the first choice by which clusters become one; which became which.

        For callers that follow the clusters, such as `icvi.watch`: they call it again with the
        samples that are left.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples. `labels_` are those of the samples that were learnt.
        known : iterable of int
            The clusters at the last choice, as the last call returned them; none at first.

        Returns
        -------
        merged : dict of int to int
            Of clusters that are gone, the cluster that most of each belongs to now. Clusters that
            were forgotten are not in it.
        known : frozenset of int
            The clusters at the last choice.
        """
        self._note(self.__dict__.copy())
        before, now = {*known}, {*known}
        self.labels_ = self._learn(self._more_samples(X), now)
        gone = {label: self._micro.successor(label) for label in sorted(before - now)}
        return {label: into for label, into in gone.items() if into is not None}, frozenset(now)

    @shares
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Labels of samples, nothing learnt: that of the nearest micro-cluster.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        """
        check_is_fitted(self)
        X = X if self._is_plain(X) else self._checked(X, reset=False)
        return self._micro.label(X)

    # -- what there is ---------------------------------------------------------------------

    @property
    @shares
    def n_clusters_(self) -> int:
        """Number of clusters at present."""
        return len(self._micro.clusters)

    @property
    @shares
    def clusters_(self) -> NDArray[np.int64]:
        """(k,) labels of the clusters, in order."""
        return self._micro.clusters

    @property
    @shares
    def cluster_centers_(self) -> NDArray[np.float64]:
        """(k, d) centroids of the clusters, in units of the data."""
        shares = self._members() * self._micro.counts(1.0)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True) @ self._micro.centers)

    @property
    @shares
    def cluster_counts_(self) -> NDArray[np.float64]:
        """(k,) weights of the clusters."""
        return np.asarray(self._members() @ self._micro.counts(self._growth()))

    @property
    @shares
    def micro_centers_(self) -> NDArray[np.float64]:
        """(m, d) centroids of the micro-clusters, in units of the data."""
        return self._micro.centers

    @property
    @shares
    def micro_counts_(self) -> NDArray[np.float64]:
        """(m,) weights of the micro-clusters."""
        return self._micro.counts(self._growth())

    @property
    @shares
    def micro_labels_(self) -> NDArray[np.int64]:
        """(m,) cluster of each micro-cluster."""
        return self._micro.labels

    @property
    @shares
    def n_choices_(self) -> int:
        """How often the number of clusters was chosen."""
        return self._micro.n_choices

    # -- saving ----------------------------------------------------------------------------

    @exclusive
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator to a file, for `icvi.load`; it comes back bit for bit.

        The file replaces the one that was there when it is complete and on the disk, not before.
        It contains numbers and names, no code: ``by`` must hold names of indices.
        """
        if type(self) is not MicroWard:
            raise TypeError(
                f"a file contains no code, so it cannot contain what your class "
                f"{type(self).__name__} adds; pickle it"
            )
        save("MicroWard", self, path)

    # -- inside ----------------------------------------------------------------------------

    def _learn(self, X: NDArray[np.float64], known: set[int] | None = None) -> NDArray[np.int64]:
        """Learn checked samples on a copy, which takes the place of what was there at the end."""
        settings = self._settings()
        before = self.__dict__.get("_micro")
        micro = MicroClusters(X[0], int(self.max_micro)) if before is None else before.copy()
        labels = micro.learn(X, settings, known)
        self._micro = micro
        return labels

    def _members(self) -> NDArray[np.float64]:
        return np.asarray(self._micro.labels == self._micro.clusters[:, None], dtype=np.float64)

    def _growth(self) -> float:
        return 1.0 if self.half_life is None else float(2.0 ** (1.0 / self.half_life))

    def _settings(self) -> Settings:
        """The parameters, checked when one of them has changed."""
        by = tuple(self.by) if isinstance(self.by, list) else self.by
        parameters = (by, *_OTHERS(self))
        if self._accepted is None or self._accepted[0] != parameters:
            self._accepted = parameters, self._checked_settings()
        settings: Settings = self._accepted[1]
        return settings

    def _checked_settings(self) -> Settings:
        indices = choosing_indices(self.by)
        if not _is_real(self.max_micro) or not (
            FEWEST <= self.max_micro <= MOST_MICRO and self.max_micro == int(self.max_micro)
        ):
            raise ValueError(
                f"expected max_micro to be a whole number from {FEWEST} to {MOST_MICRO}, got "
                f"{short(self.max_micro)}"
            )
        if self.half_life is not None and not (
            _is_real(self.half_life) and 1.0 <= self.half_life < float("inf")
        ):
            raise ValueError(
                f"expected half_life to be a number of samples from 1 on, or None, got "
                f"{short(self.half_life)}"
            )
        check_choice(self.scale, "scale", ("spread", "none"))
        if not (_is_real(self.refresh) and 0.0 < self.refresh <= 1.0):
            raise ValueError(
                f"expected refresh to be a number above 0, up to 1, got {short(self.refresh)}"
            )
        votes = compiled_votes(indices)
        return Settings(
            indices,
            float(self.refresh),
            self.scale == "spread",
            self._growth(),
            votes,
            bool(votes.any()),
        )


def _is_real(value: Any) -> bool:
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, (bool, np.timedelta64))
