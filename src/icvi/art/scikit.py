"""What the ART estimators take from scikit-learn."""

from __future__ import annotations

from icvi.optional import needed

_BY = "an ART estimator (FuzzyART, FuzzyARTMAP, FuzzySMART, Quantizer)"

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
