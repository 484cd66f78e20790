"""What an estimator of streams needs around its learning: checked samples, all or nothing."""

from __future__ import annotations

from copy import deepcopy
from functools import cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.art.scikit import BaseEstimator, checked, validate_data
from icvi.inputs import LARGEST, as_samples
from icvi.kernels.art.coding import first_outside
from icvi.transactions import Shareable, shares

_FLOAT = np.dtype(np.float64)

#: What a fit adds to an estimator, or removes from it.
LEARNT = ("n_features_in_", "feature_names_in_", "labels_", "_micro")


class StreamEstimator(Shareable, BaseEstimator):  # type: ignore[misc]
    """Base of estimators that learn on a copy, which then takes the place of what was there.

    A call that is refused or interrupted leaves an estimator as it was. A call that learns must be
    the only one; calls that only read may run at the same time.
    """

    # The parameters that were checked last, and what they mean, are no part of the state.
    __slots__ = ("_accepted",)

    _accepted: Any

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """An estimator that is not in use."""
        self = super().__new__(cls)
        self._accepted = None
        return self

    @shares
    def __getstate__(self) -> dict[str, Any]:
        # A copy, because the caller reads it later, when the estimator may have changed.
        return deepcopy(self.__dict__)

    def _more_samples(self, X: Any) -> NDArray[np.float64]:
        """A chunk, checked; the first one gives the number and the names of the features."""
        first = "_micro" not in self.__dict__
        return X if not first and self._is_plain(X) else self._checked(X, reset=first)

    def _checked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        check = partial(validate_data, self, reset=reset, dtype=_FLOAT, order="C")
        return as_samples(checked(check, X, "X"))

    def _is_plain(self, X: Any) -> bool:
        """Whether scikit-learn's checks, which cost more than learning, would find nothing."""
        return (
            X.__class__ is np.ndarray
            and X.dtype is _FLOAT
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and X.flags.c_contiguous
            and len(X) > 0
            and "feature_names_in_" not in self.__dict__
            and first_outside.compiled(X, _limits(X.shape[1])) < 0
        )

    def _restore(self, saved: dict[str, Any]) -> None:
        # Only what a fit adds: parameters, and attributes that callers have set, stay.
        for name in LEARNT:
            if name in saved:
                self.__dict__[name] = saved[name]
            else:
                self.__dict__.pop(name, None)


@cache
def _limits(d: int) -> NDArray[np.float64]:
    return np.stack([np.full(d, -LARGEST), np.full(d, LARGEST)])
