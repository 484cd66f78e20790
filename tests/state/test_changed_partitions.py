"""Taking back, moving, merging, decaying and combining: exact where possible, refused where not."""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
from streams import GAUSSIAN, NAMES, assert_same, blobs, labelled_streams, tracked

# delta makes n <= d clusters ill-conditioned: their covariance is all regularisation.
LOOSE = {"rtol": 1e-6, "atol": 1e-7}
STATE = ("labels", "n_samples", "noise_share", "counts", "centers", "compactness", "covariances")


def state_of(holder):
    """All that a partition or a tracker shows, to the bit."""
    facts = {name: getattr(holder, name) for name in STATE}
    facts = {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in facts.items()}
    if isinstance(holder, icvi.Tracker):
        facts |= {name: np.float64(v).tobytes() for name, v in holder.values.items()}
    return facts


def new_partition(**options):
    return icvi.Partition(scatter=True, **options)


def new_tracker(**options):
    return icvi.Tracker("all", **options)


def fill(holder, X, labels, weights=None):
    many = holder.update_many if isinstance(holder, icvi.Tracker) else holder.add_many
    many(X, labels, weights)
    return holder


@pytest.fixture(params=[new_partition, new_tracker], ids=["Partition", "Tracker"])
def new(request):
    return request.param


# -- the algebra, for every index ----------------------------------------------------------


@given(labelled_streams(least=2), st.data())
def test_what_is_added_and_taken_back_was_never_there(stream, data):
    X, labels = stream
    cut = data.draw(st.integers(1, len(X) - 1))
    gone = data.draw(st.permutations(range(cut, len(X))))
    t = fill(new_tracker(), X, labels)
    trace = t.remove_many(X[gone], labels[gone])
    assert len(trace) == len(gone)
    assert_same(t.values, tracked(X[:cut], labels[:cut]), **LOOSE)
    assert sorted(t.labels) == sorted(set(labels[:cut].tolist()))
    for n, x in enumerate(X[:cut]):
        t.remove(x, labels[n])
    assert (t.n_samples, t.labels) == (0.0, [])
    # An emptied tracker is as good as new.
    t.update_many(X, labels)
    assert_same(t.values, tracked(X, labels), **LOOSE)


@given(labelled_streams(least=2), st.integers(0, 2**32 - 1))
def test_labels_in_the_end_are_all_that_counts(stream, seed):
    X, labels = stream
    final = np.random.default_rng(seed).integers(0, 5, len(X))
    t = fill(new_tracker(), X, labels)
    trace = t.relabel_many(X, labels, final)
    assert_same({n: trace[n][-1] for n in NAMES}, t.values)
    assert_same(t.values, tracked(X, final), **LOOSE)
    twin = fill(new_tracker(), X, labels)
    for n, x in enumerate(X):
        twin.relabel(x, labels[n], final[n])
    assert_same(twin.values, t.values)
    assert twin.labels == t.labels


@given(labelled_streams(least=2))
def test_merged_clusters_are_one_cluster(stream):
    X, labels = stream
    t = fill(new_tracker(), X, labels)
    distinct = t.labels
    if len(distinct) < 2:
        return
    t.merge_clusters(distinct[0], distinct[1])
    assert t.labels == [distinct[0], *distinct[2:]]
    assert_same(t.values, tracked(X, np.where(labels == distinct[1], distinct[0], labels)), **LOOSE)


@given(labelled_streams(least=3), st.data())
def test_parts_combine_to_the_whole_in_any_order(stream, data):
    X, labels = stream
    owner = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(X), max_size=len(X))))
    parts = [icvi.Tracker("all") for _ in range(3)]
    for number, part in enumerate(parts):
        if (owner == number).any():
            part.update_many(X[owner == number], labels[owner == number])
    whole = tracked(X, labels)
    for order in itertools.permutations(parts):
        together = sum(order)
        assert_same(together.values, whole, **LOOSE)
        assert set(together.labels) == set(labels.tolist())
    a, b, c = parts
    assert_same((a + (b + c)).values, ((a + b) + c).values, **LOOSE)
    before = state_of(b)
    a.combine(b)
    assert state_of(b) == before


@pytest.mark.parametrize("factor", [1.0, 0.5, 0.1, 1e-3])
def test_decay_is_a_smaller_weight_for_all(new, factor):
    X, labels = blobs()
    decayed = fill(new(), X, labels)
    decayed.decay(factor)
    light = fill(new(), X, labels, np.full(len(X), factor))
    np.testing.assert_allclose(decayed.counts, light.counts, rtol=1e-14)
    np.testing.assert_allclose(decayed.compactness, light.compactness, rtol=1e-12)
    np.testing.assert_array_equal(decayed.centers, fill(new(), X, labels).centers)
    if isinstance(decayed, icvi.Tracker):
        assert_same(decayed.values, light.values, rtol=1e-9)


def test_many_decays_do_not_move_centroids_far_from_the_origin():
    X, labels = blobs(60, d=2, k=3)
    p = icvi.Partition()
    p.add_many(X + 1e8, labels)
    before = p.centers
    for _ in range(3000):
        p.decay(0.9999)
        p.add(X[0] + 1e8, labels[0], 1e-12)
    np.testing.assert_allclose(p.centers, before, rtol=1e-15)


@pytest.mark.parametrize("outlier", [1e4, 1e6, 1e8])
def test_an_outlier_that_is_taken_back_leaves_no_scar(outlier):
    X, labels = blobs()
    t = fill(new_tracker(), X, labels)
    for x in (np.full(3, outlier), np.array([0.0, -outlier, 1.0])):
        t.update(x, labels[0])
        t.remove(x, labels[0])
    assert_same(t.values, tracked(X, labels), rtol=1e-12)


def test_weights_that_are_no_binary_fractions_leave_nothing_behind():
    p = icvi.Partition()
    for weight in (0.1, 0.2, 0.7):
        p.add([0.3, 1e8], "a", weight)
    p.add([0.3, 0.4], "b", 0.1)
    p.remove([0.3, 1e8], "a", 1.0)
    assert p.labels == ["b"]
    assert p.n_samples == pytest.approx(0.1, rel=1e-15)


def test_duplicates_that_remain_have_no_spread():
    t = icvi.Tracker(["CH", "XB"])
    t.update_many([[0.1], [0.1], [0.1], [0.7], [5.0], [5.0]], [0, 0, 0, 0, 1, 1])
    t.remove([0.7], 0)
    assert t.compactness.tolist() == [0.0, 0.0]
    assert (t.why("CH"), t["XB"]) == ("zero_within", 0.0)


def test_a_part_of_a_weight_can_be_taken_back(new):
    X, labels = blobs(30, d=3, k=3)
    a = fill(new(), X, labels, np.full(30, 3.0))
    a.remove(X[4], labels[4], 2.0)
    a.relabel(X[5], labels[5], "new", 0.5)
    weights = np.full(30, 3.0)
    weights[4], weights[5] = 1.0, 2.5
    b = fill(new(), [*X, X[5]], [*labels.tolist(), "new"], [*weights, 0.5])
    np.testing.assert_allclose(a.compactness, b.compactness, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(a.counts, b.counts, rtol=1e-15)


def test_noise_is_taken_back_and_moved_too(new):
    h = fill(new(noise_label=-1), [[0.0], [1.0], [2.0], [3.0]], [0, 0, -1, -1])
    h.remove([2.0], -1)
    assert h.noise_share == pytest.approx(1 / 3)
    h.relabel([3.0], -1, 1)
    assert (h.noise_share, h.labels) == (0.0, [0, 1])
    h.relabel([3.0], 1, -1)
    assert (h.noise_share, h.labels) == (pytest.approx(1 / 3), [0])
    h.relabel_many([[3.0], [0.0]], [-1, 0], [0, -1])
    assert (h.noise_share, h.counts.tolist()) == (pytest.approx(1 / 3), [2.0])
    before = state_of(h)
    with pytest.raises(ValueError, match="from the noise, which has 1"):
        h.remove([9.0], -1, 2.0)
    with pytest.raises(ValueError, match="from the noise, which has 1"):
        h.remove_many([[9.0], [9.0]], [-1, -1])
    assert state_of(h) == before


def test_a_sample_may_go_through_several_clusters_in_one_call(new):
    h = fill(new(), [[0.0], [1.0]], ["a", "a"])
    h.relabel_many([[1.0]] * 4, ["a", "b", "c", "b"], ["b", "c", "b", "a"])
    assert (h.labels, h.counts.tolist(), h.compactness.tolist()) == (["a"], [2.0], [0.5])


def test_an_emptied_cluster_that_is_created_again_comes_last(new):
    h = fill(new(), [[0.0], [1.0], [2.0]], ["a", "b", "c"])
    h.remove([0.0], "a")
    assert h.labels == ["b", "c"]
    h.relabel([1.0], "b", "a")
    assert h.labels == ["c", "a"]
    assert h.centers.tolist() == [[2.0], [1.0]]


# -- what cannot be ------------------------------------------------------------------------

REFUSED = {
    "unknown label": (lambda h, X, y: h.remove(X[0], "nobody"), "no cluster has label 'nobody'"),
    "unknown label to move": (lambda h, X, y: h.relabel(X[0], 77, 0), "no cluster has label 77"),
    "more weight": (lambda h, X, y: h.remove(X[0], y[0], 1e3), r"weight 1000 from cluster"),
    "far away": (lambda h, X, y: h.remove(X[0] + 100.0, y[0]), "further from the others"),
    "far away, moved": (lambda h, X, y: h.relabel(X[0] * 99.0, y[0], 5), "further from the others"),
    "not the singleton": (lambda h, X, y: h.remove(X[0], "single"), "not in cluster 'single'"),
    "nan": (lambda h, X, y: h.remove([np.nan] * 3, y[0]), "finite numbers"),
    "infinite": (lambda h, X, y: h.relabel([np.inf] * 3, y[0], 9), "finite numbers"),
    "features": (lambda h, X, y: h.remove([0.0], y[0]), "expected 3 features"),
    "weight": (lambda h, X, y: h.remove(X[0], y[0], -1.0), "not negative"),
    "many, unknown": (lambda h, X, y: h.remove_many(X[:2], [y[0], "nobody"]), "no cluster has"),
    "many, gone": (
        lambda h, X, y: h.remove_many([[9.0, 9.0, 9.0]] * 2, ["single", "single"]),
        "sample 1: no cluster has label 'single'",
    ),
    "many, far away": (
        lambda h, X, y: h.remove_many([X[0], X[1], X[2] + 50.0], y[:3]),
        "sample 2: this sample cannot be",
    ),
    "many, moved": (
        lambda h, X, y: h.relabel_many([X[0], X[1] + 50.0], y[:2], ["x", "y"]),
        "sample 1: this sample cannot be",
    ),
    "many, lengths": (lambda h, X, y: h.relabel_many(X[:2], y[:2], ["x"]), "as many labels"),
    "merge unknown": (lambda h, X, y: h.merge_clusters(y[0], "nobody"), "no cluster has label"),
    "merge itself": (lambda h, X, y: h.merge_clusters(y[0], y[0]), "expected two clusters"),
    "decay up": (lambda h, X, y: h.decay(1.5), "factor above 0, and 1 at most"),
    "decay to nothing": (lambda h, X, y: h.decay(0.0), "factor above 0"),
    "decay nan": (lambda h, X, y: h.decay(float("nan")), "factor above 0"),
    "combine itself": (lambda h, X, y: h.combine(h), "with itself"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_and_leaves_the_state_as_it_was(new, case):
    action, message = REFUSED[case]
    X, labels = blobs(40, d=3, k=3)
    labels = labels.tolist()
    h = fill(new(), X, labels)
    fill(h, [[9.0, 9.0, 9.0]], ["single"])
    before = state_of(h)
    with pytest.raises(ValueError, match=message):
        action(h, X, labels)
    assert state_of(h) == before
    fill(h, X[:5], labels[:5])  # goes on as if nothing had happened
    clean = fill(new(), X, labels)
    fill(clean, [[9.0, 9.0, 9.0]], ["single"])
    fill(clean, X[:5], labels[:5])
    assert state_of(h)["compactness"] == state_of(clean)["compactness"]


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_leaves_a_fading_stream_as_it_was(case):
    action, message = REFUSED[case]
    X, labels = blobs(40, d=3, k=3)
    labels = labels.tolist()
    h = fill(new_tracker(half_life=300.0), X, labels)
    fill(h, [[9.0, 9.0, 9.0]], ["single"])
    before, kept = state_of(h), h._clusters.A.tobytes()
    with pytest.raises(
        ValueError, match="how the streams" if case == "combine itself" else message
    ):
        action(h, X, labels)
    assert state_of(h) == before
    h._clusters.show()
    assert h._clusters.A.tobytes() == kept


@pytest.mark.parametrize("action", ["remove", "relabel", "remove_many", "merge_clusters"])
def test_an_empty_state_has_nothing_to_give(new, action):
    arguments = {
        "remove": ([0.0], "a"),
        "relabel": ([0.0], "a", "b"),
        "remove_many": ([[0.0]], ["a"]),
        "merge_clusters": ("a", "b"),
    }[action]
    h = new()
    with pytest.raises(ValueError, match="there are no clusters"):
        getattr(h, action)(*arguments)
    assert h.labels == []


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        ({"indices": ["CH"]}, {"indices": ["CH", "XB"]}, "indices is"),
        ({"indices": [icvi.I(p=1)]}, {"indices": [icvi.I(p=1.0000001)]}, "parameters is"),
        ({"indices": [icvi.NI(delta=1)]}, {"indices": [icvi.NI(delta=1.0000001)]}, "parameters is"),
        ({"undefined": "nan"}, {"undefined": "limit"}, "undefined is 'nan' here and 'limit'"),
        ({"noise_label": 0}, {"noise_label": None}, "noise_label is 0 here and None"),
    ],
)
def test_trackers_that_differ_do_not_combine_and_the_difference_is_named(ours, theirs, message):
    a, b = icvi.Tracker(**ours), icvi.Tracker(**theirs)
    a.update([1.0, 2.0], 1)
    b.update([1.0, 2.0], 1)
    with pytest.raises(ValueError, match=message):
        a.combine(b)
    assert a.n_samples == 1.0


def test_other_features_or_other_things_do_not_combine(new):
    a, b = fill(new(), [[1.0]], [0]), fill(new(), [[1.0, 2.0]], [0])
    with pytest.raises(ValueError, match="features is 1 here and 2 in the other"):
        a.combine(b)
    with pytest.raises(TypeError, match="expected a"):
        a.combine("b")
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(TypeError):
        1 + a
    with pytest.raises(ValueError, match="scatter is False here and True"):
        icvi.Partition().combine(new_partition())


def test_an_empty_part_changes_nothing(new):
    X, labels = blobs(20, d=2, k=3)
    a = fill(new(), X, labels)
    before = state_of(a)
    a.combine(new())
    assert state_of(a) == before
    b = new()
    b.combine(a)
    assert state_of(b)["counts"] == before["counts"]
    assert functools.reduce(operator.add, [new(), new()]).n_samples == 0.0


def test_copies_share_nothing(new):
    X, labels = blobs(20, d=2, k=3)
    a = fill(new(), X, labels)
    b = a.copy()
    before = state_of(b)
    fill(a, X + 1.0, labels)
    a.merge_clusters(*a.labels[:2])
    assert state_of(b) == before


def test_readings_after_every_change_of_a_chunk_are_those_after_single_changes():
    X, labels = blobs(60, d=2, k=4)
    many, single = fill(new_tracker(), X, labels), fill(new_tracker(), X, labels)
    trace = many.remove_many(X[:30], labels[:30])
    for n in range(30):
        single.remove(X[n], labels[n])
        values = {name: trace[name][n] for name in NAMES}
        assert_same(values, {n: v for n, v in single.values.items() if n not in GAUSSIAN})
    moved = many.relabel_many(X[30:50], labels[30:50], (labels[30:50] + 1) % 4, every=7)
    assert len(moved) == 2 or len(moved) == 3
    assert moved.samples.tolist() == [n for n in range(91, 111) if n % 7 == 0]
