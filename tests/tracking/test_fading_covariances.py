"""Covariances of samples that fade: those of reliability weights, which do not fade."""

from __future__ import annotations

import math
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact
import icvi
from streams import GAUSSIAN, NAMES, assert_same, blobs, labelled_streams


@icvi.index(direction="min")
def trace_of_scatter(s):
    """Sum of the diagonals of all scatter matrices."""
    total = 0.0
    for i in range(s.k):
        total += s.S[0, i] + s.S[2, i]
    return total


def faded(n, half_life):
    return 0.5 ** (np.arange(n)[::-1] / half_life)


def covariances(X, labels, weights, fades):
    """From the definition: S / (W1 - W2 / W1), with W1 = sum c f and W2 = sum c f^2."""
    found = {}
    for label in set(labels):
        rows = np.flatnonzero((labels == label) & (weights * fades > 0.0))
        c, f, x = weights[rows], fades[rows], X[rows]
        W1, W2 = (c * f).sum(), (c * f * f).sum()
        e = x - (c * f) @ x / W1
        found[label] = (e.T * (c * f)) @ e / (W1 - W2 / W1)
    return found


@settings(max_examples=15)
@given(labelled_streams(least=4), st.floats(0.5, 50.0), st.data())
def test_readings_of_fading_samples_are_those_of_the_definition(stream, half_life, data):
    X, labels = stream
    weights = data.draw(
        st.lists(st.sampled_from([1.0, 2.0, 5.0, 0.5]), min_size=len(X), max_size=len(X))
    )
    chunk, single = (icvi.Tracker("all", half_life=half_life, least_weight=1e-9) for _ in range(2))
    trace = chunk.update_many(X, labels, weights)
    for row in zip(X, labels, weights, strict=True):
        single.update(*row)
    fades = faded(len(X), half_life)
    expected = exact.exact_all(X, labels.tolist(), weights, fades)
    for values in (chunk.values, single.values, {name: trace[name][-1] for name in NAMES}):
        assert_same(values, {i: expected[i] for i in NAMES if i not in GAUSSIAN}, rtol=1e-9)
        assert_same(values, {i: expected[i] for i in GAUSSIAN}, rtol=1e-6, atol=1e-7)


def test_covariances_are_those_of_reliability_weights():
    X, labels = blobs(60, d=3, k=3)
    weights = np.random.default_rng(0).integers(1, 5, 60).astype(float)
    t = icvi.Tracker(["NI"], half_life=15.0)
    t.update_many(X, labels, weights)
    expected = covariances(X, labels, weights, faded(60, 15.0))
    for label, found in zip(t.labels, t.covariances, strict=True):
        np.testing.assert_allclose(found, expected[label], rtol=1e-10)


@settings(max_examples=15)
@given(st.floats(0.0, 200.0), st.integers(0, 5))
def test_covariances_do_not_change_while_nothing_comes(seconds, seed):
    X, labels = blobs(40, d=2, k=3, seed=seed)
    t = icvi.Tracker(["NI", "rCIP", "rH"], half_life=timedelta(seconds=10), least_weight=1e-12)
    t.update_many(X, labels, time=np.arange(40.0))
    before, covariances, counts = t.values, t.covariances, t.counts
    t.advance(39.0 + seconds)
    np.testing.assert_allclose(t.counts, counts * 0.5 ** (seconds / 10.0), rtol=1e-9)
    np.testing.assert_array_equal(t.covariances, covariances)
    assert_same(t.values, before, rtol=1e-12)
    t.decay(0.25)
    np.testing.assert_allclose(t.covariances, covariances, rtol=1e-12)
    assert_same(t.values, before, rtol=1e-9)


@settings(max_examples=15)
@given(labelled_streams(least=3), st.data())
def test_an_endless_half_life_is_none(stream, data):
    X, labels = stream
    weights = data.draw(
        st.lists(st.sampled_from([1.0, 3.0, 0.25]), min_size=len(X), max_size=len(X))
    )
    endless, never = icvi.Tracker("all", half_life=2.0**61), icvi.Tracker("all")
    for t in (endless, never):
        t.update_many(X, labels, weights)
    assert_same(endless.values, never.values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(endless.covariances, never.covariances, rtol=1e-12)


def test_samples_of_which_less_than_one_is_left_have_a_covariance():
    X, labels = blobs(40, d=2, k=2)
    t = icvi.Tracker(["NI", "rH"], half_life=timedelta(seconds=1), least_weight=1e-30)
    t.update_many(X, labels, time=np.zeros(40))
    before = t.values
    t.advance(30.0)
    assert t.n_samples < 1e-6
    assert_same(t.values, before, rtol=1e-9)


def test_one_sample_that_outweighs_all_others_leaves_no_digits_of_them():
    """Then covariances are undefined; they are right as long as they are not."""
    X, labels = blobs(12, d=2, k=2)
    for pause in (5.0, 30.0, 60.0, 90.0, 150.0):
        t = icvi.Tracker(["NI"], half_life=timedelta(seconds=1), least_weight=1e-300)
        t.update_many(X, labels, time=np.where(np.arange(12) < 10, 0.0, pause))
        fades = np.where(np.arange(12) < 10, 0.5**pause, 1.0)
        expected = exact.exact_all(X, labels.tolist(), None, fades)["NI"]
        if pause <= 30.0:
            assert t["NI"] == pytest.approx(expected, rel=1e-9)
        else:
            assert math.isnan(t["NI"]) or t["NI"] == pytest.approx(expected, rel=1e-9)


def test_an_index_of_a_user_sees_the_scatter_as_it_has_faded():
    X, labels = blobs(50, d=2, k=2)
    t = icvi.Tracker([trace_of_scatter, "NI"], half_life=10.0)
    trace = t.update_many(X, labels)
    assert t["trace_of_scatter"] == pytest.approx(t.compactness.sum(), rel=1e-12)
    single = icvi.Tracker([trace_of_scatter], half_life=10.0)
    for n in range(50):
        single.update(X[n], labels[n])
        assert single["trace_of_scatter"] == pytest.approx(trace["trace_of_scatter"][n], rel=1e-12)


@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_what_has_just_come_leaves_as_if_it_had_not(weight):
    X, labels = blobs(30, d=2, k=3)
    changed, other = (icvi.Tracker("all", half_life=8.0) for _ in range(2))
    for t in (changed, other):
        t.update_many(X, labels)
    changed.update([0.5, 0.5], 1, weight)
    changed.remove([0.5, 0.5], 1, weight)
    other.update([0.5, 0.5], 1, 0.0)  # time passes
    assert_same(changed.values, other.values, rtol=1e-9)
    np.testing.assert_allclose(changed.covariances, other.covariances, rtol=1e-9)


def test_a_sample_that_moves_to_and_fro_has_not_moved():
    X, labels = blobs(30, d=2, k=3)
    t = icvi.Tracker("all", half_life=8.0, noise_label=-1)
    t.update_many(X, labels)
    before, worth = t.values, float(faded(30, 8.0)[20])
    for path in ([labels[20], "new", labels[20]], [labels[20], -1, labels[20]]):
        for old, new in pairwise(path):
            t.relabel(X[20], old, new, worth)
        assert_same(t.values, before, rtol=1e-9)


def test_removals_that_fit_no_sample_leave_covariances_that_can_be():
    """More is taken than single samples of that weight have: what is left stays in its bounds."""
    X, labels = blobs(200, d=2, k=2)
    t = icvi.Tracker(["NI"], half_life=20.0)
    t.update_many(X, labels)
    center = t.centers[0]
    while t.counts[0] > 2.0:
        t.remove(center, t.labels[0], 0.9)
    assert math.isfinite(t["NI"])
    assert (t._clusters.degrees <= t.counts).all()
