"""A reading is a number, or nan with a reason; never an infinity and never an exception."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import icvi
from naive import NAIVE
from streams import GAUSSIAN, NAMES


class Corner(NamedTuple):
    """Samples with labels, and what the indices are there: a number or a reason."""

    X: list[list[float]]
    labels: str
    expected: dict[str, float | str | None]


#: A finite number, the one that the definition gives.
FINITE = None

PS_OF_TWO = 2.0 - 2.0 * math.exp(-4.0)

# Two samples 5 apart and delta = 1e-6 in both directions: h = 25 / (2 * 2e-6) + ln(2e-6) + ln 2 pi.
H_OF_TWO = 6.25e6 + math.log(2e-6) + math.log(2 * math.pi)

CORNERS = {
    "one cluster": Corner(
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], "aaa", dict.fromkeys(NAMES, "k<2") | {"NI": 0.0}
    ),
    "one sample": Corner([[3.0, 4.0]], "a", dict.fromkeys(NAMES, "k<2") | {"NI": 0.0}),
    "two singletons": Corner(
        [[0.0, 0.0], [3.0, 4.0]],
        "ab",
        {
            "CH": "N<=k", "I": "zero_within", "PBM": "zero_within", "SIL": 1.0, "NI": FINITE,
            "rCIP": 0.0, "rH": H_OF_TWO, "XB": 0.0, "DB": 0.0, "PS": PS_OF_TWO, "WB": 0.0,
            "GD43": "zero_within", "GD53": "zero_within",
        },
    ),
    "nothing within, four samples": Corner(
        [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [3.0, 4.0]],
        "abab",
        {
            "CH": "zero_within", "I": "zero_within", "PBM": "zero_within", "SIL": 1.0,
            "NI": FINITE, "rCIP": 0.0, "rH": H_OF_TWO, "XB": 0.0, "DB": 0.0, "PS": PS_OF_TWO,
            "WB": 0.0, "GD43": "zero_within", "GD53": "zero_within",
        },
    ),
    "coincident centroids": Corner(
        [[-1.0, 0.0], [1.0, 0.0], [0.0, -2.0], [0.0, 2.0]],
        "aabb",
        {
            "CH": 0.0, "I": 0.0, "PBM": 0.0, "SIL": (0.75 + 0.0 - 0.75) / 2, "NI": FINITE,
            "rCIP": FINITE, "rH": FINITE, "XB": "coincident_centroids",
            "DB": "coincident_centroids", "PS": "coincident_centroids",
            "WB": "coincident_centroids", "GD43": 0.0, "GD53": (2.0 + 8.0) / 4 / 8.0,
        },
    ),
    "one coincident pair of three": Corner(
        [[-1.0, 0.0], [1.0, 0.0], [0.0, -2.0], [0.0, 2.0], [9.0, 0.0], [9.0, 1.0]],
        "aabbcc",
        dict.fromkeys(NAMES, FINITE)
        | {"XB": "coincident_centroids", "DB": "coincident_centroids", "GD43": 0.0},
    ),
    "two identical singletons": Corner(
        [[3.0, 4.0], [3.0, 4.0]],
        "ab",
        {
            "CH": "N<=k", "I": "zero_within", "PBM": "zero_within", "SIL": "coincident_centroids",
            "NI": math.log(2.0), "rCIP": FINITE, "rH": FINITE, "XB": "coincident_centroids",
            "DB": "coincident_centroids", "PS": "coincident_centroids",
            "WB": "coincident_centroids", "GD43": "zero_within", "GD53": "zero_within",
        },
    ),
    "all samples the same": Corner(
        [[3.0, 4.0]] * 5,
        "aabbb",
        {
            "CH": "zero_within", "I": "zero_within", "PBM": "zero_within",
            "SIL": "coincident_centroids", "NI": FINITE, "rCIP": FINITE, "rH": FINITE,
            "XB": "coincident_centroids", "DB": "coincident_centroids",
            "PS": "coincident_centroids", "WB": "coincident_centroids",
            "GD43": "zero_within", "GD53": "zero_within",
        },
    ),
}  # fmt: skip


def one_by_one(corner, **options):
    t = icvi.Tracker("all", **options)
    for x, label in zip(corner.X, corner.labels, strict=True):
        t.update(x, label)
    return t


def at_once(corner, **options):
    t = icvi.Tracker("all", **options)
    t.update_many(corner.X, list(corner.labels))
    return t


def cases():
    for place, corner in CORNERS.items():
        for name in NAMES:
            yield pytest.param(corner, name, id=f"{name}, {place}")


def assert_as_expected(corner, name, value):
    expected = corner.expected[name]
    if isinstance(expected, str):
        assert math.isnan(value)
        return
    definition = NAIVE[name](corner.X, corner.labels)
    assert math.isfinite(definition)
    # A scatter of 25 beside a delta of 1e-6 costs eight digits.
    rel = 1e-8 if name in GAUSSIAN else 1e-12
    assert value == pytest.approx(definition, rel=rel, abs=1e-15)
    if expected is not FINITE:
        assert value == pytest.approx(expected, rel=rel, abs=1e-15)


@pytest.mark.parametrize(("corner", "name"), [*cases()])
class TestInACornerState:
    @pytest.mark.parametrize("how", [one_by_one, at_once])
    def test_a_tracker_reads_the_formula_or_gives_the_reason(self, corner, name, how):
        t = how(corner)
        assert_as_expected(corner, name, t[name])
        expected = corner.expected[name]
        assert t.why(name) == (expected if isinstance(expected, str) else None)

    def test_score_gives_the_same(self, corner, name):
        assert_as_expected(corner, name, icvi.score(corner.X, list(corner.labels), name))

    def test_the_definition_agrees_on_what_is_undefined(self, corner, name):
        undefined = isinstance(corner.expected[name], str)
        assert math.isnan(NAIVE[name](corner.X, corner.labels)) == undefined

    def test_undefined_readings_raise_where_asked_to(self, corner, name):
        t = at_once(corner, undefined="raise")
        reason = corner.expected[name]
        if not isinstance(reason, str):
            assert_as_expected(corner, name, t[name])
            return
        for read in (
            lambda: t[name],
            lambda: icvi.score(corner.X, list(corner.labels), name, undefined="raise"),
        ):
            with pytest.raises(icvi.UndefinedIndexError, match=f"{name} is undefined: {reason}"):
                read()


# -- limits ------------------------------------------------------------------------------------

INFINITE = {
    "nothing within, four samples": ["CH", "I", "PBM", "GD43"],
    "two singletons": ["I", "PBM", "GD43"],
    "coincident centroids": ["XB", "DB", "WB"],
    "one coincident pair of three": ["XB", "DB"],
}


@pytest.mark.parametrize(("corner", "name"), [*cases()])
def test_limits_are_infinite_or_stay_nan(corner, name):
    place = next(place for place, other in CORNERS.items() if other is corner)
    t = at_once(corner, undefined="limit")
    score = icvi.score(corner.X, list(corner.labels), name, undefined="limit")
    if not isinstance(corner.expected[name], str):
        assert_as_expected(corner, name, t[name])
        assert_as_expected(corner, name, score)
    elif name in INFINITE.get(place, []):
        assert t[name] == t.values[name] == score == math.inf
    else:
        assert math.isnan(t[name])
        assert math.isnan(score)


def test_limits_show_in_a_trace():
    corner = CORNERS["nothing within, four samples"]
    t = icvi.Tracker("all", undefined="limit")
    trace = t.update_many(corner.X, list(corner.labels))
    np.testing.assert_array_equal(trace["CH"], [math.nan, math.nan, math.inf, math.inf])
    assert trace.why("CH") == ["k<2", "N<=k", "zero_within", "zero_within"]


def test_the_reason_is_given_even_where_the_limit_is():
    t = at_once(CORNERS["coincident centroids"], undefined="limit")
    assert (t["XB"], t.why("XB")) == (math.inf, "coincident_centroids")


# -- raising -----------------------------------------------------------------------------------


def test_an_error_from_a_reading_leaves_the_state_as_it_was():
    t = icvi.Tracker(["CH", "NI"], undefined="raise")
    t.update([0.0, 0.0], "a")
    for _ in range(2):
        with pytest.raises(icvi.UndefinedIndexError, match="CH is undefined: k<2"):
            _ = t.values
    assert t["NI"] == 0.0
    assert (t.n_samples, t.labels) == (1.0, ["a"])
    t.update_many([[1.0, 0.0], [9.0, 9.0], [9.0, 8.0]], ["a", "b", "b"])
    X, labels = [[0.0, 0.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0]], ["a", "a", "b", "b"]
    assert t["CH"] == pytest.approx(NAIVE["CH"](X, labels))


def test_feeding_never_raises_for_undefined_readings_but_their_column_does():
    t = icvi.Tracker(["CH", "NI"], undefined="raise")
    trace = t.update_many([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    with pytest.raises(icvi.UndefinedIndexError, match="CH is undefined: k<2"):
        _ = trace["CH"]
    assert np.isfinite(trace["NI"]).all()
    assert trace.why("CH") == ["k<2", "k<2", None, None]
    later = t.update_many([[7.0]], [1])
    assert np.isfinite(later["CH"]).all()


def test_the_error_is_a_value_error():
    assert issubclass(icvi.UndefinedIndexError, ValueError)


# -- other reasons -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_without_samples_the_reason_is_emptiness(name):
    t = icvi.Tracker(name)
    assert math.isnan(t[name])
    assert t.why(name) == "empty"
    with pytest.raises(icvi.UndefinedIndexError, match=f"{name} is undefined: empty"):
        _ = icvi.Tracker(name, undefined="raise")[name]
    with pytest.raises(icvi.UndefinedIndexError, match=f"{name} is undefined: empty"):
        icvi.score([[1.0]], [-1], name, noise_label=-1, undefined="raise")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{"noise_label": "a"}, {"weights": [0.0, 0.0]}])
def test_scores_of_no_counted_sample_are_nan(name, options):
    assert math.isnan(icvi.score([[0.0], [1.0]], ["a", "a"], name, **options))
    assert math.isnan(icvi.score([[0.0], [1.0]], ["a", "a"], name, undefined="limit", **options))


BLOBS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 5.0], [5.0, 7.0]])
SIDES = ["a", "a", "a", "b", "b", "b"]


def test_a_value_beyond_the_largest_double_overflows():
    t = icvi.Tracker(["PBM", "CH"])
    trace = t.update_many(BLOBS * 1e100, SIDES)
    assert math.isnan(t["PBM"])
    assert t.why("PBM") == trace.why("PBM")[-1] == "overflow"
    assert t["CH"] == pytest.approx(icvi.score(BLOBS, SIDES), rel=1e-12)
    assert math.isnan(icvi.score(BLOBS * 1e100, SIDES, "PBM"))


def test_the_limit_of_an_overflow_is_infinite():
    t = icvi.Tracker("PBM", undefined="limit")
    t.update_many(BLOBS * 1e100, SIDES)
    assert t["PBM"] == math.inf
    assert icvi.score(BLOBS * 1e100, SIDES, "PBM", undefined="limit") == math.inf


def test_an_overflow_is_called_an_overflow_where_it_raises():
    t = icvi.Tracker("PBM", undefined="raise")
    t.update_many(BLOBS * 1e100, SIDES)
    for read in (
        lambda: t["PBM"],
        lambda: icvi.score(BLOBS * 1e100, SIDES, "PBM", undefined="raise"),
    ):
        with pytest.raises(icvi.UndefinedIndexError, match="PBM is undefined: overflow"):
            read()


WITHOUT_RIDGE = [icvi.NI(delta=0), icvi.rCIP(delta=0), icvi.rH(delta=0)]


FLAT = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [5.0, 5.0], [6.0, 6.0], [7.0, 7.0]])


@pytest.mark.parametrize("index", WITHOUT_RIDGE, ids=lambda index: index.name)
def test_without_delta_flat_clusters_are_singular(index):
    t = icvi.Tracker([index])
    t.update_many(FLAT, SIDES)
    assert math.isnan(t[index])
    assert t.why(index) == "singular_scatter"
    assert math.isnan(icvi.score(FLAT, SIDES, index))
    with pytest.raises(icvi.UndefinedIndexError, match="undefined: singular_scatter"):
        icvi.score(FLAT, SIDES, index, undefined="raise")


@pytest.mark.parametrize("index", WITHOUT_RIDGE, ids=lambda index: index.name)
def test_without_delta_readings_begin_when_the_clusters_fill_space(index):
    # One of a pair is enough for rCIP and rH, which add the two covariances; NI wants both.
    begin = 2 if index.name.startswith("NI") else 1
    X, labels = [*FLAT, [0.0, 1.5], [5.0, 7.0]], [*SIDES, "a", "b"]
    t = icvi.Tracker([index])
    trace = t.update_many(X, labels)
    assert trace.why(index)[5:] == ["singular_scatter"] * begin + [None] * (3 - begin)
    assert t[index] == pytest.approx(icvi.score(X, labels, index), rel=1e-12)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_cluster_lighter_than_one_sample_has_no_covariance(name):
    weights = [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]
    t = icvi.Tracker(name)
    t.update_many(BLOBS, SIDES, weights)
    assert math.isnan(t[name])
    assert t.why(name) == "weight<1"
    assert math.isnan(icvi.score(BLOBS, SIDES, name, weights=weights))
    t.update(BLOBS[3], "b", 0.2)
    assert t.why(name) is None
    assert math.isfinite(t[name])


def test_light_clusters_leave_the_other_indices_defined():
    weights = [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]
    others = [name for name in NAMES if name not in GAUSSIAN]
    t = icvi.Tracker(others)
    t.update_many(BLOBS, SIDES, weights)
    for name in others:
        assert t[name] == pytest.approx(NAIVE[name](BLOBS, SIDES, weights), rel=1e-12)


def test_weights_that_sum_to_no_more_than_the_clusters_leave_no_freedom():
    t = icvi.Tracker("CH")
    t.update_many(BLOBS, SIDES, [0.3] * 6)
    assert (t.why("CH"), t.n_samples) == ("N<=k", pytest.approx(1.8))


# -- nothing escapes ---------------------------------------------------------------------------


def assert_number_or_reason(value, reason):
    assert not math.isinf(value)
    assert math.isnan(value) == (reason is not None)


grids = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(st.integers(-1, 1), min_size=d, max_size=d), st.integers(0, 3)),
        min_size=1,
        max_size=10,
    )
)
ON_CLUSTERS = [index for index in icvi.catalogue() if index.on == "clusters"]
EVERY_INDEX = [*ON_CLUSTERS, *WITHOUT_RIDGE, icvi.rCIP(log_rcip=True), icvi.rH(mean=True)]


@given(samples=grids, scale=st.sampled_from([1.0, 0.1, 1e-160, 1e-90, 1e90, 1e139]))
@example(samples=[([0], 0), ([1], 0), ([0], 1), ([1], 1)], scale=1e139)
def test_no_degenerate_stream_gives_an_infinity_or_an_exception(samples, scale):
    X = np.array([x for x, _ in samples]) * scale
    labels = [label for _, label in samples]
    t = icvi.Tracker(EVERY_INDEX)
    trace = t.update_many(X, labels)
    for index in EVERY_INDEX:
        for value, reason in zip(trace[index], trace.why(index), strict=True):
            assert_number_or_reason(value, reason)
        assert_number_or_reason(t[index], t.why(index))
    assert not any(map(math.isinf, icvi.scores(X, labels, EVERY_INDEX).values()))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["XB", "DB", "PS", "WB"])
def test_clusters_of_the_same_samples_coincide_whatever_the_order(name, seed):
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(rng.integers(2, 7), 2)) + 3.0
    X = np.vstack([rng.permutation(samples) for _ in range(3)])
    labels = np.repeat([0, 1, 2], len(samples))
    t = icvi.Tracker(name)
    t.update_many(X, labels)
    assert t.why(name) == "coincident_centroids"
    assert math.isnan(icvi.score(X, labels, name))


def test_centroids_that_almost_coincide_give_no_warning():
    X = [[-1.0], [1.0], [-1.0], [1.0], [3e-160]]
    scores = icvi.scores(X, [0, 0, 1, 1, 1], "all")
    t = icvi.Tracker("all")
    t.update_many(X, [0, 0, 1, 1, 1])
    assert not any(map(math.isinf, scores.values()))
    assert not any(map(math.isinf, t.values.values()))


def test_densities_beyond_the_largest_double_give_no_warning():
    X = np.random.default_rng(0).normal(size=(50, 40)) * 1e-10
    labels = [0, 1] * 25
    index = icvi.rCIP(delta=1e-22)
    t = icvi.Tracker([index])
    t.update_many(X, labels)
    assert math.isnan(t[index])
    assert t.why(index) == "overflow"
    assert math.isnan(icvi.score(X, labels, index))
