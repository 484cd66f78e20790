"""The kernels that hold an idea of their own, against numpy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from icvi.kernels import layout as L  # noqa: E402
from icvi.kernels.art.coding import GROUP, code, coded_size  # noqa: E402
from icvi.kernels.art.resonance import EXTRA_ROWS, add_minima, matched  # noqa: E402
from icvi.kernels.caches.pair_sums import log_sum_tile, renew_sums, sum_tile  # noqa: E402
from icvi.kernels.compiler.addresses import row  # noqa: E402
from icvi.kernels.layout import LANES  # noqa: E402
from icvi.kernels.moments.columns import enter, show  # noqa: E402


# Kernels have no way in from Python of their own.
@numba.njit
def run_renew_sums(G, W, J, k, columns, log):
    if log:
        return renew_sums(G, W, 0, J, k, columns, log_sum_tile, -math.inf)
    return renew_sums(G, W, 0, J, k, columns, sum_tile, 0.0)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("k", [2, 7, 15, 16, 40, 300])
def test_tiles_hold_the_sum_over_pairs_whatever_changes(k, log):
    """Pairs set in any order, some again, while clusters come: the sum is that over all pairs."""
    rng = np.random.default_rng(k)
    columns = L.columns_for(k)
    G = np.full((L.G_WORK, columns), math.nan)  # what is not set is not read
    W = np.full((L.tile_rows(columns), LANES), -np.inf if log else 0.0)
    h = np.zeros((k + 1, k + 1))
    for k_now, J in [*((j, j) for j in range(1, k + 1)), *((k, j) for j in rng.integers(1, k, 20))]:
        h[J, : k_now + 1] = rng.random(k_now + 1)
        h[: k_now + 1, J] = h[J, : k_now + 1]
        G[L.G_CIP, : k_now + 1] = h[J, : k_now + 1]
        found = run_renew_sums(G, W, int(J), k_now, columns, log)
        pairs = h[1 : k_now + 1, 1 : k_now + 1][np.tril_indices(k_now, -1)]
        if log:
            assert math.exp(found) == pytest.approx(np.exp(pairs).sum(), rel=1e-13)
        else:
            assert found == pytest.approx(math.fsum(pairs), rel=1e-13)


def test_a_sum_that_once_was_huge_leaves_nothing_behind():
    columns = L.columns_for(20)
    G, W = np.zeros((L.G_WORK, columns)), np.zeros((L.tile_rows(columns), LANES))
    for value in (1e300, math.nan, math.inf, 0.1):
        for J in range(1, 21):
            G[L.G_CIP] = value
            found = run_renew_sums(G, W, J, 20, columns, False)
    assert found == pytest.approx(190 * 0.1, rel=1e-15)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_logarithms_are_summed_where_one_is_no_number(value):
    columns = L.columns_for(2)
    G = np.zeros((L.G_WORK, columns))
    W = np.full((L.tile_rows(columns), LANES), -np.inf)
    G[L.G_CIP] = value
    assert str(run_renew_sums(G, W, 2, 2, columns, True)) == str(value)


@numba.njit(fastmath=False, error_model="numpy")
def run_enter(A, Q, X, order, w, scatter):
    for r in order:
        enter(A, Q, 1, X[r], w, scatter)
    show(A, Q, 1, X.shape[1], scatter)


def empty_column(d, scatter):
    A = np.zeros((L.state_rows(d, scatter), 2))
    return A, np.zeros((3, L.sum_rows(d, scatter), L.sum_width(d)))


def test_sums_and_centroids_are_exact_whatever_the_order():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3)) + 1e9
    results = []
    for order in (np.arange(1000), rng.permutation(1000)):
        A, Q = empty_column(3, False)
        run_enter(A, Q, X, order, 1.0, False)
        results.append(Q[1, : L.Q_MEAN + 2])
    np.testing.assert_array_equal(results[0], results[1])
    for t in range(3):
        assert results[0][0, t] + results[0][1, t] == math.fsum(X[:, t])


@pytest.mark.parametrize("d", [1, 3, 4, 9, 16])
@pytest.mark.parametrize("scatter", [False, True])
def test_scatter_has_about_31_digits(d, scatter):
    """Against rational numbers, for samples that enter and then leave again in part."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((40, d))
    X[0] = 1e8
    A, Q = empty_column(d, scatter)
    run_enter(A, Q, X, np.arange(40), 1.0, scatter)
    run_enter(A, Q, X, rng.permutation(25), -1.0, scatter)
    left = [[Fraction(x) for x in sample] for sample in X[25:].tolist()]
    mean = [sum(column) / 15 for column in zip(*left, strict=True)]
    for i in range(d):
        for j in range(i + 1) if scatter else [i]:
            exact = sum((x[i] - mean[i]) * (x[j] - mean[j]) for x in left)
            at = L.Q_S + 2 * i if scatter else L.Q_S
            kept = Fraction(Q[1, at, j]) + Fraction(Q[1, at + 1, j])
            assert abs(kept - exact) < 1e16 * 40 * 2.0**-100
            assert A[L.V + 2 * d + i * (i + 1) // 2 + j, 1] == Q[1, at, j] if scatter else True


@pytest.mark.parametrize("d", [2, 7, 8, 9, 16, 19])
def test_what_lies_above_the_diagonal_of_a_scatter_matters_to_nothing(d):
    X = np.random.default_rng(d).standard_normal((30, d))
    (A, Q), (other_A, other_Q) = empty_column(d, True), empty_column(d, True)
    for i in range(d):
        other_Q[1, L.Q_S + 2 * i : L.Q_S + 2 * i + 2, i + 1 :] = np.nan
    for a, q in ((A, Q), (other_A, other_Q)):
        run_enter(a, q, X, np.arange(30), 1.0, True)
        run_enter(a, q, X, np.arange(12), -1.0, True)
    np.testing.assert_array_equal(A, other_A)
    np.testing.assert_array_equal(Q[1, : L.Q_S], other_Q[1, : L.Q_S])
    for i in range(d):
        rows = slice(L.Q_S + 2 * i, L.Q_S + 2 * i + 2)
        np.testing.assert_array_equal(Q[1, rows, : i + 1], other_Q[1, rows, : i + 1])
    assert not Q[0].any()  # the neighbour


@numba.njit
def overwrite_row(cube, block, number, value):
    line = row(cube, block, number)
    for t in range(line.size):
        line[t] = value


def test_a_row_of_a_block_is_that_memory_and_no_more():
    cube = np.arange(60.0).reshape(3, 4, 5)
    expected = cube.copy()
    expected[2, 1] = -1.0
    overwrite_row(cube, 2, 1, -1.0)
    np.testing.assert_array_equal(cube, expected)


@pytest.mark.parametrize("k", [1, 15, 16, 100, 1000])
def test_arenas_have_room_and_no_stride_that_is_a_power_of_two(k):
    columns = L.columns_for(k)
    assert columns >= k + 1
    assert columns % LANES == 0
    assert columns % 32 == 16


@numba.njit
def run_add_minima(W, sample, first, end, block, out, rest, need):
    return add_minima(W, sample, first, end, block, out, rest, need)


@numba.njit
def run_code(X, low, high):
    sample = np.empty(coded_size(X.shape[1]))
    code(X, 0, np.stack((low, high)), sample)
    return sample


@numba.njit
def run_matched(W, sample, rows, need, block):
    return matched(W, sample, rows, need, block)


@pytest.mark.parametrize(("first", "end"), [(0, 8), (0, 1), (3, 8), (8, 8), (2, 20)])
def test_minima_are_summed_in_all_lanes_from_left_to_right(first, end):
    rng = np.random.default_rng(end)
    W, sample = rng.random((3, 22, LANES)), rng.random(40)
    out = 20
    expected = sample.copy()
    s = np.zeros(LANES) if first == 0 else sample[out : out + LANES].copy()
    for t in range(first, end):
        s = s + np.minimum(sample[t], W[1, t])
    expected[out : out + LANES] = s
    for need, reached in [(s.max() + 0.5, True), (np.nextafter(s.max() + 0.5, 99), False)]:
        copied = sample.copy()
        lanes = run_add_minima(W, copied, first, end, 1, out, 0.5, need)
        assert lanes == sum(2**lane for lane in range(LANES) if s[lane] + 0.5 >= need)
        assert (lanes > 0) == reached
        np.testing.assert_array_equal(copied, expected)


@pytest.mark.parametrize("d", [1, 5, 12, 16, 17, 32, 50])
def test_matches_that_stop_early_are_below_what_they_need(d):
    rng = np.random.default_rng(d)
    rows = 2 * d
    W = rng.random((2, rows + EXTRA_ROWS, LANES))
    stopped = 0
    for _ in range(50):
        sample = run_code(rng.random((1, d)), np.zeros(d), np.ones(d))
        np.testing.assert_array_equal(sample[d:rows], 1.0 - sample[:d])
        full = np.zeros(LANES)
        for t in range(rows):
            full = full + np.minimum(sample[t], W[1, t])
        matches = slice(sample.size - LANES, sample.size)
        for need in (full.max(), np.nextafter(full.max(), 99), 0.9 * d, 0.5 * d, -1.0):
            reached = run_matched(W, sample, rows, need, 1)
            assert reached or full.max() < need
            if reached:
                np.testing.assert_array_equal(sample[matches], full)
            else:
                assert (sample[matches] <= full).all()
                stopped += (sample[matches] < full).all()
    assert (stopped > 0) == (rows > GROUP)


def test_pairs_of_8000_clusters_take_less_than_a_gibibyte():
    columns = L.columns_for(8000)
    rows = L.gaussian_rows(2, columns, L.WANT_LOGDET | L.WANT_H | L.WANT_CIP)
    assert 8 * rows * columns < 2**30
