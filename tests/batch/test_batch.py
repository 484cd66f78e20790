"""The definitions that need all samples, against slow definitions and other packages."""

from __future__ import annotations

import json
import math
import sys
import tracemalloc
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

import naive
import processes
from icvi import UndefinedIndexError
from icvi.batch import (
    davies_bouldin_score,
    i_index_score,
    pbm_score,
    silhouette,
    silhouette_samples,
    silhouette_score,
)
from icvi.kernels.undefined import why
from streams import blobs, labelled_streams

METRICS = ["euclidean", "sqeuclidean"]

#: Every number that this module gives, under one name each.
SCORES = {
    "silhouette": silhouette_score,
    "silhouette, clusters": partial(silhouette_score, average="clusters"),
    "silhouette, squared": partial(silhouette_score, metric="sqeuclidean"),
    "DB": davies_bouldin_score,
    "DB(1, 2)": partial(davies_bouldin_score, p=1, q=2),
    "DB(inf, 0.5)": partial(davies_bouldin_score, p=math.inf, q=0.5),
    "DB(3.5, 7)": partial(davies_bouldin_score, p=3.5, q=7),
    "I(1)": partial(i_index_score, p=1),
    "I(2.5)": partial(i_index_score, p=2.5),
    "PBM": pbm_score,
}
NAIVE = {
    "silhouette": naive.full_silhouette,
    "silhouette, clusters": partial(naive.full_silhouette, average="clusters"),
    "silhouette, squared": partial(naive.full_silhouette, squared=True),
    "DB": naive.full_davies_bouldin,
    "DB(1, 2)": partial(naive.full_davies_bouldin, p=1, q=2),
    "DB(inf, 0.5)": partial(naive.full_davies_bouldin, p=math.inf, q=0.5),
    "DB(3.5, 7)": partial(naive.full_davies_bouldin, p=3.5, q=7),
    "I(1)": partial(naive.unsquared_i, p=1),
    "I(2.5)": partial(naive.unsquared_i, p=2.5),
    "PBM": naive.unsquared_i,
}
#: Power of s by which data times s multiply a score.
DEGREE = {"I(1)": 1, "I(2.5)": 2.5, "PBM": 2}

every_score = pytest.mark.parametrize("name", SCORES)
every_metric = pytest.mark.parametrize("metric", METRICS)


@pytest.fixture
def compiled(monkeypatch):
    """Send every silhouette through the compiled kernel."""
    monkeypatch.setattr(silhouette, "COMPILE_FROM", 0)
    monkeypatch.setattr(silhouette, "_pair_sums", None)


@pytest.fixture
def plain(monkeypatch):
    """Send every silhouette through numpy."""
    monkeypatch.setattr(silhouette, "COMPILE_FROM", math.inf)
    monkeypatch.setattr(silhouette, "_compiled_pair_sums", None)


def on_a_grid(n: int = 90, d: int = 3, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Clusters on multiples of 1/64: adding 1e8 to them is exact."""
    X, labels = blobs(n, d, k)
    return np.round(X * 64) / 64, labels


# Against definitions and other packages


@every_score
@pytest.mark.parametrize(("n", "d", "k"), [(60, 1, 2), (80, 3, 5), (50, 6, 20)])
def test_a_score_equals_its_definition(name, n, d, k):
    X, labels = blobs(n, d, k)
    assert SCORES[name](X, labels) == pytest.approx(NAIVE[name](X, labels.tolist()), rel=1e-12)


@given(labelled_streams(least=2).filter(lambda stream: (stream[0] % 1).any()))
def test_every_score_equals_its_definition_on_small_streams(stream):
    X, labels = stream
    for name, score in SCORES.items():
        expected = NAIVE[name](X, labels.tolist())
        assert score(X, labels) == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), name


@given(labelled_streams(least=2))
def test_silhouettes_equal_their_definition_even_with_ties_and_duplicates(stream):
    X, labels = stream
    for name in ("silhouette", "silhouette, clusters", "silhouette, squared"):
        expected = NAIVE[name](X, labels.tolist())
        assert SCORES[name](X, labels) == pytest.approx(expected, abs=1e-12, nan_ok=True), name


@every_metric
@pytest.mark.parametrize("path", ["compiled", "plain"])
def test_silhouettes_equal_those_of_scikit_learn(metric, path, request):
    request.getfixturevalue(path)
    X, labels = blobs(400, 5, 12)
    labels[0] = 99  # a singleton
    expected = sklearn_metrics.silhouette_samples(X, labels, metric=metric)
    np.testing.assert_allclose(silhouette_samples(X, labels, metric=metric), expected, atol=1e-11)
    expected = sklearn_metrics.silhouette_score(X, labels, metric=metric)
    assert silhouette_score(X, labels, metric=metric) == pytest.approx(expected, abs=1e-12)


def test_davies_bouldin_equals_that_of_scikit_learn():
    X, labels = blobs(400, 5, 12)
    expected = sklearn_metrics.davies_bouldin_score(X, labels)
    # scikit-learn expands squared distances, which costs digits between close centroids.
    assert davies_bouldin_score(X, labels) == pytest.approx(expected, rel=1e-8)


def r_scores(package: str, key: str, golden) -> list[tuple]:
    """Data, labels and the value of one index in an R package, for every data set that has it."""
    sets = json.loads((golden / "batch" / "r_packages.json").read_text()).values()
    return [
        (np.array(s["X"]), s["labels"], s[package][key])
        for s in sets
        if s[package].get(key) is not None
    ]


@pytest.mark.parametrize(
    ("package", "key", "score"),
    [
        ("clusterCrit_patched", "Davies_Bouldin", davies_bouldin_score),
        ("clusterCrit_patched", "Silhouette", partial(silhouette_score, average="clusters")),
        ("clusterCrit_patched", "PBM", pbm_score),
        ("NbClust_centred", "db_q1", davies_bouldin_score),
        ("NbClust_centred", "db_q2", partial(davies_bouldin_score, q=2)),
    ],
)
def test_a_score_equals_that_of_an_r_package(package, key, score, golden):
    cases = r_scores(package, key, golden)
    assert len(cases) == 5
    for X, labels, expected in cases:
        assert score(X, labels) == pytest.approx(expected, rel=1e-10)


def test_published_rules_for_single_and_coincident_samples_hold():
    X = [[0.0], [4.0], [5.0], [2.0], [2.0], [2.0], [2.0]]
    alone_first = silhouette_samples(X, [0, 1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(alone_first[[0, 3, 4, 5, 6]], 0.0)
    assert (alone_first[[1, 2]] > 0).all()


@every_metric
def test_all_singletons_have_silhouette_0(metric):
    X = np.arange(5.0)[:, None]
    assert silhouette_score(X, range(5), metric=metric) == 0.0


# What must not matter


@every_score
def test_an_offset_of_1e8_costs_nothing(name):
    X, labels = on_a_grid()
    assert SCORES[name](X + 1e8, labels) == pytest.approx(SCORES[name](X, labels), rel=1e-13)


@pytest.mark.parametrize("path", ["compiled", "plain"])
def test_an_offset_of_1e8_costs_no_silhouette_a_digit(path, request):
    request.getfixturevalue(path)
    X, labels = on_a_grid()
    for metric in METRICS:
        np.testing.assert_allclose(
            silhouette_samples(X + 1e8, labels, metric=metric),
            silhouette_samples(X, labels, metric=metric),
            atol=1e-14,
        )


def test_tight_clusters_far_apart_keep_their_widths():
    X, labels = on_a_grid(60, 2, 2)

    def sum_of_widths(X):
        first, second = (X[labels == i].mean(axis=0) for i in (0, 1))
        return davies_bouldin_score(X, labels) * np.linalg.norm(first - second)

    far = X + 1e8 * labels[:, None]
    assert sum_of_widths(far) == pytest.approx(sum_of_widths(X), rel=1e-13)


@pytest.mark.parametrize(
    ("name", "s"),
    # Only where the value itself stays within the range of a double.
    [(n, s) for n in SCORES for s in (1e-300, 1e-100, 1e100) if s > 1e-200 or n not in DEGREE],
)
def test_the_unit_of_the_data_does_not_matter(name, s):
    X, labels = on_a_grid()
    expected = SCORES[name](X, labels) * s ** DEGREE.get(name, 0)
    assert SCORES[name](X * s, labels) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("s", [1e-100, 1e100])
@pytest.mark.parametrize("exponents", [{"q": 50}, {"q": 0.05}, {"p": 300}, {"p": 1e6, "q": 1e4}])
def test_large_and_small_exponents_neither_overflow_nor_vanish(s, exponents):
    X, labels = on_a_grid()
    value = davies_bouldin_score(X * s, labels, **exponents)
    assert value == pytest.approx(davies_bouldin_score(X, labels, **exponents), rel=1e-12)


def test_davies_bouldin_tends_to_its_largest_coordinate_and_radius():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [9.0, 2.0], [9.0, 4.0]])
    labels = [0, 0, 0, 1, 1]
    assert davies_bouldin_score(X, labels, p=math.inf, q=1e9) == pytest.approx((3 + 1) / 7)


@every_score
@pytest.mark.parametrize(
    "rename",
    [
        lambda i: f"cluster {i}",
        lambda i: -10 * i - 1,
        lambda i: 10**12 * i,
        lambda i: (i, "x") if i % 2 else i,
        lambda i: i / 4,
    ],
    ids=["strings", "negative", "gaps", "mixed", "floats"],
)
def test_names_of_labels_do_not_matter(name, rename):
    X, labels = blobs(60, 2, 4)
    renamed = [rename(i) for i in labels.tolist()]
    assert SCORES[name](X, renamed) == SCORES[name](X, labels)


@given(labelled_streams(), st.randoms())
def test_the_order_of_samples_does_not_matter(stream, random):
    X, labels = stream
    order = list(range(len(X)))
    random.shuffle(order)
    for name, score in SCORES.items():
        value, other = score(X, labels), score(X[order], labels[order])
        assert why(other) == why(value), name
        assert other == pytest.approx(value, rel=1e-11, abs=1e-13, nan_ok=True), name


@given(labelled_streams(), st.randoms())
def test_silhouettes_follow_their_samples(stream, random):
    X, labels = stream
    order = list(range(len(X)))
    random.shuffle(order)
    for metric in METRICS:
        s = silhouette_samples(X, labels, metric=metric)
        shuffled = silhouette_samples(X[order], labels[order], metric=metric)
        np.testing.assert_allclose(shuffled, s[order], atol=1e-13)


@pytest.mark.parametrize(("n", "d", "k"), [(3, 1, 2), (700, 3, 4), (1300, 2, 300), (600, 1, 590)])
def test_compiled_silhouettes_equal_those_of_numpy(n, d, k, monkeypatch):
    X, labels = blobs(n, d, k)
    monkeypatch.setattr(silhouette, "COMPILE_FROM", math.inf)
    by_numpy = silhouette_samples(X, labels)
    monkeypatch.setattr(silhouette, "COMPILE_FROM", 0)
    np.testing.assert_allclose(silhouette_samples(X, labels), by_numpy, atol=1e-13)


@every_metric
def test_blocks_of_any_size_give_the_same_silhouettes(metric, monkeypatch):
    X, labels = blobs(150, 2, 3)
    whole = silhouette_samples(X, labels, metric=metric)
    monkeypatch.setattr(silhouette, "TABLE", 1)
    np.testing.assert_allclose(
        silhouette_samples(X, labels, metric=metric), whole, rtol=0, atol=1e-15
    )


@every_score
def test_lists_integers_and_views_are_samples_too(name):
    X, labels = blobs(40, 3, 3)
    X = np.round(10 * X)
    expected = SCORES[name](X, labels)
    assert SCORES[name](X.tolist(), labels.tolist()) == expected
    assert SCORES[name](X.astype(int), labels) == expected
    assert SCORES[name](np.asfortranarray(X), labels) == expected


@every_score
def test_what_is_given_stays_as_it_was(name):
    X, labels = blobs(40, 3, 3)
    X.setflags(write=False)
    labels.setflags(write=False)
    assert math.isfinite(SCORES[name](X, labels))


# Undefined values


@every_score
def test_one_cluster_is_too_few(name):
    value = SCORES[name]([[0.0], [1.0]], ["a", "a"])
    assert why(value) == "k<2"
    assert math.isnan(SCORES[name]([[0.0], [1.0]], ["a", "a"], undefined="limit"))
    with pytest.raises(UndefinedIndexError, match=r"_score is undefined: k<2"):
        SCORES[name]([[0.0], [1.0]], ["a", "a"], undefined="raise")


@every_metric
def test_silhouettes_of_one_cluster_are_nan_for_a_reason(metric):
    s = silhouette_samples([[0.0], [1.0]], [0, 0], metric=metric)
    assert [why(value) for value in s.tolist()] == ["k<2", "k<2"]


@pytest.mark.parametrize(
    ("X", "limit"),
    [
        ([[0.0], [2.0], [1.0], [1.0]], math.inf),
        ([[1.0], [1.0], [1.0], [1.0]], math.nan),
    ],
    ids=["wide clusters", "clusters of width 0"],
)
def test_coincident_centroids_leave_davies_bouldin_undefined(X, limit):
    labels = [0, 0, 1, 1]
    assert why(davies_bouldin_score(X, labels)) == "coincident_centroids"
    value = davies_bouldin_score(X, labels, undefined="limit")
    assert value == pytest.approx(limit, nan_ok=True)
    with pytest.raises(
        UndefinedIndexError, match="davies_bouldin_score is undefined: coincident_centroids"
    ):
        davies_bouldin_score(X, labels, undefined="raise")


def test_a_coincident_pair_of_width_0_beside_wide_clusters_has_no_limit():
    X, labels = [[0.0], [0.0], [5.0], [7.0]], [0, 1, 2, 2]
    assert math.isnan(davies_bouldin_score(X, labels, undefined="limit"))


@given(*[st.lists(st.integers(-8, 8), min_size=1, max_size=7)] * 2)
def test_centroids_coincide_exactly_when_the_means_are_equal(first, second):
    X = np.array([*first, *second], dtype=float)[:, None] / 1024
    labels = [0] * len(first) + [1] * len(second)
    equal = Fraction(sum(first), len(first)) == Fraction(sum(second), len(second))
    assert (why(davies_bouldin_score(X, labels)) == "coincident_centroids") == equal


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("times", [1, 3, 7])
def test_a_cluster_coincides_with_many_copies_of_itself(offset, times):
    rng = np.random.default_rng(times)
    for n in (2, 3, 7, 50) * 10:
        # All digits are in use, so that sums of different length round differently.
        X = offset + rng.normal(size=(n, 2))
        copies = rng.permutation(np.tile(X, (times, 1)))
        labels = [0] * n + [1] * (n * times)
        value = davies_bouldin_score(np.concatenate([X, copies]), labels)
        assert why(value) == "coincident_centroids"


def test_large_samples_that_cancel_leave_the_small_ones_exact():
    large = [1e30, 3.0, -7e11, 1e-30]
    X = [1.5, *large, *(-x for x in large)]
    labels = [0] * len(X) + [1] * len(X)
    shuffled = np.random.default_rng(0).permutation(X)
    value = davies_bouldin_score(np.concatenate([X, shuffled])[:, None], labels)
    assert why(value) == "coincident_centroids"


@pytest.mark.parametrize("score", [i_index_score, pbm_score])
@pytest.mark.parametrize(
    ("X", "limit"),
    [([[0.1], [0.1], [0.1], [4.0]], math.inf), ([[0.1], [0.1], [0.1], [0.1]], math.nan)],
    ids=["apart", "all in one place"],
)
def test_samples_on_their_centroids_leave_the_i_index_undefined(score, X, limit):
    labels = [0, 0, 0, 1]
    assert why(score(X, labels)) == "zero_within"
    assert score(X, labels, undefined="limit") == pytest.approx(limit, nan_ok=True)
    with pytest.raises(UndefinedIndexError, match=f"{score.__name__} is undefined: zero_within"):
        score(X, labels, undefined="raise")


def test_scores_at_their_best_or_worst_are_numbers():
    labels = [0, 0, 1, 1]
    assert davies_bouldin_score([[0.0], [0.0], [4.0], [4.0]], labels) == 0.0
    assert silhouette_score([[0.0], [0.0], [4.0], [4.0]], labels) == 1.0
    assert pbm_score([[0.0], [2.0], [0.0], [2.0]], labels) == 0.0


def test_a_value_beyond_the_largest_double_is_an_overflow():
    X, labels = np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1]
    assert why(i_index_score(X * 1e100, labels, p=4)) == "overflow"
    assert i_index_score(X * 1e100, labels, p=4, undefined="limit") == math.inf
    with pytest.raises(UndefinedIndexError, match="i_index_score is undefined: overflow"):
        i_index_score(X * 1e100, labels, p=4, undefined="raise")
    assert math.isfinite(i_index_score(X * 1e100, labels, p=3))


def test_a_ratio_beyond_the_largest_double_is_an_overflow():
    X, labels = [[-1e140], [1e140], [-1e140], [1e140], [1e-300]], [0, 0, 1, 1, 1]
    assert why(davies_bouldin_score(X, labels)) == "overflow"
    assert davies_bouldin_score(X, labels, undefined="limit") == math.inf


def test_every_undefined_mode_leaves_numbers_alone():
    X, labels = blobs(40, 2, 3)
    for name, score in SCORES.items():
        values = {score(X, labels, undefined=mode) for mode in ("nan", "limit", "raise")}
        assert len(values) == 1, name


# What is refused


@every_score
@pytest.mark.parametrize(
    ("X", "labels", "message"),
    [
        (
            [[0.0], [math.nan]],
            [0, 1],
            "expected finite numbers.* got nan at sample 1, feature 0",
        ),
        (
            [[0.0], [math.inf]],
            [0, 1],
            "expected finite numbers.* got inf at sample 1, feature 0",
        ),
        ([[0.0], [1e200]], [0, 1], "rescale"),
        ([[0.0], [1.0]], [0], "expected as many labels as samples, got 1 for 2 samples"),
        ([0.0, 1.0], [0, 1], r"use X.reshape\(-1, 1\)"),
        (np.empty((0, 2)), [], "expected at least one sample, got none"),
        ([[0.0], [1.0]], [0.0, math.nan], "nan"),
    ],
)
def test_bad_data_are_refused(name, X, labels, message):
    with pytest.raises(ValueError, match=message):
        SCORES[name](X, labels)


@pytest.mark.parametrize(
    ("score", "arguments", "message"),
    [
        (silhouette_score, {"metric": "cosine"}, "expected metric to be one of .*got 'cosine'"),
        (silhouette_samples, {"metric": None}, "expected metric to be one of .*got None"),
        (silhouette_score, {"average": "macro"}, "expected average to be one of .*got 'macro'"),
        (silhouette_score, {"undefined": 0}, "expected undefined to be one of .*got 0"),
        (davies_bouldin_score, {"undefined": "inf"}, "expected undefined to be one of"),
        (i_index_score, {"undefined": "inf"}, "expected undefined to be one of"),
        (pbm_score, {"undefined": "inf"}, "expected undefined to be one of"),
        (davies_bouldin_score, {"p": 0.5}, "expected p to be at least 1, or infinite, got 0.5"),
        (
            davies_bouldin_score,
            {"p": math.nan},
            "expected p to be at least 1, .*got nan",
        ),
        (davies_bouldin_score, {"p": "2"}, "expected p to be a real number, got '2'"),
        (davies_bouldin_score, {"q": 0}, "expected q to be finite and greater than 0, got 0"),
        (
            davies_bouldin_score,
            {"q": math.inf},
            "expected q to be finite and greater than 0, got inf",
        ),
        (i_index_score, {"p": -1.0}, "expected p to be finite and greater than 0, got -1.0"),
        (i_index_score, {"p": math.inf}, "expected p to be finite and greater than 0, got inf"),
    ],
)
def test_bad_arguments_are_refused_with_what_was_expected(score, arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        score([[0.0], [1.0]], [0, 1], **arguments)


# What it costs


def peak_bytes(work) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@every_metric
def test_memory_does_not_grow_with_pairs(metric):
    N = 20_000
    X, labels = blobs(N, 2, 5)
    silhouette_score(X[:200], labels[:200], metric=metric)
    peak = peak_bytes(lambda: silhouette_score(X, labels, metric=metric))
    assert peak < N * N * 8 / 50


def test_memory_does_not_grow_with_pairs_without_the_compiler(plain):
    N = 5_000
    X, labels = blobs(N, 2, 5)
    assert peak_bytes(lambda: silhouette_score(X, labels)) < N * N * 8 / 8


def test_small_data_need_no_compiler():
    script = (
        "import sys, icvi.batch as b\n"
        "X, labels = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]\n"
        "for f in set(b.__all__) - {'conn_index', 'conn_index_score'}: getattr(b, f)(X, labels)\n"
        "b.conn_index([[0, 1], [1, 0], [2, 1], [3, 2]], labels)\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert processes.run([sys.executable, "-c", script], check=False).returncode == 0
