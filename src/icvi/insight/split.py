"""Whether one cluster is two: a cut that holds on samples it was not chosen on, with a valley.

The best cut of *any* sample looks good on that sample. So the samples are dealt into five folds;
each fold is judged by the direction and the threshold that the other four chose. Two signs must
agree on all samples, judged so:

- their separation across the cut exceeds sqrt(3), what a uniform density cut anywhere gives;
- there is a valley: a band between the two groups holds fewer samples than bands of the same width
  around either group's mean. A density with one peak has none, however skewed or long-tailed it is,
  so that the chance to find one is at most the level of a binomial test.

Candidates for the direction are principal axes, two-means, and directions of extreme kurtosis and
skewness in whitened coordinates, where two clusters show even if both are long in another
direction; each is improved by steps of Fisher's discriminant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.insight.separation import DISTINCT, with_error

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FOLDS = 5
_FEWEST = 30  # samples below which no valley can be seen
_PURSUITS = 6  # starts of the search for extreme kurtosis and skewness
_BAND = 1.0 / 6.0  # half the width of a band, in distances of the groups' means

#: Level of the test for a valley. The middle of a cluster with one peak is its fullest place: of
#: 420 such clusters of seven families the least p was 0.086, the 1 % quantile 0.40. Separations of
#: some exceeded sqrt(3), but none did so with a p below this level.
LEVEL = 0.1


class Split(NamedTuple):
    """What the best cut of a cluster into two shows on samples that it was not chosen on."""

    separation: float
    error: float
    p_value: float  # of as few samples in the gap without a valley
    members: Mask  # which samples are on the first side, by a cut that all of them chose

    def holds(self, distinct: float = DISTINCT, level: float = LEVEL) -> bool:
        """Whether the cluster looks like two."""
        return self.separation > distinct and self.p_value < level


def find_split(X: Array, seed: int = 0) -> Split | None:
    """Test whether the samples of one cluster are two clusters; None where that cannot be told.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of one cluster; some hundreds suffice.
    seed : int
        Random seed of folds and starts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> one = rng.normal(size=(200, 3))
    >>> find_split(one).holds(), find_split(one + 5.0 * (one[:, :1] > 0.0)).holds()
    (False, True)
    """
    n = len(X)
    if n < _FEWEST:
        return None
    rng = np.random.default_rng(seed)
    X, widths = _scaled(X, rng)
    if X.shape[1] == 0:
        return None
    fold = rng.permutation(np.arange(n) % _FOLDS)
    places, first = np.empty(n), np.empty(n, dtype=bool)
    for f in range(_FOLDS):
        train = fold != f
        cut = _best_cut(X[train], widths, rng)
        if cut is None:
            return None
        places[~train], first[~train] = cut.judge(X[~train])
    whole = _best_cut(X, widths, rng)
    if whole is None or not 1 < first.sum() < n - 1:
        return None
    sides = places[first], places[~first]
    value, error = with_error(
        np.abs(sides[0].mean() - sides[1].mean()),
        *(side.std(ddof=1) for side in sides),
        *(np.float64(len(side)) for side in sides),
    )
    return Split(float(value), float(error), valley(places), whole.judge(X)[1])


def valley(places: Array) -> float:
    """Probability of as few samples in the gap if there were no valley.

    Places are in units of the distance between two groups' means, which are at -1/2 and 1/2. A
    density with one peak holds at least as many samples in a band around 0 as in the emptier of two
    equal bands around the means.
    """
    gap, side = _bands(places)
    return _binomial(gap, gap + side)


def _bands(places: Array) -> tuple[int, int]:
    """Samples in the gap, and in the emptier of the bands around the means."""
    gap, left, right = (int((np.abs(places - at) < _BAND).sum()) for at in (0.0, -0.5, 0.5))
    return gap, min(left, right)


def gap_between(X: Array, first: Mask, seed: int = 0) -> float:
    """How full the gap between two labelled groups is: about 1 where one density was cut.

    Samples in a band between the groups over those in the emptier of two equal bands around their
    means, along directions that other samples chose.
    """
    rng = np.random.default_rng(seed)
    X, _ = _scaled(X, rng)
    fold = np.empty(len(X), dtype=np.int64)
    for group in (first, ~first):
        fold[group] = rng.permutation(np.arange(group.sum()) % _FOLDS)
    places = np.full(len(X), math.inf)
    for f in range(_FOLDS):
        train = fold != f
        direction = discriminant(X[train], first[train])
        if direction is None:
            continue
        u = X @ direction
        low, high = u[train & first].mean(), u[train & ~first].mean()
        places[~train] = (u[~train] - (low + high) / 2.0) / (high - low)
    gap, side = _bands(places)
    return gap / side if side else math.inf


class _Cut(NamedTuple):
    """A hyperplane between two groups, and where their means lie along its normal."""

    direction: Array
    threshold: float
    low: float
    high: float
    score: float

    def judge(self, X: Array) -> tuple[Array, Mask]:
        """Where samples lie between the means, and which are in the larger group.

        The larger group is first in every fold, so that places of folds go together.
        """
        u = X @ self.direction
        places = (u - (self.low + self.high) / 2.0) / (self.high - self.low)
        return places, u < self.threshold


def _scaled(X: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Features about their means in units of their widths, and these; constant ones are left out.

    Between whole numbers there is nothing, which is not a valley: features with few values are
    spread over the steps between these.
    """
    X = X - X.mean(axis=0)
    for t in range(X.shape[1]):
        values = np.unique(X[:, t])
        if 1 < len(values) < len(X) / 2:
            X[:, t] += rng.uniform(-0.5, 0.5, size=len(X)) * np.median(np.diff(values))
    width = X.std(axis=0)
    keep = width > 0.0
    return np.ascontiguousarray(X[:, keep] / width[keep]), width[keep]


def _best_cut(X: Array, widths: Array, rng: np.random.Generator) -> _Cut | None:
    """Of all candidates the clearest cut, its larger group on the low side."""
    least = max(6, len(X) // 25)
    best = None
    for start in _directions(X, widths, rng):
        direction: Array | None = start
        for _ in range(3):
            cut = None if direction is None else _threshold(X, direction, least)
            if cut is None:
                break
            if best is None or cut.score > best.score:
                best = cut
            direction = discriminant(X, X @ cut.direction < cut.threshold)
    if best is not None and 2 * (X @ best.direction < best.threshold).sum() < len(X):
        turned = -best.direction, -best.threshold, -best.high, -best.low
        best = _Cut(*turned, best.score)
    return best


def discriminant(X: Array, first: Mask) -> Array | None:
    """Fisher's direction from one group to the other, with a shrunk covariance."""
    n, d = X.shape
    if not 0 < first.sum() < n:
        return None
    a, b = X[first], X[~first]
    gap = b.mean(axis=0) - a.mean(axis=0)
    e = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    C = e.T @ e / n
    variances = np.maximum(C.diagonal(), 1e-12 * gap**2)
    C *= 1.0 - min(1.0, d / n)
    C[np.diag_indices(d)] = np.where(variances > 0.0, variances, 1.0)
    try:
        w = np.linalg.solve(C, gap)
    except np.linalg.LinAlgError:
        return None
    length = math.sqrt(w @ w)
    return w / length if 0.0 < length < math.inf else None


def _threshold(X: Array, direction: Array, least: int) -> _Cut | None:
    """Where to cut along a direction, with so many samples on each side at least."""
    v = np.sort(X @ direction)
    n = len(v)
    i = np.arange(least, n - least + 1)
    i = i[v[i] > v[i - 1]] if i.size else i
    if i.size == 0:
        return None
    sums, squares = np.cumsum(v), np.cumsum(v * v)
    low, high = sums[i - 1] / i, (sums[-1] - sums[i - 1]) / (n - i)
    L = high - low
    middle = (low + high) / 2.0

    def within(at: Array) -> NDArray[np.int64]:
        inside = np.searchsorted(v, at + _BAND * L) - np.searchsorted(v, at - _BAND * L)
        return np.asarray(inside, dtype=np.int64)

    gap, side = within(middle), np.minimum(within(low), within(high))
    s1 = np.sqrt(np.maximum(squares[i - 1] / i - low**2, 0.0))
    s2 = np.sqrt(np.maximum((squares[-1] - squares[i - 1]) / (n - i) - high**2, 0.0))
    # Valleys alone would be found everywhere in many features, separations in every long tail.
    depth = np.maximum((side - gap) / np.sqrt(side + gap + 1.0), 1e-3)
    score = depth * L / (s1 + s2 + 1e-9 * L)
    j = int(score.argmax())
    threshold = (v[i[j]] + v[i[j] - 1]) / 2.0
    return _Cut(direction, float(threshold), float(low[j]), float(high[j]), float(score[j]))


def _directions(X: Array, widths: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Directions along which two clusters may lie apart.

    In the units that features came in, in units of their widths, and whitened: what stands out in
    one of these may be hidden in the others.
    """
    X = X - X.mean(axis=0)
    U, s, axes = np.linalg.svd(X, full_matrices=False)
    keep = s > 1e-9 * s[0]
    Y, back = U[:, keep] * math.sqrt(len(X)), axes[keep].T / s[keep]
    for start in range(_PURSUITS):
        far = Y[(Y**2).sum(axis=1).argmax()]
        q = far if start == 0 else np.asarray(rng.normal(size=Y.shape[1]))
        yield back @ _extreme(Y, q, skewness=start % 3 == 2)
    for Z in (X * widths, X, Y):
        main = np.linalg.svd(Z, full_matrices=False)[2][:2] if Z is not X else axes[:2]
        far = (Z**2).sum(axis=1)
        starts = [((Z @ axis).argmax(), (Z @ axis).argmin()) for axis in main]
        for a, b in [*starts, (far.argmax(), far.argmin())]:
            direction = discriminant(X, _two_means(Z, Z[a], Z[b]))
            if direction is not None:
                yield direction
        if Z is not Y:
            yield from main / (widths if Z is not X else 1.0)


def _extreme(Y: Array, q: Array, *, skewness: bool) -> Array:
    """Direction of locally extreme kurtosis or skewness of whitened samples, by fixed points."""
    q = q / math.sqrt(q @ q)
    for _ in range(15):
        u = Y @ q
        g = Y.T @ u**2 if skewness else Y.T @ u**3 - 3.0 * len(Y) * q
        length = math.sqrt(g @ g)
        if length == 0.0:
            break
        q, before = g / length, q
        if abs(q @ before) > 0.9999:
            break
    return q


def _two_means(Z: Array, a: Array, b: Array) -> Mask:
    """Which samples are nearer to the first of two means, which follow their samples."""
    nearer = np.zeros(len(Z), dtype=bool)
    for _ in range(10):
        before, nearer = nearer, ((Z - a) ** 2).sum(axis=1) < ((Z - b) ** 2).sum(axis=1)
        if nearer.all() or not nearer.any() or (nearer == before).all():
            break
        a, b = Z[nearer].mean(axis=0), Z[~nearer].mean(axis=0)
    return nearer


def _binomial(successes: int, n: int) -> float:
    """Probability of at most so many successes in n fair trials."""
    chances = (math.comb(n, i) for i in range(successes + 1))
    return float(sum(chances) / 2**n) if n else 1.0
