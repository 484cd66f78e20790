"""Sums and extremes over clusters, against NumPy: whatever lies beside the clusters is left out."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import part
from icvi.kernels.compiler.lanes import load
from icvi.kernels.reductions import silhouettes as silhouettes_of_arrays
from icvi.kernels.sums import dot, extreme, largest, silhouettes, total, total_of, two_least

K = [1, 2, 14, 15, 16, 17, 31, 32, 200]


@numba.njit
def of_rows(table, k):
    return (
        total(table, 0, k),
        dot(table, 0, table, 1, k),
        extreme(table, 0, k, 1.0),
        extreme(table, 0, k, -1.0),
    )


@numba.njit
def of_parts(table, k):
    first, second = part(table, 0, 1, k), part(table, 1, 1, k)
    return total_of(first), largest(first), silhouettes(first, second)


@numba.njit
def least_two(table):
    return two_least(load(table, 0, 0), load(table, 1, 0))


def rows(k, beside):
    """Two rows of numbers of k clusters, between numbers that are not to be seen, and one more."""
    table = np.full((3, L.columns_for(k)), beside)
    table[:2, 1 : k + 1] = np.random.default_rng(k).random((2, k))
    return table


@pytest.mark.parametrize("beside", [math.nan, math.inf, -math.inf, 1e300])
@pytest.mark.parametrize("k", K)
def test_rows_are_summed_from_the_first_cluster_to_the_last(k, beside):
    table = rows(k, beside)
    a, b = table[0, 1 : k + 1], table[1, 1 : k + 1]
    assert of_rows(table, k) == pytest.approx((a.sum(), a @ b, a.min(), a.max()), rel=1e-14)


@pytest.mark.parametrize("beside", [math.nan, math.inf, -math.inf, 1e300])
@pytest.mark.parametrize("k", K)
def test_parts_of_rows_end_with_the_last_cluster(k, beside):
    table = rows(k, beside)
    a, b = table[0, 1 : k + 1], table[1, 1 : k + 1]
    expected = (a.sum(), a.max(), ((b - a) / np.maximum(a, b)).sum())
    assert of_parts(table, k) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("k", K)
def test_silhouettes_tell_of_a_cluster_that_has_none(k):
    table = rows(k, 0.0)
    table[:2, k] = 0.0
    assert of_parts(table, k)[2] == -math.inf
    with np.errstate(invalid="ignore"):
        assert silhouettes_of_arrays(table[0, 1 : k + 1], table[1, 1 : k + 1]) == -math.inf


def test_the_two_least_may_be_in_one_lane_in_two_or_equal():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        pairs = np.sort(rng.integers(0, 30, size=(2, L.LANES)).astype(float), axis=0)
        assert least_two(pairs) == tuple(np.sort(pairs.ravel())[:2])
