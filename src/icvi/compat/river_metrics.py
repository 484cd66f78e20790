"""Validity indices as metrics of river.

>>> from river import cluster, evaluate, stream
>>> X = [[1, 2], [1, 4], [1, 0], [4, 2], [4, 4], [4, 0], [-2, 2], [-2, 4], [-2, 0]]
>>> model = cluster.KMeans(n_clusters=3, halflife=0.4, sigma=3, seed=0)
>>> evaluate.progressive_val_score(stream.iter_array(X), model, RiverIndices(["CH", "XB"]))
CH: 7.56
XB: 0.205761

They need no more than labels and are exact after every sample; `revert` removes a sample exactly.
Values are those of `icvi.Tracker`, and so those of `icvi.scores` for the same samples and labels;
those of Conn also depend on the order of the samples and on the bounds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from icvi.indices import Index
from icvi.indices.catalogue import select_one
from icvi.optional import needed
from icvi.tracking.tracker import Tracker

with needed("river", "river", "icvi.compat.river_metrics"):
    from river.metrics.base import ClusteringMetric

Sample = Mapping[Hashable, float]

__all__ = ["ClusteringMetrics", "RiverIndex", "RiverIndices"]


class _Tracking(ClusteringMetric):
    """A metric that passes samples to a tracker."""

    noise_label: Hashable
    options: dict[str, Any]

    def _begin(self, indices: Any) -> None:
        self._tracker = Tracker(indices, noise_label=self.noise_label, **self.options)
        self._features: tuple[Hashable, ...] = ()

    @property
    def tracker(self) -> Tracker:
        """The tracker behind it, which knows the clusters."""
        return self._tracker

    def update(self, x: Sample, y_pred: Hashable, centers: Any = None, w: float = 1.0) -> None:
        """Add a sample.

        Parameters
        ----------
        x : dict
            Its features. The first sample determines the features and their order.
        y_pred : hashable
            The label that the clusterer gave it.
        centers : dict, optional
            The clusterer's centers by label. Only the labels are used: a sample whose label is
            not among them had no cluster, so it is noise.
        w : float, default 1.0
            Its weight.
        """
        features = self._features or tuple(x)
        self._tracker.update(_values(x, features), self._label(y_pred, centers), w)
        self._features = features

    def revert(self, x: Sample, y_pred: Hashable, centers: Any = None, w: float = 1.0) -> None:
        """Remove a sample.

        Parameters
        ----------
        x, y_pred, centers, w
            As they were in `update`.
        """
        values = _values(x, self._features or tuple(x))
        self._tracker.remove(values, self._label(y_pred, centers), w)

    def why(self, name: str | Index) -> str | None:
        """None, or the reason why an index is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        return self._tracker.why(name)

    def __add__(self, other: ClusteringMetric) -> ClusteringMetrics:
        return ClusteringMetrics([self]) + other

    def __str__(self) -> str:
        return repr(self)

    def _label(self, y_pred: Hashable, centers: Any) -> Hashable:
        if self.noise_label is None:
            if y_pred is None:
                raise ValueError(
                    "y_pred is None: the clusterer has no cluster for this sample; leave it out, "
                    "or set noise_label to count such samples as noise"
                )
            return y_pred
        known = centers is None or not isinstance(centers, Mapping) or y_pred in centers
        return y_pred if known and y_pred is not None else self.noise_label


class RiverIndex(_Tracking):
    """One validity index as a metric of river.

    Parameters
    ----------
    index : str or Index, default "SIL"
        A name of the catalogue or an index object.
    noise_label : hashable, default -1
        The label that marks noise; such samples are left out. A sample whose label is None, or
        not among the centers, is noise too. None: no sample is noise.
    **options
        Those of `icvi.Tracker`: ``undefined``, ``window``, ``half_life``, ``bounds``,
        ``quantizer``. Conn needs bounds.

    Notes
    -----
    In a pipeline with a scaler, river's `progressive_val_score` passes the scaled samples to
    metrics. An undefined reading is nan, unless ``undefined`` says otherwise, and `why` returns the
    reason; river's Silhouette returns an infinity.

    Examples
    --------
    >>> metric = RiverIndex("CH")
    >>> for x, label in [(0.0, 0), (2.0, 0), (10.0, 1), (12.0, 1), (99.0, 0)]:
    ...     metric.update({"width": x}, label)
    >>> metric.revert({"width": 99.0}, 0)
    >>> metric, metric.get(), metric.bigger_is_better
    (CH: 50, 50.0, True)
    """

    _fmt = ",.6g"

    def __init__(
        self, index: str | Index = "SIL", noise_label: Hashable = -1, **options: Any
    ) -> None:
        self.index, self.noise_label, self.options = index, noise_label, options
        self._begin(select_one(index, several="RiverIndices"))

    def get(self) -> float:
        """The reading now."""
        return self._tracker[self._tracker.indices[0]]

    def why(self, name: str | Index | None = None) -> str | None:
        """None, or the reason why it is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        return super().why(self._tracker.indices[0] if name is None else name)

    @property
    def bigger_is_better(self) -> bool:
        """Whether larger readings mean better partitions."""
        return self._tracker.indices[0].direction == "max"

    def __repr__(self) -> str:
        return f"{self._tracker.indices[0].name}: {self.get():{self._fmt}}"


class RiverIndices(_Tracking):
    """Several validity indices as one metric of river, which share one state.

    Parameters
    ----------
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, or a list of names and index objects.
    noise_label, **options
        As in `RiverIndex`.

    Examples
    --------
    >>> metric = RiverIndices(["CH", "XB"])
    >>> for x, label in [(0.0, 0), (2.0, 0), (10.0, 1), (12.0, 1)]:
    ...     metric.update({"width": x}, label)
    >>> metric.get(), metric["XB"]
    ({'CH': 50.0, 'XB': 0.01}, 0.01)
    """

    _fmt = ",.6g"

    def __init__(
        self,
        indices: str | Iterable[str | Index] = "paper",
        noise_label: Hashable = -1,
        **options: Any,
    ) -> None:
        self.indices = indices if isinstance(indices, str) else list(indices)
        self.noise_label, self.options = noise_label, options
        self._begin(self.indices)

    def get(self) -> dict[str, float]:  # type: ignore[override]
        """The readings now, by name."""
        return self._tracker.values

    def __getitem__(self, name: str | Index) -> float:
        return self._tracker[name]

    @property
    def bigger_is_better(self) -> bool:
        """Not defined: each index has a direction of its own."""
        raise NotImplementedError("each index has a direction of its own; see icvi.catalogue")

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value:{self._fmt}}" for name, value in self.get().items())


class ClusteringMetrics(ClusteringMetric):
    """Clustering metrics, ours or river's, updated together: the result of ``a + b``.

    `progressive_val_score` does not accept river's own ``Metrics`` as a clustering metric. If all
    are validity indices, use `RiverIndices`, which needs one state instead of one for each.

    Parameters
    ----------
    metrics : list of ClusteringMetric
        They are not copied.

    Examples
    --------
    >>> from river import metrics
    >>> both = RiverIndex("CH") + metrics.Silhouette()
    >>> for x, label in [(0.0, 0), (2.0, 0), (10.0, 1), (12.0, 1)]:
    ...     both.update({"width": x}, label, {0: {"width": 1.0}, 1: {"width": 11.0}})
    >>> both
    CH: 50
    Silhouette: 1.
    """

    def __init__(self, metrics: Iterable[ClusteringMetric]) -> None:
        self.metrics = list(metrics)

    def update(self, x: Sample, y_pred: Hashable, centers: Any = None, w: float = 1.0) -> None:
        """Add a sample to each."""
        for metric in self.metrics:
            metric.update(x, y_pred, centers, w)

    def revert(self, x: Sample, y_pred: Hashable, centers: Any = None, w: float = 1.0) -> None:
        """Remove a sample from each."""
        for metric in self.metrics:
            metric.revert(x, y_pred, centers, w)

    def get(self) -> list[Any]:  # type: ignore[override]
        """The value of each, in order."""
        return [metric.get() for metric in self.metrics]

    @property
    def bigger_is_better(self) -> bool:
        """Not defined: each metric has a direction of its own."""
        raise NotImplementedError("each metric has a direction of its own")

    def works_with(self, model: Any) -> bool:
        """Whether all metrics work with a model."""
        return all(metric.works_with(model) for metric in self.metrics)

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> ClusteringMetrics:
        """The same metrics without samples."""
        return ClusteringMetrics(
            metric.clone(new_params, include_attributes) for metric in self.metrics
        )

    def __iter__(self) -> Iterator[ClusteringMetric]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __getitem__(self, position: int) -> ClusteringMetric:
        return self.metrics[position]

    def __add__(self, other: ClusteringMetric) -> ClusteringMetrics:
        if not isinstance(other, ClusteringMetric):
            raise ValueError(
                f"expected another clustering metric, got {type(other).__name__}, which is not "
                f"updated with samples and labels"
            )
        more = other.metrics if isinstance(other, ClusteringMetrics) else [other]
        return ClusteringMetrics([*self.metrics, *more])

    def __radd__(self, other: ClusteringMetric) -> ClusteringMetrics:
        return ClusteringMetrics([]) + other + self

    def __repr__(self) -> str:
        return "\n".join(repr(metric) for metric in self.metrics)

    def __str__(self) -> str:
        return repr(self)


def _values(x: Sample, features: tuple[Hashable, ...]) -> list[float]:
    """The features of a sample, in order."""
    if len(x) != len(features) or not all(name in x for name in features):
        missing = [name for name in features if name not in x]
        new = [name for name in x if name not in features]
        wrong = [f"{name!r} is missing" for name in missing] + [f"{name!r} is new" for name in new]
        raise ValueError(
            f"expected the features of the first sample, {', '.join(map(repr, features))}; "
            f"{', '.join(wrong)}"
        )
    return [x[name] for name in features]
