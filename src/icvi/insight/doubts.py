"""What cannot be told about a clustering, and why."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.insight.separation import Groups

#: Samples below which a cluster is not judged: its width is known to no better than a quarter.
FEWEST = 10
#: Samples per cluster, on average, below which nothing is judged.
PER_CLUSTER = 3.0
#: Share of the variance in one feature from which on the others do not count.
DOMINANT = 0.99


@dataclass(frozen=True)
class Doubts:
    """Why a verdict may know less than a reader expects.

    Attributes
    ----------
    judged : ndarray of int
        Numbers of the clusters that are large enough to judge.
    small : list
        Labels of the others.
    too_few : bool
        There are nearly as many clusters as samples.
    constant : list of int
        Features that have one value.
    dominant : int or None
        The feature that carries nearly all variance.
    wide : bool
        Clusters have fewer samples than features.
    """

    judged: NDArray[np.int64]
    small: list[Hashable]
    too_few: bool
    constant: list[int]
    dominant: int | None
    wide: bool


def doubts(labels: Sequence[Hashable], groups: Groups, covariance: NDArray[np.float64]) -> Doubts:
    """What speaks against a verdict on these clusters."""
    n, d = groups.counts, groups.centers.shape[1]
    judged = np.flatnonzero(n >= FEWEST)
    variances = np.diag(covariance)
    total = variances.sum()
    largest = int(variances.argmax()) if d > 1 and total > 0.0 else None
    if largest is not None and variances[largest] < DOMINANT * total:
        largest = None
    return Doubts(
        judged=judged,
        small=[labels[int(number)] for number in np.flatnonzero(n < FEWEST)],
        too_few=bool(n.sum() < PER_CLUSTER * len(n)),
        constant=np.flatnonzero(variances == 0.0).tolist(),
        dominant=largest,
        wide=bool(len(judged) and np.median(n[judged]) < d),
    )
