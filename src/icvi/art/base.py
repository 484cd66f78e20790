"""What the ART estimators share: checked samples, scaling, and calls that change all or nothing."""

from __future__ import annotations

import os
from copy import deepcopy
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from icvi.art.parameters import check_choice, check_learning
from icvi.art.scaling import Scaling, check_first, check_out_of_bounds
from icvi.art.scikit import BaseEstimator, check_is_fitted, checked, validate_data
from icvi.inputs import as_sample
from icvi.saving.kinds import save
from icvi.transactions import Shareable, exclusive, shares

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)

#: What a fit adds to an estimator, or removes from it. The scaling comes before what refers to it.
LEARNT = (
    *("n_features_in_", "feature_names_in_", "n_iter_", "labels_", "winners_"),
    *("_scaling", "_module", "_prototypes", "_clusters", "_seen", "_targets"),
)


class ArtEstimator(Shareable, BaseEstimator):  # type: ignore[misc]
    """Base of estimators whose samples are scaled to [0, 1] and learnt one after the other.

    A call that is refused or interrupted leaves an estimator as it was. A call that learns must be
    the only one; calls that only read may run at the same time.
    """

    # The parameters that were checked last are no part of the state.
    __slots__ = ("_accepted",)

    _accepted: Any

    alpha: float
    beta: float
    bounds: Any
    out_of_bounds: Any

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """An estimator that is not in use."""
        self = super().__new__(cls)
        self._accepted = None
        return self

    # -- what each estimator adds ----------------------------------------------------------

    #: Whether samples are checked when they are learnt, and need not be before.
    _checks_samples: ClassVar[bool] = False

    def _check_vigilance(self) -> None:
        raise NotImplementedError

    def _reset(self, scaling: Scaling) -> None:
        """Start without categories."""
        raise NotImplementedError

    def _snapshot(self, n: int) -> Any:
        """What `_undo_learning` needs to undo learning up to n samples."""
        raise NotImplementedError

    def _undo_learning(self, saved: Any) -> None:
        """Undo learning since `_snapshot`; twice is the same as once."""
        raise NotImplementedError

    # -- saving ----------------------------------------------------------------------------

    @exclusive
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator to a file, for `icvi.load`; it comes back bit for bit.

        The file replaces the one that was there when it is complete and on the disk, not before.
        It contains numbers and names, no code.
        """
        kind = type(self)
        if not kind.__module__.startswith(f"{__package__}."):
            raise TypeError(
                f"a file contains no code, so it cannot contain what your class {kind.__name__} "
                f"adds; pickle it"
            )
        save(kind.__name__, self, path)

    @shares
    def __getstate__(self) -> dict[str, Any]:
        # A copy, because the caller reads it later, when the estimator may have changed.
        return deepcopy(self.__dict__)

    # -- samples ---------------------------------------------------------------------------

    def _first_samples(self, X: Any) -> NDArray[np.float64]:
        """All samples of a fit, checked; what was learnt before is forgotten."""
        self._note((self.__dict__.copy(), None))
        self._check_parameters()
        samples = self._checked(X, reset=True)
        self._start(samples)
        return samples

    def _more_samples(self, X: Any, *, named: bool = True) -> NDArray[np.float64]:
        """A chunk of a partial fit, checked; the first one starts with nothing learnt.

        One sample, unlike a chunk, need not name its features.
        """
        self._check_parameters()
        if "_scaling" not in self.__dict__:
            self._note((self.__dict__.copy(), None))
            X = self._checked(X, reset=True)
            check_first(len(X), self.bounds)
            self._start(X)
        else:
            if not self._is_plain(X, named=named):
                X = self._checked(X, reset=False)
            if not self._checks_samples:
                self._scaling.check(X, self.out_of_bounds)
            self._note((self.__dict__.copy(), self._snapshot(len(X))))
        return X  # type: ignore[no-any-return]

    def _one_sample(self, x: Any) -> NDArray[np.float64]:
        """One sample as the only row of a chunk, checked."""
        scaling = self.__dict__.get("_scaling")
        if scaling is None or x.__class__ is not np.ndarray or x.shape != scaling.shape:
            row = as_sample(x, None if scaling is None else scaling.d).reshape(1, -1)
            return self._more_samples(row, named=False)
        X = x[None]
        if x.dtype is not _FLOAT or not x.flags.c_contiguous:
            return self._more_samples(X, named=False)
        self._check_parameters()
        if not self._checks_samples:
            scaling.check(X, self.out_of_bounds)
        # Learning one sample replaces only what the snapshot covers.
        self._note((None, self._snapshot(1)))
        return X

    def _samples_to_predict(self, X: Any) -> NDArray[np.float64]:
        """Samples that are not learnt, checked."""
        check_is_fitted(self)
        self._check_parameters()
        if not self._is_plain(X):
            X = self._checked(X, reset=False)
        self._scaling.check(X, self.out_of_bounds)
        return X  # type: ignore[no-any-return]

    def _start(self, X: NDArray[np.float64]) -> None:
        scaling = Scaling.of(X, self.bounds, self.out_of_bounds)
        self._scaling = scaling  # type: ignore[misc]  # there is a __dict__ as well
        self._reset(scaling)

    def _checked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        check = partial(validate_data, self, reset=reset, dtype=_FLOAT, order="C")
        return checked(check, X, "X")

    def _is_plain(self, X: Any, *, named: bool = True) -> bool:
        """Whether scikit-learn's checks, which cost more than learning, would find nothing."""
        if X.__class__ is not _ARRAY or X.dtype is not _FLOAT:
            return False
        shape = X.shape
        return (
            len(shape) == 2
            and shape[1] == self.n_features_in_
            and shape[0] > 0
            and X.flags.c_contiguous
            and not (named and "feature_names_in_" in self.__dict__)
        )

    # -- parameters ------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        parameters = self._parameters(self)
        if parameters != self._accepted:
            self._check_vigilance()
            check_choice(self.alpha)
            check_learning(self.beta)
            check_out_of_bounds(self.out_of_bounds)
            self._accepted = parameters

    #: Parameters that are checked again when one of them has changed.
    _parameters: ClassVar[attrgetter[Any]]

    # -- undoing ---------------------------------------------------------------------------

    def _restore(self, saved: Any) -> None:
        before, learnt = saved
        # Only what a fit adds: parameters, and attributes that callers have set, stay.
        for name in () if before is None else LEARNT:
            if name in before:
                self.__dict__[name] = before[name]
            else:
                self.__dict__.pop(name, None)
        if learnt is not None:
            self._undo_learning(learnt)
