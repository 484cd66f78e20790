"""Samples that count once: moments about a point near the mean are those about the mean."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icvi.kernels import layout as L
from icvi.kernels.rounding import MEANS, SUMS
from icvi.state import unit_weights
from icvi.state.blocks import Block

ROWS = 40


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch):
    """Clusters take several products, and products several rounds of adding them up."""
    monkeypatch.setattr(unit_weights, "_ROWS", ROWS)
    monkeypatch.setattr(unit_weights, "_KEPT", 3)


def put(X, runs, scatter):
    """Moments of clusters in columns, and which of them were left out."""
    made = Block.empty(len(runs), X.shape[1], scatter)
    with np.errstate(all="ignore"):
        left = unit_weights.put(made.A, made.Q, np.arange(len(runs)), X, runs, scatter)
    return made, left


def number(pair):
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


def check(made, column, x, scatter):
    """Compare with fractions, by the bounds that compiled code counts with."""
    n, d = x.shape
    exact = [[Fraction(float(value)) for value in row] for row in x]
    mean = [sum(row[t] for row in exact) / n for t in range(d)]
    S = [
        [sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in exact) for j in range(d)]
        for i in range(d)
    ]
    spread = [float(S[t][t]) ** 0.5 for t in range(d)]
    off = [MEANS * abs(float(mean[t])) * n**0.5 for t in range(d)]
    Q = made.Q[column]
    assert made.A[L.HELD : L.HELD + 2, column].tolist() == [n, 0.0]
    for i in range(d):
        assert number(Q[L.Q_SUM : L.Q_SUM + 2, i]) == pytest.approx(sum(r[i] for r in exact))
        found = number(Q[L.Q_MEAN : L.Q_MEAN + 2, i])
        assert abs(found - mean[i]) <= MEANS * np.abs(x[:, i]).max()
        for j in range(i + 1) if scatter else [i]:
            row = L.Q_S + 2 * i if scatter else L.Q_S
            allowed = SUMS * (2.0 + n**0.5) * spread[i] * spread[j]
            allowed += off[i] * spread[j] + off[j] * spread[i] + off[i] * off[j]
            assert abs(number(Q[row : row + 2, j]) - S[i][j]) <= allowed
        if scatter:
            assert not Q[L.Q_S + 2 * i : L.Q_S + 2 * i + 2, i + 1 :].any()


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(33, 3 * ROWS),
    at=st.sampled_from([0.0, 0.3, 3.0, 6.0, 9.0, -5.5, -40.0, 1e8]),
    scatter=st.booleans(),
)
@settings(max_examples=30)
def test_moments_are_right_to_two_doubles_wherever_the_cluster_is(seed, n, at, scatter):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) + at * np.array([1.0, -1.0, 0.5])
    x[:, 1] *= 10.0 ** rng.integers(-30, 30)
    x[:, 2] *= 2.0 ** rng.integers(-5, 5)
    made, left = put(x, [np.arange(n)], scatter)
    assert not left[0]
    check(made, 0, x, scatter)


@pytest.mark.parametrize("scatter", [False, True])
def test_many_clusters_of_different_sizes_are_put_at_once(scatter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) + 5.0
    X[:, 2] = 7.0  # one value
    X[rng.random(400) < 0.05, 0] = 0.0
    runs = np.split(rng.permutation(400), [50, 190, 230])
    made, left = put(X, runs, scatter)
    assert not left.any()
    for column, rows in enumerate(runs):
        check(made, column, X[rows], scatter)
        S = made.Q[column, L.Q_S :]
        assert not (S[4:] if scatter else S[:, 2]).any()


def test_samples_far_from_zero_have_exact_differences():
    x = 1e8 + np.random.default_rng(1).normal(size=(90, 2))
    made, left = put(x, [np.arange(90)], True)
    assert not left.any()
    check(made, 0, x, True)


@pytest.mark.parametrize("scatter", [False, True])
def test_a_cluster_whose_digits_would_cancel_is_left_out_unchanged(scatter):
    x = 1000.0 + np.random.default_rng(2).normal(size=(2000, 2))
    x[0] = -1000.0
    good = np.random.default_rng(3).normal(size=(60, 2))
    X = np.concatenate([x, good])
    made, left = put(X, [np.arange(2000), np.arange(2000, 2060)], scatter)
    assert left.tolist() == [True, False]
    assert not made.Q[0].any()
    assert not made.A[:, 0].any()
    check(made, 1, good, scatter)
