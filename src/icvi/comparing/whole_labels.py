"""Labels from clusterers that must see all samples before they label the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.optional import needed
from icvi.streams import Batch
from icvi.watching.labellers import NO_CLUSTER, Labelled, Labeller
from icvi.watching.labellers.labeller import as_labels, checked_names, comes_from

if TYPE_CHECKING:
    from icvi.watching.step import Kept


def needs_all(clusterer: Any) -> bool:
    """Whether a clusterer can only label samples that it was fitted on, all at once.

    >>> from sklearn.cluster import DBSCAN, KMeans, MiniBatchKMeans
    >>> fitted = KMeans(1).fit([[0.0], [1.0]])
    >>> [needs_all(each) for each in (DBSCAN(), KMeans(), fitted, MiniBatchKMeans())]
    [True, True, False, False]
    """
    if isinstance(clusterer, type) or comes_from(clusterer, "icvi.art"):
        return False
    if any(hasattr(clusterer, method) for method in ("partial_fit", "learn_one")):
        return False
    if not hasattr(clusterer, "fit_predict"):
        return False
    return not (hasattr(clusterer, "predict") and _is_fitted(clusterer))


def _is_fitted(clusterer: Any) -> bool:
    with needed("sklearn", "art", "comparing estimators"):
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted
    try:
        check_is_fitted(clusterer)
    except (NotFittedError, TypeError, AttributeError):
        return False
    return True


class WholeLabels(Labeller):
    """Labels all samples at once with ``fit_predict``, then gives them one after the other.

    Checkpoints hold the labels, and no pickle of the clusterer.

    Parameters
    ----------
    model : estimator
        With ``fit_predict``.
    samples : callable
        All samples of the stream, scaled as the stream is.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> X = np.array([[0.0], [9.0], [0.1], [9.1]])
    >>> labeller = WholeLabels(KMeans(2, random_state=0), lambda: X)
    >>> labeller.label(Batch(X[2:], first=2)).labels.tolist()
    [0, 1]
    """

    unassigned = NO_CLUSTER

    def __init__(self, model: Any, samples: Callable[[], NDArray[np.float64]]) -> None:
        self.name, self.model = type(model).__name__, model
        self._samples = samples
        self._labels: NDArray[Any] | None = None

    @property
    def pickles(self) -> bool:
        """Checkpoints hold the labels only."""
        return False

    def fit(self) -> NDArray[Any]:
        """Label all samples, once."""
        if self._labels is None:
            X = self._samples().copy()  # it may change them
            try:
                with checked_names():
                    self._labels = as_labels(self.model.fit_predict(X), len(X), self.name)
            except ValueError as error:
                error.add_note(f"in {self.name}, which was fitted on all {len(X):,} samples")
                raise
        return self._labels

    def label(self, batch: Batch) -> Labelled:
        """The labels of some samples."""
        labels = self.fit()
        if batch.stop > len(labels):
            raise ValueError(
                f"{self.name} was fitted on {len(labels):,} samples, and the source has more by "
                "now; compare again"
            )
        return Labelled(labels[batch.first : batch.stop])

    def keep(self) -> Kept:
        """The labels."""
        return {}, {} if self._labels is None else {"labels": self._labels}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume with the labels that `keep` returned."""
        del facts
        self._labels = arrays.get("labels")
