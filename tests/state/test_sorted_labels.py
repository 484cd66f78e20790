"""With sorted labels, the same samples give the same bits, however they were split."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.kernels import layout as L
from streams import blobs

INDICES = ["CH", "I", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS", "WB", "GD43", "GD53"]

RNG = np.random.default_rng(11)
N = 240
X, LABELS = blobs(N, d=3, k=6, seed=4)
DATA = {
    "measurements": X,
    "far from zero": X + 1e8,
    "with an outlier": np.where(np.arange(N)[:, None] == 17, 1e11, X),
    "whole numbers": RNG.integers(-(10**8), 10**8, (N, 3)).astype(float),
    "small whole numbers": RNG.integers(0, 5, (N, 3)).astype(float),
}
WEIGHTS = {
    "no weights": None,
    "whole weights": RNG.integers(1, 4, N).astype(float),
    "any weights": RNG.random(N),
}
NAMES = np.array(["oak", "ash", "elm", "fir", "yew", "box"])[LABELS]


def combined(make, rows, rng):
    """States of random shares of the rows, each in random order, combined in random order."""
    workers = rng.integers(0, rng.integers(1, 7), len(rows))
    states = [make(rng.permutation(rows[workers == worker])) for worker in np.unique(workers)]
    rng.shuffle(states)
    while len(states) > 1:
        states.append(states.pop(int(rng.integers(len(states)))) + states.pop())
    states[0].sort_labels()
    return states[0]


def tracker_of(X, labels, weights):
    def make(rows):
        t = icvi.Tracker(INDICES)
        some = None if weights is None else weights[rows]
        t.update_many(X[rows], labels[rows], some, every=10**6)
        return t

    return make


def bits(values):
    return {name: np.float64(value).tobytes() for name, value in values.items()}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("data", DATA)
def test_readings_are_the_same_bits_however_samples_were_split(data, weights):
    make = tracker_of(DATA[data], NAMES, WEIGHTS[weights])
    rng = np.random.default_rng(3)
    first, *others = (combined(make, np.arange(N), rng) for _ in range(6))
    assert first.labels == sorted(first.labels)
    for other in others:
        assert bits(other.values) == bits(first.values)
        assert_same_state(other, first, exact_sums=weights != "any weights")


def assert_same_state(ours, theirs, exact_sums):
    """All but low parts is the same, and those to rounding."""
    a, b = ours._clusters, theirs._clusters
    k, d = a.n_clusters, a.n_features
    assert (a.labels, a.serials, a.columns, k, d) == (
        *(b.labels, b.serials, b.columns, b.n_clusters, b.n_features),
    )
    assert a.meta[L.LAST] == b.meta[L.LAST]
    shown = slice(0, L.V + d)  # weights, compactness, high parts of centroids
    assert a.A[shown].tobytes() == b.A[shown].tobytes()
    assert a.A[L.V + 2 * d :].tobytes() == b.A[L.V + 2 * d :].tobytes()  # scatter
    if exact_sums:
        assert a.Q[:-1, : L.Q_S].tobytes() == b.Q[:-1, : L.Q_S].tobytes()
    read = np.ones(a.Q.shape[1:], dtype=bool)
    read[L.Q_S :] = np.tri(d, a.Q.shape[2], dtype=bool).repeat(2, axis=0)  # not above the diagonal
    low = np.abs(np.where(read, a.Q - b.Q, 0.0)[: k + 1, 1::2]).max()
    assert low <= 2.0**-95 * np.abs(a.Q[: k + 1, ::2]).max()


def test_bytes_without_scatter_matrices_are_the_same_but_for_low_parts_of_variances():
    rng = np.random.default_rng(5)

    def make(rows):
        p = icvi.Partition()
        p.add_many(X[rows], NAMES[rows])
        return p

    states = [combined(make, np.arange(N), rng) for _ in range(4)]
    for p in states:
        p._clusters.Q[:, L.Q_S + 1] = 0.0
    assert len({p.to_bytes() for p in states}) == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([10.0, 1e4, 1e8, 3e8]))
@settings(max_examples=25, deadline=None)
def test_sums_of_whole_numbers_halfway_between_doubles_are_settled(seed, n, size):
    """Squares of these need more than 53 bits, and many sums end in exactly half a unit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-int(size), int(size), (n, 2)).astype(float)
    labels = rng.integers(0, 1 + n // 4, n)

    def make(rows):
        p = icvi.Partition(scatter=True)
        p.add_many(X[rows], labels[rows])
        return p

    first, *others = (combined(make, np.arange(n), rng) for _ in range(4))
    for other in others:
        assert other.compactness.tobytes() == first.compactness.tobytes()
        assert other.covariances.tobytes() == first.covariances.tobytes()
        assert other.centers.tobytes() == first.centers.tobytes()


def test_sorting_changes_no_number():
    p = icvi.Partition(scatter=True)
    p.add_many(X, NAMES)
    before = p.copy()
    p.sort_labels()
    order = [before.labels.index(label) for label in p.labels]
    for name in ("counts", "centers", "compactness", "covariances"):
        np.testing.assert_array_equal(getattr(p, name), getattr(before, name)[order])
    once = p.to_bytes()
    p.sort_labels()
    assert p.to_bytes() == once


def test_a_sorted_state_resumes_like_one_that_is_not():
    a, b = icvi.Tracker(INDICES), icvi.Tracker(INDICES)
    for t in (a, b):
        t.update_many(X[:100], NAMES[:100])
    a.sort_labels()
    a.update(X[100], "new")
    b.update(X[100], "new")
    a.remove(X[3], NAMES[3])
    b.remove(X[3], NAMES[3])
    a.merge_clusters("ash", "oak")
    b.merge_clusters("ash", "oak")
    traces = [t.update_many(X[101:], NAMES[101:]) for t in (a, b)]
    for name in a.values:
        np.testing.assert_allclose(traces[0][name], traces[1][name], rtol=1e-11)


def test_room_for_clusters_that_are_gone_is_given_back():
    p = icvi.Partition()
    p.add_many(np.arange(100.0)[:, None], np.arange(100))
    p.remove_many(np.arange(95.0)[:, None], np.arange(95))
    before = p._clusters.columns
    p.sort_labels()
    assert p._clusters.columns < before
    assert p.labels == [95, 96, 97, 98, 99]
    assert p.centers.ravel().tolist() == [95.0, 96.0, 97.0, 98.0, 99.0]


def test_labels_of_all_kinds_have_one_order():
    labels = [
        (2,), (1, "b"), (1, "a"), (), timedelta(1), timedelta(-1),
        datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1), datetime(2026, 1, 1),
        date(2027, 1, 1), date(2026, 1, 1), b"b", b"a", "b", "B", "", 10**30, 2.5, 2, True,
        False, -1, float("-inf"), None,
    ]  # fmt: skip
    expected = [
        None, float("-inf"), -1, False, True, 2, 2.5, 10**30, "", "B", "b", b"a", b"b",
        date(2026, 1, 1), date(2027, 1, 1), datetime(2026, 1, 1), datetime(2027, 1, 1),
        datetime(2026, 1, 1, tzinfo=UTC), timedelta(-1), timedelta(1), (), (1, "a"), (1, "b"), (2,),
    ]  # fmt: skip
    p = icvi.Partition()
    for number, label in enumerate(labels):
        p.add([float(number)], label)
    p.sort_labels()
    assert p.labels == expected
    assert p.centers.ravel().tolist() == [float(labels.index(label)) for label in expected]


@pytest.mark.parametrize("label", [Fraction(1, 3), frozenset([1]), (1, Fraction(1, 3))])
def test_labels_that_have_no_order_are_refused_and_nothing_changes(label):
    p = icvi.Partition()
    p.add([0.0], "b")
    p.add([1.0], label)
    p.add([2.0], "a")
    with pytest.raises(TypeError, match=r"cannot sort label .*, which is a (Fraction|frozenset); "):
        p.sort_labels()
    assert p.labels == ["b", label, "a"]
    p.add([3.0], "a")
    assert p.counts.tolist() == [1.0, 1.0, 2.0]


def test_a_partition_without_samples_can_be_sorted():
    p = icvi.Partition()
    p.sort_labels()
    p.add([0.0], 0)
    p.remove([0.0], 0)
    p.sort_labels()
    assert p.labels == []


# -- trackers that keep more than moments --------------------------------------------------

KEEPING = {
    "window": {"indices": ["CH", "NI"], "window": 25},
    "half-life": {"indices": ["CH", "NI"], "half_life": 9.0},
    "insight": {"indices": ["CH"], "insight": True},
    "insight in a window": {"indices": ["CH"], "insight": True, "window": 50},
    "Conn": {"indices": ["CH", "Conn"], "bounds": (-30.0, 30.0)},
    "Conn in a window": {"indices": ["CH", "Conn"], "bounds": (-30.0, 30.0), "window": 25},
    "mixtures": {"indices": [icvi.rCIP(prototypes=True)], "bounds": (-30.0, 30.0)},
}


@pytest.mark.parametrize("name", KEEPING)
def test_what_a_tracker_keeps_besides_moments_follows_its_clusters(name):
    a, b = icvi.Tracker(**KEEPING[name]), icvi.Tracker(**KEEPING[name])
    for t in (a, b):
        t.update_many(X[:120], NAMES[:120])
    a.sort_labels()
    assert a.labels == sorted(b.labels)
    again = icvi.from_bytes(a.to_bytes())
    traces = [t.update_many(X[120:200], NAMES[120:200]) for t in (a, b, again)]
    for column in a.values:
        np.testing.assert_allclose(traces[0][column], traces[1][column], rtol=1e-10)
        assert traces[0][column].tobytes() == traces[2][column].tobytes()
    assert sorted(a.labels) == sorted(b.labels)
    if a.insight:
        assert {advice.key for advice in a.advice} == {advice.key for advice in b.advice}


# -- connectivities ------------------------------------------------------------------------


def test_graphs_that_counted_the_same_events_have_the_same_bytes():
    rng = np.random.default_rng(7)
    owners = np.array(["c", "a", "b", "b", "c", "asleep"])
    winners = np.stack([rng.integers(0, 5, 200), rng.integers(0, 5, 200)], axis=1)
    winners = winners[winners[:, 0] != winners[:, 1]]

    def make(rows):
        c = icvi.Connectivity()
        c.declare(np.arange(6), owners)
        c.update_many(winners[rows], owners[winners[rows, 0]])
        return c

    states = [combined(make, np.arange(len(winners)), rng) for _ in range(5)]
    assert states[0].known_labels == ["a", "b", "c", "asleep"]
    assert len({c.to_bytes() for c in states}) == 1
    assert icvi.from_bytes(states[0].to_bytes()).value == states[0].value
