"""However badly conditioned the data: a reading is right to 1e-9, or nan with a reason.

Against 60 digits on the very same doubles. NI, rH and the logarithm of rCIP may cross zero; their
errors are measured by the terms that they sum (see `ill_conditioned.Truth`).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp

import exact
import icvi
from icvi.kernels.undefined import why
from ill_conditioned import LOG, Truth, far, hard_stream
from streams import GAUSSIAN, NAMES, blobs, tracked

MOMENT = [name for name in NAMES if name not in GAUSSIAN]
ALL = [*NAMES, LOG]


def assert_right_or_nan(values, X, labels, weights=None, fades=None):
    """Every number is right; the names of readings that are nan where there is a value."""
    truth = Truth(X, labels, weights, fades)
    needless = []
    for name, value in values.items():
        if math.isnan(value):
            assert why(value) not in (None, "undefined"), name
            needless += [name] if math.isfinite(truth.read(name)) else []
        else:
            assert truth.error(name, value) < 1e-9, (name, value, truth.read(name))
    return needless


def assert_right(values, X, labels, weights=None, fades=None):
    assert not assert_right_or_nan(values, X, labels, weights, fades)


def with_outlier(distance, own, d=2):
    """A first sample that lies far away, in a cluster of its own or with others."""
    X, labels = blobs(n=150, d=d, k=4)
    first = distance * np.resize([1.0, -0.7, 0.4], d)
    return np.vstack([first, X]), np.concatenate([[4 if own else 0], labels])


# -- outliers --------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("distance", [1e4, 1e6, 1e8, 1e9, 1e10])
@pytest.mark.parametrize("indices", [ALL, ["NI"]], ids=["all", "NI alone"])
def test_a_far_outlier_costs_no_index_its_digits(indices, distance, own):
    X, labels = with_outlier(distance, own)
    assert_right(tracked(X, labels, indices), X, labels)
    assert_right(icvi.scores(X, labels, indices), X, labels)


@pytest.mark.parametrize("distance", [1e13, 1e16])
def test_beyond_two_doubles_covariances_are_undefined_and_the_rest_is_right(distance):
    X, labels = with_outlier(distance, own=False)
    for values in (tracked(X, labels), icvi.scores(X, labels, "all")):
        assert set(assert_right_or_nan(values, X, labels)) == set(GAUSSIAN)
        assert why(values["NI"]) == "singular_scatter"


def test_every_reading_on_the_way_is_right_while_an_outlier_is_there():
    X, labels = with_outlier(1e8, own=False)
    trace = icvi.Tracker(ALL).update_many(X[:40], labels[:40])
    for n in range(2, 40):
        assert_right_or_nan({name: trace[name][n - 1] for name in trace.names}, X[:n], labels[:n])


def test_a_taken_back_outlier_leaves_nothing_behind():
    for distance in (1e4, 1e8, 1e10):
        for label in (0, 9):
            X, labels = blobs(n=150, d=2, k=4)
            tracker = icvi.Tracker(ALL)
            tracker.update_many(X[:75], labels[:75])
            outlier = [distance, -0.7 * distance]
            tracker.update(outlier, label)
            tracker.update_many(X[75:], labels[75:])
            tracker.remove(outlier, label)
            assert_right(tracker.values, X, labels)


@pytest.mark.parametrize("distance", [1e13, 1e14, 1e16, 1e20, 1e30, 1e100])
def test_a_spread_without_digits_is_undefined_when_an_outlier_has_left(distance):
    """105 bits of 1e26 leave nothing of a spread of 1; to read 0 there would be a wrong number."""
    X, labels = blobs(n=150, d=2, k=4)
    tracker = icvi.Tracker(ALL)
    tracker.update_many(X, labels)
    tracker.update([distance, distance], 0)
    tracker.remove([distance, distance], 0)
    assert {tracker.why(name) for name in ALL} == {"lost_digits"}
    again = icvi.Tracker(ALL)  # the cure: sums of the samples themselves
    again.update_many(X, labels)
    assert_right(again.values, X, labels)


@pytest.mark.parametrize("distance", [1e13, 1e16, 1e30])
def test_an_outlier_that_left_with_its_cluster_costs_only_the_scatter_of_all_data(distance):
    X, labels = blobs(n=150, d=2, k=4)
    tracker = icvi.Tracker(ALL)
    tracker.update_many(X, labels)
    tracker.update([distance, distance], "outlier")
    tracker.remove([distance, distance], "outlier")
    assert assert_right_or_nan(tracker.values, X, labels) == ["NI"]
    assert tracker.why("NI") == "singular_scatter"


def test_what_has_lost_its_digits_is_still_known_after_a_copy_and_a_save(tmp_path):
    X, labels = blobs(n=60, d=2, k=3)
    tracker = icvi.Tracker(["CH", "SIL"])
    tracker.update_many(X, labels)
    tracker.update([1e16, 0.0], 0)
    tracker.remove([1e16, 0.0], 0)
    tracker.save(tmp_path / "state.icvi")
    for other in (tracker.copy(), icvi.load(tmp_path / "state.icvi")):
        assert other.why("CH") == "lost_digits"
        other.update(X[0], 1)
        assert other.why("SIL") == "lost_digits"


def test_samples_that_are_one_point_again_have_no_spread():
    """Nothing was lost: the rounding that is left is small beside the point."""
    tracker = icvi.Tracker(["GD53", "SIL", "XB"])
    tracker.update_many([[3.0], [3.0], [3.0], [7.0], [7.5]], [0, 0, 0, 1, 1])
    before = tracker.values
    tracker.update([90.0], 0)
    tracker.remove([90.0], 0)
    assert tracker.values == before


@pytest.mark.parametrize("distance", [1e4, 1e8, 1e10, 1e16])
def test_a_window_forgets_an_outlier(distance):
    X, labels = with_outlier(distance, own=False)
    tracker = icvi.Tracker(ALL, window=60)
    trace = tracker.update_many(X, labels)
    assert_right(tracker.values, X[-60:], labels[-60:])
    within = {name: trace[name][40] for name in trace.names}
    assert_right_or_nan(within, X[:41], labels[:41])


def test_samples_that_fade_are_right_beside_an_outlier():
    X, labels = with_outlier(1e8, own=False)
    tracker = icvi.Tracker(ALL, half_life=40.0)
    tracker.update_many(X, labels)
    fades = 2.0 ** (-np.arange(len(X))[::-1] / 40.0)
    assert_right(tracker.values, X, labels, fades=fades)


# -- any data --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_hard_streams_are_right_or_undefined(seed):
    hard = hard_stream(seed)
    for values in (
        tracked(hard.X, hard.labels, ALL, hard.weights),
        icvi.scores(hard.X, hard.labels, ALL, weights=hard.weights),
    ):
        needless = assert_right_or_nan(values, *hard)
        assert not set(needless) & set(MOMENT)


@pytest.mark.parametrize("seed", range(100, 130))
def test_hard_streams_that_change_are_right_or_undefined(seed):
    """An outlier enters and leaves again; a window; samples that fade."""
    hard = hard_stream(seed)
    rng = np.random.default_rng(seed)
    outlier, label = far(rng, hard.X.shape[1]), int(hard.labels[0])
    tracker = icvi.Tracker(ALL)
    tracker.update(outlier, label)
    tracker.update_many(*hard)
    tracker.remove(outlier, label)
    assert_right_or_nan(tracker.values, *hard)

    width = max(2, len(hard.X) // 2)
    windowed = icvi.Tracker(ALL, window=width)
    windowed.update(outlier, label)
    windowed.update_many(*hard)
    last = [None if part is None else part[-width:] for part in hard]
    assert_right_or_nan(windowed.values, *last)

    fading = icvi.Tracker(ALL, half_life=100.0)
    fading.update_many(hard.X, hard.labels)
    fades = 2.0 ** (-np.arange(len(hard.X))[::-1] / 100.0)
    assert_right_or_nan(fading.values, hard.X, hard.labels, fades=fades)


def test_undefined_covariances_are_rare():
    """Of hard streams without outliers beyond 1e9, nearly all have a value."""
    needless = 0
    for seed in range(200, 260):
        hard = hard_stream(seed)
        if np.abs(hard.X - np.median(hard.X, axis=0)).max() < 1e9:
            values = icvi.scores(hard.X, hard.labels, GAUSSIAN, weights=hard.weights)
            needless += bool(assert_right_or_nan(values, *hard))
    assert needless <= 2


# -- single ways to lose digits --------------------------------------------------------------


@pytest.mark.parametrize("length", [1e3, 1e6, 1e8])
def test_long_thin_clusters(length):
    X, labels = blobs(n=150, d=2, k=3)
    X[:, 1] = length * X[:, 0] + 0.1 * X[:, 1]
    assert_right(tracked(X, labels, ALL), X, labels)
    assert_right(icvi.scores(X, labels, ALL), X, labels)


def test_features_that_nearly_depend_on_each_other_in_a_chain():
    """No single pivot is small beside its diagonal, but their product is."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 6))
    X = Z.copy()
    for c in range(1, 6):
        X[:, c] = Z[:, c - 1] + 1e-2 * Z[:, c]
    labels = rng.integers(0, 3, 200)
    index = icvi.NI(delta=0.0)
    expected = exact.exact("NI", X, labels.tolist(), delta=0.0)
    assert tracked(X, labels, [index])[index.name] == pytest.approx(expected, rel=1e-9)
    assert icvi.score(X, labels, index) == pytest.approx(expected, rel=1e-9)


def test_many_features_that_follow_each_other():
    """A substitution with absolute values would see 2^d times the errors that there are."""
    X = np.cumsum(np.random.default_rng(0).standard_normal((80, 60)), axis=1)
    labels = np.arange(80) % 2
    for indices in (["NI"], GAUSSIAN):
        assert_right(tracked(X, labels, indices), X, labels)
        assert_right(icvi.scores(X, labels, indices), X, labels)


@pytest.mark.parametrize("d", [20, 64, 80])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_covariances_of_fewer_samples_than_features_have_values(d, scale):
    rng = np.random.default_rng(d)
    X = scale * (rng.standard_normal((50, 5)) @ rng.standard_normal((5, d)))
    X += 0.1 * scale * rng.standard_normal((50, d))
    labels = np.arange(50) % 3
    streamed, at_hand = tracked(X, labels, GAUSSIAN), icvi.scores(X, labels, GAUSSIAN)
    alone = tracked(X, labels, ["NI"])
    for name in GAUSSIAN:
        assert math.isfinite(at_hand[name])
        assert streamed[name] == pytest.approx(at_hand[name], rel=1e-9, abs=1e-200)
    assert alone["NI"] == pytest.approx(at_hand["NI"], rel=1e-9)


def test_clusters_of_few_samples_on_a_large_scale():
    """With n_i <= d a covariance is singular but for delta, which is 1e-10 of it here."""
    X = 1e3 * np.random.default_rng(0).standard_normal((12, 3))
    labels = np.repeat(np.arange(4), 3)
    assert_right(tracked(X, labels, ALL), X, labels)
    assert_right(icvi.scores(X, labels, ALL), X, labels)


@pytest.mark.parametrize("more", [1e-3, 1e-6, 1e-9, 1e-12])
def test_weights_that_sum_to_next_to_one(more):
    """n - 1 has the digits that n alone has lost."""
    X, labels = blobs(n=40, d=2, k=2)
    rng = np.random.default_rng(0)
    weights = rng.random(40) + 0.1
    for i in range(2):
        weights[labels == i] *= (1.0 + more) / weights[labels == i].sum()
    values = (
        tracked(X, labels, GAUSSIAN, weights),
        icvi.scores(X, labels, GAUSSIAN, weights=weights),
    )
    for some in values:
        assert_right_or_nan(some, X, labels, weights)
    assert more < 1e-9 or all(math.isfinite(some["NI"]) for some in values)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_weighted_means_of_data_at_hand_keep_their_digits_far_from_the_origin(offset):
    X, labels = blobs(n=150, d=3, k=5)
    X = 1e-2 * X + offset
    weights = np.random.default_rng(0).random(150) * 3.0 + 1.0
    assert_right(icvi.scores(X, labels, ALL, weights=weights), X, labels, weights)


def test_the_logarithm_of_rcip_is_undefined_where_one_pair_is():
    """It must not be that of the other pairs."""
    X, labels = with_outlier(1e13, own=False)
    values = tracked(X, labels, [LOG, "rCIP"])
    assert why(values["rCIP"]) == why(values[LOG.name]) == "singular_scatter"


def test_an_ill_conditioned_covariance_is_read_the_same_however_it_is_fed():
    X, labels = with_outlier(1e8, own=False, d=3)
    whole = tracked(X, labels, ALL)
    single = icvi.Tracker(ALL)
    for x, label in zip(X, labels, strict=True):
        single.update(x, label)
    assert single.values == whole


def test_prototypes_of_clusters_are_right_beside_an_outlier():
    """rCIP and rH over pairs of prototypes, from their own moments with 60 digits."""
    X, labels = with_outlier(1e8, own=False)
    prototypes = np.concatenate([[0], 1 + labels[1:] * 2 + np.arange(150) % 2])
    prototypes[:6] = prototypes[0]  # the outlier shares its prototype with others
    labels = np.concatenate([[labels[0]] * 6, labels[6:]])
    prototypes[6:] += 1
    choice = [icvi.rCIP(prototypes=True, log_rcip=True), icvi.rH(prototypes=True)]
    tracker = icvi.Tracker(choice)
    for i, (x, label) in enumerate(zip(X, labels, strict=True)):
        others = [p for p in prototypes[:i].tolist() if p != prototypes[i]]
        tracker.update(x, label, winners=(prototypes[i], others[0] if others else None))
    with mp.workdps(exact.DIGITS):
        m = exact.moments_exact(X, prototypes.tolist())
        owners = [labels[prototypes == p][0] for p in dict.fromkeys(prototypes.tolist())]
        delta = exact.ridge(m, 12, None)
        sums, logs = {}, []
        for a, one in enumerate(m.clusters):
            for b, other in enumerate(m.clusters):
                key = owners[a], owners[b]
                h = exact.cross_entropy(one, other, delta, m) if key[0] < key[1] else None
                if h is not None:
                    sums.setdefault(key, []).append(mp.exp(-h))
        logs = [mp.log(sum(some) / len(some)) for some in sums.values()]
        expected = [float(mp.log(sum(mp.exp(x) for x in logs))), float(-sum(logs))]
    assert list(tracker.values.values()) == pytest.approx(expected, rel=1e-9)
