"""What the estimators use of scikit-learn, and its checks with short errors of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import refuse_masked, refuse_unordered
from icvi.optional import needed

_BY = "an estimator of icvi (FuzzyART, FuzzyARTMAP, FuzzySMART, MicroWard, Quantizer)"

with needed("sklearn", "art", _BY):
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClusterMixin as ClusterMixin
    from sklearn.utils import ClassifierTags as ClassifierTags
    from sklearn.utils import RegressorTags as RegressorTags
    from sklearn.utils import assert_all_finite as assert_all_finite
    from sklearn.utils import check_array as check_array
    from sklearn.utils import column_or_1d as column_or_1d
    from sklearn.utils.multiclass import (
        check_classification_targets as check_classification_targets,
    )
    from sklearn.utils.multiclass import type_of_target as type_of_target
    from sklearn.utils.multiclass import unique_labels as unique_labels
    from sklearn.utils.validation import check_is_fitted as check_is_fitted
    from sklearn.utils.validation import validate_data as validate_data

_LONGEST = 500  # characters of an error, which may quote all of the input


def checked(check: Callable[..., Any], values: Any, name: str) -> NDArray[np.float64]:
    """Numbers as a check of scikit-learn returns them, contiguous."""
    refuse_unordered(values, name)
    refuse_masked(values, name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        raise TypeError(f"expected {name} to hold real numbers, got dtype {values.dtype}")
    try:
        with np.errstate(over="ignore"):  # beyond doubles is infinite, and refused as such
            return np.ascontiguousarray(check(values))
    except OverflowError:
        raise ValueError(f"expected {name} to hold numbers that doubles can hold") from None
    except ValueError as error:
        if len(str(error)) <= _LONGEST:
            raise
        raise ValueError(str(error)[: _LONGEST - 3] + "...") from None
