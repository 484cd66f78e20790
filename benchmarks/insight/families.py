"""Streams of known clusters: seven families, the closest pair at a given separation.

Separation is defined in `icvi.insight.separation`. Here it comes from the covariances that clusters
are drawn with, not from samples. It grows in proportion to the distances of the centres, so that
one factor brings a random layout to the separation that is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Order = Literal["by class", "shuffled"]

FAMILIES = ("gaussian", "uniform", "student", "skewed", "elongated", "imbalanced", "integer")
STRUCTURELESS = ("uniform box", "gaussian", "student", "skewed")
DIMENSIONS = (2, 3, 5, 10, 20)
CLUSTERS = (2, 3, 5, 8, 12)
ORDERS: tuple[Order, ...] = ("by class", "shuffled")

_SEED = 771_204  # no test uses it
_FEWEST, _MOST = 60, 400  # samples of a cluster
_SMALLEST, _LARGEST = 50, 500  # the same where clusters are imbalanced
_FREEDOM = 5.0  # of Student's t
_SHAPE = 2.0  # of the gamma distribution; its skewness is 2/sqrt(2)
_STEPS = 2.5  # widths of integer-valued clusters, in steps between integers


@dataclass(frozen=True)
class Case:
    """What a stream is drawn from."""

    family: str
    d: int
    k: int
    separation: float
    order: Order
    number: int  # of the case: with the separation, its random seed

    def generator(self, purpose: int = 0) -> np.random.Generator:
        """Random numbers that belong to this case and to one purpose."""
        return np.random.default_rng(
            [_SEED, round(100 * self.separation), self.number, purpose],
        )


@dataclass(frozen=True)
class Stream:
    """Samples in order, the class of each, and the two classes that are closest."""

    case: Case
    X: Floats
    truth: Ints
    closest: tuple[int, int]


def cases(separation: float, per_cell: int = 2) -> list[Case]:
    """Cases of all families, numbers of features and numbers of clusters.

    ``per_cell`` of 2 is both orders; 1 is one of them in turn; 0 is a fifth of the cells, in which
    every family meets each number of features, and each number of clusters, once.
    """
    found = []
    cells = product(enumerate(FAMILIES), enumerate(DIMENSIONS), enumerate(CLUSTERS), ORDERS)
    for number, ((f, family), (i, d), (j, k), order) in enumerate(cells):
        in_turn = order == ORDERS[(f + i + j) % 2]
        in_square = (f + i + j) % len(DIMENSIONS) == 0
        if per_cell == 2 or (in_turn and (per_cell == 1 or in_square)):
            found.append(Case(family, d, k, separation, order, number))
    return found


def draw(case: Case) -> Stream:
    """The stream of a case."""
    rng = case.generator()
    n = _sizes(case, rng)
    mixes = [_mix(case, rng) for _ in range(case.k)]
    covariances = np.array([mix @ mix.T for mix in mixes])
    if case.family == "integer":
        covariances += np.eye(case.d) / 12.0  # of rounding
    centers = rng.normal(size=(case.k, case.d))
    closest, least = _closest(n, centers, covariances)
    centers *= case.separation / least
    parts = [
        center + _noise(case.family, size, case.d, rng) @ mix.T
        for size, center, mix in zip(n, centers, mixes)
    ]
    X, truth = np.concatenate(parts), np.repeat(np.arange(case.k), n)
    if case.family == "integer":
        X = np.round(X)
    if case.order == "shuffled":
        order = rng.permutation(len(X))
        X, truth = X[order], truth[order]
    return Stream(case, X, truth, closest)


def separation(n: Ints, gap: Floats, first: Floats, second: Floats) -> float:
    """Separation of two clusters with these sizes, distance of centres and covariances."""
    w = np.linalg.solve((n[0] * first + n[1] * second) / n.sum(), gap)
    return float(w @ gap / (math.sqrt(w @ first @ w) + math.sqrt(w @ second @ w)))


def structureless(family: str, n: int, d: int, rng: np.random.Generator) -> Floats:
    """Samples of one density without clusters."""
    if family == "uniform box":
        return rng.uniform(size=(n, d))
    return _noise(family, n, d, rng)


def _sizes(case: Case, rng: np.random.Generator) -> Ints:
    if case.family != "imbalanced":
        return np.exp(rng.uniform(math.log(_FEWEST), math.log(_MOST), case.k)).astype(np.int64)
    middle = np.exp(rng.uniform(math.log(_SMALLEST), math.log(_LARGEST), case.k - 2))
    n = np.concatenate([[_SMALLEST, _LARGEST], middle]).astype(np.int64)
    return np.asarray(rng.permutation(n))


def _mix(case: Case, rng: np.random.Generator) -> Floats:
    """What turns standard noise into that of one cluster: widths along rotated axes."""
    rotation = np.linalg.qr(rng.normal(size=(case.d, case.d)))[0]
    widths = np.exp(rng.uniform(-0.35, 0.35, case.d))
    if case.family == "elongated":
        widths[0] *= rng.uniform(4.0, 8.0)
    if case.family == "integer":
        widths *= _STEPS
    return np.asarray(rotation * widths)


def _noise(family: str, n: int, d: int, rng: np.random.Generator) -> Floats:
    """Samples with mean 0 and the identity as covariance."""
    if family == "skewed":
        return np.asarray((rng.gamma(_SHAPE, size=(n, d)) - _SHAPE) / math.sqrt(_SHAPE))
    Z = rng.normal(size=(n, d))
    if family == "uniform":  # in a ball
        Z /= np.sqrt((Z**2).sum(axis=1, keepdims=True))
        Z *= rng.uniform(size=(n, 1)) ** (1.0 / d) * math.sqrt(d + 2.0)
    if family == "student":
        Z *= np.sqrt((_FREEDOM - 2.0) / rng.chisquare(_FREEDOM, size=(n, 1)))
    return np.asarray(Z)


def _closest(n: Ints, centers: Floats, covariances: Floats) -> tuple[tuple[int, int], float]:
    def pairs() -> Iterator[tuple[float, tuple[int, int]]]:
        for i, j in combinations(range(len(n)), 2):
            gap = centers[j] - centers[i]
            yield separation(n[[i, j]], gap, covariances[i], covariances[j]), (i, j)

    least, pair = min(pairs())
    return pair, least
