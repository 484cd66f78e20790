"""Numbers side by side, against the same with NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numba
import numpy as np
import pytest

from icvi.kernels import layout as L
from icvi.kernels.compiler.instructions import at_least, at_most, fma, greater, lesser
from icvi.kernels.compiler.lanes import (
    FEATURES,
    HALF,
    equal,
    greatest_lane,
    in_all_lanes,
    least_lane,
    less,
    load,
    load_features,
    load_half,
    load_line,
    load_sample,
    only_clusters,
    put,
    reaching,
    store,
    store_features,
    store_line,
    sum_features,
    sum_lanes,
    where_equal,
    where_less,
)
from icvi.kernels.layout import LANES


@numba.njit
def arithmetic(G, out):
    a, b = load(G, 0, LANES), load(G, 1, LANES)
    store(out, 0, LANES, a + b)
    store(out, 1, LANES, a - 2.0)
    store(out, 2, LANES, 3.0 * a)
    store(out, 3, LANES, a / b)
    store(out, 4, LANES, in_all_lanes(7.0))
    store(out, 5, LANES, 8.0)
    store(out, 6, LANES, lesser(a, b))
    store(out, 7, LANES, greater(a, b))


@numba.njit
def choices(G, out, count):
    a, b = load(G, 0, 0), load(G, 1, 0)
    store(out, 0, 0, where_equal(a, b, 1.0, a))
    store(out, 1, 0, where_less(a, b, a, -1.0))
    store(out, 2, 0, put(a, count, 5.0))
    store(out, 3, 0, only_clusters(a, 0, count, -math.inf))
    store(out, 4, 0, at_least(a, 0.5))
    store(out, 5, 0, at_most(a, 0.5))
    store(out, 6, 0, only_clusters(a, 32, 32 + count, -math.inf))
    halves = load_half(G, 0, HALF), load_half(G, 1, HALF)
    return reaching(a, 0.5), equal(a, b), less(a, b), equal(*halves), less(halves[0], 0.5)


@numba.njit
def one_number(line, at):
    x = load_line(line, at)
    store_line(line, at, x * 2.0)
    return sum_lanes(x), least_lane(x), greatest_lane(x)


def test_operators_work_on_all_lanes_and_nothing_else():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((2, 3 * LANES))
    out = np.zeros((8, 3 * LANES))
    arithmetic(G, out)
    a, b = G[:, LANES : 2 * LANES]
    expected = [a + b, a - 2.0, 3.0 * a, a / b, 0 * a + 7.0, 0 * a + 8.0]
    expected += [np.minimum(a, b), np.maximum(a, b)]
    np.testing.assert_array_equal(out[:, LANES : 2 * LANES], expected)
    assert not out[:, :LANES].any()
    assert not out[:, 2 * LANES :].any()


@pytest.mark.parametrize("count", [0, 1, LANES - 1])
def test_choices(count):
    rng = np.random.default_rng(count)
    G = rng.random((2, LANES))
    G[1, ::3] = G[0, ::3]
    G[0, 1], G[0, 5] = math.nan, 0.5
    out = np.zeros((7, LANES))
    found = choices(G, out, count)
    a, b = G
    replaced = a.copy()
    replaced[count] = 5.0
    lanes = np.arange(LANES)
    expected = [
        np.where(a == b, 1.0, a),
        np.where(a < b, a, -1.0),
        replaced,
        np.where((lanes > 0) & (lanes <= count), a, -np.inf),
        np.where(a < 0.5, 0.5, a),  # nan stays
        np.where(a > 0.5, 0.5, a),
        np.where(lanes <= count, a, -np.inf),
    ]
    np.testing.assert_array_equal(out, expected)
    holds = [a >= 0.5, a == b, a < b, (a == b)[HALF:], (a < 0.5)[HALF:]]
    assert found == tuple(sum(2**lane for lane in np.flatnonzero(where)) for where in holds)


def test_one_number_of_all_lanes():
    line = np.random.default_rng(0).standard_normal(3 * LANES)
    part = line[5 : 5 + LANES].copy()
    expected = line.copy()
    expected[5 : 5 + LANES] *= 2.0
    total, least, greatest = one_number(line, 5)
    assert total == pytest.approx(math.fsum(part), rel=1e-14, abs=1e-14)
    assert (least, greatest) == (part.min(), part.max())
    np.testing.assert_array_equal(line, expected)


@numba.njit
def features(row, sample, out, sums):
    for t in range(0, sample.size, FEATURES):
        x, y = load_sample(sample, t), load_features(row, t)
        store_features(out[0], t, -x)
        store_features(out[1], t, fma(x, 3.0, -y))
        sums[0] += sum_features(x)


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 16, 19])
def test_features_of_a_sample_end_where_it_does(d):
    rng = np.random.default_rng(d)
    width = L.sum_width(d)
    # What lies behind the sample is not read.
    memory = np.concatenate([rng.standard_normal(d), np.full(width, np.nan)])
    sample, row = memory[:d], np.concatenate([rng.standard_normal(d), np.zeros(width - d)])
    out, sums = np.full((2, width), 5.0), np.zeros(1)
    features(row, sample, out, sums)
    np.testing.assert_array_equal(out[0, :d], -sample)
    exact = [float(Fraction(x) * 3 - Fraction(y)) for x, y in zip(sample, row[:d], strict=True)]
    np.testing.assert_array_equal(out[1, :d], exact)
    assert sums[0] == pytest.approx(sample.sum(), rel=1e-13)
    if FEATURES > 1:
        assert not out[:, d:].any()
