"""Fuzzy ART: online clustering by boxes that grow until vigilance forbids it."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from icvi.art.base import ArtEstimator
from icvi.art.categories import Module
from icvi.art.parameters import check_epochs, check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling
from icvi.art.scikit import ClusterMixin
from icvi.transactions import changes, shares


class FuzzyART(ClusterMixin, ArtEstimator):  # type: ignore[misc]
    r"""Fuzzy adaptive resonance theory: a clusterer that learns one sample at a time.

    A sample joins the category that it fits best among those that it would not stretch too far;
    if there is none, it creates a category. New samples never erase what was learnt before.

    Parameters
    ----------
    rho : float, default 0.75
        Vigilance, 0 to 1. The larger, the smaller the categories, and the more of them.
    alpha : float, default 0.001
        Choice parameter, above 0; small values prefer the tightest category.
    beta : float, default 1.0
        Learning rate, above 0, up to 1 (fast learning).
    max_iter : int, default 1
        Passes over the data in `fit`; it stops earlier when a pass changes no weight.
    bounds : tuple (low, high), optional
        Values that are scaled to 0 and 1, each a number or one number per feature. Learnt by
        default: from all samples of `fit`, or from the first chunk of `partial_fit`.
    out_of_bounds : {"clip", "error"}, default "clip"
        Samples outside the bounds are clipped to the border, or refused.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Category of each sample of the last `fit` or `partial_fit`, when it was learnt:
        0, 1, ... in order of creation.
    weights_ : ndarray of shape (k, 2d)
        Complement coded weights.
    boxes_ : ndarray of shape (k, 2, d)
        Lower and upper corners of the categories, in units of the data.
    n_clusters_ : int
        Number of categories k.
    n_iter_ : int
        Passes that the last `fit` took.

    Notes
    -----
    With :math:`I = (x, 1 - x)` and :math:`|\cdot|` the sum of entries (Eqs. 49-52 of [1]_)

    .. math::

        T_j = \frac{|I \wedge w_j|}{\alpha + |w_j|}, \qquad
        |I \wedge w_j| \ge \rho |I| = \rho d, \qquad
        w_j \leftarrow (1 - \beta) w_j + \beta (I \wedge w_j)

    The first category wins ties. Learning a sample costs O(k d).

    References
    ----------
    .. [1] L. E. Brito da Silva, N. M. Melton, D. C. Wunsch II, "Incremental Cluster Validity
       Indices for Hard Partitions: Extensions and Comparative Study", arXiv:1902.06711.
    .. [2] G. A. Carpenter, S. Grossberg, D. B. Rosen, "Fuzzy ART: Fast stable learning and
       categorization of analog patterns by an adaptive resonance system", Neural Networks
       4, 1991.

    Examples
    --------
    >>> import icvi
    >>> a = icvi.FuzzyART(rho=0.8, bounds=(0.0, 10.0))
    >>> a.partial_fit([[1.0, 1.0], [1.5, 1.0], [9.0, 9.0]]).labels_.tolist()
    [0, 0, 1]
    >>> a.update([8.5, 9.0])
    1
    >>> a.boxes_[0].round(9).tolist()
    [[1.0, 1.0], [1.5, 1.0]]
    """

    def __init__(
        self,
        rho: float = 0.75,
        alpha: float = 1e-3,
        beta: float = 1.0,
        *,
        max_iter: int = 1,
        bounds: Any = None,
        out_of_bounds: OutOfBounds = "clip",
    ) -> None:
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.max_iter = max_iter
        self.bounds = bounds
        self.out_of_bounds = out_of_bounds

    @changes
    def fit(self, X: Any, y: Any = None) -> FuzzyART:
        """Forget everything, then learn all samples in order.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : ignored
        """
        X = self._first_samples(X)
        for epoch in range(int(self.max_iter)):
            before = self._module.changes
            self.labels_ = self._learn(X)
            self.n_iter_ = epoch + 1
            if self._module.changes == before:
                break
        return self

    @changes
    def partial_fit(self, X: Any, y: Any = None) -> FuzzyART:
        """Learn more samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : ignored
        """
        X = self._more_samples(X)
        # As in `_learn`, whose call takes 2 % of the time of a sample.
        m, outside = self._module, self.out_of_bounds
        self.labels_ = m.learn(X, self._scaling, outside, self.rho, self.alpha, self.beta)
        return self

    @changes
    def update(self, x: Any) -> int:
        """Learn one sample; its category."""
        return int(self._learn(self._one_sample(x))[0])

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
        """Categories of samples, nothing learnt.

        Where no category passes vigilance, the highest choice wins.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        return_second : bool, default False
            Also return the runner-up: the highest choice of the other categories; -1 where
            there is no other.
        """
        X = self._samples_to_predict(X)
        winners = self._module.rank(X, self._scaling, self.rho, self.alpha)
        return (winners[:, 0], winners[:, 1]) if return_second else winners[:, 0]

    @property
    @shares
    def weights_(self) -> NDArray[np.float64]:
        """(k, 2d) complement coded weights."""
        return self._module.weights

    @property
    @shares
    def boxes_(self) -> NDArray[np.float64]:
        """(k, 2, d) corners of the categories, in units of the data."""
        return self._scaling.boxes(self._module.weights)

    @property
    @shares
    def n_clusters_(self) -> int:
        """Number of categories."""
        return self._module.k

    # -- inside ----------------------------------------------------------------------------

    _checks_samples = True

    _parameters = attrgetter("rho", "alpha", "beta", "max_iter", "out_of_bounds")

    def _check_vigilance(self) -> None:
        check_vigilance("rho", self.rho)
        check_epochs(self.max_iter)

    def _reset(self, scaling: Scaling) -> None:
        self._module = Module(scaling.d)

    def _snapshot(self, n: int) -> Any:
        return self._module.snapshot(n)

    def _undo_learning(self, saved: Any) -> None:
        self._module.restore(saved)

    def _learn(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        outside = self.out_of_bounds
        return self._module.learn(X, self._scaling, outside, self.rho, self.alpha, self.beta)
