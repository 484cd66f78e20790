"""Quantizer: prototypes for anybody's clusters, so that Conn_Index can watch any clusterer."""

from __future__ import annotations

from collections.abc import Hashable
from operator import attrgetter
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from icvi.art.estimator import ArtEstimator
from icvi.art.module_a import ModuleA
from icvi.art.options import check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling
from icvi.labels import as_label_array
from icvi.transactions import changes, shares


class Quantizer(ArtEstimator):
    """Module A of fuzzy SMART, driven by labels from elsewhere.

    A sample goes to the prototype that it fits best among those of its own cluster that pass
    vigilance; where there is none it founds one. The first two samples of every cluster each
    found a prototype.

    Parameters
    ----------
    rho : float, default 0.9
        Vigilance, 0 to 1; the larger, the more prototypes.
    alpha, beta, bounds, out_of_bounds
        As in `FuzzyART`.

    Attributes
    ----------
    winners_ : ndarray of shape (n, 2)
        Winner and runner-up of each sample of the last `fit` or `partial_fit`; -1 while there
        is no other prototype. The runner-up is the highest choice of all prototypes but the
        winner, before learning.
    prototypes_ : ndarray of shape (P, d)
        Middles of the prototypes' boxes, in units of the data.
    cluster_of_prototype_ : list of length P
        Label of the cluster that owns each prototype.
    prototype_weights_ : ndarray of shape (P, 2d)
        Complement coded weights.
    n_prototypes_ : int
        Number of prototypes P.

    Examples
    --------
    >>> import icvi
    >>> q = icvi.Quantizer(rho=0.9, bounds=(0.0, 1.0))
    >>> q.update([0.1, 0.1], "a"), q.update([0.1, 0.2], "a"), q.update([0.8, 0.9], "b")
    ((0, None), (1, 0), (2, 1))
    >>> q.cluster_of_prototype_
    ['a', 'a', 'b']
    """

    def __init__(
        self,
        rho: float = 0.9,
        alpha: float = 1e-3,
        beta: float = 1.0,
        *,
        bounds: Any = None,
        out_of_bounds: OutOfBounds = "clip",
    ) -> None:
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.bounds = bounds
        self.out_of_bounds = out_of_bounds

    @changes
    def fit(self, X: Any, y: Any) -> Quantizer:
        """Forget everything, then learn all samples in order.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : sequence of length n
            Label of the cluster of each sample, any hashable.
        """
        X = self._begin(X)
        self.winners_ = self._learn(X, y)
        return self

    @changes
    def partial_fit(self, X: Any, y: Any) -> Quantizer:
        """Learn more samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : sequence of length n
            Label of the cluster of each sample.
        """
        X = self._go_on(X)
        self.winners_ = self._learn(X, y)
        return self

    @changes
    def update(self, x: Any, label: Hashable) -> tuple[int, int | None]:
        """Learn one sample of a cluster; its winner and runner-up (None while there is none)."""
        X = self._go_on_with_one(x)
        winner, runner_up = self._module.learn_one(X, label, self.rho, self.alpha, self.beta)
        return winner, None if runner_up < 0 else runner_up

    @overload
    def predict(self, X: Any, *, return_second: Literal[False] = ...) -> NDArray[np.int64]: ...

    @overload
    def predict(
        self, X: Any, *, return_second: Literal[True]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

    @shares
    def predict(
        self, X: Any, *, return_second: bool = False
    ) -> NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Prototypes that win samples, whatever their cluster; nothing learnt.

        Where no prototype passes vigilance, the highest choice wins.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        return_second : bool, default False
            Also return the runner-up; -1 where there is no other prototype.
        """
        X = self._look(X)
        winners = self._module.rank(X, None, self.rho, self.alpha)
        return (winners[:, 0], winners[:, 1]) if return_second else winners[:, 0]

    @shares
    def winners(self, X: Any, labels: Any) -> NDArray[np.int64]:
        """Winners and runner-ups of labelled samples, nothing learnt.

        The winner is a prototype of the sample's own cluster.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        labels : sequence of length n
            Label of the cluster of each sample; each must be known.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        X = self._look(X)
        return self._module.rank(X, as_label_array(labels, len(X)), self.rho, self.alpha)

    @property
    @shares
    def prototypes_(self) -> NDArray[np.float64]:
        """(P, d) middles of the prototypes' boxes, in units of the data."""
        return self._scaling.centers(self._module.module.weights)

    @property
    @shares
    def cluster_of_prototype_(self) -> list[Hashable]:
        """Label of the cluster of each prototype."""
        return self._module.owners

    @property
    @shares
    def prototype_weights_(self) -> NDArray[np.float64]:
        """(P, 2d) complement coded weights."""
        return self._module.module.weights

    @property
    @shares
    def n_prototypes_(self) -> int:
        """Number of prototypes P."""
        return self._module.module.k

    # -- inside ----------------------------------------------------------------------------

    _parameters = attrgetter("rho", "alpha", "beta", "out_of_bounds")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_vigilance(self) -> None:
        check_vigilance("rho", self.rho)

    def _forget(self, scaling: Scaling) -> None:
        self._module = ModuleA(scaling)

    def _snapshot(self, n: int) -> Any:
        return self._module.snapshot(n)

    def _rewind(self, saved: Any) -> None:
        self._module.restore(saved)

    def _learn(self, X: NDArray[np.float64], y: Any) -> NDArray[np.int64]:
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: a Quantizer learns samples "
                "of clusters, and y says which"
            )
        labels = as_label_array(y, len(X))
        return self._module.learn(X, labels, self.rho, self.alpha, self.beta)
