"""Trackers watch prototypes: those of a clusterer that has them, or their own."""

import copy

import numpy as np
import pytest

import icvi
from streams import blobs

TOOLBOX = icvi.Conn("toolbox")


@pytest.fixture(scope="module")
def smart():
    X, _ = blobs(300, 2, 5)
    return X, icvi.FuzzySMART(rho_a=0.92, rho_b=0.75).fit(X)


def snapshot(t):
    c = t.connectivity
    return {
        "values": t.values,
        "counts": t.counts.tolist(),
        "labels": t.labels,
        "cadj": c.cadj.tolist(),
        "clusters": c.counts.tolist(),
        "owners": c.owners,
        "n": (t.n_samples, c.n_events, t.noise_share),
    }


# -- the numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["syn_d3_k6_n900", "edge_degenerate"])
def test_a_tracker_with_prototypes_of_its_own_follows_the_toolbox(golden, name):
    stream = np.genfromtxt(golden / "streams" / f"{name}.csv", delimiter=",", names=True)
    expected = np.genfromtxt(golden / "streams" / f"{name}.trace.csv", delimiter=",", names=True)
    X = np.stack([stream[c] for c in stream.dtype.names[:-1]], axis=1)
    trace = icvi.Tracker([TOOLBOX], bounds=(0.0, 1.0)).update_many(X, stream["label"].astype(int))
    np.testing.assert_allclose(trace[TOOLBOX], expected["CONN"], rtol=1e-10, atol=1e-12)


def test_winners_of_a_clusterer_give_what_its_events_give(smart):
    X, s = smart
    c = icvi.Connectivity()
    expected = c.update_many(s.winners_, s.labels_)
    t = icvi.Tracker(["CH", "Conn"])
    trace = t.update_many(X, s.labels_, winners=s.winners_)
    np.testing.assert_array_equal(trace["Conn"], expected)
    assert t["Conn"] == c.value == t.connectivity.value
    np.testing.assert_array_equal(t.connectivity.inter_matrix, c.inter_matrix)


def test_own_prototypes_are_those_of_a_quantizer(smart):
    X, s = smart
    bounds = X.min(axis=0), X.max(axis=0)
    own = icvi.Tracker(["Conn"], bounds=bounds, quantizer=icvi.Quantizer(rho=0.92))
    told = icvi.Tracker(["Conn"])
    np.testing.assert_array_equal(
        own.update_many(X, s.labels_)["Conn"],
        told.update_many(X, s.labels_, winners=s.winners_)["Conn"],
    )
    assert own.connectivity.n_prototypes == s.n_prototypes_


def test_the_parameters_of_the_quantizer_may_be_a_dict(smart):
    X, s = smart
    one = icvi.Tracker(["Conn"], quantizer={"rho": 0.8}).update_many(X, s.labels_)
    other = icvi.Tracker(["Conn"], quantizer=icvi.Quantizer(rho=0.8)).update_many(X, s.labels_)
    np.testing.assert_array_equal(one["Conn"], other["Conn"])


def test_other_indices_do_not_notice(smart):
    X, s = smart
    alone = icvi.Tracker("paper").update_many(X, s.labels_)
    both = icvi.Tracker(["Conn", "paper", TOOLBOX]).update_many(X, s.labels_, winners=s.winners_)
    assert both.names == ["Conn", *alone.names, TOOLBOX.name]
    for name in alone.names:
        np.testing.assert_array_equal(both[name], alone[name])


def test_conn_stands_where_it_was_asked_for(smart):
    X, s = smart
    t = icvi.Tracker(["CH", TOOLBOX, "XB", "Conn"])
    trace = t.update_many(X, s.labels_, winners=s.winners_)
    assert list(t.values) == trace.names == ["CH", TOOLBOX.name, "XB", "Conn"]
    for name in trace.names:
        assert t[name] == trace[name][-1]
    toolbox = icvi.Connectivity("toolbox").update_many(s.winners_, s.labels_)
    np.testing.assert_array_equal(trace[TOOLBOX], toolbox)


def test_conn_alone_keeps_the_state_too(smart):
    X, s = smart
    t = icvi.Tracker("Conn")
    trace = t.update_many(X, s.labels_, winners=s.winners_)
    np.testing.assert_array_equal(trace.k, np.maximum.accumulate(s.labels_) + 1)
    np.testing.assert_allclose(t.centers[0], X[s.labels_ == 0].mean(axis=0))


@pytest.mark.parametrize("given", [True, False], ids=["winners given", "own"])
def test_one_by_one_equals_chunks(smart, given):
    X, s = smart
    bounds = X.min(axis=0), X.max(axis=0)
    whole, parts, single = (icvi.Tracker(["CH", "Conn"], bounds=bounds) for _ in range(3))
    options = {"winners": s.winners_} if given else {}
    expected = whole.update_many(X, s.labels_, **options)["Conn"]
    found, alone = [], []
    for i in range(0, len(X), 70):
        part = slice(i, i + 70)
        options = {"winners": s.winners_[part]} if given else {}
        found.extend(parts.update_many(X[part], s.labels_[part], **options)["Conn"])
    for x, label, (winner, runner_up) in zip(X, s.labels_, s.winners_, strict=True):
        pair = (winner, None if runner_up < 0 else runner_up)
        single.update(x, label, **({"winners": pair} if given else {}))
        alone.append(single["Conn"])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(alone, expected)


def test_every_mth_reading_is_one_of_all(smart):
    X, s = smart
    all_of_them = icvi.Tracker(["Conn"]).update_many(X, s.labels_, winners=s.winners_)
    t = icvi.Tracker(["Conn"])
    some = [
        t.update_many(X[part], s.labels_[part], winners=s.winners_[part], every=7)
        for part in (slice(0, 100), slice(100, None))
    ]
    np.testing.assert_array_equal(
        np.concatenate([trace["Conn"] for trace in some]), all_of_them["Conn"][6::7]
    )


def test_noise_and_weight_zero_leave_the_connections_alone(smart):
    X, s = smart
    t = icvi.Tracker(["Conn"], noise_label=-1)
    expected = icvi.Tracker(["Conn"]).update_many(X, s.labels_, winners=s.winners_)["Conn"]
    labels, weights = np.repeat(s.labels_, 3), np.ones(3 * len(X))
    labels[::3], weights[1::3] = -1, 0.0
    trace = t.update_many(np.repeat(X, 3, axis=0), labels, weights, winners=s.winners_.repeat(3, 0))
    np.testing.assert_array_equal(trace["Conn"][2::3], expected)
    np.testing.assert_array_equal(trace["Conn"][3::3], expected[:-1])
    assert trace.why("Conn")[:2] == ["empty", "empty"]
    t.update(X[0], -1)
    t.update(X[0], s.labels_[0], 0.0)
    assert t["Conn"] == expected[-1]


def test_weight_counts_an_event_that_often(smart):
    X, s = smart
    t = icvi.Tracker(["Conn"])
    t.update_many(X, s.labels_, np.full(len(X), 2.0), winners=s.winners_)
    c = icvi.Connectivity()
    c.update_many(s.winners_, s.labels_, np.full(len(X), 2.0))
    np.testing.assert_array_equal(t.connectivity.cadj, c.cadj)
    assert t.connectivity.n_events == 2 * len(X)


def test_labels_of_a_tracker_may_be_words(smart):
    X, s = smart
    words = np.array([f"cluster {number}" for number in range(s.n_clusters_)])[s.labels_]
    t = icvi.Tracker(["Conn"])
    t.update_many(X, words, winners=s.winners_)
    assert t.connectivity.labels == t.labels
    assert set(t.connectivity.owners) == set(t.labels)


def test_the_first_chunk_gives_the_bounds(smart):
    X, s = smart
    t = icvi.Tracker(["Conn"])
    t.update_many(X[:50], s.labels_[:50])
    t.update_many(100 * X[50:60], s.labels_[50:60])  # clipped, not an error
    told = icvi.Tracker(["Conn"], bounds=(X[:50].min(axis=0), X[:50].max(axis=0)))
    told.update_many(X[:50], s.labels_[:50])
    told.update_many(100 * X[50:60], s.labels_[50:60])
    assert t["Conn"] == told["Conn"]


def test_before_the_first_sample_conn_is_undefined():
    t = icvi.Tracker(["Conn", "NI"], bounds=(0, 1))
    assert np.isnan(t["Conn"])
    assert t.why("Conn") == "empty"
    t.update([0.5], "a")
    assert t.values == {"Conn": 0.0, "NI": 0.0}
    assert t.why("Conn") is None


@pytest.mark.parametrize("given", [True, False], ids=["winners given", "own"])
def test_a_copy_goes_on_alone(smart, given):
    X, s = smart
    t = icvi.Tracker(["CH", "Conn"])

    def feed(tracker, part):
        options = {"winners": s.winners_[part]} if given else {}
        return tracker.update_many(X[part], s.labels_[part], **options)["Conn"]

    feed(t, slice(0, 150))
    before = t.values
    twin = copy.deepcopy(t)
    rest = feed(twin, slice(150, 300))
    assert t.values == before
    np.testing.assert_array_equal(feed(t, slice(150, 300)), rest)
    assert t.values == twin.values


# -- what is refused ---------------------------------------------------------------------------


REFUSED_SAMPLES = {
    "nan": ([np.nan, 0.0], 0, {}, "finite"),
    "another number of features": ([0.0], 0, {}, "expected 2 features"),
    "an unhashable label": ([0.0, 0.0], [0], {}, "hashable"),
    "a negative weight": ([0.0, 0.0], 0, {"weight": -1.0}, "negative"),
}


@pytest.mark.parametrize(("x", "label", "options", "message"), REFUSED_SAMPLES.values())
@pytest.mark.parametrize("given", [True, False], ids=["winners given", "own"])
def test_a_refused_sample_changes_nothing(smart, x, label, options, message, given):
    X, s = smart
    t = icvi.Tracker(["CH", "Conn"])
    t.update_many(X, s.labels_, **({"winners": s.winners_} if given else {}))
    before = snapshot(t)
    with pytest.raises((ValueError, TypeError), match=message):
        t.update(x, label, **options, **({"winners": (0, 1)} if given else {}))
    weights = [options["weight"]] if "weight" in options else None
    with pytest.raises((ValueError, TypeError), match=message):
        t.update_many([x], [label], weights, **({"winners": [[0, 1]]} if given else {}))
    assert snapshot(t) == before


def test_winners_that_do_not_fit_change_nothing(smart):
    X, s = smart
    t = icvi.Tracker(["CH", "Conn"])
    t.update_many(X, s.labels_, winners=s.winners_)
    before = snapshot(t)
    owner = t.connectivity.owners[0]
    other = next(label for label in t.labels if label != owner)
    with pytest.raises(ValueError, match="prototype 0 belongs to cluster"):
        t.update(X[0], other, winners=(0, 1))
    with pytest.raises(ValueError, match="sample 1: prototype 0 belongs to cluster"):
        t.update_many(X[:2], [owner, other], winners=[[0, 1], [0, 1]])
    with pytest.raises(ValueError, match="got 1 for 2 samples"):
        t.update_many(X[:2], [owner, owner], winners=[[0, 1]])
    with pytest.raises(ValueError, match=r"expected winners=\(winner, runner_up\), got 3"):
        t.update(X[0], owner, winners=3)
    with pytest.raises(ValueError, match="expected winners, as for the samples before"):
        t.update(X[0], owner)
    with pytest.raises(ValueError, match="expected winners, as for the samples before"):
        t.update_many(X[:2], [owner, owner])
    assert snapshot(t) == before


def test_a_tracker_that_finds_winners_takes_none(smart):
    X, s = smart
    t = icvi.Tracker(["Conn"])
    t.update_many(X, s.labels_)
    before = snapshot(t)
    with pytest.raises(ValueError, match="found the winners itself"):
        t.update(X[0], s.labels_[0], winners=(0, 1))
    with pytest.raises(ValueError, match="found the winners itself"):
        t.update_many(X[:1], s.labels_[:1], winners=[[0, 1]])
    assert snapshot(t) == before


def test_a_first_sample_without_bounds_asks_for_them():
    t = icvi.Tracker(["Conn"])
    with pytest.raises(ValueError, match=r"bounds=\(low, high\)"):
        t.update([0.5, 0.5], 0)
    assert (t.n_samples, t.n_clusters) == (0.0, 0)
    t.update_many([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    assert t.connectivity.n_prototypes == 2


def test_samples_out_of_bounds_can_be_refused():
    strict = icvi.Quantizer(out_of_bounds="error", bounds=(0.0, 1.0))
    t = icvi.Tracker(["Conn"], quantizer=strict)
    t.update([0.5], 0)
    before = snapshot(t)
    with pytest.raises(ValueError, match="out of the bounds"):
        t.update([1.5], 0)
    with pytest.raises(ValueError, match=r"sample 1, feature 0 is 1\.5, out of the bounds"):
        t.update_many([[0.1], [1.5]], [0, 0])
    assert snapshot(t) == before


def test_options_for_prototypes_need_an_index_on_prototypes():
    for options in ({"bounds": (0, 1)}, {"quantizer": {"rho": 0.9}}):
        with pytest.raises(ValueError, match="track Conn"):
            icvi.Tracker(["CH"], **options)
    t = icvi.Tracker(["CH"])
    with pytest.raises(ValueError, match="track Conn"):
        t.update([0.0], 0, winners=(0, None))
    with pytest.raises(ValueError, match="track Conn"):
        t.update_many([[0.0]], [0], winners=[[0, -1]])
    with pytest.raises(ValueError, match="track Conn"):
        _ = t.connectivity
    assert t.n_samples == 0


@pytest.mark.parametrize(
    "bad", [{"rho": 2}, {"alpha": 0}, {"beta": 0}, {"out_of_bounds": "wrap"}, {"vigilance": 1}]
)
def test_bad_parameters_of_the_quantizer_are_refused(bad):
    with pytest.raises((ValueError, TypeError), match=next(iter(bad))):
        icvi.Tracker(["Conn"], quantizer=bad)


# -- all data at hand --------------------------------------------------------------------------


def test_a_score_is_the_reading_at_the_end_of_the_stream(smart):
    X, s = smart
    t = icvi.Tracker(["CH", "Conn"], bounds=(X.min(axis=0), X.max(axis=0)))
    t.update_many(X, s.labels_)
    assert icvi.score(X, s.labels_, "Conn") == t["Conn"]
    both = icvi.scores(X, s.labels_, ["Conn", "CH"])
    assert list(both) == ["Conn", "CH"]
    assert both["Conn"] == t["Conn"]
    assert both["CH"] == pytest.approx(t["CH"], rel=1e-12)
    assert icvi.metrics.conn_index_score(X, s.labels_) == t["Conn"]
    t = icvi.Tracker([TOOLBOX], bounds=(X.min(axis=0), X.max(axis=0)), quantizer={"rho": 0.8})
    t.update_many(X, s.labels_)
    found = icvi.metrics.conn_index_score(X, s.labels_, rho=0.8, convention="toolbox")
    assert found == t[TOOLBOX]


def test_a_score_of_noise_alone_is_undefined():
    assert np.isnan(icvi.score([[0.0], [1.0]], [-1, -1], "Conn", noise_label=-1))
    assert icvi.score([[0.0]], [1], "Conn") == 0.0


@pytest.mark.parametrize("convention", ["paper", "toolbox"])
def test_the_batch_form_finds_the_winners_anew(smart, convention):
    X, s = smart
    labels, winners = s.predict(X, return_winners=True)
    expected = icvi.batch.conn_index(
        winners, labels, owners=s.cluster_of_prototype_, convention=convention
    )
    found = icvi.batch.conn_index_score(X, None, s, convention=convention)
    assert found == expected
    q = icvi.Quantizer(rho=0.92).fit(X, s.labels_)
    np.testing.assert_allclose(
        icvi.batch.conn_index_score(X, s.labels_, q),
        icvi.batch.conn_index_score(X, s.labels_, s),
        rtol=1e-14,
    )
    with pytest.raises(ValueError, match="expected labels from 0 to"):
        s.winners(X[:1], [99])
