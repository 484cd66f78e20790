r"""The clearest cut of samples into two groups: a direction, and a threshold along it.

The search works in whitened coordinates, on all directions at once. There, Fisher's direction of
*any* cut is the difference of its groups' means: the covariance within the groups is the total less
a rank-one term in that difference, which by the formula of Sherman and Morrison changes the length
of :math:`C^{-1} (v_2 - v_1)` but not its direction.

1. Directions start at principal axes, at eigenvectors of the kurtosis matrix and at random. Random
   ones move to extreme kurtosis or skewness, where two clusters show even if both are long in
   another direction.
2. Two groups along each direction and the direction itself improve in turn: every sample belongs to
   both groups in part, as in a mixture of two Gaussians with one covariance.
3. Mixtures of two Gaussians with a covariance each start from some of these groups, and from pairs
   of samples; see `icvi.insight.mixtures`.
4. All thresholds along the best directions are compared.

Reference: D. Pena, F. J. Prieto and J. Viladomat, "Eigenvectors of a kurtosis matrix as interesting
directions to reveal cluster structure", Journal of Multivariate Analysis 101, 2010.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.insight.mixtures import two_gaussians

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Half the width of a band, in distances of the groups' means.
BAND = 1.0 / 6.0

_BINS = 128  # of a histogram along a direction
_REACH = 4.0  # standard deviations from its middle to its ends
_FINE = _BINS / (2.0 * _REACH)
_TINY = 1e-300
_FROM_DIRECTIONS = 2  # mixtures that start from groups along the best directions
_MIXTURE_ROUNDS = 10


class Effort(NamedTuple):
    """How long to search."""

    starts: int  # random directions
    pursuit: int  # steps to extreme kurtosis or skewness
    rounds: int  # of improving all directions
    more_rounds: int  # of improving the best
    best: int  # directions along which thresholds are compared
    mixtures: (
        int  # that start from groups of samples nearer to one of two samples than to the other
    )


class Cut(NamedTuple):
    """A hyperplane between two groups, and where their means lie along its normal."""

    direction: Array
    threshold: float
    low: float
    high: float
    score: float

    @property
    def gap(self) -> float:
        """Place of the gap: the threshold, but clear of the bands around the means."""
        middle, L = (self.low + self.high) / 2.0, self.high - self.low
        return min(max((self.threshold - middle) / L, -BAND), BAND)

    def judge(self, X: Array) -> tuple[Array, Mask]:
        """Where samples lie between the means, and which are in the larger group.

        The larger group is first in every fold, so that places of folds go together.
        """
        u = X @ self.direction
        places = (u - (self.low + self.high) / 2.0) / (self.high - self.low)
        return places, u < self.threshold


class Cuts(NamedTuple):
    """The clearest cut along each of several directions; score 0 where there is none."""

    scores: Array
    thresholds: Array
    low: Array
    high: Array


class _Whitened(NamedTuple):
    """Samples Y = X @ back, the widest principal axis first; X = Y @ forth.T."""

    Y: Array
    back: Array
    forth: Array


class _Step(NamedTuple):
    """Directions, the share of the variance along each that lies between its groups, and these."""

    Q: Array
    between: Array
    R: Array


def best_cut(X: Array, widths: Array, rng: np.random.Generator, effort: Effort) -> Cut | None:
    """Of all candidates the clearest cut, its larger group on the low side.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples, in units of their features' widths.
    widths : ndarray of shape (d,)
        These widths: what stands out in the units that features came in is a start, too.
    rng : numpy.random.Generator
        For random starts.
    effort : Effort
        How long to search.
    """
    n = len(X)
    center = X.mean(axis=0)
    white = _whiten(X - center)
    if white.Y.shape[1] == 0:
        return None
    U, Q = _to_unit_variance(white.Y, _candidates(white, widths, rng, effort))
    cuts = clearest_cuts(U, least=max(6, n // 25))
    j = int(cuts.scores.argmax())
    if not cuts.scores[j] > 0.0:
        return None
    w = white.back @ Q[:, j]
    threshold, low, high = (float(part[j] + center @ w) for part in cuts[1:])
    score = float(cuts.scores[j])
    if 2 * (U[:, j] < cuts.thresholds[j]).sum() < n:
        return Cut(-w, -threshold, -high, -low, score)
    return Cut(w, threshold, low, high, score)


def clearest_cuts(U: Array, least: int) -> Cuts:
    """Compare all thresholds along each direction, with so many samples on each side at least.

    Parameters
    ----------
    U : ndarray of shape (n, m)
        What samples project to along m directions, with mean 0 and variance 1.
    least : int
        Samples on either side.

    Notes
    -----
    The score is the separation times the depth of the valley: valleys alone would be found
    everywhere in many features, separations in every long tail. Thresholds are the edges of
    histograms, whose sums are exact; bands are rounded to whole bins.
    """
    n, m = U.shape
    u = U.T.ravel()
    bins = np.clip(u * _FINE + _BINS / 2.0, 0.0, _BINS - 1.0).astype(np.intp)
    bins += np.repeat(np.arange(0, m * _BINS, _BINS), n)
    # All directions in one row: before each lie n samples for every direction before it, whose
    # values sum to 0 and whose squares to n.
    counts = np.bincount(bins, minlength=m * _BINS).cumsum()
    column = np.repeat(np.arange(m), _BINS)
    n1 = counts - n * column
    cut = np.flatnonzero((n1 >= least) & (n1 <= n - least))
    if cut.size == 0:
        return Cuts(np.zeros(m), np.zeros(m), np.zeros(m), np.ones(m))
    sums = np.bincount(bins, u, m * _BINS).cumsum()[cut]
    squares = np.bincount(bins, u * u, m * _BINS).cumsum()[cut]
    n1, column = n1[cut], column[cut]
    squares -= n * column
    n2 = n - n1
    low, high = sums / n1, -sums / n2
    L = high - low
    s1 = np.sqrt(np.maximum(squares / n1 - low * low, 0.0))
    s2 = np.sqrt(np.maximum((n - squares) / n2 - high * high, 0.0))
    threshold = (cut - column * _BINS + 1) / _FINE - _REACH
    middle, half = (low + high) / 2.0, BAND * L
    at = np.stack([np.clip(threshold, middle - half, middle + half), low, high])
    ends = np.stack([at + half, at - half]) * _FINE + (_BINS / 2.0 + 0.5)
    index = np.clip(ends, 0.0, _BINS).astype(np.intp)
    index += column * _BINS - 1  # counts are up to the end of a bin
    upto = np.where(index < 0, 0, counts[index])
    gap, left, right = upto[0] - upto[1]
    side = np.minimum(left, right)
    depth = np.maximum((side - gap) / np.sqrt(side + gap + 1.0), 1e-3)
    table = np.zeros((4, m * _BINS))
    table[:, cut] = depth * L / (s1 + s2 + 1e-9 * L), threshold, low, high
    best = table[0].reshape(m, _BINS).argmax(axis=1) + np.arange(0, m * _BINS, _BINS)
    return Cuts(*table[:, best])


def _whiten(X: Array) -> _Whitened:
    """Whiten by the covariance of samples about 0, its correlations shrunk by d/n."""
    n, d = X.shape
    if d >= n:  # nothing is left of correlations: principal axes in units of the features' widths
        U, s, axes = np.linalg.svd(X, full_matrices=False)
        kept = s > 1e-9 * s[0]
        return _Whitened(U[:, kept] * s[kept], axes[kept].T, axes[kept].T)
    C = X.T @ X / n
    variances = np.maximum(C.diagonal(), 1e-12)
    C *= 1.0 - d / n
    C[np.arange(d), np.arange(d)] = variances
    spread, axes = np.linalg.eigh(C)
    root, axes = np.sqrt(np.maximum(spread[::-1], 1e-12 * spread[-1])), axes[:, ::-1]
    return _Whitened(X @ (axes / root), axes / root, axes * root)


def _candidates(white: _Whitened, widths: Array, rng: np.random.Generator, effort: Effort) -> Array:
    """The most promising directions, as columns."""
    Y = white.Y
    U, _ = _to_unit_variance(Y, _starts(white, widths, rng, effort))
    # Between the means of two groups lies half the skewness, if they hold all of the variance.
    middle = np.clip(0.6 * np.einsum("ij,ij,ij->j", U, U, U) / len(Y), -1.5, 1.5)
    first = step = _improved(Y, (middle < U).astype(np.float64))
    for _ in range(effort.rounds - 1):
        step = _improved(Y, step.R)
    step = _promising(step, effort.best)
    for _ in range(effort.more_rounds):
        step = _improved(Y, step.R)
    mixed = Y.T @ _mixtures(Y, _promising(first, _FROM_DIRECTIONS).R, rng, effort)
    return np.concatenate([_promising(first, effort.best // 2).Q, step.Q, mixed], axis=1)


def _mixtures(Y: Array, R: Array, rng: np.random.Generator, effort: Effort) -> Array:
    """Shares of samples in groups that have a covariance each."""
    one, other = Y[rng.integers(0, len(Y), size=(2, effort.mixtures))]
    middle = 0.5 * ((other**2).sum(axis=1) - (one**2).sum(axis=1))
    nearer = middle < Y @ (other - one).T
    return two_gaussians(Y, np.concatenate([R, nearer], axis=1), _MIXTURE_ROUNDS)


def _improved(Y: Array, R: Array) -> _Step:
    """Fisher's directions of groups, and the groups along these: shares of samples in the second.

    One step of expectation maximisation. The variance along a direction is 1, so that shares and
    means of the groups give the variance within them.
    """
    share = np.clip(R.mean(axis=0), 0.02, 0.98)
    U, Q = _to_unit_variance(Y, Y.T @ R)
    moved = np.einsum("ij,ij->j", U, R) / len(Y)
    both = share * (1.0 - share)
    between = np.clip(moved * moved / both, 1e-12, 0.98)
    steepness = np.sqrt(between / both) / (1.0 - between)
    middle = moved * (0.5 / share - 0.5 / (1.0 - share))
    threshold = middle + np.log(1.0 / share - 1.0) / steepness
    U -= threshold
    U *= -steepness
    np.clip(U, -30.0, 30.0, out=U)
    np.exp(U, out=U)
    U += 1.0
    return _Step(Q, between, np.reciprocal(U, out=U))


def _promising(step: _Step, most: int) -> _Step:
    """The directions with the most variance between their groups, each once."""
    order = np.argsort(-step.between)
    between = step.between[order]
    fresh = np.append(True, between[1:] < between[:-1] - 1e-3)
    kept = order[fresh][:most]
    return _Step(step.Q[:, kept], step.between[kept], step.R[:, kept])


def _starts(white: _Whitened, widths: Array, rng: np.random.Generator, effort: Effort) -> Array:
    """Directions to start from, as columns."""
    Y, forth = white.Y, white.forth
    r = Y.shape[1]
    heavy = Y * np.einsum("ij,ij->i", Y, Y)[:, None]
    kurtosis = np.linalg.eigh(Y.T @ heavy)[1]
    extremes = kurtosis if r <= 6 else kurtosis[:, [0, 1, 2, 3, -2, -1]]
    widest = widths * widths
    for _ in range(4):  # to the first principal axis in the units that features came in
        widest = widest * (forth @ (forth.T @ widest))
        widest /= math.sqrt(widest @ widest)
    plain = [np.eye(r)[:, :2], (forth.T @ widest)[:, None], heavy.sum(axis=0)[:, None], extremes]
    random = np.asarray(rng.normal(size=(r, effort.starts)))
    moved = _pursue(Y, np.concatenate([random, extremes], axis=1), effort)
    return np.concatenate([*plain, moved], axis=1)


def _pursue(Y: Array, Q: Array, effort: Effort) -> Array:
    """Move towards extreme skewness, the first third of random starts, or kurtosis."""
    skewed = effort.starts // 3
    Q = _to_unit_length(Q)
    for _ in range(effort.pursuit):
        U = Y @ Q
        powers = U * U
        powers[:, skewed:] *= U[:, skewed:]
        gradient = Y.T @ powers
        gradient[:, skewed:] -= (3.0 * len(Y)) * Q[:, skewed:]
        Q = _to_unit_length(gradient)
    return Q


def _to_unit_variance(Y: Array, Q: Array) -> tuple[Array, Array]:
    """What samples project to, and directions, scaled to a variance of 1 along each."""
    U = Y @ Q
    scale = 1.0 / (np.sqrt(np.einsum("ij,ij->j", U, U) / len(Y)) + _TINY)
    U *= scale
    return U, Q * scale


def _to_unit_length(Q: Array) -> Array:
    return np.asarray(Q / (np.sqrt(np.einsum("ij,ij->j", Q, Q)) + _TINY))
