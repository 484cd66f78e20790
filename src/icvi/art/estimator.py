"""What the ART estimators share: checked samples, scaling, and nothing changed on refusal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from icvi.art.options import check_choice, check_learning
from icvi.art.scaling import Scaling, check_first, check_out_of_bounds
from icvi.art.scikit import BaseEstimator, check_is_fitted, validate_data
from icvi.art.scikit import ClusterMixin as ClusterMixin
from icvi.inputs import as_sample

_FLOAT = np.dtype(np.float64)


class ArtEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of estimators whose samples are scaled to [0, 1] and learnt one after the other."""

    alpha: float
    beta: float
    bounds: Any
    out_of_bounds: Any

    # -- what a kind of ART adds -----------------------------------------------------------

    def _check_vigilance(self) -> None:
        raise NotImplementedError

    def _forget(self, scaling: Scaling) -> None:
        """Start with no categories at all."""
        raise NotImplementedError

    # -- keeping it ------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator to a file, for `icvi.load`; it comes back bit for bit.

        The file takes the place of what was there when it is complete and on the disk, not before.
        It holds numbers and names, no code.
        """
        from icvi.saving_art import save_art

        save_art(self, path)

    # -- samples ---------------------------------------------------------------------------

    def _begin(self, X: Any) -> NDArray[np.float64]:
        """All samples of a fit, checked; what was learnt before is forgotten."""
        with self._untouched_on_refusal():
            self._check_parameters()
            samples = self._checked(X, reset=True)
            self._start(samples)
        return samples

    def _go_on(self, X: Any, *, named: bool = True) -> NDArray[np.float64]:
        """A chunk of a partial fit, checked; the first one starts with nothing learnt.

        One sample, unlike a chunk, is not expected to name its features.
        """
        if self._is_plain(X, named=named):
            self._check_parameters()
            self._scaling.check(X, self.out_of_bounds)
            return X  # type: ignore[no-any-return]
        with self._untouched_on_refusal():
            self._check_parameters()
            begins = "_scaling" not in self.__dict__
            samples = self._checked(X, reset=begins)
            if begins:
                check_first(len(samples), self.bounds)
                self._start(samples)
            else:
                self._scaling.check(samples, self.out_of_bounds)
        return samples

    def _look(self, X: Any) -> NDArray[np.float64]:
        """Samples to evaluate, checked."""
        check_is_fitted(self)
        self._check_parameters()
        if not self._is_plain(X):
            X = self._checked(X, reset=False)
        self._scaling.check(X, self.out_of_bounds)
        return X  # type: ignore[no-any-return]

    def _row(self, x: Any) -> NDArray[np.float64]:
        """One sample as the only row of a chunk."""
        scaling = self.__dict__.get("_scaling")
        if x.__class__ is np.ndarray and scaling is not None and x.shape == scaling.shape:
            return x[None]  # checked with the scaling
        return as_sample(x, None if scaling is None else scaling.d).reshape(1, -1)

    def _start(self, X: NDArray[np.float64]) -> None:
        self._scaling = Scaling.of(X, self.bounds, self.out_of_bounds)
        self._forget(self._scaling)

    def _checked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        checked = validate_data(self, X, reset=reset, dtype=_FLOAT, order="C")
        return np.ascontiguousarray(checked)

    def _is_plain(self, X: Any, *, named: bool = True) -> bool:
        """Whether scikit-learn's checks, which cost more than learning, would find nothing."""
        fitted = self.__dict__
        return (
            X.__class__ is np.ndarray
            and X.dtype is _FLOAT
            and "_scaling" in fitted
            and X.shape[1:] == fitted["_scaling"].shape
            and X.flags.c_contiguous
            and len(X) > 0
            and not (named and "feature_names_in_" in fitted)
        )

    # -- parameters ------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        parameters = self._parameters(self)
        if parameters != self.__dict__.get("_accepted"):
            self._check_vigilance()
            check_choice(self.alpha)
            check_learning(self.beta)
            check_out_of_bounds(self.out_of_bounds)
            self._accepted = parameters

    #: Those that are checked again when one has changed.
    _parameters: ClassVar[attrgetter[Any]]

    @contextmanager
    def _untouched_on_refusal(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
