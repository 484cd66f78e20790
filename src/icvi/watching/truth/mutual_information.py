r"""Adjusted mutual information (AMI) of classes and clusters, from their contingency table.

.. math:: \frac{I - E}{(H_a + H_b)/2 - E}

with the mutual information I, its expectation E over all tables with the same margins (Vinh, Epps
and Bailey, 2010), and the entropies of classes and clusters. In such a table a cell with margins a
and b has a hypergeometric distribution, so that

.. math:: E = \sum_{a, b} \sum_m P(m) \frac{m}{n} \log \frac{n m}{a b}.

Two things make this cheap without an approximation that a double could hold: cells with the same
margins are computed once, and the sum over m leaves out what lies farther from the mean than
:math:`\sqrt{22.5 \min(a, b)}`, which has a probability below :math:`2 e^{-45}` (Hoeffding, 1963).
The probabilities come from ratios of neighbours, not from factorials, whose logarithms lose digits
in large streams.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_FAR = 22.5  # half of 45: what is left out has a probability below 2 exp(-45)
_TERMS = 1 << 20  # of a sum that are in memory at once


def ami(i: NDArray[np.int64], j: NDArray[np.int64], counts: NDArray[np.int64], n: int) -> float:
    """Adjusted mutual information, normalised by the mean of the entropies.

    Parameters
    ----------
    i, j, counts : arrays
        Class, cluster and number of samples of every cell that has some.
    n : int
        Samples.

    Examples
    --------
    >>> cells = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([30, 10, 20])
    >>> round(ami(*cells, 60), 6)
    0.471882
    """
    a, b = (np.bincount(side, counts).astype(np.int64) for side in (i, j))
    if len(counts) == len(a) == len(b):
        return 1.0  # every class is a cluster
    if 1 in (len(a), len(b)):
        return 0.0
    share = counts / n
    mutual = float((share * np.log(n * counts / (a[i] * b[j]))).sum())
    mean = (_entropy(a, n) + _entropy(b, n)) / 2.0
    expected = expected_information(a, b, n)
    return (mutual - expected) / max(mean - expected, float(np.finfo(np.float64).eps))


def _entropy(counts: NDArray[np.int64], n: int) -> float:
    return float(-(counts / n * np.log(counts / n)).sum())


def expected_information(a: NDArray[np.int64], b: NDArray[np.int64], n: int) -> float:
    """Expected mutual information of classes and clusters of these sizes."""
    rows, many = np.unique(a, return_counts=True)
    columns, others = np.unique(b, return_counts=True)
    if len(columns) > len(rows):
        rows, many, columns, others = columns, others, rows, many
    total = 0.0
    for size, times in zip(columns.tolist(), others.tolist()):
        total += times * float(many @ _of_cells(rows, size, n))
    return total


def _of_cells(a: NDArray[np.int64], b: int, n: int) -> NDArray[np.float64]:
    """The part of the sum that cells with these margins contribute."""
    smaller = np.minimum(a, b)
    mean = a * (b / n)
    far = np.sqrt(_FAR * smaller) + 1.0
    low = np.maximum(np.maximum(a + b - n, 0), np.floor(mean - far).astype(np.int64))
    high = np.minimum(smaller, np.ceil(mean + far).astype(np.int64))
    values = np.empty(len(a))
    widest = np.maximum.accumulate(high - low + 1)
    first = 0
    while first < len(a):
        fits = widest[first:] * np.arange(1, len(a) - first + 1) <= _TERMS
        last = first + max(int(fits.sum()), 1)
        part = slice(first, last)
        values[part] = _sums(a[part], b, n, low[part], high[part])
        first = last
    return values


def _sums(
    a: NDArray[np.int64], b: int, n: int, low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.float64]:
    m = low[:, None] + np.arange(int((high - low).max()) + 1)
    inside = m <= high[:, None]
    m = np.where(inside, m, high[:, None]).astype(np.float64)
    column, free = a[:, None].astype(np.float64), float(n - b)
    # P(m) / P(m - 1); the logarithm of P up to a constant, which cancels.
    before = m[:, 1:] - 1.0
    ratio = (column - before) * (b - before) / (m[:, 1:] * (free - column + m[:, 1:]))
    steps = np.log(np.where(inside[:, 1:], ratio, 1.0))
    logs = np.concatenate([np.zeros((len(a), 1)), np.cumsum(steps, axis=1)], axis=1)
    weights = np.where(inside, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = m / n * np.log(n * m / (column * b))
    information[m == 0.0] = 0.0
    sums: NDArray[np.float64] = (weights * information).sum(axis=1) / weights.sum(axis=1)
    return sums
