"""What makes a cluster different: its most unusual features, and the samples at its centre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from icvi.watching.report.cluster_styles import ClusterStyle
from icvi.watching.report.clusters import Clusters
from icvi.watching.report.page_data import PageData

Array = NDArray[np.float64]

#: Clusters with a profile, features of a profile, and samples at the centre, at most.
MOST, FEATURES, SAMPLES = 60, 4, 3
#: Standard deviations from which on a feature is unusual.
UNUSUAL = 0.5
#: Values that a comparison may take: clusters times features.
_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Feature:
    """A feature of a cluster beside that of all others.

    Parameters
    ----------
    name : str
        The feature.
    center, others : float
        The centroid of the cluster, and the mean of all samples in other clusters.
    deviations : float
        Their difference in standard deviations of all samples shown.
    """

    name: str
    center: float
    others: float
    deviations: float

    @property
    def side(self) -> Literal["above", "below"]:
        """On which side of the others the cluster lies."""
        return "above" if self.deviations > 0.0 else "below"


@dataclass(frozen=True)
class Central:
    """A sample close to the centroid: its number in the stream, and some of its values."""

    number: int
    values: list[float]


@dataclass(frozen=True)
class Profile:
    """One cluster.

    Parameters
    ----------
    name, style
        As everywhere on the page.
    features : list of Feature
        The most unusual first.
    shared : list of str
        Names of the features that `central` shows.
    central : list of Central
        The samples that are nearest to the centroid, of those that are drawn.
    """

    name: str
    style: ClusterStyle
    features: list[Feature]
    shared: list[str]
    central: list[Central]


def profiles(data: PageData, clusters: Clusters) -> list[Profile]:
    """Profiles of the clusters that need attention most, in the order of their table."""
    if data.tracker is None or len(clusters) < 2 or len(data.shown) < 2:
        return []
    centers = data.tracker.centers
    if centers.size > _NUMBERS:
        return []
    others = _means_of_others(centers, clusters.counts)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = data.shown.X.std(axis=0)
        gaps = centers - others
        deviations = np.divide(gaps, spread, out=np.zeros_like(gaps), where=spread > 0.0)
    deviations = np.nan_to_num(deviations, nan=0.0, posinf=0.0, neginf=0.0)
    return [
        _profile(data, clusters, i, centers[i], others[i], deviations[i])
        for i in clusters.order()[:MOST]
    ]


def _means_of_others(centers: Array, counts: Array) -> Array:
    """For every cluster the mean of all samples in the others."""
    total = float(counts.sum())
    middle = counts @ centers / total
    # Relative to the middle of all, so that an offset of the data costs no digits.
    rest = (total - counts)[:, None]
    away = np.divide(
        -counts[:, None] * (centers - middle), rest, out=np.zeros_like(centers), where=rest > 0.0
    )
    return np.asarray(middle + away)


def _profile(
    data: PageData, clusters: Clusters, i: int, center: Array, others: Array, deviations: Array
) -> Profile:
    label = clusters.labels[i]
    order = np.argsort(-np.abs(deviations), kind="stable")[:FEATURES].tolist()
    features = [
        Feature(data.run.feature(j), float(center[j]), float(others[j]), float(deviations[j]))
        for j in order
        if abs(deviations[j]) >= UNUSUAL
    ]
    mine = np.array([at for at, each in enumerate(data.shown.labels) if each == label], dtype=int)
    scale = np.abs(center).max() or 1.0  # squares of large numbers would overflow
    with np.errstate(over="ignore"):
        distances = np.sum((data.shown.X[mine] / scale - center / scale) ** 2, axis=1)
    nearest = mine[np.argsort(distances, kind="stable")[:SAMPLES]]
    central = [
        Central(int(data.shown.numbers[at]), [float(data.shown.X[at, j]) for j in order])
        for at in nearest.tolist()
    ]
    shared = [data.run.feature(j) for j in order]
    return Profile(clusters.names[i], data.style(label), features, shared, central)
