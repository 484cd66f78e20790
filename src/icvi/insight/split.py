"""Whether one cluster is two: a cut that holds on samples it was not chosen on, with a valley.

The best cut of *any* sample looks good on that sample. So the samples are dealt into folds, twice;
each fold is judged by the direction and the threshold that the others chose, see
`icvi.insight.cuts`. Two signs must agree on all samples, judged so:

- their separation across the cut exceeds sqrt(3), what a uniform density cut anywhere gives;
- there is a valley: a band around the threshold holds fewer samples than bands of the same width
  around either group's mean. A density with one peak has none, however skewed or long-tailed it is,
  so that the chance to find one is at most the level of a binomial test. The clearer the
  separation, the larger the level: see `Split.holds`.

Most clusters are one, and not even the best cut of all samples, judged on these, holds. That is
what `may_split` looks at, at less than a tenth of the cost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.insight.cuts import BAND, Effort, best_cut
from icvi.insight.separation import DISTINCT, with_error

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Features above which a cluster is looked at along its leading principal axes only.
MOST_FEATURES = 32

_FOLDS = 5
_DEALS = 2  # of samples into folds, whose counts are averaged
_QUICK = Effort(starts=4, pursuit=2, rounds=3, more_rounds=2, best=4, mixtures=2)
_THOROUGH = Effort(starts=30, pursuit=3, rounds=3, more_rounds=5, best=16, mixtures=4)

#: Samples below which no valley can be seen.
FEWEST = 30
#: Level of the test for a valley where the separation is just large enough; and by how much it
#: grows with the separation, one standard error less, up to which level. Of 1,500 clusters with one
#: peak, of 15 families and with 50 to 700 samples, 1 was split; of 1,000 flat ones (cubes, balls,
#: beta, triangular), the hardest to tell from two, 9.
LEVEL, _GROWTH, _MOST = 0.04, 24.0, 0.4
_ABORTED = 0.8  # p-value of some folds, from which on a short search looks at no others
_HOPELESS = 0.6  # p-value of the first deal, from which on a second one does not matter
_LENIENT = 0.2  # level of a quick look
_CLEARLY = 0.1  # of the level, for a split that a short search has found


class Split(NamedTuple):
    """What the best cut of a cluster into two shows on samples that it was not chosen on."""

    separation: float
    error: float
    p_value: float  # of as few samples in the gap without a valley
    members: Mask  # on the first side, by a cut that all samples chose, or by those of the folds

    def holds(self, distinct: float = DISTINCT, level: float = LEVEL) -> bool:
        """Whether the cluster looks like two.

        Parameters
        ----------
        distinct : float
            Separation to exceed.
        level : float
            Level of the test for a valley; smaller where a cluster is tested again and again.
        """
        # A density with one peak separates its halves clearly only where one is a tail, and there
        # the gap is fuller than the tail: the clearer the separation, the less a valley must show.
        beyond = max(0.0, self.separation - self.error - distinct)
        allowed = min(_MOST, level * (1.0 + _GROWTH * beyond))
        return self.separation > distinct and self.p_value < allowed


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
    if len(X) < FEWEST:
        return None
    rng = np.random.default_rng(seed)
    return _whole(*scaled(X, rng), rng, _THOROUGH, _DEALS)


def find_split_quickly(
    X: Array, distinct: float, level: float, seed: int = 0, patient: bool = False
) -> Split | None:
    """The same after a shorter search, if that is enough: 13 ms instead of 43 for 256 samples.

    It is where it finds a split that holds clearly or, unless one is ``patient``, next to nothing.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of one cluster.
    distinct, level : float
        As in `Split.holds`.
    seed : int
        Random seed of folds and starts.
    patient : bool
        Whether to search thoroughly where the shorter search finds nothing.
    """
    if len(X) < FEWEST:
        return None
    # Random numbers of its own: the thorough search does not depend on this one.
    rng = np.random.default_rng([seed, 1])
    found = _whole(*scaled(X, rng), rng, _QUICK, deals=1)
    if found is not None and found.holds(distinct, _CLEARLY * level):
        return found
    if not patient and (found is None or found.p_value > _HOPELESS):
        return found
    return find_split(X, seed)


def may_split(X: Array, seed: int = 0, distinct: float = DISTINCT) -> bool:
    """Whether `find_split` may find a split that holds: a quick look that says no to most.

    It judges the best cut on the samples that chose it, which flatters the cut. Where even that
    does not hold, there is next to no chance that the split does.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of one cluster.
    seed : int
        Random seed of starts.
    distinct : float
        Separation to exceed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> one = rng.normal(size=(200, 3))
    >>> may_split(one), may_split(one + 5.0 * (one[:, :1] > 0.0))
    (False, True)
    """
    if len(X) < FEWEST:
        return False
    rng = np.random.default_rng(seed)
    X, widths = scaled(X, rng)
    cut = best_cut(X, widths, rng, _QUICK) if X.shape[1] else None
    if cut is None:
        return False
    places, first = cut.judge(X)
    found = _evidence(places[None], cut.gap, first[None], first)
    return found is not None and found.holds(distinct, _LENIENT)


def valley(places: Array, gaps: Array | float = 0.0) -> float:
    """Probability of as few samples in the gap if there were no valley.

    Places are in units of the distance between two groups' means, which are at -1/2 and 1/2. A
    density with one peak holds at least as many samples in a band around the gap, which is at most
    1/6 away from 0, as in the emptier of two equal bands around the means.
    """
    gap, side = bands(places, gaps)
    return _binomial(gap, gap + side)


def _whole(
    X: Array, widths: Array, rng: np.random.Generator, effort: Effort, deals: int
) -> Split | None:
    """Judge by folds and, where there is hope, tell the two groups by the cut of all samples."""
    found = _cross_fitted(X, widths, rng, effort, deals)
    if found is None or found.p_value > _HOPELESS:
        return found
    whole = best_cut(X, widths, rng, effort)
    return None if whole is None else found._replace(members=whole.judge(X)[1])


def _cross_fitted(
    X: Array, widths: Array, rng: np.random.Generator, effort: Effort, deals: int
) -> Split | None:
    """Judge each fold by the cut that the others choose; a hopeless first deal is the only one."""
    n = len(X)
    places, gaps = np.empty((deals, n)), np.empty((deals, n))
    first = np.zeros((deals, n), dtype=bool)
    found: Split | None = None
    if X.shape[1] == 0:
        return None
    for deal in range(deals):
        fold = rng.permutation(np.arange(n) % _FOLDS)
        for f in range(_FOLDS):
            test = fold == f
            cut = best_cut(X[~test], widths, rng, effort)
            if cut is None:
                return None
            places[deal, test], first[deal, test] = cut.judge(X[test])
            gaps[deal, test] = cut.gap
            if deals == 1 and 0 < f < _FOLDS - 1:  # 6 ms instead of 12 for most that are one
                judged = fold <= f
                if valley(places[0, judged], gaps[0, judged]) > _ABORTED:
                    return _evidence(places[:, judged], gaps[:, judged], first[:, judged], first[0])
        so_far = slice(deal + 1)
        found = _evidence(places[so_far], gaps[so_far], first[so_far], first[0])
        if found is None or found.p_value > _HOPELESS:
            break
    return found


def _evidence(places: Array, gaps: Array | float, first: Mask, members: Mask) -> Split | None:
    """How far apart the groups lie, and whether there is a valley between them."""
    deals, n = places.shape
    if not deals < first.sum() < deals * (n - 1):
        return None
    sides = places[first], places[~first]
    value, error = with_error(
        np.abs(sides[0].mean() - sides[1].mean()),
        *(side.std(ddof=1) for side in sides),
        *(np.float64(len(side) / deals) for side in sides),
    )
    gap, side = bands(places, gaps)
    p_value = _binomial(-(-gap // deals), -(-gap // deals) + side // deals)
    return Split(float(value), float(error), p_value, members)


def bands(places: Array, gaps: Array | float = 0.0) -> tuple[int, int]:
    """Samples in the gap, and in the emptier of the bands around the means at -1/2 and 1/2."""
    gap, left, right = (
        int(np.count_nonzero(np.abs(places - at) < BAND)) for at in (gaps, -0.5, 0.5)
    )
    return gap, min(left, right)


def scaled(X: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Features about their means in units of their widths, and these; constant ones are left out.

    Between whole numbers there is nothing, which is not a valley: features with few values are
    spread over the steps between these.
    """
    n = len(X)
    if X.shape[1] > MOST_FEATURES:
        X = leading(X)
    X = X - X.mean(axis=0)
    steps = np.diff(np.sort(X, axis=0), axis=0)
    values = 1 + np.count_nonzero(steps, axis=0)
    few = np.flatnonzero((values > 1) & (values < n / 2))
    for t in few:
        step = np.median(steps[steps[:, t] > 0.0, t])
        X[:, t] += rng.uniform(-0.5, 0.5, size=n) * step
    width = X.std(axis=0)
    keep = width > 0.0
    return np.ascontiguousarray(X[:, keep] / width[keep]), width[keep]


def leading(X: Array) -> Array:
    """Wide samples along their leading principal axes: few samples say nothing about more."""
    X = X - X.mean(axis=0)
    # The smaller of the two matrices of products has the same eigenvalues, but for zeros.
    if len(X) <= X.shape[1]:
        s, U = np.linalg.eigh(X @ X.T)
        scores = U * np.sqrt(np.maximum(s, 0.0))
    else:
        s, axes = np.linalg.eigh(X.T @ X)
        scores = X @ axes
    keep = np.flatnonzero(s > 1e-12 * s[-1])[::-1][: min(MOST_FEATURES, len(X) // 4)]
    return np.ascontiguousarray(scores[:, keep])


def _binomial(successes: int, n: int) -> float:
    """Probability of at most so many successes in n fair trials."""
    chances = (math.comb(n, i) for i in range(successes + 1))
    return float(sum(chances) / 2**n) if n else 1.0
