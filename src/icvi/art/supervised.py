"""What an ART estimator that learns targets adds: y checked along with X, tags, and a score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.classes import Classes
from icvi.art.estimator import ArtEstimator
from icvi.art.module_b import ModuleB
from icvi.art.scaling import check_first
from icvi.art.scikit import ClassifierTags, RegressorTags
from icvi.art.targets import Targets
from icvi.transactions import shares


class SupervisedArt(ArtEstimator):
    """Base of estimators whose samples have labels, or, where rho_b is a number, vectors."""

    rho_b: float | None
    bounds_y: Any

    _targets: Targets

    def predict(self, X: Any) -> NDArray[Any]:
        """Targets of samples, nothing learnt."""
        raise NotImplementedError

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.rho_b is None:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.multi_output = True
        return tags

    # -- targets of samples ---------------------------------------------------------------

    def _go_on_with_targets(self, y: Any, n: int, classes: Any) -> NDArray[Any]:
        """Those of n samples of a partial fit, checked; the first ones start with none."""
        if "_targets" in self.__dict__:
            return self._more_targets(y, n, classes)
        if self.rho_b is not None:
            check_first(n, self.bounds_y, "bounds_y")
        return self._first_targets(y, n, classes)

    def _first_targets(self, y: Any, n: int, classes: Any) -> NDArray[Any]:
        """Those of n samples, checked; what was learnt before is forgotten."""
        if self.rho_b is None:
            self._targets = Classes(classes)
        else:
            self._targets = ModuleB(y, self.bounds_y, self.out_of_bounds)
        return self._more_targets(y, n, classes)

    def _more_targets(self, y: Any, n: int, classes: Any) -> NDArray[Any]:
        if self._targets.labelled != (self.rho_b is None):
            raise ValueError(
                f"rho_b={self.rho_b} changes what y means, labels or vectors; call fit to start "
                f"anew"
            )
        if classes is not None:
            self._targets.check_classes(classes)
        return self._targets.checked(y, n, self.out_of_bounds)
