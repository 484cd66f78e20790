"""Labels from scikit-learn's clusterers, and from objects with their methods."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import (
    Labelled,
    Labeller,
    as_labels,
    check_columns,
    checked_names,
)
from icvi.watching.labellers.matching import Matching
from icvi.watching.labellers.models import restore_views

_OTHERS = ("classifier", "regressor", "outlier_detector")
_STREAMING = (
    "MiniBatchKMeans or Birch, FuzzyART or FuzzySMART of icvi, or one of river's clusterers"
)


class ScikitLabels(Labeller):
    """Learns a chunk with ``partial_fit``, then labels it with ``predict``.

    The size of a mini-batch changes what is learnt, so all chunks have one size. A fitted model
    without ``partial_fit``, such as KMeans or a Pipeline, only predicts; so does any model with
    ``learn=False``. Such a model accepts batches of any size; a tie that rounding decides may then
    depend on the batch.

    Birch finds its clusters from scratch after every chunk. They are matched to those before.

    Parameters
    ----------
    model : estimator
        With ``predict``, and ``partial_fit`` if it is to learn.
    batch : int
        How many samples it learns at once.
    learn : bool
        False to predict only.
    columns : sequence of str
        The features of the stream.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import MiniBatchKMeans
    >>> labeller = ScikitLabels(MiniBatchKMeans(2, random_state=0), batch=4)
    >>> labels = labeller.label(Batch(np.array([[0.0], [9.0], [0.1], [9.1]]))).labels
    >>> bool(labels[0] == labels[2] != labels[1] == labels[3])
    True
    """

    def __init__(
        self, model: Any, batch: int, *, learn: bool = True, columns: Sequence[str] = ()
    ) -> None:
        self.name, self.model = type(model).__name__, model
        self._columns = tuple(columns)
        self._check_kind()
        self.learns = learn and hasattr(model, "partial_fit")
        self.chunk = batch if self.learns else None
        if self.learns and self.name == "Birch":
            self._matching = Matching()
        if not self.learns:
            self._check_fitted(learn)
        check_columns(model, columns, self.name)

    def label(self, batch: Batch) -> Labelled:
        """Label a batch, after all of it was learnt."""
        if self.chunk is not None and len(batch) > self.chunk:
            raise ValueError(
                f"{self.name} learns chunks of {self.chunk} samples, got {len(batch)} at once"
            )
        named = hasattr(self.model, "feature_names_in_")
        with checked_names() if named else nullcontext():
            if self.learns:
                self._learn(batch)
                if self._matching is not None:
                    self._matching.match(self.model.predict)
            labels = as_labels(self.model.predict(batch.X), len(batch), self.name)
        if self._matching is not None:
            labels = self._matching.labels(labels)
            self._matching.remember(batch.X, labels)
        return Labelled(labels)

    # -- inside ----------------------------------------------------------------------------

    def _learn(self, batch: Batch) -> None:
        try:
            # A copy: Birch keeps rows of it.
            self.model.partial_fit(batch.X.copy())
        except ValueError as error:
            clusters = getattr(self.model, "n_clusters", None)
            if isinstance(clusters, int) and clusters > len(batch):
                raise ValueError(
                    f"{self.name} needs at least as many samples in the first chunk as clusters, "
                    f"{clusters}, and got {len(batch)}; raise batch (--batch) or begin "
                    f"(--begin), give a longer stream, or ask for fewer clusters ({error})"
                ) from error
            raise

    def _check_kind(self) -> None:
        kind = _estimator_type(self.model)
        if kind in _OTHERS:
            raise TypeError(
                f"expected a clusterer, got {self.name} ({kind.replace('_', ' ')}); for a stream, "
                f"use {_STREAMING}"
            )
        if hasattr(self.model, "predict"):
            return
        if hasattr(self.model, "fit_predict"):
            raise TypeError(
                f"{self.name} has no predict: it can only label the samples it is fitted on; label "
                f"all samples at once and give the labels as a column (label=, --labels), or use "
                f"{_STREAMING}"
            )
        raise TypeError(
            f"expected a clusterer with predict, got {self.name}; for a stream, use {_STREAMING}"
        )

    def _check_fitted(self, learn: bool) -> None:
        if not hasattr(self.model, "__sklearn_tags__"):
            return  # predict will raise
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        try:
            check_is_fitted(self.model)
        except NotFittedError as error:
            raise ValueError(self._unfitted(learn)) from error

    def _unfitted(self, learn: bool) -> str:
        if not learn:
            return (
                f"{self.name} has not been fitted, so it has no clusters to predict; fit it first, "
                f"or let it learn (learn=True, no --no-learn)"
            )
        if hasattr(self.model, "steps"):
            last = type(self.model.steps[-1][1]).__name__
            return (
                f"a {self.name} has no partial_fit, so it cannot learn from a stream, and it has "
                f"not been fitted; fit it first to predict with it, give {last} alone and samples "
                f"that are already scaled, or use a pipeline of river "
                f"(river.preprocessing.StandardScaler() | river.cluster.DBSTREAM())"
            )
        return (
            f"{self.name} has no partial_fit, so it cannot learn from a stream, and it has not "
            f"been fitted; fit it first to predict with it, or use {_STREAMING}"
        )

    def _adopt(self, model: Any) -> None:
        check_columns(model, self._columns, self.name)
        super()._adopt(restore_views(model))


def _estimator_type(model: Any) -> Any:
    """The kind of estimator that scikit-learn knows; None where it is unknown."""
    if hasattr(model, "__sklearn_tags__"):
        return model.__sklearn_tags__().estimator_type
    return getattr(model, "_estimator_type", None)
