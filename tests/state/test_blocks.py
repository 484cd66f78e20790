"""Samples that are added as a block, by matrix products, are those that are added one by one."""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
import naive
import processes
from icvi.kernels import layout as L
from icvi.kernels.rounding import MEANS, SUMS
from icvi.state import blocks, changes, unit_weights
from icvi.state.clusters import Clusters
from interrupting import interrupt_everywhere
from streams import blobs

RNG = np.random.default_rng(2)
INDICES = ["CH", "I", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS", "WB", "GD43", "GD53"]


@pytest.fixture
def always(monkeypatch):
    """Blocks of any size are worth it."""
    monkeypatch.setattr(changes, "worth_a_block", lambda rows, *_: rows > 0)


@pytest.fixture
def never(monkeypatch):
    monkeypatch.setattr(changes, "worth_a_block", lambda *_: False)


def exact_moments(X, weights):
    """Weight, mean and scatter as fractions."""
    x = [[Fraction(float(value)) for value in row] for row in X]
    w = [Fraction(float(value)) for value in weights]
    n, d = sum(w), len(x[0])
    mean = [sum(a * row[t] for a, row in zip(w, x, strict=True)) / n for t in range(d)]
    e = [[value - mean[t] for t, value in enumerate(row)] for row in x]
    S = [
        [sum(a * row[i] * row[j] for a, row in zip(w, e, strict=True)) for j in range(d)]
        for i in range(d)
    ]
    return n, mean, S


def pair(high, low):
    return Fraction(float(high)) + Fraction(float(low))


DATA = {
    "measurements": lambda X: X,
    "far from zero": lambda X: X + 1e8,
    "with an outlier": lambda X: np.where(np.arange(len(X))[:, None] == 3, 1e12, X),
    "of different sizes": lambda X: X * 10.0 ** np.arange(-6, 3 * X.shape[1] - 6, 3),
    "whole numbers": lambda X: np.round(1e7 * X),
    "nearly constant": lambda X: 1e3 + 1e-9 * X,
}


@pytest.mark.parametrize("scatter", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 20, 90])
@pytest.mark.parametrize("data", DATA)
def test_moments_of_a_block_are_right_to_two_doubles(data, n, weighted, scatter):
    X = DATA[data](RNG.normal(size=(n, 3)))
    weights = RNG.random(n) * 10.0 ** RNG.integers(-3, 4, n) if weighted else np.ones(n)
    p = Clusters(scatter=scatter)
    p.reserve(1, 3)
    assert p.add_block(X, np.ones(n, dtype=np.int64), weights)
    N, mean, S = exact_moments(X, weights)
    assert pair(*p.A[L.HELD : L.HELD + 2, 1]) == N
    spread = [float(S[t][t]) ** 0.5 for t in range(3)]
    for i in range(3):
        v = pair(*p.Q[1, L.Q_MEAN : L.Q_MEAN + 2, i])
        assert abs(v - mean[i]) <= MEANS * np.abs(X[:, i]).max()
        for j in range(i + 1) if scatter else [i]:
            row = L.Q_S + 2 * i if scatter else L.Q_S
            got = pair(*p.Q[1, row : row + 2, j])
            # The bounds that compiled code counts with, for sums and for means.
            off = [MEANS * abs(float(mean[t])) * float(N) ** 0.5 for t in (i, j)]
            allowed = SUMS * (2.0 + n**0.5) * spread[i] * spread[j]
            allowed += off[0] * spread[j] + off[1] * spread[i] + off[0] * off[1]
            assert abs(got - S[i][j]) <= allowed


def both(monkeypatch, X, labels, weights=None, indices=INDICES, **options):
    """The same stream as blocks, and sample by sample."""
    made = []
    for worth in (lambda rows, *_: rows > 0, lambda *_: False):
        monkeypatch.setattr(changes, "worth_a_block", worth)
        t = icvi.Tracker(indices, **options)
        t.update_many(X, labels, weights, every=10**6)
        made.append(t)
    return made


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", [name for name in DATA if name != "nearly constant"])
def test_every_index_reads_the_same_to_1e12(data, weighted, monkeypatch):
    X, labels = blobs(400, d=4, k=7, seed=1)
    X = DATA[data](X)
    weights = RNG.random(400) + 0.1 if weighted else None
    block, one = both(monkeypatch, X, labels, weights)
    for name, value in one.values.items():
        assert block.why(name) == one.why(name)
        assert block[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name
    np.testing.assert_array_equal(block.counts, one.counts)
    np.testing.assert_allclose(block.centers, one.centers, rtol=1e-15)
    assert block.labels == one.labels


def test_readings_of_blocks_are_those_of_the_definitions(always):
    X, labels = blobs(300, d=3, k=4, seed=8)
    t = icvi.Tracker([*naive.NAIVE])
    t.update_many(X, labels, every=10**6)
    for name, definition in naive.NAIVE.items():
        assert t[name] == pytest.approx(definition(X, labels), rel=1e-9), name


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
    st.integers(1, 40),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_blocks_and_samples_mix_with_readings_in_between(sizes, every, scatter, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X, labels = rng.normal(size=(n, 2)), rng.integers(-1, 5, n)
    weights = rng.integers(0, 3, n).astype(float)
    indices = ["CH", "NI"] if scatter else ["CH", "XB"]
    a = icvi.Tracker(indices, noise_label=-1)
    b = icvi.Tracker(indices, noise_label=-1)
    start = 0
    for size in sizes:
        part = slice(start, start + size)
        start += size
        traces = []
        for t, worth in ((a, lambda rows, *_: rows > 2), (b, lambda *_: False)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(changes, "worth_a_block", worth)
                traces.append(t.update_many(X[part], labels[part], weights[part], every=every))
        assert traces[0].k.tolist() == traces[1].k.tolist()
        for name in indices:
            np.testing.assert_allclose(traces[0][name], traces[1][name], rtol=1e-11)
    assert (a.labels, a.noise_share) == (b.labels, b.noise_share)
    assert a.n_samples == b.n_samples


def test_samples_that_were_added_as_a_block_can_be_removed_one_by_one(always):
    X, labels = blobs(120, d=3, k=3, seed=6)
    X[7] = 1e8
    p = icvi.Partition(scatter=True)
    p.add_many(X, labels)
    p.remove(X[7], labels[7])
    for row in range(60, 120):
        p.remove(X[row], labels[row])
    q = icvi.Partition(scatter=True)
    rest = np.delete(np.arange(60), 7)
    for row in rest:
        q.add(X[row], labels[row])
    order = [p.labels.index(label) for label in q.labels]
    np.testing.assert_allclose(p.covariances[order], q.covariances, rtol=1e-9, atol=1e-12)


def test_a_cluster_of_one_value_has_no_spread_whatever_the_weights(always):
    t = icvi.Tracker(["CH", "XB"])
    X = np.repeat([[0.1, 3.3], [5.7, 3.3]], 50, axis=0)
    t.update_many(X, np.repeat(["a", "b"], 50), RNG.random(100), every=10**6)
    assert t.compactness.tolist() == [0.0, 0.0]
    assert t.why("CH") == "zero_within"


def test_numbers_that_overflow_are_added_one_by_one(always):
    X, labels = np.array([[1e140], [-1e140], [1.0]]), [0, 0, 1]
    p, q = icvi.Partition(), icvi.Partition()
    p.add_many(X, labels, [1e20, 1e20, 1.0])
    for x, label, weight in zip(X, labels, [1e20, 1e20, 1.0], strict=True):
        q.add(x, label, weight)
    assert p.to_bytes() == q.to_bytes()


def test_very_small_numbers_are_not_lost(always):
    p = icvi.Partition()
    p.add_many(np.array([[1e-150], [3e-150]]), [0, 0])
    np.testing.assert_allclose(p.compactness, [2e-300], rtol=1e-12)


@pytest.mark.parametrize("scatter", [False, True])
def test_an_interrupted_block_changes_nothing(scatter, always):
    X, labels = blobs(80, d=2, k=20, seed=3)

    def make():
        p = icvi.Partition(scatter=scatter)
        p.add_many(X[:10], labels[:10])
        return p

    call = lambda p: p.add_many(X[10:], labels[10:])  # noqa: E731
    assert interrupt_everywhere(make, call, lambda p: p.to_bytes(), most=25) > 10


def test_a_block_that_is_refused_changes_nothing(always):
    p = icvi.Partition()
    p.add_many([[1.0], [2.0]], ["a", "b"])
    before = p.to_bytes()
    with pytest.raises(ValueError, match="expected 1 feature"):
        p.add_many([[1.0, 2.0]], ["a"])
    with pytest.raises(ValueError, match="nan"):
        p.add_many([[1.0], [np.nan]], ["a", "b"])
    assert p.to_bytes() == before


def test_blocks_are_used_where_readings_are_sparse_and_features_many(monkeypatch):
    used = []
    monkeypatch.setattr(
        Clusters,
        "add_block",
        lambda self, X, *_: bool(used.append(len(X))),
    )
    X, labels = RNG.normal(size=(1200, 60)), np.arange(1200) % 3
    t = icvi.Tracker(["CH", "NI"])
    t.update_many(X, labels, every=1000)
    assert used == [999]
    t.update_many(X, labels, every=100)
    assert used == [999]
    icvi.Tracker(["CH", "NI"]).update_many(X, np.arange(1200) % 100, every=1200)
    icvi.Tracker(["CH"]).update_many(X, labels, every=1200)
    icvi.Tracker(["CH", "NI"]).update_many(X[:, :5], labels, every=1200)
    icvi.Tracker(["CH", "NI"], window=100).update_many(X, labels, every=1200)
    assert used == [999]
    icvi.Partition(scatter=True).add_many(X, labels)
    assert used == [999, 1200]


# -- without a compiler --------------------------------------------------------------------


@pytest.mark.parametrize("scatter", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_partition_of_samples_at_hand_is_that_of_samples_added(scatter, weighted, never):
    X, labels = blobs(500, d=3, k=6, seed=9)
    labels[200:] += np.arange(300) % 70  # many clusters have few samples
    weights = RNG.random(500) if weighted else None
    p = icvi.Partition.of(X, labels, weights, scatter=scatter, noise_label=3)
    q = icvi.Partition(scatter=scatter, noise_label=3)
    q.add_many(X, labels, weights)
    assert (p.labels, p.noise_share) == (q.labels, q.noise_share)
    np.testing.assert_array_equal(p.counts, q.counts)
    np.testing.assert_allclose(p.centers, q.centers, rtol=1e-15)
    np.testing.assert_allclose(p.compactness, q.compactness, rtol=1e-14, atol=1e-28)
    for each in (p, q):
        each.add_many(X[:50], labels[:50])
    if scatter:
        np.testing.assert_allclose(p.covariances, q.covariances, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(p.compactness, q.compactness, rtol=1e-14, atol=1e-28)


def test_a_partition_of_noise_alone_has_no_clusters():
    p = icvi.Partition.of([[1.0], [2.0]], [-1, -1], noise_label=-1)
    assert (p.labels, p.noise_share) == ([], 1.0)
    with pytest.raises(ValueError, match="labels"):
        icvi.Partition.of([[1.0], [2.0]], [1])


_WORKER = """
import json, sys
import numpy as np
import icvi

X = np.random.default_rng(0).normal(size=(600, 3))
labels = np.arange(600) * 7 % 40
for scatter in (False, True):
    parts = [icvi.Partition.of(X[i::3], labels[i::3], scatter=scatter) for i in range(3)]
    whole = icvi.from_bytes(sum(parts).to_bytes())
    whole.sort_labels()
    print(json.dumps([whole.to_bytes().hex(), "numba" in sys.modules]))
"""


def test_workers_sum_combine_and_save_without_a_compiler_to_the_same_bits():
    done = processes.run(
        [sys.executable, "-c", _WORKER], check=True, capture_output=True, text=True
    )
    X = np.random.default_rng(0).normal(size=(600, 3))
    labels = np.arange(600) * 7 % 40
    icvi.Partition().add([0.0], 0)  # compiled code is used from here on
    for scatter, line in zip((False, True), done.stdout.splitlines(), strict=True):
        content, compiled = json.loads(line)
        assert not compiled
        parts = [icvi.Partition.of(X[i::3], labels[i::3], scatter=scatter) for i in range(3)]
        whole = sum(parts)
        whole.sort_labels()
        assert whole.to_bytes().hex() == content


def test_blocks_larger_than_one_product_and_one_place_leave_no_seam(monkeypatch):
    X, labels = RNG.normal(size=(2500, 3)), np.arange(2500) % 2
    labels[2000:] = np.arange(500) % 90
    whole = icvi.Partition.of(X, labels, scatter=True)
    monkeypatch.setattr(blocks, "_ROWS", 64)
    monkeypatch.setattr(unit_weights, "_ROWS", 64)
    monkeypatch.setattr(blocks, "_ROOM", 200)
    monkeypatch.setattr(blocks, "_CACHED", 7)
    pieces = icvi.Partition.of(X, labels, scatter=True)
    assert pieces.labels == whole.labels
    np.testing.assert_allclose(pieces.covariances, whole.covariances, rtol=1e-14, atol=1e-16)
