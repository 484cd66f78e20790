"""A tracker reads at any time what the definitions give for the samples so far."""

import contextlib
import copy
import itertools
import math

import numpy as np
import pytest

import icvi
from naive import NAIVE
from streams import NAMES, blobs

PAPER = ["CH", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS"]


def stream(n=60, d=2, k=4):
    return blobs(n, d, k)


def tracker_of(X, labels, weights=None, indices="all", **options):
    t = icvi.Tracker(indices, **options)
    t.update_many(X, labels, weights)
    return t


def assert_close(found, expected, rel=1e-10):
    """Equal readings; nan equals nan."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=rel, abs=1e-13, nan_ok=True), name


def naive_values(X, labels, weights=None):
    return {name: NAIVE[name](X, labels, weights) for name in NAMES}


# -- which indices ----------------------------------------------------------------------------


def test_the_indices_of_the_paper_come_in_the_order_of_the_paper():
    assert list(icvi.Tracker("paper").values) == PAPER
    assert list(icvi.Tracker().values) == PAPER


def test_all_are_those_of_the_catalogue_in_its_order():
    assert list(icvi.Tracker("all").values) == NAMES
    assert len(NAMES) == 13


@pytest.mark.parametrize("name", NAMES)
def test_one_name_tracks_one_index(name):
    X, labels = stream()
    t = tracker_of(X, labels, indices=name)
    assert list(t.values) == [name]
    assert t[name] == pytest.approx(NAIVE[name](X, labels), rel=1e-10)


def test_a_list_keeps_its_order():
    assert list(icvi.Tracker(["XB", icvi.I(p=1), "CH"]).values) == ["XB", "I(p=1)", "CH"]
    assert list(icvi.Tracker(("XB", "CH")).values) == ["XB", "CH"]


@pytest.mark.parametrize("indices", ["cx", ["CH", "Dunn"], "PAPERS", ""])
def test_unknown_names_are_refused_with_the_known_ones(indices):
    with pytest.raises(ValueError, match=r"unknown index '.*'.*; expected one of CH, I, PBM, SIL"):
        icvi.Tracker(indices)


@pytest.mark.parametrize("indices", [["CH", "XB", "CH"], ["I", icvi.I(p=2)], ["NI", icvi.NI()]])
def test_an_index_given_twice_is_refused(indices):
    name = indices[0]
    with pytest.raises(ValueError, match=f"every index once, got {name} more than once"):
        icvi.Tracker(indices)


def test_no_index_at_all_is_refused():
    with pytest.raises(ValueError, match="expected at least one index, got none"):
        icvi.Tracker([])


@pytest.mark.parametrize("entry", [5, None, 2.5])
def test_what_is_no_index_is_refused(entry):
    with pytest.raises(TypeError, match=r"expected an index name or an icvi.Index"):
        icvi.Tracker([entry])


def test_an_unknown_treatment_of_undefined_readings_is_refused():
    with pytest.raises(ValueError, match=r"expected undefined to be one of .*'nan'.*got 'zero'"):
        icvi.Tracker(undefined="zero")


PARAMETRISED = [
    ("I(p=1)", icvi.I(p=1), "I", {"p": 1}),
    ("I(p=0.5)", icvi.I(p=0.5), "I", {"p": 0.5}),
    ("I", icvi.I(), "I", {"p": 2}),
    ("NI(delta=0.1)", icvi.NI(delta=0.1), "NI", {"delta": 0.1}),
    ("NI(delta=0)", icvi.NI(delta=0), "NI", {"delta": 0.0}),
    ("NI(epsilon=3)", icvi.NI(epsilon=3), "NI", {"epsilon": 3}),
    ("NI", icvi.NI(), "NI", {}),
    ("rCIP(delta=0.5)", icvi.rCIP(delta=0.5), "rCIP", {"delta": 0.5}),
    ("rCIP(log_rcip=True)", icvi.rCIP(log_rcip=True), "rCIP", {"log_rcip": True}),
    ("rCIP(mean=True)", icvi.rCIP(mean=True), "rCIP", {"mean": True}),
    (
        "rCIP(delta=0.1, log_rcip=True, mean=True)",
        icvi.rCIP(delta=0.1, log_rcip=True, mean=True),
        "rCIP",
        {"delta": 0.1, "log_rcip": True, "mean": True},
    ),
    ("rH(mean=True)", icvi.rH(mean=True), "rH", {"mean": True}),
    ("rH(epsilon=3)", icvi.rH(epsilon=3), "rH", {"epsilon": 3}),
    ("rH(delta=2)", icvi.rH(delta=2.0), "rH", {"delta": 2.0}),
]


def test_parametrised_indices_of_many_deltas_live_in_one_tracker():
    X, labels = stream()
    t = icvi.Tracker([index for _, index, _, _ in PARAMETRISED])
    trace = t.update_many(X, labels)
    for name, index, naive, parameters in PARAMETRISED:
        for upto in (30, 59, 60):
            expected = NAIVE[naive](X[:upto], labels[:upto], **parameters)
            assert trace[name][upto - 1] == pytest.approx(expected, rel=1e-9), (name, upto)
        assert t[index] == t[name] == trace[name][-1]


@pytest.mark.parametrize("case", PARAMETRISED, ids=[case[0] for case in PARAMETRISED])
def test_a_parametrised_index_alone_reads_the_same(case):
    name, index, naive, parameters = case
    X, labels = stream(d=3)
    t = tracker_of(X, labels, indices=[index])
    assert index.name == name
    assert t[name] == pytest.approx(NAIVE[naive](X, labels, **parameters), rel=1e-9)
    assert icvi.score(X, labels, index) == pytest.approx(t[name], rel=1e-10)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: icvi.I(p=0), "expected p to be finite and greater than 0, got 0"),
        (lambda: icvi.I(p=-1), "expected p to be finite and greater than 0, got -1"),
        (lambda: icvi.I(p=math.nan), "expected p to be finite and greater than 0, got nan"),
        (lambda: icvi.NI(epsilon=1, delta=1), "expected epsilon or delta, got both"),
        (lambda: icvi.rH(delta=-1), "expected delta >= 0, got -1"),
        (lambda: icvi.rCIP(delta=math.nan), "expected delta >= 0, got nan"),
        (lambda: icvi.NI(epsilon=math.inf), "expected a finite epsilon, got inf"),
    ],
)
def test_impossible_parameters_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()


# -- readings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5])
def test_readings_after_every_sample_are_those_of_the_definitions(d):
    X, labels = stream(n=25, d=d, k=3)
    one_by_one, at_once = icvi.Tracker("all"), icvi.Tracker("all")
    trace = at_once.update_many(X, labels)
    for i in range(len(X)):
        one_by_one.update(X[i], labels[i])
        expected = naive_values(X[: i + 1], labels[: i + 1])
        assert_close(one_by_one.values, expected)
        assert_close({name: trace[name][i] for name in NAMES}, expected)


def test_a_reading_is_found_by_name_and_by_object():
    own = icvi.I(p=1)
    t = tracker_of(*stream(), indices=["CH", own, icvi.rH])
    assert t["I(p=1)"] == t[own] == t[icvi.I(p=1)] == t.values["I(p=1)"]
    assert t[t.indices[0]] == t["CH"]
    assert isinstance(t["rH"], float)


@pytest.mark.parametrize("name", ["XB", "cx", icvi.I(p=1)])
def test_a_reading_that_is_not_tracked_says_what_is(name):
    t = icvi.Tracker(["CH", "SIL"])
    shown = name if isinstance(name, str) else name.name
    for read in (t.__getitem__, t.why):
        with pytest.raises(KeyError) as error:
            read(name)
        assert f"{shown!r} is not tracked; tracked are ['CH', 'SIL']" in str(error.value.args[0])


READ = {
    "never": lambda i: False,
    "always": lambda i: True,
    "every third time": lambda i: i % 3 == 0,
    "in bursts": lambda i: i % 20 > 15,
    "from the middle on": lambda i: i >= 30,
    "once in the middle": lambda i: i == 30,
}


@pytest.mark.parametrize("when", READ.values(), ids=READ)
@pytest.mark.parametrize("k", [4, 40])
def test_readings_in_between_do_not_change_the_last_one(when, k):
    X, labels = stream(k=k)
    t = icvi.Tracker("all")
    for i, (x, label) in enumerate(zip(X, labels, strict=True)):
        t.update(x, label)
        if when(i):
            _ = t.values
    assert_close(t.values, icvi.scores(X, labels, "all"))


def test_reading_twice_gives_the_same():
    t = tracker_of(*stream())
    first = t.values
    assert t.values == first
    assert {name: t[name] for name in NAMES} == first


def test_single_samples_and_chunks_mix():
    X, labels = stream(n=60, k=20)
    t = icvi.Tracker("all")
    start = 0
    for turn, size in enumerate([5, 1, 11, 3, 17, 2, 21]):
        part = slice(start, start + size)
        if turn % 2:
            for x, label in zip(X[part], labels[part], strict=True):
                t.update(x, label)
        else:
            trace = t.update_many(X[part], labels[part])
            assert_close({name: trace[name][-1] for name in NAMES}, t.values, rel=1e-14)
        start += size
    assert start == 60
    assert_close(t.values, naive_values(X, labels))


def test_it_grows_from_one_to_three_hundred_clusters_one_at_a_time():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 2)) * 3
    labels = np.arange(600) // 2
    t = icvi.Tracker("all")
    for i in range(600):
        t.update(X[i], i // 2)
        if i + 1 in (1, 2, 3, 29, 30, 31, 32, 33, 95, 96, 97, 222, 224, 450, 600):
            assert_close(t.values, icvi.scores(X[: i + 1], labels[: i + 1], "all"), rel=1e-9)
    assert t.n_clusters == 300
    assert t.labels == list(range(300))


def test_growth_inside_one_chunk_is_read_like_growth_over_many():
    rng = np.random.default_rng(6)
    X, labels = rng.normal(size=(120, 2)), np.arange(120)
    labels[100:] = rng.integers(100, size=20)
    at_once, in_pieces = icvi.Tracker("all"), icvi.Tracker("all")
    trace = at_once.update_many(X, labels)
    pieces = [in_pieces.update_many(X[i : i + 7], labels[i : i + 7]) for i in range(0, 120, 7)]
    assert trace.k.tolist() == list(range(1, 101)) + [100] * 20
    for name in NAMES:
        joined = np.concatenate([piece[name] for piece in pieces])
        np.testing.assert_allclose(joined, trace[name], rtol=1e-10, atol=1e-13)


# -- what it knows of the stream ---------------------------------------------------------------


def test_it_shows_the_state_of_its_partition():
    X, labels = stream()
    t = tracker_of(X, labels)
    p = icvi.Partition(scatter=True)
    p.add_many(X, labels)
    for name in ("n_samples", "n_clusters", "n_features", "labels"):
        assert getattr(t, name) == getattr(p, name)
    for name in ("counts", "centers", "compactness", "covariances"):
        np.testing.assert_array_equal(getattr(t, name), getattr(p, name))


@pytest.mark.parametrize("indices", ["NI", "rCIP", "rH", "all"])
def test_covariances_are_kept_when_an_index_needs_them(indices):
    X, labels = stream()
    t = tracker_of(X, labels, indices=indices)
    for label, covariance in zip(t.labels, t.covariances, strict=True):
        np.testing.assert_allclose(covariance, np.cov(X[labels == label].T), rtol=1e-12)


def test_covariances_that_are_not_kept_say_how_to_get_them():
    t = tracker_of(*stream(), indices=["CH", "XB"])
    with pytest.raises(ValueError, match=r"no scatter matrices are kept.*NI, rCIP, rH"):
        _ = t.covariances


def test_its_representation_says_what_it_tracks_and_what_it_saw():
    t = icvi.Tracker(["CH", icvi.I(p=1)])
    assert repr(t) == "Tracker(['CH', 'I(p=1)'], n_samples=0, n_clusters=0)"
    t.update_many([[0.0], [1.0]], ["a", "b"], [1.0, 0.5])
    assert repr(t) == "Tracker(['CH', 'I(p=1)'], n_samples=1.5, n_clusters=2)"


def test_an_empty_tracker_knows_nothing():
    t = icvi.Tracker("all")
    assert (t.n_features, t.n_clusters, t.n_samples, t.noise_share) == (None, 0, 0.0, 0.0)
    assert all(math.isnan(value) for value in t.values.values())


# -- weights -----------------------------------------------------------------------------------


def test_weight_two_is_the_sample_twice():
    X, labels = stream()
    weights = np.resize([1, 2, 3, 1], len(X))
    weighted = tracker_of(X, labels, weights)
    repeated = tracker_of(np.repeat(X, weights, axis=0), np.repeat(labels, weights))
    assert_close(weighted.values, repeated.values)
    one_by_one = icvi.Tracker("all")
    for x, label, weight in zip(X, labels, weights, strict=True):
        one_by_one.update(x, label, weight)
    assert_close(one_by_one.values, repeated.values)


def test_fractional_weights_are_those_of_the_definitions():
    X, labels = stream()
    weights = np.random.default_rng(3).uniform(0.2, 3.0, size=len(X))
    assert_close(tracker_of(X, labels, weights).values, naive_values(X, labels, weights))


def test_weight_zero_is_seen_but_counts_nothing():
    X, labels = stream()
    weights = np.resize([1.0, 0.0, 2.0], len(X))
    t = icvi.Tracker("all")
    trace = t.update_many(X, labels, weights)
    assert len(trace) == len(X)
    assert trace.labels.tolist() == labels.tolist()
    for name in NAMES:
        np.testing.assert_array_equal(trace[name][1::3], trace[name][0::3])
    counted = weights > 0
    without = tracker_of(X[counted], labels[counted], weights[counted])
    assert t.values == without.values
    assert t.labels == without.labels


# -- noise -------------------------------------------------------------------------------------


def noisy():
    X, labels = stream()
    return X, np.where(labels == 1, -1, labels)


def test_noise_is_skipped_and_its_rows_stay_in_the_trace():
    X, labels = noisy()
    noise = labels == -1
    t, clean = icvi.Tracker("all", noise_label=-1), icvi.Tracker("all")
    trace, expected = t.update_many(X, labels), clean.update_many(X[~noise], labels[~noise])
    assert len(trace) == len(X)
    assert trace.labels.tolist() == labels.tolist()
    assert trace.samples.tolist() == list(range(1, 61))
    assert t.labels == clean.labels
    for name in NAMES:
        np.testing.assert_array_equal(trace[name][~noise], expected[name])
        after_noise = np.flatnonzero(noise & (np.arange(60) > 0))
        np.testing.assert_array_equal(trace[name][after_noise], trace[name][after_noise - 1])


def test_noise_one_by_one_is_skipped_too():
    X, labels = noisy()
    t = icvi.Tracker("all", noise_label=-1)
    for x, label in zip(X, labels, strict=True):
        t.update(x, label)
    assert_close(t.values, tracker_of(X, labels, noise_label=-1).values)
    assert t.noise_share == (labels == -1).mean()


def test_the_share_of_noise_is_a_share_of_the_weight():
    t = icvi.Tracker("CH", noise_label="?")
    t.update_many([[0.0], [1.0], [2.0]], ["a", "?", "b"], [1.0, 0.5, 2.0])
    t.update([5.0], "?", 0.25)
    assert t.noise_share == 0.75 / 3.75
    assert t.n_samples == 3.0


def test_without_a_noise_label_minus_one_is_a_cluster():
    X, labels = noisy()
    t = tracker_of(X, labels)
    assert -1 in t.labels
    assert t.noise_share == 0.0
    assert_close(t.values, naive_values(X, labels))


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_stream_of_noise_alone_is_empty(one_by_one):
    t = icvi.Tracker("all", noise_label=-1)
    if one_by_one:
        for _ in range(3):
            t.update([1.0, 2.0], -1)
    else:
        trace = t.update_many(np.ones((3, 2)), [-1] * 3)
        assert trace.k.tolist() == [0, 0, 0]
        assert trace.labels.tolist() == [-1, -1, -1]
        for name in NAMES:
            assert trace.why(name) == ["empty"] * 3
    assert {t.why(name) for name in NAMES} == {"empty"}
    assert (t.n_clusters, t.n_samples, t.noise_share, t.labels) == (0, 0.0, 1.0, [])


@pytest.mark.parametrize("one_by_one", [True, False])
def test_noise_may_come_first(one_by_one):
    X, labels = stream()
    t = icvi.Tracker("all", noise_label=-1)
    if one_by_one:
        t.update(X[0] + 50.0, -1)
        for x, label in zip(X, labels, strict=True):
            t.update(x, label)
    else:
        t.update_many(np.vstack([X[0] + 50.0, X]), [-1, *labels])
    assert_close(t.values, tracker_of(X, labels).values)
    assert t.noise_share == 1 / 61


def test_noise_fixes_the_number_of_features_the_same_way_in_samples_and_chunks():
    one, many = (icvi.Tracker("CH", noise_label=-1) for _ in range(2))
    one.update([1.0, 2.0], -1)
    many.update_many([[1.0, 2.0]], [-1])
    assert one.n_features == many.n_features


# -- every m-th sample -------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 2, 7, 60, 61])
def test_every_mth_row_of_the_full_trace_is_kept(every):
    X, labels = stream()
    full = icvi.Tracker("all").update_many(X, labels)
    t = icvi.Tracker("all")
    trace = t.update_many(X, labels, every=every)
    kept = slice(every - 1, None, every)
    assert trace.samples.tolist() == list(range(every, 61, every))
    assert trace.k.tolist() == full.k[kept].tolist()
    assert trace.labels.tolist() == full.labels[kept].tolist()
    for name in NAMES:
        np.testing.assert_allclose(trace[name], full[name][kept], rtol=1e-11, atol=1e-14)
    assert_close(t.values, naive_values(X, labels))


@pytest.mark.parametrize("sizes", [[60], [1] * 60, [3, 10, 2, 45], [59, 1]])
def test_every_is_counted_over_the_whole_stream(sizes):
    X, labels = stream()
    t = icvi.Tracker("CH")
    ends = list(itertools.accumulate(sizes))
    parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    traces = [t.update_many(X[part], labels[part], every=4) for part in parts]
    assert [s for trace in traces for s in trace.samples.tolist()] == list(range(4, 61, 4))
    full = icvi.Tracker("CH").update_many(X, labels)["CH"]
    joined = np.concatenate([trace["CH"] for trace in traces])
    np.testing.assert_allclose(joined, full[3::4], rtol=1e-12)
    assert [label for trace in traces for label in trace.labels.tolist()] == labels[3::4].tolist()


def test_single_samples_noise_and_weightless_samples_count_for_every():
    X, labels = stream(n=10)
    t = icvi.Tracker("CH", noise_label="?")
    t.update(X[0], 0)
    t.update(X[1], "?")
    t.update(X[2], 0, 0.0)
    trace = t.update_many(X[3:8], labels[3:8], every=3)
    assert trace.samples.tolist() == [6]
    t.update(X[8], 1)
    assert t.update_many(X[9:10], [1], every=5).samples.tolist() == [10]


def test_every_may_change_from_call_to_call():
    X, labels = stream()
    t = icvi.Tracker("CH")
    assert t.update_many(X[:10], labels[:10], every=4).samples.tolist() == [4, 8]
    assert t.update_many(X[10:20], labels[10:20], every=5).samples.tolist() == [15, 20]
    assert t.update_many(X[20:23], labels[20:23]).samples.tolist() == [21, 22, 23]


@pytest.mark.parametrize("every", [2.0, np.int64(2), np.float64(2.0)])
def test_every_may_be_any_whole_number(every):
    assert icvi.Tracker("CH").update_many(*stream(), every=every).samples.tolist()[:2] == [2, 4]


def test_a_chunk_without_a_reading_gives_an_empty_trace():
    t = icvi.Tracker("all")
    trace = t.update_many(*stream(n=5), every=100)
    assert len(trace) == 0
    assert trace["CH"].shape == trace.k.shape == trace.labels.shape == (0,)
    assert t.n_samples == 5


# -- long streams ------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 4])
def test_blocks_of_a_long_chunk_leave_no_seam(monkeypatch, every):
    X, labels = stream()
    expected = icvi.Tracker("all").update_many(X, labels, every=every)
    monkeypatch.setattr("icvi.tracking.tracker._BLOCK", 7)
    trace = icvi.Tracker("all").update_many(X, labels, every=every)
    assert trace.samples.tolist() == expected.samples.tolist()
    assert trace.k.tolist() == expected.k.tolist()
    for name in NAMES:
        np.testing.assert_array_equal(trace[name], expected[name])


class Impatience:
    """Progress that is interrupted from the keyboard after some blocks."""

    def __init__(self, blocks):
        self.blocks = blocks

    @contextlib.contextmanager
    def __call__(self, title, total):
        yield self.advance

    def advance(self, more):
        self.blocks -= 1
        if self.blocks == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("before", [0, 13])
def test_an_interrupt_between_blocks_leaves_everything_as_it_was(monkeypatch, blocks, before):
    X, labels = stream(k=30)
    labels = np.where(labels == 0, -1, labels)
    t = icvi.Tracker("all", noise_label=-1)
    if before:
        t.update_many(X[:before], labels[:before])
    monkeypatch.setattr("icvi.tracking.tracker._BLOCK", 8)
    with monkeypatch.context() as patch:
        patch.setattr("icvi.tracking.tracker.progress", Impatience(blocks))
        with pytest.raises(KeyboardInterrupt):
            t.update_many(X[before:], labels[before:])
    expected = icvi.Tracker("all", noise_label=-1)
    if before:
        expected.update_many(X[:before], labels[:before])
    assert t.n_clusters == len(t.labels) == expected.n_clusters
    assert t.labels == expected.labels
    assert t.n_samples == expected.n_samples
    assert t.noise_share == expected.noise_share
    np.testing.assert_array_equal(list(t.values.values()), list(expected.values.values()))
    trace = t.update_many(X[before:], labels[before:])
    assert trace.samples.tolist() == list(range(before + 1, 61))
    assert_close(t.values, icvi.scores(X, labels, "all", noise_label=-1))
    assert t.labels == tracker_of(X, labels, noise_label=-1).labels


def test_a_deep_copy_goes_its_own_way():
    X, labels = blobs(n=120, d=2, k=20)
    original = icvi.Tracker("all")
    original.update_many(X[:100], labels[:100])
    before = dict(original.values)
    twin = copy.deepcopy(original)
    assert list(twin.values.values()) == pytest.approx(
        list(before.values()), rel=1e-12, nan_ok=True
    )
    for x, label in zip(X[100:], labels[100:].tolist(), strict=True):
        twin.update(x, label)
        twin.values  # noqa: B018
    twin.update([5.0, 5.0], "new in the copy")
    assert original.values == before
    assert twin.n_samples == original.n_samples + 21
    original.update_many(X[100:], labels[100:])
    original.update([5.0, 5.0], "new in the copy")
    assert list(twin.values.values()) == pytest.approx(list(original.values.values()), rel=1e-9)


# -- from a partition ----------------------------------------------------------------------


@pytest.mark.parametrize("scatter", [False, True])
@pytest.mark.parametrize("indices", [["CH", "XB", "SIL"], ["NI", "CH", "rH"]])
def test_a_tracker_from_a_partition_resumes_like_one_that_saw_all_samples(indices, scatter):
    X, labels = blobs(300, d=3, k=5)
    weights = np.random.default_rng(0).integers(1, 3, 300)
    p = icvi.Partition(scatter=scatter, noise_label=2)
    p.add_many(X[:200], labels[:200], weights[:200])
    if "NI" in indices and not scatter:
        with pytest.raises(ValueError, match=r"^NI, rH need covariances.*Partition\(scatter"):
            icvi.Tracker.from_partition(p, indices)
        return
    before = p.to_bytes()
    t = icvi.Tracker.from_partition(p, indices, undefined="limit")
    twin = icvi.Tracker(indices, noise_label=2, undefined="limit")
    twin.update_many(X[:200], labels[:200], weights[:200], every=10**6)
    assert t.values == twin.values
    assert (t.noise_label, t.noise_share) == (2, twin.noise_share)
    loaded = icvi.from_bytes(t.to_bytes())
    traces = [each.update_many(X[200:], labels[200:]) for each in (t, twin, loaded)]
    for trace in traces[1:]:
        for name in t.values:
            np.testing.assert_array_equal(traces[0][name], trace[name])
    t.combine(twin)
    assert p.to_bytes() == before


def test_a_tracker_from_an_empty_partition_is_empty():
    t = icvi.Tracker.from_partition(icvi.Partition(), ["CH"])
    assert (t.n_samples, t.n_clusters, t.why("CH")) == (0.0, 0, "empty")
    t.update([1.0], "a")
    assert t.n_samples == 1.0


def test_a_partition_without_an_index_that_needs_covariances_says_how_to_make_one():
    with pytest.raises(ValueError, match=r"^NI needs covariances, which this partition does not "):
        icvi.Tracker.from_partition(icvi.Partition(), ["NI", "CH"])


def test_what_is_no_partition_and_what_it_does_not_know_is_refused():
    with pytest.raises(TypeError, match="expected a Partition, got Tracker"):
        icvi.Tracker.from_partition(icvi.Tracker("CH"), "CH")
    with pytest.raises(ValueError, match="Conn compares prototypes, which a partition"):
        icvi.Tracker.from_partition(icvi.Partition(), ["CH", "Conn"])


def test_samples_of_a_partition_count_for_every():
    p = icvi.Partition()
    p.add_many([[0.0], [1.0], [5.0]], [0, 0, 1])
    t = icvi.Tracker.from_partition(p, "CH")
    assert len(t.update_many([[6.0]], [1], every=4)) == 1
