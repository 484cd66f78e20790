"""One suite over the whole catalogue: what must not change an index, and what must, how."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact
import icvi
import naive
from streams import GAUSSIAN, NAMES, assert_same, blobs, labelled_streams, one_by_one, tracked

# delta makes n <= d clusters ill-conditioned: their covariance is all regularisation.
LOOSE = {"rtol": 1e-6, "atol": 1e-7}


@given(labelled_streams())
def test_every_index_equals_its_definition(stream):
    X, labels = stream
    ours = tracked(X, labels)
    definitions = exact.exact_all(X, labels.tolist())
    assert_same(ours, {n: v for n, v in definitions.items() if n not in GAUSSIAN}, rtol=1e-9)
    assert_same(ours, {n: definitions[n] for n in GAUSSIAN}, **LOOSE)


@given(labelled_streams())
def test_batch_equals_incremental(stream):
    X, labels = stream
    batch, stream_end = icvi.scores(X, labels, "all"), tracked(X, labels)
    assert_same(batch, {n: stream_end[n] for n in NAMES if n not in GAUSSIAN})
    assert_same(batch, {n: stream_end[n] for n in GAUSSIAN}, **LOOSE)


@given(labelled_streams(), st.integers(1, 39), st.integers(1, 7))
def test_chunks_equal_one_by_one_to_the_bit(stream, cut, every):
    X, labels = stream
    whole = icvi.Tracker("all").update_many(X, labels)
    parts = icvi.Tracker("all")
    traces = [
        parts.update_many(X[a:b], labels[a:b], every=every)
        for a, b in ((0, cut), (cut, len(X)))
        if len(X[a:b])
    ]
    for name in NAMES:
        joined = np.concatenate([trace[name] for trace in traces])
        # Readings taken more rarely refresh pairs of clusters in another order.
        rtol = 0.0 if every == 1 else 1e-9
        np.testing.assert_allclose(
            joined, whole[name][every - 1 :: every], rtol=rtol, atol=rtol, err_msg=name
        )
    last = one_by_one(X, labels)
    np.testing.assert_array_equal([last[name] for name in NAMES], [whole[n][-1] for n in NAMES])


@given(labelled_streams(), st.randoms())
def test_order_of_samples_does_not_matter(stream, random):
    X, labels = stream
    order = list(range(len(X)))
    random.shuffle(order)
    assert_same(tracked(X[order], labels[order]), tracked(X, labels), **LOOSE)


@given(labelled_streams())
def test_names_of_labels_do_not_matter(stream):
    X, labels = stream
    expected = np.array(list(tracked(X, labels).values()))
    for renamed in (labels * 7 - 9, [f"cluster {label}" for label in labels], [*labels[:-1], "z"]):
        ours = tracked(X, renamed)
        if renamed[-1] == "z" and (labels[:-1] == labels[-1]).any():
            continue  # "z" is then another partition
        np.testing.assert_array_equal(np.array(list(ours.values())), expected)


@given(labelled_streams(least=2), st.data())
def test_weight_two_equals_the_sample_twice(stream, data):
    X, labels = stream
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X))))
    repeated = np.repeat(np.arange(len(X)), weights)
    assert_same(
        tracked(X, labels, weights=weights), tracked(X[repeated], labels[repeated]), **LOOSE
    )


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_translation_changes_nothing(offset):
    X, labels = blobs()
    X = np.round(X * 2**20) / 2**20  # so that the translation itself rounds nothing
    assert_same(tracked(X + offset, labels), tracked(X, labels), rtol=1e-12)


SCALING = {
    "CH": 0, "SIL": 0, "XB": 0, "DB": 0, "PS": 0, "WB": 0, "GD53": 0, "GD43": -1, "I": 4, "PBM": 4,
}  # fmt: skip


@pytest.mark.parametrize("factor", [1e-3, 0.5, 7.0, 1e5])
def test_scaling_acts_by_the_power_the_index_has(factor):
    X, labels = blobs()
    plain, scaled = tracked(X, labels), tracked(factor * X, labels)
    assert_same(scaled, {n: plain[n] * factor**power for n, power in SCALING.items()}, rtol=1e-11)
    assert set(SCALING) | set(GAUSSIAN) == set(NAMES)


def test_affine_maps_leave_the_negentropy_increment_without_delta_alone():
    X, labels = blobs(d=3)
    index = icvi.NI(delta=0.0)
    mapped = X @ np.array([[2.0, 0.3, 0.0], [0.0, 0.7, -1.0], [0.4, 0.0, 5.0]]) + 3.0
    assert icvi.score(mapped, labels, index) == pytest.approx(icvi.score(X, labels, index))


DUPLICATION = ["I", "PBM", "SIL", "XB", "DB", "PS", "GD43", "GD53", "WB"]


@pytest.mark.parametrize("name", DUPLICATION)
def test_duplicating_every_sample_changes_nothing(name):
    X, labels = blobs()
    twice = tracked(np.vstack([X, X]), np.concatenate([labels, labels]), [name])
    assert_same(twice, tracked(X, labels, [name]))


@pytest.mark.parametrize("name", NAMES)
def test_an_index_reads_the_same_alone_and_among_others(name):
    X, labels = blobs(d=4, k=7)
    alone = icvi.Tracker([name]).update_many(X, labels)
    among = icvi.Tracker("all").update_many(X, labels)
    # Not to the bit: with distances at hand, B is summed in another way.
    np.testing.assert_allclose(alone[name], among[name], rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_readings_follow_the_definition_after_every_sample(name):
    X, labels = blobs(n=60, d=2, k=4, seed=3)
    trace = icvi.Tracker([name]).update_many(X, labels)
    for n in range(1, len(X) + 1):
        expected = naive.NAIVE[name](X[:n], labels[:n].tolist())
        tolerance = {"rtol": 1e-7} if name in GAUSSIAN else {"rtol": 1e-10}
        np.testing.assert_allclose(trace[name][n - 1], expected, err_msg=f"{n}", **tolerance)


@pytest.mark.parametrize("k", [2, 20, 130])
def test_row_extremes_survive_long_drifting_streams(k):
    """Centroids that keep moving make caches rescan; they must never go stale."""
    rng = np.random.default_rng(k)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, 15 * k)])
    X = rng.standard_normal((len(labels), 2)) * 3 + 0.02 * np.arange(len(labels))[:, None]
    X[labels == 0] *= 10
    trace = icvi.Tracker("all").update_many(X, labels)
    for n in (k, 2 * k, 5 * k, len(labels)):
        at_n = {name: trace[name][n - 1] for name in NAMES}
        assert_same(icvi.scores(X[:n], labels[:n], "all"), at_n, rtol=1e-8)


@pytest.mark.parametrize("indices", ["all", "paper"])
def test_memory_does_not_grow_with_the_number_of_samples(indices):
    X, labels = blobs(n=2000, d=3, k=6)
    tracker = icvi.Tracker(indices)
    tracker.update_many(X, labels, every=1000)
    tracker.update(X[0], int(labels[0]))
    assert tracker.values  # kernels are loaded when they are first called
    tracemalloc.start()
    for x, label in zip(X, labels.tolist(), strict=True):
        tracker.update(x, label)
        tracker.values  # noqa: B018
    tracker.update_many(X, labels, every=1000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 20_000  # one sample's 8 d bytes each would be 96,000
