"""Paths from many clusters to few, against the same clusterings scored from samples."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
import naive
from icvi.insight.separation import Groups, separation
from streams import blobs, labelled_streams


def tracker_of(X, labels, indices="all", **options) -> icvi.Tracker:
    t = icvi.Tracker(indices, **options)
    t.update_many(X, labels, every=len(labels))
    return t


def fine_blobs(seed: int = 0, k: int = 4, parts: int = 5, n: int = 600):
    """Samples of k clusters, each of which has as many labels as parts."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    X = rng.normal(size=(n, 3)) + 9.0 * np.vstack([np.zeros(3), np.eye(3)])[truth]
    pieces = rng.permutation(n) % parts
    return X, truth, truth * parts + pieces


def merge_loss(a: naive.Cluster, b: naive.Cluster) -> float:
    both = naive.cluster_of([*zip(a.x, a.w, strict=True), *zip(b.x, b.w, strict=True)])
    return naive.around(both, both.v) - naive.around(a, a.v) - naive.around(b, b.v)


@given(labelled_streams(least=3), st.sampled_from(["ward", "separation"]))
@settings(max_examples=15, deadline=None)
def test_every_level_reads_what_its_clustering_reads(stream, linkage):
    X, labels = stream[0], stream[1]
    t = tracker_of(X, labels)
    if t.n_clusters < 2:
        return
    path = t.coarsen(by="CH", to=1, linkage=linkage)
    assert path.levels.tolist() == list(range(t.n_clusters, 0, -1))
    for k in path.levels.tolist():
        groups = path.groups_at(k)
        merged = [groups[label] for label in labels]
        assert len(set(merged)) == k
        expected = icvi.scores(X, merged, "all")
        for name, value in path.readings(k).items():
            assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-9, nan_ok=True), (
                k,
                name,
            )


def test_readings_agree_with_the_definitions():
    X, _, labels = fine_blobs(n=120)
    path = tracker_of(X, labels, ["CH", "DB", "SIL", "XB"]).coarsen()
    for k in (2, 5, 11, int(path.levels[0])):
        groups = path.groups_at(k)
        merged = [groups[label] for label in labels.tolist()]
        for name, value in path.readings(k).items():
            assert value == pytest.approx(naive.NAIVE[name](X, merged), rel=1e-9)


def test_ward_merges_the_pair_that_adds_least_to_the_scatter():
    X, _, labels = fine_blobs(n=90, parts=4)
    path = tracker_of(X, labels, ["CH"]).coarsen(to=1)
    clusters = {}
    for number, label in enumerate(path.labels):
        clusters[number] = naive.cluster_of([(x.tolist(), 1.0) for x in X[labels == label]])
    for step, (a, b) in enumerate(path.merges.pairs.tolist()):
        losses = {
            pair: merge_loss(clusters[pair[0]], clusters[pair[1]])
            for pair in combinations(sorted(clusters), 2)
        }
        assert path.merges.costs[step] == pytest.approx(losses[min(a, b), max(a, b)], rel=1e-9)
        assert path.merges.costs[step] == pytest.approx(min(losses.values()), rel=1e-9)
        one, two = clusters.pop(a), clusters.pop(b)
        both = [*zip(one.x, one.w, strict=True), *zip(two.x, two.w, strict=True)]
        clusters[len(path.labels) + step] = naive.cluster_of(both)


def test_separation_of_large_clusters_is_that_of_insight():
    X, truth = blobs(n=3000, d=3, k=3, seed=3)
    t = tracker_of(X, truth, ["NI"])
    path = t.coarsen(by="NI", linkage="separation")
    n = t.counts
    groups = Groups(n, t.centers, t.covariances * ((n - 1.0) / n)[:, None, None])
    first, second = np.triu_indices(3, 1)
    exact = separation(groups, first, second).value
    # The kernel leaves out corrections of the order d/n, and adds d + 1 samples to each width.
    assert path.merges.costs[0] == pytest.approx(exact.min(), rel=0.02)


def test_coarse_clusters_are_found_again():
    for seed in range(5):
        X, truth, labels = fine_blobs(seed)
        for by in ("DB", "vote", ["CH", "SIL"]):
            path = tracker_of(X, labels).coarsen(by=by)
            assert path.k == 4
            merged = [path.groups[label] for label in labels.tolist()]
            assert len({*zip(merged, truth.tolist(), strict=True)}) == 4


def test_apply_merges_the_tracker_and_keeps_what_came_later():
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels)
    path = t.coarsen(by="DB")
    t.update(X[0] + 1e3, "later")
    t.apply(path)
    assert t.n_clusters == path.k + 1
    t.merge_clusters(path.groups[labels[0]], "later")
    t.remove(X[0] + 1e3, path.groups[labels[0]])
    for name, value in path.readings().items():
        assert t[name] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("options", [{"window": 400}, {"half_life": 300.0}, {"insight": True}])
def test_trackers_that_forget_or_look_coarsen_and_apply(options):
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels, ["CH", "DB", "NI"], **options)
    path = t.coarsen(by="DB")
    assert path.readings(t.n_clusters) == pytest.approx(t.values, rel=1e-9)
    t.apply(path)
    assert path.readings() == pytest.approx(t.values, rel=1e-9)
    t.update_many(X, [path.groups.get(label, label) for label in labels.tolist()])
    assert t.n_clusters == 4


def test_coarsen_changes_nothing():
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels)
    before = t.values
    t.coarsen()
    assert t.values == before
    assert t.n_clusters == 20


def test_conn_is_left_out_and_the_index_that_chooses_is_read():
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels, ["CH", "Conn"])
    assert t.coarsen(by="DB").names == ["CH", "DB"]


def test_a_far_offset_changes_no_merge_and_no_reading():
    X, _, labels = fine_blobs()
    X = np.round(X, 6)
    near, far = (
        tracker_of(X + offset, labels, ["CH", "DB"]).coarsen() for offset in (0.0, 2.0**26)
    )
    assert (near.merges.pairs == far.merges.pairs).all()
    assert far.table == pytest.approx(near.table, rel=1e-6)  # X itself is rounded there


def test_a_verdict_at_each_level():
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels, insight=True)
    path = t.coarsen()
    assert path.verdict().grade == "distinct"
    assert path.verdict().n_clusters == 4
    assert {advice.action for advice in path.verdict(3).advice} == {"split"}
    assert t.n_clusters == 20
    with pytest.raises(ValueError, match="insight=True"):
        tracker_of(X, labels).coarsen().verdict()


def test_tables_and_pictures():
    X, _, labels = fine_blobs()
    path = tracker_of(X, labels, ["CH", "DB"]).coarsen(by="CH")
    frame = path.to_pandas()
    assert list(frame.columns) == ["k", "cost", "CH", "DB"]
    assert frame["k"].tolist() == path.levels.tolist()
    assert math.isnan(frame["cost"][0])
    assert repr(path) == "Path(20 to 2 clusters; chosen: 4 by CH)"
    assert repr(path.at(7)) == "Path(20 to 2 clusters; chosen: 7)"
    figure = path.plot()
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["CH ↑", "DB ↓"]
    assert figure.get_suptitle() == "4 clusters, chosen by CH"
    assert len(figure.axes[-1].lines) == 18  # a bracket per merge
    assert len(path.plot(["DB"], most=10).axes[-1].lines) == 8


def test_one_dimension_ties_and_points_are_fine():
    t = tracker_of([[0.0], [0.0], [1.0], [1.0], [5.0]], list("aabbc"), ["CH", "DB", "NI"])
    for linkage in ("ward", "separation"):
        path = t.coarsen(by="NI", linkage=linkage, to=1)
        assert path.groups_at(2) == {"a": "a", "b": "a", "c": "c"}


def test_where_no_index_is_defined_the_coarsest_level_is_chosen():
    t = tracker_of([[0.0], [1.0], [5.0]], list("abc"), ["CH"])
    assert t.coarsen(by="CH").k == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.coarsen(by="rH"), "rH cannot choose a number of clusters"),
        (lambda t: t.coarsen(by="rCIP"), r"icvi.rCIP\(mean=True\)"),
        (lambda t: t.coarsen(by="Conn"), "prototypes, which do not merge"),
        (lambda t: t.coarsen(by=[]), "expected at least one index"),
        (lambda t: t.coarsen(by="nothing"), "nothing"),
        (lambda t: t.coarsen(to=0), "to as a number of clusters"),
        (lambda t: t.coarsen(to=2.5), "to as a number of clusters"),
        (lambda t: t.coarsen(linkage="single"), "expected linkage 'ward' or 'separation'"),
        (lambda t: t.coarsen(linkage="separation"), "needs covariances"),
        (lambda t: t.coarsen(by="NI"), "NI needs covariances"),
        (lambda t: icvi.Tracker().coarsen(), "at least two clusters"),
        (lambda t: t.coarsen().at(1), "expected k from 2 to 20"),
        (lambda t: t.coarsen().readings(21), "expected k from 2 to 20"),
        (lambda t: t.apply(t.coarsen(to=1).at(1)) or t.coarsen(), "at least two clusters"),
    ],
)
def test_what_makes_no_path_is_refused(call, message):
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels, ["CH", "DB"])
    with pytest.raises(ValueError, match=message):
        call(t)


def test_a_path_of_other_clusters_is_refused_and_changes_nothing():
    X, _, labels = fine_blobs()
    t = tracker_of(X, labels, ["CH"])
    path = t.coarsen(by="CH")
    t.apply(path)
    before = t.values
    with pytest.raises(ValueError, match="does not belong to these clusters"):
        t.apply(path)
    with pytest.raises(TypeError, match="expected a Path"):
        t.apply("path")
    assert t.values == before
    with pytest.raises(KeyError, match="was not read"):
        path["XB"]
