"""Fuzzy ARTMAP: online classification by boxes that grow until they would err."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.base import ArtEstimator
from icvi.art.categories import Module
from icvi.art.parameters import check_epochs, check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling, check_first
from icvi.art.scikit import ClassifierTags, RegressorTags
from icvi.art.targets import Classes, ModuleB, Targets
from icvi.inputs import refuse_masked
from icvi.kernels.art.fuzzy_artmap import learn_map
from icvi.transactions import changes, shares
from icvi.wording import short

_INTEGER = np.dtype(np.int64)


class FuzzyARTMAP(ArtEstimator):
    r"""Fuzzy adaptive resonance theory with a map: a classifier that learns one sample at a time.

    Module A puts samples into categories as `FuzzyART` does; each category maps to one class,
    many may map to the same. Where the best category maps to another class, its match becomes
    the vigilance to exceed and the search continues (match tracking); where none is left, the
    sample creates a category. So vigilance rises only where classes are hard to tell apart.

    With ``rho_b`` the targets are numbers or vectors: a module B puts them into categories,
    and these take the place of the classes.

    Parameters
    ----------
    rho : float, default 0.0
        Baseline vigilance of module A, 0 to 1. At 0 categories are as large as the classes
        allow.
    alpha : float, default 0.001
        Choice parameter, above 0; small values prefer the tightest category.
    beta : float, default 1.0
        Learning rate, above 0, up to 1 (fast learning).
    rho_b : float, optional
        Vigilance of module B, 0 to 1: the larger, the finer it tells targets apart. None by
        default: y holds labels of classes (simplified fuzzy ARTMAP).
    max_iter : int, default 1
        Passes over the data in `fit`; it stops earlier when a pass changes no weight.
    bounds : tuple (low, high), optional
        Values that are scaled to 0 and 1, each a number or one number per feature. Learnt by
        default: from all samples of `fit`, or from the first chunk of `partial_fit`.
    bounds_y : tuple (low, high), optional
        The same for targets that are vectors.
    out_of_bounds : {"clip", "error"}, default "clip"
        Samples and vectors outside the bounds are clipped to the border, or refused.

    Attributes
    ----------
    classes_ : ndarray
        Labels of the classes, sorted; without ``rho_b`` only.
    map_ : ndarray of shape (k,)
        What each category maps to: a place in ``classes_``, or a category of module B.
    weights_ : ndarray of shape (k, 2d)
        Complement coded weights of module A.
    weights_b_ : ndarray
        Those of module B; with ``rho_b`` only.
    boxes_ : ndarray of shape (k, 2, d)
        Lower and upper corners of the categories, in units of the data.
    n_categories_ : int
        Number of categories k of module A.
    n_iter_ : int
        Passes that the last `fit` took.

    Notes
    -----
    With :math:`I = (x, 1 - x)`, :math:`|\cdot|` the sum of entries and :math:`K` the target,
    the search visits categories by falling choice, the first one before others that tie:

    .. math::

        T_j = \frac{|I \wedge w_j|}{\alpha + |w_j|}, \qquad
        |I \wedge w_j| \ge \rho |I|, \qquad
        \mathrm{map}(j) \ne K \Rightarrow \rho |I| \text{ rises to just above }
        |I \wedge w_j|, \qquad
        w_j \leftarrow (1 - \beta) w_j + \beta (I \wedge w_j)

    The raised vigilance lasts for one sample. Only the category that the search ends with
    learns. Under fast learning, once a pass changes no weight, every sample of `fit` is
    predicted to be of its own class. Equal samples of different classes prevent that: each
    time they are learnt, those of all classes but one create one more category.

    Module B sees each target before module A sees the sample, and learns in any case.

    References
    ----------
    .. [1] G. A. Carpenter, S. Grossberg, N. Markuzon, J. H. Reynolds, D. B. Rosen, "Fuzzy
       ARTMAP: A neural network architecture for incremental supervised learning of analog
       multidimensional maps", IEEE Transactions on Neural Networks 3(5), 1992.
    .. [2] T. Kasuba, "Simplified fuzzy ARTMAP", AI Expert 8(11), 1993.

    Examples
    --------
    >>> import icvi
    >>> m = icvi.FuzzyARTMAP(bounds=(0.0, 1.0))
    >>> m.fit([[0.1, 0.1], [0.2, 0.3], [0.9, 0.8]], ["low", "low", "high"]).predict([[0.7, 0.9]])
    array(['high'], dtype='<U4')
    >>> m.update([0.15, 0.2], "odd")  # creates a category inside that of "low"
    2
    >>> m.classes_[m.map_].tolist()
    ['low', 'high', 'odd']

    Targets that are numbers:

    >>> r = icvi.FuzzyARTMAP(rho_b=0.9).fit([[0.0], [1.0], [2.0]], [10.0, 30.0, 20.0])
    >>> r.predict([[0.9], [2.5]]).tolist()
    [30.0, 20.0]
    """

    _targets: Targets

    def __init__(
        self,
        rho: float = 0.0,
        alpha: float = 1e-3,
        beta: float = 1.0,
        *,
        rho_b: float | None = None,
        max_iter: int = 1,
        bounds: Any = None,
        bounds_y: Any = None,
        out_of_bounds: OutOfBounds = "clip",
    ) -> None:
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.rho_b = rho_b
        self.max_iter = max_iter
        self.bounds = bounds
        self.bounds_y = bounds_y
        self.out_of_bounds = out_of_bounds

    @changes
    def fit(self, X: Any, y: Any) -> FuzzyARTMAP:
        """Forget everything, then learn all samples in order.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : array-like of shape (n,) or (n, m)
            Label of each sample, or, with ``rho_b``, a number or a vector of m numbers.
        """
        X = self._first_samples(X)
        y = self._first_targets(y, len(X), None)
        for epoch in range(int(self.max_iter)):
            before = self._changes
            self._learn(X, y)
            self.n_iter_ = epoch + 1
            if self._changes == before:
                break
        return self

    @changes
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> FuzzyARTMAP:
        """Learn more samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : array-like of shape (n,) or (n, m)
            As in `fit`.
        classes : array-like, optional
            Labels of all classes, at the first call; other labels are refused from then on.
            By default, labels are added as they appear.
        """
        X = self._more_samples(X)
        self._learn(X, self._next_targets(y, len(X), classes))
        return self

    @changes
    def update(self, x: Any, y: Any) -> int:
        """Learn one sample and its target; its category in module A."""
        if y.__class__ not in (int, str):  # others are rare, and checked
            refuse_masked((y,), "y")
            if self.rho_b is None and np.ndim(y):
                raise ValueError(f"expected one label, got {short(y)}")
        X = self._one_sample(x)
        return int(self._learn(X, self._next_targets(np.asarray([y]), 1, None))[0])

    @shares
    def predict(self, X: Any) -> NDArray[Any]:
        """Targets of samples, nothing learnt.

        That of the category which `apply` returns: its label, or, with ``rho_b``, the middle
        of the box that it maps to.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        """
        winners = self.apply(X)
        return self._targets.answers[self._module.owners[winners]]

    @shares
    def apply(self, X: Any) -> NDArray[np.int64]:
        """Categories of samples in module A, nothing learnt.

        The highest choice of those that pass the baseline vigilance, or, where none does, of all.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        """
        X = self._samples_to_predict(X)
        return self._module.rank(X, self._scaling, self.rho, self.alpha)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions, or, with ``rho_b``, their R^2.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        y : array-like of shape (n,) or (n, m)
            What they should be predicted as.
        sample_weight : array-like of shape (n,), optional
            Weights of the samples.
        """
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if self.rho_b is None else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    @shares
    def classes_(self) -> NDArray[Any]:
        """Labels of the classes, sorted."""
        if isinstance(self._targets, Classes):
            return self._targets.sorted
        raise AttributeError("there are no classes where rho_b is a number")

    @property
    @shares
    def weights_b_(self) -> NDArray[np.float64]:
        """Complement coded weights of module B."""
        if isinstance(self._targets, ModuleB):
            return self._targets.module.weights
        raise AttributeError("there is no module B where rho_b is None")

    @property
    @shares
    def map_(self) -> NDArray[np.int64]:
        """(k,) place in ``classes_``, or category of module B, of each category."""
        return self._targets.places[self._module.owners]

    @property
    @shares
    def weights_(self) -> NDArray[np.float64]:
        """(k, 2d) complement coded weights of module A."""
        return self._module.weights

    @property
    @shares
    def boxes_(self) -> NDArray[np.float64]:
        """(k, 2, d) corners of the categories, in units of the data."""
        return self._scaling.boxes(self._module.weights)

    @property
    @shares
    def n_categories_(self) -> int:
        """Number of categories of module A."""
        return self._module.k

    # -- inside ----------------------------------------------------------------------------

    _parameters = attrgetter("rho", "alpha", "beta", "rho_b", "max_iter", "out_of_bounds")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.rho_b is None:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.multi_output = True
        return tags

    def _check_vigilance(self) -> None:
        check_vigilance("rho", self.rho)
        if self.rho_b is not None:
            check_vigilance("rho_b", self.rho_b)
        check_epochs(self.max_iter)

    def _reset(self, scaling: Scaling) -> None:
        self._module = Module(scaling.d)

    def _snapshot(self, n: int) -> Any:
        return self._module.snapshot(n), self._targets.snapshot(n)

    def _undo_learning(self, saved: Any) -> None:
        module, targets = saved
        self._module.restore(module)
        self._targets.restore(targets)

    @property
    def _changes(self) -> int:
        return self._module.changes + self._targets.changes

    def _learn(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.int64]:
        """Learn samples and targets, checked before; categories in module A."""
        m, s, n = self._module, self._scaling, len(X)
        rho, alpha, beta = self.rho, self.alpha, self.beta
        targets = self._targets.learn(y, self.rho_b, alpha, beta)
        winners, done = np.empty(n, _INTEGER), 0
        while True:  # the kernel stops where the module is full
            done = learn_map.compiled(
                m.W, m.counters, m.undo_log, X, targets, s.bounds, rho, alpha, beta, done, winners
            )
            if done == n:
                return winners
            m.grow()

    def _next_targets(self, y: Any, n: int, classes: Any) -> NDArray[Any]:
        """Targets of n samples of a partial fit, checked; the first ones start with none."""
        if "_targets" in self.__dict__:
            return self._more_targets(y, n, classes)
        if self.rho_b is not None:
            check_first(n, self.bounds_y, "bounds_y")
        return self._first_targets(y, n, classes)

    def _first_targets(self, y: Any, n: int, classes: Any) -> NDArray[Any]:
        """Targets of n samples of a fit, checked; what was learnt before is forgotten."""
        if self.rho_b is None:
            self._targets = Classes(classes)
        else:
            self._targets = ModuleB.of(y, self.bounds_y, self.out_of_bounds)
        return self._more_targets(y, n, classes)

    def _more_targets(self, y: Any, n: int, classes: Any) -> NDArray[Any]:
        if self._targets.labelled != (self.rho_b is None):
            raise ValueError(
                f"rho_b={self.rho_b} changes what y means, labels or vectors; call fit to start "
                f"from scratch"
            )
        if classes is not None:
            self._targets.check_classes(classes)
        return self._targets.checked(y, n, self.out_of_bounds)
