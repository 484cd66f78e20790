"""The samples that are kept of every cluster."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icvi.tracking.reservoir import MOST, Reservoir, hashed

RNG = np.random.default_rng(8)
X = RNG.normal(size=(3_000, 2))
SERIALS = RNG.integers(1, 4, 3_000)
EQUAL = np.zeros(3_000)


def filled(n=3_000, cuts=(), log_weights=EQUAL):
    reservoir = Reservoir()
    for start, stop in zip([0, *cuts], [*cuts, n], strict=True):
        part = slice(start, stop)
        reservoir.add(X[part], SERIALS[part], log_weights[part], start)
    return reservoir


def content(reservoir):
    return {s: (kept.keys.tolist(), kept.X.tolist()) for s, kept in reservoir.kept().items()}


def rows(X):
    return {tuple(x) for x in X.tolist()}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 2_999), unique=True, max_size=12).map(sorted))
def test_the_samples_that_are_kept_do_not_depend_on_the_chunks(cuts):
    assert content(filled(cuts=cuts)) == content(filled())


def test_single_samples_are_kept_like_chunks():
    reservoir = Reservoir()
    for n, (x, serial) in enumerate(zip(X, SERIALS.tolist(), strict=True)):
        reservoir.add_one(x, serial, 0.0, n)
    assert content(reservoir) == content(filled())


def test_at_most_so_many_samples_of_a_cluster_are_kept_and_all_of_a_small_one():
    reservoir = filled()
    for serial in (1, 2, 3):
        kept = reservoir.samples(serial, 2)
        assert kept.shape == (MOST, 2)
        assert rows(kept) <= rows(X[serial == SERIALS])
    few = filled(n=300)
    assert all(rows(few.samples(s, 2)) == rows(X[:300][SERIALS[:300] == s]) for s in (1, 2, 3))
    assert few.samples(9, 2).shape == (0, 2)


def test_every_part_of_a_stream_is_kept_equally_often():
    """Of 200 streams of 2,000 samples, 256 kept: each tenth has 25.6 on average."""
    tenths = np.zeros(10)
    for seed in range(200):
        rows = np.random.default_rng(seed).normal(size=(2_000, 1))
        rows[:, 0] = rows[:, 0] * 1e-9 + np.arange(2_000)
        reservoir = Reservoir()
        reservoir.add(rows, np.ones(2_000, dtype=np.int64), np.zeros(2_000), 0)
        tenths += np.bincount(
            (reservoir.samples(1, 1)[:, 0] // 200).clip(0, 9).astype(int), minlength=10
        )
    # The standard deviation of a tenth's mean is about 0.32.
    assert np.abs(tenths / 200 - 25.6).max() < 5 * 0.32


def test_samples_of_one_value_do_not_displace_the_others():
    values = RNG.integers(0, 4, size=(4_000, 1)).astype(float)
    reservoir = Reservoir()
    reservoir.add(values, np.ones(4_000, dtype=np.int64), np.zeros(4_000), 0)
    shares = np.bincount(reservoir.samples(1, 1)[:, 0].astype(int)) / MOST
    assert np.abs(shares - 0.25).max() < 0.15


def test_heavy_samples_are_kept_more_often():
    heavy = np.arange(3_000) % 10 == 0
    kept = filled(log_weights=np.where(heavy, np.log(9.0), 0.0)).samples(1, 2)
    share = len(rows(kept) & rows(X[heavy])) / MOST
    assert 0.25 < share < 0.4  # half of the weight, but there are only 100 of them


def test_after_a_decay_new_samples_are_worth_more():
    reservoir = filled(1_500)
    reservoir.decay(1e-6)
    reservoir.add(X[1_500:], SERIALS[1_500:], EQUAL[1_500:], 1_500)
    assert rows(reservoir.samples(2, 2)) <= rows(X[1_500:])


def test_two_reservoirs_together_are_one_of_all_samples():
    first, second = filled(1_000), Reservoir()
    second.add(X[1_000:], SERIALS[1_000:] + 10, EQUAL[1_000:], 1_000)
    first.combine(second, {11: 1, 12: 2, 13: 3})
    assert content(first) == content(filled())


def test_two_reservoirs_with_other_gains_together_keep_what_weights_say():
    first, second = filled(1_000), Reservoir()
    second.add(X[1_000:], SERIALS[1_000:], EQUAL[1_000:], 1_000)
    second.decay(1e-9)
    first.combine(second, {1: 1, 2: 2, 3: 3})
    assert rows(first.samples(1, 2)) == rows(filled(1_000).samples(1, 2))


def test_merged_clusters_keep_the_smallest_keys_of_both():
    reservoir = filled()
    keys = np.concatenate([reservoir.kept()[s].keys for s in (1, 2)])
    reservoir.merge(1, 2)
    assert sorted(reservoir.kept()) == [1, 3]
    assert reservoir.kept()[1].keys.tolist() == np.sort(keys)[:MOST].tolist()
    reservoir.merge(1, 77)  # nothing of it is kept
    reservoir.merge(78, 3)
    assert sorted(reservoir.kept()) == [1, 78]


def test_samples_that_leave_are_kept_no_more_each_once():
    reservoir = Reservoir()
    twice = np.array([[0.0, 1.0], [-0.0, 1.0], [5.0, 5.0]])
    reservoir.add(twice, np.array([1, 1, 1]), np.zeros(3), 0)
    reservoir.remove(np.array([[0.0, 1.0]]), np.array([1]))
    assert len(reservoir.samples(1, 2)) == 2
    reservoir.remove(np.array([[0.0, 1.0], [5.0, 5.0], [7.0, 7.0]]), np.array([1, 1, 1]))
    reservoir.remove(np.array([[0.0, 1.0]]), np.array([4]))
    assert len(reservoir.samples(1, 2)) == 0


def test_clusters_that_are_gone_are_forgotten():
    reservoir = filled()
    reservoir.retain([3, 8])
    assert sorted(reservoir.kept()) == [3]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.add(X[:50], SERIALS[:50], EQUAL[:50], 0),
        lambda r: r.add(X, SERIALS, EQUAL, 0),
        lambda r: [r.add_one(X[n], 1, 0.0, n) for n in range(5)],
        lambda r: [r.add_one(x, 1, 0.0, n) for n, x in enumerate(X)],
        lambda r: r.remove(X[:9], SERIALS[:9]),
        lambda r: r.merge(1, 2),
        lambda r: r.decay(0.5),
        lambda r: r.retain([1]),
    ],
)
def test_whatever_happened_can_be_undone(change):
    reservoir = filled(700)
    reservoir.add_one(X[0], 2, 0.0, 700)
    expected = pickle.loads(pickle.dumps(reservoir))
    saved = reservoir.snapshot()
    change(reservoir)
    for _ in range(2):
        reservoir.restore(saved)
    assert content(reservoir) == content(expected)
    assert reservoir.pack()[0] == expected.pack()[0]


def test_numbers_are_hashed_without_ties():
    assert len(set(hashed(np.arange(10_000)).tolist())) == 10_000
