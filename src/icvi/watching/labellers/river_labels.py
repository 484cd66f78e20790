"""Labels from river's clusterers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import plain
from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import (
    NO_CLUSTER,
    Labelled,
    Labeller,
    as_labels,
    comes_from,
    names_of,
)
from icvi.watching.labellers.matching import Matching
from icvi.watching.labellers.river_centers import Centers

_RENUMBERING = ("DBSTREAM", "DenStream", "CluStream")


class RiverLabels(Labeller):
    """Learns a sample with ``learn_one``, then labels it with ``predict_one``.

    Samples become dictionaries with the names of the columns. A pipeline,
    ``preprocessing.StandardScaler() | cluster.DBSTREAM()``, is a clusterer, too: it sees scaled
    samples, while the indices are read from the samples of the stream.

    A sample gets the label -1, `NO_CLUSTER`, where the clusterer has no cluster for it:

    ============  ==========================================================================
    DBSTREAM      while no micro-cluster weighs ``minimum_weight`` (river answers 0)
    DenStream     during its first ``n_samples_init`` samples, 1000 by default (river answers
                  0), and while it sees no dense region (river answers -1)
    CluStream     until its first macro-clusters, at sample ``max_micro_clusters`` at the
                  earliest, then at a multiple of ``time_gap`` (river answers 0)
    STREAMKMeans  until its first chunk of ``chunk_size`` samples is full (river answers 0)
    TextClust     while no micro-cluster is heavy enough (river answers None); it needs
                  ``real_time_fading=False``
    KMeans        never; its first centres are random
    ============  ==========================================================================

    The label 0 means a cluster only if the clusterer's ``centers`` has one with coordinates. ODAC
    labels no samples and is refused. DBSTREAM, DenStream and CluStream renumber their clusters
    while they learn; wherever a centre is no longer nearest to where it was, the clusters are
    matched to those before.

    Parameters
    ----------
    model : river.base.Clusterer
        Or a pipeline that ends with one.
    learn : bool
        False to predict only.
    columns : sequence of str
        The features of the stream; x1, x2, ... where there are no names.

    Examples
    --------
    >>> import numpy as np
    >>> from river import cluster
    >>> labeller = RiverLabels(cluster.DBSTREAM(clustering_threshold=2.0), columns=["width"])
    >>> labeller.label(Batch(np.array([[0.0], [9.0], [0.5], [9.5]]))).labels.tolist()
    [0, 1, 0, 1]
    """

    unassigned = NO_CLUSTER

    def __init__(self, model: Any, *, learn: bool = True, columns: Sequence[str] = ()) -> None:
        self._last = _last_step(model)
        self.model, self.learns = model, learn
        self.name = type(self._last).__name__
        if learn and self.name in _RENUMBERING:
            self._matching = Matching(NO_CLUSTER)
        self._centers = Centers(self._last)
        self.enough = _never
        self._columns = tuple(columns)
        self._asked = False
        _check_kind(self._last)

    def label(self, batch: Batch) -> Labelled:
        """Learn each sample, then predict its label."""
        columns = self._columns or names_of(batch.X.shape[1])
        if len(columns) != batch.X.shape[1]:
            raise ValueError(
                f"expected {len(columns)} features, {', '.join(columns)}, got {batch.X.shape[1]}"
            )
        labels = []
        enough = self.enough or _never
        for number, row in enumerate(batch.X.tolist(), start=batch.first):
            label = self._label_one(dict(zip(columns, row)), number)
            labels.append(label if self._matching is None else self._matched(row, label, columns))
            if enough():
                break
        return Labelled(as_labels(labels, len(labels), self.name))

    # -- inside ----------------------------------------------------------------------------

    def _label_one(self, x: dict[str, float], number: int) -> Any:
        blank = not self._asked and _only_blank_centers(self._last)
        try:
            if self.learns:
                self.model.learn_one(x)
            label = plain(self.model.predict_one(x))
        except NotImplementedError as error:
            raise TypeError(f"{self.name} of river does not label samples") from error
        except Exception as error:
            raise ValueError(
                f"{self.name} failed at sample {number} of the stream, {x}: {error!r}"
            ) from error
        if label is None or (label == 0 and not _has_clusters(self._last)):
            label = NO_CLUSTER
        if not (self.learns or self._asked) and (blank or label == NO_CLUSTER):
            raise ValueError(
                f"{self.name} has no clusters to predict; let it learn some samples first, or "
                f"let it learn (learn=True, no --no-learn)"
            )
        self._asked = True
        return label

    def _matched(self, row: list[float], number: int, columns: Sequence[str]) -> int:
        """The label of a sample whose cluster has this number at present."""
        assert self._matching is not None
        if self._centers.swapped():
            whole = self._last is self.model and self._centers.of(columns)

            def numbers(X: NDArray[np.float64]) -> list[int]:
                if whole:
                    return self._centers.nearest(X, columns)
                rows = (dict(zip(columns, member)) for member in X.tolist())
                return [self.model.predict_one(x) for x in rows]

            self._matching.match(numbers)
        label = self._matching.label(number)
        self._matching.remember_one(row, label)
        return label

    def _adopt(self, model: Any) -> None:
        super()._adopt(model)
        self._last = _last_step(model)
        self._centers = Centers(self._last)
        if self._matching is not None:
            self._centers.swapped()


def _never() -> bool:
    return False


def _last_step(model: Any) -> Any:
    """The clusterer at the end of a pipeline, or the model itself."""
    while isinstance(steps := getattr(model, "steps", None), Mapping) and steps:
        model = [*steps.values()][-1]
    return model


def _check_kind(last: Any) -> None:
    if not comes_from(last, "river"):  # a user's own class with these methods
        if not hasattr(last, "predict_one"):
            raise TypeError(
                f"expected predict_one beside learn_one, {type(last).__name__} has none"
            )
        return
    from river import base

    if isinstance(last, base.Clusterer):
        return
    kinds = (base.Classifier, base.Regressor, base.Transformer)
    kind = next((f" ({kind.__name__.lower()})" for kind in kinds if isinstance(last, kind)), "")
    raise TypeError(
        f"expected a clusterer of river, or a pipeline that ends with one, got "
        f"{type(last).__name__}{kind}"
    )


def _has_clusters(last: Any) -> bool:
    """Whether a centre has coordinates; true where the model has no centres to look at."""
    centers = getattr(last, "centers", None)
    return any(centers.values()) if isinstance(centers, Mapping) else True


def _only_blank_centers(last: Any) -> bool:
    """Whether there are centres without coordinates only: a KMeans that has learnt nothing."""
    return bool(getattr(last, "centers", None)) and not _has_clusters(last)
