r"""Whether two labelled clusters are pieces of one: what lies between them, and whether labels mix.

Two clusters whose separation is about what a density gives that was cut may have been cut from one,
or may be two that overlap. Moments cannot tell, samples can:

- the gap between pieces is *full*: it holds about as many samples as equal bands around the means;
- labels of pieces change *sharply*, because a clusterer drew the line. Clusters that overlap have
  labels that mix: wherever the line is drawn, about :math:`\Phi(-S)` of both are on the wrong side
  if they are bell-shaped, and hardly fewer if they are not. Of pieces hardly any are.

Two labels that mix, and are not in the same place either, may be one cluster or two: that is a
matter of definition.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.insight.split import bands, scaled

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FOLDS = 5
#: Samples per feature below which a direction fits all labels, and those held out are judged.
_PER_FEATURE = 5


class Border(NamedTuple):
    """What lies between two labelled clusters.

    Attributes
    ----------
    full : float
        Samples in a band between the clusters over those in the emptier of two equal bands around
        their means, along directions that other samples chose; about 1 where one density was cut.
    mixed : float
        Share of samples on the wrong side of the best line, over that of two bell-shaped clusters
        with the same separation; about 1 where clusters overlap, less where one density was cut.
    """

    full: float
    mixed: float


def border(X: Array, first: Mask, seed: int = 0) -> Border:
    """Look at the border between two labelled clusters.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of both.
    first : ndarray of n bools
        Which are in the first.
    seed : int
        Random seed of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> cut = border(X, X[:, 0] < 0.0)
    >>> cut.full > 1.0, cut.mixed < 0.3
    (True, True)
    >>> first = np.arange(400) < 200
    >>> border(X + 2.0 * first[:, None] * [1.0, 0.0], first).mixed > 0.9  # they overlap
    True
    """
    rng = np.random.default_rng(seed)
    X, _ = scaled(X, rng)
    groups = first, ~first
    if X.shape[1] == 0 or min(group.sum() for group in groups) < 2:
        return Border(math.inf, 1.0)
    fold = np.empty(len(X), dtype=np.int64)
    for group in groups:
        fold[group] = rng.permutation(np.arange(group.sum()) % _FOLDS)
    parts = [[X[group & (fold == f)] for f in range(_FOLDS)] for group in groups]
    n = np.array([[float(len(part)) for part in each] for each in parts])
    sums = np.array([[part.sum(axis=0) for part in each] for each in parts])
    products = np.array([[part.T @ part for part in each] for each in parts])
    # All samples, and all but those of each fold.
    train = [
        np.concatenate([total, total - moment.transpose(1, 0, *range(2, moment.ndim))])
        for moment in (n, sums, products)
        for total in [moment.sum(axis=1)[None]]
    ]
    places = _along(X, *train)
    held_out = places[np.arange(len(X)), 1 + fold]
    gap, side = bands(held_out)
    full = gap / side if side else math.inf
    crowded = len(X) >= _PER_FEATURE * X.shape[1]
    return Border(full, _mixed(places[:, 0] if crowded else held_out, first))


def _along(X: Array, n: Array, sums: Array, products: Array) -> Array:
    """Places of samples along Fisher's directions of several moments of two groups.

    The groups' means are at -1/2 and 1/2.
    """
    d = X.shape[1]
    means = sums / n[:, :, None]
    scatter = products - n[:, :, None, None] * means[..., :, None] * means[..., None, :]
    gaps = means[:, 1] - means[:, 0]
    total = n.sum(axis=1)
    C = scatter.sum(axis=1) / total[:, None, None]
    variances = np.maximum(np.einsum("fii->fi", C), 1e-12 * gaps**2)
    C *= (1.0 - np.minimum(1.0, d / total))[:, None, None]
    C[:, range(d), range(d)] = np.where(variances > 0.0, variances, 1.0)
    try:
        w = np.linalg.solve(C, gaps[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        w = gaps
    with np.errstate(all="ignore"):  # groups in one place, or without width
        low, high = np.einsum("fgi,fi->gf", means, w)
        places = (X @ w.T - (low + high) / 2.0) / (high - low)
    return np.asarray(np.nan_to_num(places, nan=math.inf))


def _mixed(places: Array, first: Mask) -> float:
    """Samples on the wrong side over those of bell-shaped clusters."""
    order = np.argsort(places, kind="stable")
    below = np.cumsum(first[order]) / first.sum()
    above = 1.0 - np.cumsum(~first[order]) / (~first).sum()
    wrong = 1.0 - 0.5 * float((below + above).max())
    a, b = places[first], places[~first]
    with np.errstate(all="ignore"):
        S = float((b.mean() - a.mean()) / (a.std() + b.std()))
    if not math.isfinite(S):
        return 1.0
    return wrong / max(NormalDist().cdf(-S), 1e-12)
