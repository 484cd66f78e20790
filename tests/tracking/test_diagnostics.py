"""Readings per cluster and per pair, against their definitions."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import naive
from icvi.insight.separation import Groups, separation
from icvi.tracking.diagnostics import pair_table
from streams import blobs, labelled_streams

#: Those that need no covariances.
MEASURES = ["distance", "ward", "duda", "pseudo_t2", "beale"]


def quotient(a: float, b: float) -> float:
    """a / b where that is finite, nan elsewhere."""
    value = a / b if b != 0.0 else math.nan
    return value if math.isfinite(value) else math.nan


def merge_loss(a: naive.Cluster, b: naive.Cluster) -> float:
    """What merging adds to the scatter: the scatter of all samples of both, minus the parts'."""
    n = a.n + b.n
    v = [(a.n * s + b.n * t) / n for s, t in zip(a.v, b.v, strict=True)]
    return a.n * naive.squared(a.v, v) + b.n * naive.squared(b.v, v)


def naive_pair(a: naive.Cluster, b: naive.Cluster) -> dict[str, float]:
    CP, loss = naive.compactness(a) + naive.compactness(b), merge_loss(a, b)
    n, d = a.n + b.n, len(a.v)
    few = n <= 2.0
    return {
        "distance": math.sqrt(naive.squared(a.v, b.v)),
        "ward": loss,
        "duda": quotient(CP, CP + loss),
        "pseudo_t2": math.nan if few else quotient(loss * (n - 2), CP),
        "beale": math.nan if few else quotient(loss, CP) / ((n - 1) / (n - 2) * (2 ** (2 / d) - 1)),
    }


def naive_silhouette(a: naive.Cluster, b: naive.Cluster) -> tuple[float, float]:
    """The next distance b_i if the neighbour is b, and the coefficient."""
    own, other = naive.around(a, a.v) / a.n, naive.around(b, a.v) / b.n
    return other, quotient(other - own, max(own, other))


def overlap(a: naive.Cluster, b: naive.Cluster) -> float:
    D = naive.squared(a.v, b.v)
    return (naive.variance(a) + naive.variance(b)) / D if D > 0.0 else math.inf


def tracker_of(X, labels, weights=None, indices=("SIL", "DB", "XB")) -> icvi.Tracker:
    t = icvi.Tracker(list(indices))
    t.update_many(X, labels, weights)
    return t


def assert_clusters_are_right(t: icvi.Tracker, clusters: list[naive.Cluster]) -> None:
    table = t.diagnose_clusters()
    N = math.fsum(c.n for c in clusters)
    assert table["label"].tolist() == t.labels
    assert len(table) == len(clusters)
    close = {"rel": 1e-9, "abs": 1e-12, "nan_ok": True}
    for row, c in zip(table, clusters, strict=True):
        others = [o for o in clusters if o is not c]
        named = dict(zip(t.labels, clusters, strict=True))
        assert row["count"] == pytest.approx(c.n)
        assert row["share"] == pytest.approx(c.n / N)
        assert row["variance"] == pytest.approx(naive.variance(c), **close)
        # Partners may be tied: what counts is that nobody is nearer, wider or worse.
        b, silhouette = min(naive_silhouette(c, o) for o in others)
        assert row["silhouette"] == pytest.approx(silhouette, **close)
        assert naive_silhouette(c, named[row["neighbour"]])[0] == pytest.approx(b, **close)
        R = max(overlap(c, o) for o in others)
        assert row["db"] == pytest.approx(R if math.isfinite(R) else math.nan, **close)
        assert overlap(c, named[row["db_partner"]]) == pytest.approx(R, **close)
        D = min(naive.squared(c.v, o.v) for o in others)
        assert row["distance"] == pytest.approx(math.sqrt(D), **close)
        assert naive.squared(c.v, named[row["nearest"]].v) == pytest.approx(D, **close)


def assert_pairs_are_right(t: icvi.Tracker, clusters: list[naive.Cluster]) -> None:
    table = t.diagnose_pairs()
    expected = {
        pair: naive_pair(*(clusters[t.labels.index(label)] for label in pair))
        for pair in combinations(t.labels, 2)
    }
    assert {(row["a"], row["b"]) for row in table} == set(expected)
    for row in table:
        for name, value in expected[row["a"], row["b"]].items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name


def naive_clusters(X, labels, weights=None) -> list[naive.Cluster]:
    return naive.partition_of(X, labels, weights).clusters


@given(labelled_streams(least=4), st.booleans())
def test_every_column_is_its_definition(stream, weighted):
    X, labels = stream
    weights = np.random.default_rng(len(X)).integers(1, 5, len(X)) / 2.0 if weighted else None
    t = tracker_of(X, labels, weights)
    clusters = naive_clusters(X, labels, weights)
    if len(clusters) > 1:
        assert_clusters_are_right(t, clusters)
        assert_pairs_are_right(t, clusters)


@given(labelled_streams(least=4))
def test_means_and_minima_are_what_the_indices_read(stream):
    t = tracker_of(*stream)
    if t.n_clusters < 2:
        return
    table = t.diagnose_clusters()
    close = {"rel": 1e-12, "abs": 1e-15, "nan_ok": True}
    assert table["silhouette"].mean() == pytest.approx(t["SIL"], **close)
    assert table["db"].mean() == pytest.approx(t["DB"], **close)
    assert table["share"].sum() == pytest.approx(1.0)
    D_min = table["distance"].min() ** 2
    XB = quotient(t.compactness.sum() / t.n_samples, D_min)
    assert pytest.approx(t["XB"], **close) == XB
    assert t.diagnose_pairs("distance")[0]["distance"] == table["distance"].min()


def test_an_offset_of_1e8_costs_no_digits():
    # Quarters have no rounding at 1e8, so the definitions can be evaluated near the origin.
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 6, 300)
    X = rng.integers(-8, 9, (300, 3)) / 4.0 + labels[:, None] / 4.0
    t = tracker_of(X + 1e8, labels)
    assert_clusters_are_right(t, naive_clusters(X, labels))
    assert_pairs_are_right(t, naive_clusters(X, labels))
    near, far = tracker_of(X, labels), t
    for name in MEASURES:
        np.testing.assert_allclose(
            far.diagnose_pairs().matrix(name), near.diagnose_pairs().matrix(name), rtol=1e-9
        )


def test_a_split_cluster_is_the_first_pair():
    X, labels = blobs(n=600, d=2, k=4, width=0.1, box=9.0, seed=3)
    split = labels.copy()
    members = np.flatnonzero(labels == 2)
    split[members[::2]] = 9
    pairs = tracker_of(X, split).diagnose_pairs()
    best = pairs.best()
    assert best is not None
    assert {best["a"], best["b"]} == {2, 9}
    for name in MEASURES:
        first = tracker_of(X, split).diagnose_pairs(sort_by=name)[0]
        assert {first["a"], first["b"]} == {2, 9}, name


@pytest.mark.parametrize("measure", MEASURES)
def test_pairs_are_sorted_with_the_undefined_last(measure):
    # Two coincident singletons: no duda. Three singletons: no pseudo_t2 and no beale.
    X = [[0.0], [0.0], [5.0], [1.0], [2.0], [7.0], [9.0]]
    t = tracker_of(X, ["a", "b", "c", "d", "d", "e", "e"])
    values = t.diagnose_pairs(measure)[measure]
    defined = values[~np.isnan(values)]
    assert np.isnan(values[len(defined) :]).all()
    assert (len(defined) < len(values)) == (measure not in ("distance", "ward"))
    assert (np.diff(defined) * (-1 if measure == "duda" else 1) >= 0).all()


def crowded_stream():
    """Clusters a, b: one place; c: near; d: far; 9 samples of e in a's place, one f, one g."""
    rng = np.random.default_rng(7)
    sizes = {"a": 80, "b": 90, "c": 100, "d": 70, "e": 9, "f": 1, "g": 1}
    places = {"a": 0.0, "b": 0.0, "c": 3.5, "d": 20.0, "e": 0.0, "f": 0.5, "g": 0.5}
    labels = [label for label, size in sizes.items() for _ in range(size)]
    X = rng.normal(size=(len(labels), 3))
    X[:, 0] += [places[label] for label in labels]
    return X, labels


def separation_of(X, labels, a, b):
    """Value and ends of the interval, from samples instead of the state."""
    parts = [X[[label == name for label in labels]] for name in (a, b)]
    groups = Groups(
        np.array([float(len(part)) for part in parts]),
        np.array([part.mean(axis=0) for part in parts]),
        np.array([np.cov(part.T, bias=True) for part in parts]),
    )
    (S,), (se,) = separation(groups, np.array([0]), np.array([1]))
    return S, max(S - 1.96 * se, 0.0), S + 1.96 * se


def test_separations_are_those_of_the_samples():
    X, labels = crowded_stream()
    pairs = tracker_of(X, labels, indices=["NI"]).diagnose_pairs()
    assert pairs.names[:6] == ["a", "b", "separation", "low", "high", "few_samples"]
    defined = [row for row in pairs if not {row["a"], row["b"]} & {"f", "g"}]
    assert len(defined) == 10
    for row in defined:
        expected = separation_of(X, labels, row["a"], row["b"])
        assert (row["separation"], row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)
    assert min(row["low"] for row in defined) == 0.0


def test_pairs_are_sorted_by_separation_those_with_few_samples_after_the_others():
    X, labels = crowded_stream()
    t = tracker_of(X, labels, indices=["NI"])
    pairs = t.diagnose_pairs()
    named = list(zip(pairs["a"].tolist(), pairs["b"].tolist(), strict=True))
    assert named[0] == ("a", "b")
    assert set(named[1:3]) == {("a", "c"), ("b", "c")}
    assert pairs["few_samples"].tolist() == [bool({a, b} & set("efg")) for a, b in named]
    assert pairs["few_samples"].tolist() == [False] * 6 + [True] * 15
    values = pairs["separation"]
    assert (np.diff(values[:6]) >= 0).all()
    assert (np.diff(values[6:10]) >= 0).all()
    # One sample has no width.
    assert np.isnan(values[10:]).all()
    assert named[10:] == sorted(named[10:])
    explicit = t.diagnose_pairs("separation")
    assert [repr(row) for row in explicit] == [repr(row) for row in pairs]
    assert t.diagnose_pairs("duda")["few_samples"][:6].any()


def test_without_covariances_pairs_have_no_separation_and_are_sorted_by_duda():
    X, labels = crowded_stream()
    t = tracker_of(X, labels, indices=["CH"])
    pairs = t.diagnose_pairs()
    assert pairs.names == ["a", "b", "few_samples", *MEASURES]
    assert repr(pairs) == repr(t.diagnose_pairs("duda"))
    message = r"separation needs covariances, .* use Tracker\(insight=True\)"
    with pytest.raises(ValueError, match=message):
        t.diagnose_pairs("separation")
    with pytest.raises(ValueError, match=message):
        pairs.matrix("separation")


def test_separations_do_not_depend_on_offset_or_units():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 5, 400)
    X = rng.integers(-8, 9, (400, 3)) / 4.0 + labels[:, None] / 2.0
    near = tracker_of(X, labels, indices=["NI"]).diagnose_pairs().matrix("separation")
    far = tracker_of(X + 1e8, labels, indices=["NI"]).diagnose_pairs().matrix("separation")
    scaled = tracker_of(X * [1e-3, 1.0, 1e5], labels, indices=["NI"]).diagnose_pairs()
    np.testing.assert_allclose(far, near, rtol=1e-9)
    np.testing.assert_allclose(scaled.matrix("separation"), near, rtol=1e-9)
    assert np.isnan(np.diag(near)).all()
    np.testing.assert_array_equal(near, near.T)


def test_clusters_without_width_are_infinitely_separated_and_a_single_sample_is_not_judged():
    X = [[1.0, 1.0], [1.0, 1.0], [3.0, 3.0], [3.0, 3.0], [5.0, 5.0]]
    pairs = tracker_of(X, list("aabbc"), indices=["NI"]).diagnose_pairs()
    assert pairs[0]["separation"] == math.inf
    assert np.isnan(pairs["separation"][1:]).all()
    assert np.isnan(pairs["low"]).all()
    assert np.isnan(pairs["high"]).all()
    assert pairs["few_samples"].all()


def test_separations_fade_with_the_samples():
    X, labels = crowded_stream()
    t = icvi.Tracker(["NI"], half_life=50.0)
    t.update_many(X, labels)
    counts = dict(zip(t.labels, t.counts, strict=True))
    for row in t.diagnose_pairs():
        least = min(counts[row["a"]], counts[row["b"]])
        assert row["few_samples"] == (least < 10.0)
        assert math.isnan(row["separation"]) == (least <= 1.0)


def test_ties_stay_in_the_order_of_the_labels():
    X = np.repeat([[0.0], [4.0], [8.0], [12.0]], 2, axis=0) + [[0.0], [1.0]] * 4
    pairs = tracker_of(X, np.repeat([3, 1, 2, 0], 2)).diagnose_pairs("ward")
    assert list(zip(pairs["a"].tolist(), pairs["b"].tolist(), strict=True))[:5] == [
        *((3, 1), (1, 2), (2, 0)),
        *((3, 2), (1, 0)),
    ]


def test_matrices_are_symmetric_in_the_order_of_labels():
    X, labels = blobs(n=60, d=2, k=5, seed=2)
    t = tracker_of(X, labels)
    pairs = t.diagnose_pairs()
    assert pairs.labels == t.labels
    for name in MEASURES:
        matrix = pairs.matrix(name)
        assert matrix.shape == (5, 5)
        np.testing.assert_array_equal(matrix, matrix.T)
        diagonal = np.diag(matrix)
        assert (diagonal == 0.0).all() if name in ("distance", "ward") else np.isnan(diagonal).all()
        for row in pairs:
            i, j = t.labels.index(row["a"]), t.labels.index(row["b"])
            assert matrix[i, j] == row[name]
    with pytest.raises(ValueError, match=r"to be one of .*'ward'.*got 'wart'"):
        pairs.matrix("wart")


def test_ward_is_what_merging_adds_to_the_scatter_within():
    X, labels = blobs(n=80, d=3, k=4, seed=5)
    t = tracker_of(X, labels)
    row = t.diagnose_pairs()[2]
    merged = np.where(labels == row["b"], row["a"], labels)
    added = tracker_of(X, merged).compactness.sum() - t.compactness.sum()
    assert row["ward"] == pytest.approx(added)


def test_without_clusters_the_tables_are_empty():
    t = icvi.Tracker("paper", noise_label=-1)
    for _ in range(2):
        assert len(t.diagnose_clusters()) == 0
        assert len(t.diagnose_pairs()) == 0
        assert t.diagnose_pairs().best() is None
        assert t.diagnose_pairs().matrix("duda").shape == (0, 0)
        assert "silhouette" in repr(t.diagnose_clusters())
        assert t.diagnose_pairs().matrix("separation").shape == (0, 0)
        assert t.diagnose_pairs().to_pandas().shape == (0, 11)
        t.update([1.0, 2.0], -1)  # noise: features, and still no cluster


def test_one_cluster_has_no_neighbours():
    t = tracker_of([[0.0], [2.0]], [7, 7])
    (row,) = t.diagnose_clusters()
    assert (row["label"], row["count"], row["share"], row["variance"]) == (7, 2.0, 1.0, 1.0)
    assert [row[name] for name in ("neighbour", "db_partner", "nearest")] == [None] * 3
    assert all(math.isnan(row[name]) for name in ("silhouette", "db", "distance"))
    assert len(t.diagnose_pairs()) == 0
    assert t.diagnose_pairs().matrix("ward").tolist() == [[0.0]]


def test_degenerate_pairs_are_nan_or_the_formula_and_never_warn():
    X = [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]]
    t = tracker_of(X, ["a", "b", "c"])
    clusters, pairs = t.diagnose_clusters(), t.diagnose_pairs("ward")
    # a and b are one same point: nothing to compare, and no distance to divide by.
    assert np.isnan(clusters["silhouette"][:2]).all()
    assert clusters["silhouette"][2] == 1.0
    assert np.isnan(clusters["db"][:2]).all()
    assert clusters["db"][2] == 0.0
    assert clusters["db_partner"].tolist()[:2] == ["b", "a"]
    assert pairs["ward"].tolist() == [0.0, 12.5, 12.5]
    assert pairs["distance"].tolist() == [0.0, 5.0, 5.0]
    np.testing.assert_array_equal(pairs["duda"], [math.nan, 0.0, 0.0])
    assert np.isnan(pairs["pseudo_t2"]).all()
    assert np.isnan(pairs["beale"]).all()


def test_light_pairs_have_no_degrees_of_freedom():
    t = tracker_of([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], weights=[0.5] * 4)
    row = t.diagnose_pairs().best()
    assert row is not None
    assert row["duda"] == pytest.approx(0.5 / (0.5 + 12.5))
    assert math.isnan(row["pseudo_t2"])
    assert math.isnan(row["beale"])


def test_values_beyond_the_largest_double_are_nan():
    t = tracker_of([[1e140], [-1e140], [0.0], [1e-140]], [0, 0, 1, 2], weights=[1e140] * 4)
    for table in (t.diagnose_clusters(), t.diagnose_pairs()):
        for name in table.names:
            if table[name].dtype.kind == "f":
                assert not np.isinf(table[name]).any(), name


def test_weight_two_is_the_sample_twice():
    X, labels = blobs(n=40, d=2, k=4, seed=8)
    twice = tracker_of(np.repeat(X, 2, axis=0), np.repeat(labels, 2)).diagnose_pairs()
    weighted = tracker_of(X, labels, np.full(40, 2.0)).diagnose_pairs()
    for name in MEASURES:
        np.testing.assert_allclose(weighted[name], twice[name], rtol=1e-9)


@pytest.mark.parametrize("indices", [["Conn"], ["Conn", "CH"], [icvi.Conn(convention="toolbox")]])
def test_connections_of_prototypes_are_there_when_conn_is_tracked(indices):
    X, labels = blobs(n=300, d=2, k=5, seed=4)
    names = np.array([f"c{i}" for i in range(5)])[labels]
    t = icvi.Tracker(indices, bounds=(-3.0, 7.0))
    t.update_many(X, names)
    table, c = t.diagnose_clusters(), t.connectivity
    assert table["intra"].mean() == pytest.approx(c.intra)
    assert table["inter"].mean() == pytest.approx(c.inter)
    assert (table["inter"] > 0.0).any()
    for row in table:
        strengths = c.inter_matrix[c.labels.index(row["label"])]
        if row["inter_partner"] is None:
            assert row["inter"] == 0.0
        else:
            assert strengths[c.labels.index(row["inter_partner"])] == row["inter"]
        assert row["inter"] == strengths.max()


def test_a_single_cluster_of_prototypes_reads_the_published_convention():
    t = icvi.Tracker(["Conn"])
    assert t.diagnose_clusters().names[-3:] == ["intra", "inter", "inter_partner"]
    t.update([0.0], "a", winners=(0, None))
    (row,) = t.diagnose_clusters()
    assert (row["intra"], row["inter"], row["inter_partner"]) == (1.0, 1.0, None)
    t.update([9.0], "b", winners=(1, 0))
    assert t.diagnose_clusters()["inter_partner"].tolist() == ["b", "a"]


def test_unknown_measures_are_refused():
    with pytest.raises(ValueError, match=r"expected sort_by to be one of .*'duda'.*got 'dudu'"):
        icvi.Tracker(["CH"]).diagnose_pairs("dudu")


def test_looking_changes_nothing():
    X, labels = blobs(n=50, d=2, k=3)
    t = tracker_of(X, labels)
    before = t.values
    table = t.diagnose_clusters()
    with pytest.raises(ValueError, match="read-only"):
        table["count"][0] = 99.0
    t.diagnose_pairs()
    assert t.values == before
    t.update(X[0], labels[0])
    assert table["count"].sum() == 50.0


def test_labels_of_any_kind_are_labels():
    labels = [("x", 1), "x", None, 2**70]
    t = tracker_of([[0.0], [1.0], [5.0], [9.0]], labels)
    assert t.diagnose_clusters()["label"].tolist() == labels
    assert t.diagnose_clusters()["nearest"].tolist() == ["x", ("x", 1), "x", None]
    assert {(r["a"], r["b"]) for r in t.diagnose_pairs()} == set(combinations(labels, 2))


def test_two_thousand_clusters_have_two_million_pairs():
    rng = np.random.default_rng(0)
    p, k = icvi.Partition(), 2000
    p.add_many(rng.normal(size=(3 * k, 8)), np.arange(3 * k) % k)
    pairs = pair_table(p._clusters)
    assert len(pairs) == k * (k - 1) // 2
    assert pairs.matrix("duda").shape == (k, k)
