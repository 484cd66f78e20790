"""Fuzzy SMART: a partition and its prototypes, learnt together."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from icvi.art.base import ArtEstimator
from icvi.art.categories import Module
from icvi.art.parameters import check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling
from icvi.art.scikit import ClusterMixin
from icvi.kernels.art.fuzzy_smart import learn_hierarchy
from icvi.labels import as_label_array
from icvi.transactions import changes, shares

_INTEGER = np.dtype(np.int64)


class FuzzySMART(ClusterMixin, ArtEstimator):  # type: ignore[misc]
    """Self-consistent modular ART: clusters, and prototypes that each belong to one cluster.

    Every sample goes to two fuzzy ART modules. Module B, of low vigilance, chooses the cluster;
    module A, of high vigilance, chooses one of that cluster's prototypes. As in the paper, each
    of the first two samples of a new cluster creates a prototype, so that every cluster has
    connections inside. Winners and runner-ups of module A feed Conn_Index.

    Parameters
    ----------
    rho_a : float, default 0.9
        Vigilance of the prototypes; above ``rho_b``.
    rho_b : float, default 0.7
        Vigilance of the clusters.
    alpha, beta, bounds, out_of_bounds
        As in `FuzzyART`, for both modules.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each sample of the last `fit` or `partial_fit`, when it was learnt; equal to
        those of ``FuzzyART(rho=rho_b)``.
    winners_ : ndarray of shape (n, 2)
        Winner and runner-up among the prototypes; -1 while there is no other prototype. The
        runner-up is the highest choice of all prototypes but the winner, before learning.
    prototypes_ : ndarray of shape (P, d)
        Middles of the prototypes' boxes, in units of the data.
    cluster_of_prototype_ : ndarray of shape (P,)
        The cluster that owns each prototype.
    weights_, prototype_weights_ : ndarray
        Complement coded weights of modules B and A.
    n_clusters_, n_prototypes_ : int
        How many there are.

    References
    ----------
    .. [1] L. E. Brito da Silva, N. M. Melton, D. C. Wunsch II, "Incremental Cluster Validity
       Indices for Hard Partitions: Extensions and Comparative Study", arXiv:1902.06711.
    .. [2] G. Bartfai, "Hierarchical clustering with ART neural networks", IEEE International
       Conference on Neural Networks, 1994.

    Examples
    --------
    >>> import icvi
    >>> s = icvi.FuzzySMART(rho_a=0.9, rho_b=0.7, bounds=(0.0, 1.0))
    >>> s.fit([[0.1, 0.1], [0.2, 0.1], [0.9, 0.9], [0.1, 0.12]]).labels_.tolist()
    [0, 0, 1, 0]
    >>> s.winners_.tolist()
    [[0, -1], [1, 0], [2, 1], [0, 1]]
    >>> s.cluster_of_prototype_.tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        rho_a: float = 0.9,
        rho_b: float = 0.7,
        alpha: float = 1e-3,
        beta: float = 1.0,
        *,
        bounds: Any = None,
        out_of_bounds: OutOfBounds = "clip",
    ) -> None:
        self.rho_a = rho_a
        self.rho_b = rho_b
        self.alpha = alpha
        self.beta = beta
        self.bounds = bounds
        self.out_of_bounds = out_of_bounds

    @changes
    def fit(self, X: Any, y: Any = None) -> FuzzySMART:
        """Forget everything, then learn all samples in order.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : ignored
        """
        self.labels_, self.winners_ = self._learn(self._first_samples(X))
        return self

    @changes
    def partial_fit(self, X: Any, y: Any = None) -> FuzzySMART:
        """Learn more samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : ignored
        """
        self.labels_, self.winners_ = self._learn(self._more_samples(X))
        return self

    @changes
    def update(self, x: Any) -> tuple[int, int, int | None]:
        """Learn one sample; its cluster, winner and runner-up."""
        labels, winners = self._learn(self._one_sample(x))
        runner_up = int(winners[0, 1])
        return int(labels[0]), int(winners[0, 0]), None if runner_up < 0 else runner_up

    @overload
    def predict(self, X: Any, *, return_winners: Literal[False] = ...) -> NDArray[np.int64]: ...

    @overload
    def predict(
        self, X: Any, *, return_winners: Literal[True]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

    @shares
    def predict(
        self, X: Any, *, return_winners: bool = False
    ) -> NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Clusters of samples, nothing learnt.

        Where nothing passes vigilance, the highest choice wins.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        return_winners : bool, default False
            Also return an (n, 2) array of winner and runner-up. The winner is a prototype of
            the sample's cluster; -1 stands for no runner-up.
        """
        X = self._samples_to_predict(X)
        labels = self._clusters.rank(X, self._scaling, self.rho_b, self.alpha)[:, 0].copy()
        return (labels, self.winners(X, labels)) if return_winners else labels

    @shares
    def winners(self, X: Any, labels: Any) -> NDArray[np.int64]:
        """Winners and runner-ups of labelled samples, nothing learnt.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        labels : sequence of length n
            The cluster of each sample; the winner is one of its prototypes.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        X = self._samples_to_predict(X)
        owners = as_label_array(labels, len(X)).astype(np.int64)
        unknown = (owners < 0) | (owners >= self.n_clusters_)
        if unknown.any():
            raise ValueError(
                f"expected labels from 0 to {self.n_clusters_ - 1}, got {owners[unknown][0]}"
            )
        return self._prototypes.rank(X, self._scaling, self.rho_a, self.alpha, owners)

    @property
    @shares
    def prototypes_(self) -> NDArray[np.float64]:
        """(P, d) middles of the prototypes' boxes, in units of the data."""
        return self._scaling.centers(self._prototypes.weights)

    @property
    @shares
    def cluster_of_prototype_(self) -> NDArray[np.int64]:
        """(P,) cluster of each prototype."""
        return self._prototypes.owners

    @property
    @shares
    def weights_(self) -> NDArray[np.float64]:
        """(k, 2d) complement coded weights of the clusters."""
        return self._clusters.weights

    @property
    @shares
    def prototype_weights_(self) -> NDArray[np.float64]:
        """(P, 2d) complement coded weights of the prototypes."""
        return self._prototypes.weights

    @property
    @shares
    def n_clusters_(self) -> int:
        """Number of clusters k."""
        return self._clusters.k

    @property
    @shares
    def n_prototypes_(self) -> int:
        """Number of prototypes P."""
        return self._prototypes.k

    # -- inside ----------------------------------------------------------------------------

    _parameters = attrgetter("rho_a", "rho_b", "alpha", "beta", "out_of_bounds")

    def _check_vigilance(self) -> None:
        check_vigilance("rho_a", self.rho_a)
        check_vigilance("rho_b", self.rho_b)
        if not self.rho_a > self.rho_b:
            raise ValueError(
                f"expected rho_a above rho_b, prototypes are finer than clusters; got "
                f"rho_a={self.rho_a}, rho_b={self.rho_b}"
            )

    def _reset(self, scaling: Scaling) -> None:
        self._prototypes, self._clusters = Module(scaling.d), Module(scaling.d)
        self._seen = np.zeros(0, dtype=np.int64)

    def _snapshot(self, n: int) -> Any:
        seen = self._seen
        return self._prototypes.snapshot(n), self._clusters.snapshot(n), seen, seen.copy()

    def _undo_learning(self, saved: Any) -> None:
        prototypes, clusters, seen, counts = saved
        self._prototypes.restore(prototypes)
        self._clusters.restore(clusters)
        seen[:] = counts
        self._seen = seen

    def _learn(self, X: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        a, b, s, n = self._prototypes, self._clusters, self._scaling, len(X)
        labels, winners, done = np.empty(n, _INTEGER), np.empty((n, 2), _INTEGER), 0
        while True:  # the kernel stops where a module is full
            if self._seen.size < b.room:
                self._seen = np.concatenate([self._seen, np.zeros(b.room, dtype=np.int64)])
            done = learn_hierarchy.compiled(
                *(a.W, a.counters, a.undo_log, b.W, b.counters, b.undo_log, self._seen),
                *(X, s.bounds, self.rho_a, self.rho_b, self.alpha, self.beta),
                *(done, labels, winners),
            )
            if done == n:
                return labels, winners
            a.grow()
            b.grow()
