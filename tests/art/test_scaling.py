"""From the units of the data to [0, 1] and back: bounds learnt, given, and overstepped."""

from __future__ import annotations

import math

import numpy as np
import pytest

import icvi

X = np.array([[2.0, -5.0], [4.0, 5.0], [3.0, 0.0], [2.5, -2.5]])
LABELS = [0, 0, 1, 1]
MAKERS = [icvi.FuzzyART, icvi.FuzzySMART, icvi.Quantizer]


def weights(estimator):
    """Weights that have seen only one sample each: coded samples."""
    name = "weights_" if isinstance(estimator, icvi.FuzzyART) else "prototype_weights_"
    return getattr(estimator, name)


def finest(make, **parameters):
    """Every new sample is a category or prototype of its own."""
    fine = {"rho_a": 1.0, "rho_b": 0.99} if make is icvi.FuzzySMART else {"rho": 1.0}
    return make(**fine, **parameters)


def update(estimator, x):
    if isinstance(estimator, icvi.Quantizer):
        return estimator.update(x, 0)
    return estimator.update(x)


def coded(samples):
    samples = np.asarray(samples)
    return np.hstack([samples, 1.0 - samples])


HALVES = [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.25, 0.25]]


@pytest.mark.parametrize("make", MAKERS)
class TestBoundsThatAreNotGiven:
    def test_are_learnt_from_all_samples_of_a_fit(self, make):
        e = finest(make).fit(X, LABELS)
        np.testing.assert_array_equal(weights(e), coded(HALVES))

    def test_are_learnt_from_the_first_chunk(self, make):
        e = finest(make).partial_fit(X[2:], LABELS[2:])
        np.testing.assert_array_equal(weights(e), coded([[1, 1], [0, 0]]))
        e.partial_fit(X[:2], LABELS[:2])
        np.testing.assert_array_equal(e.predict([[-9.0, -9.0], [9.0, 9.0]]), [1, 0])

    def test_are_learnt_anew_by_the_next_fit(self, make):
        e = finest(make).fit(100.0 * X, LABELS).fit(X, LABELS)
        np.testing.assert_array_equal(weights(e), coded(HALVES))

    def test_are_kept_when_learning_goes_on(self, make):
        e = finest(make).fit(X, LABELS).partial_fit([[2.25, 2.5], [3.5, -4.0]], [5, 5])
        np.testing.assert_allclose(weights(e)[4:], coded([[0.125, 0.75], [0.75, 0.1]]))

    def test_cannot_be_learnt_from_one_sample(self, make):
        for learn in (lambda e: update(e, X[0]), lambda e: e.partial_fit(X[:1], [0])):
            e = make()
            with pytest.raises(ValueError, match=r"one sample gives no bounds.*set bounds="):
                learn(e)
            assert not hasattr(e, "n_features_in_")
            e.partial_fit(X, LABELS)
            assert e.n_features_in_ == 2

    def test_of_a_single_sample_that_is_fitted_are_the_sample(self, make):
        e = make().fit(X[:1], [0])
        np.testing.assert_array_equal(weights(e), coded([[0, 0]]))

    def test_may_be_needed_after_one_sample_was_refused(self, make):
        e = make()
        with pytest.raises(ValueError, match="bounds"):
            update(e, X[0])
        e.set_params(bounds=(-5, 5))
        update(e, X[0])
        np.testing.assert_allclose(weights(e), coded([[0.7, 0.0]]))


@pytest.mark.parametrize("make", MAKERS)
class TestBoundsThatAreGiven:
    @pytest.mark.parametrize(
        "bounds",
        [
            (-5, 5),
            [-5.0, 5.0],
            np.array([-5, 5]),
            ([-5, -5], [5, 5]),
            (np.array([-5.0, -5.0]), 5.0),
            (-5, (5, 5)),
            np.array([[-5.0, -5.0], [5.0, 5.0]]),
        ],
    )
    def test_are_numbers_or_one_per_feature(self, make, bounds):
        e = finest(make, bounds=bounds).fit(X, LABELS)
        np.testing.assert_allclose(
            weights(e), coded([[0.7, 0], [0.9, 1], [0.8, 0.5], [0.75, 0.25]]), atol=1e-15
        )

    def test_may_differ_between_features(self, make):
        e = finest(make, bounds=([2, -5], [4, 5])).fit(X, LABELS)
        np.testing.assert_array_equal(weights(e), coded(HALVES))

    def test_allow_a_first_single_sample(self, make):
        e = make(bounds=(-5, 5))
        update(e, X[0])
        np.testing.assert_allclose(weights(e), coded([[0.7, 0.0]]))

    def test_are_not_those_of_an_array_that_the_caller_changes_later(self, make):
        low, high = np.array([2.0, -5.0]), np.array([4.0, 5.0])
        e = finest(make, bounds=(low, high)).partial_fit(X[:2], LABELS[:2])
        low[:], high[:] = 0.0, 100.0
        e.partial_fit(X[2:], LABELS[2:])
        np.testing.assert_array_equal(weights(e), coded(HALVES))

    def test_may_be_as_wide_as_numbers_that_are_accepted(self, make):
        e = finest(make, bounds=(-1e140, 1e140)).fit([[0.0], [1e140], [-1e140]], [0, 0, 0])
        np.testing.assert_array_equal(weights(e), coded([[0.5], [1.0], [0.0]]))

    @pytest.mark.parametrize(
        ("bounds", "match"),
        [
            ((1, 0), r"finite bounds with low <= high, got \(1, 0\)"),
            (([0, 1], [1, 0.5]), "low <= high"),
            ((math.nan, 1), "finite bounds"),
            ((0, math.nan), "finite bounds"),
            (([0, math.nan], 1), "finite bounds"),
            ((0, math.inf), "finite bounds"),
            ((-math.inf, 0), "finite bounds"),
            ((0, 1e141), "finite bounds"),
            ((None, 1), "each a number"),
            ((0, [1, 1, 1]), "each a number or 2 numbers, one per feature"),
            (([0, 0, 0], 1), "each a number or 2 numbers, one per feature"),
            ((0, [[1, 1], [1, 1]]), "each a number or 2 numbers"),
            ((0, 1, 2), r"expected bounds=\(low, high\)"),
            ((0,), r"expected bounds=\(low, high\)"),
            ((), r"expected bounds=\(low, high\)"),
            (1, r"expected bounds=\(low, high\)"),
            ("wide", r"expected bounds=\(low, high\)"),
            (("low", "high"), r"expected bounds=\(low, high\)"),
            ((0, 1j), r"expected bounds=\(low, high\)"),
        ],
    )
    def test_are_refused_unless_they_are_a_low_and_a_high(self, make, bounds, match):
        e = make(bounds=bounds)
        for learn in (
            lambda: e.fit(X, LABELS),
            lambda: e.partial_fit(X, LABELS),
            lambda: update(e, X[0]),
        ):
            with pytest.raises(ValueError, match=match):
                learn()
        assert not hasattr(e, "n_features_in_")

    def test_that_are_bad_leave_the_last_fit(self, make):
        e = make().fit(X, LABELS)
        before = weights(e)
        with pytest.raises(ValueError, match="low <= high"):
            e.set_params(bounds=(1, 0)).fit(10 * X, LABELS)
        np.testing.assert_array_equal(weights(e), before)


OUTSIDE = [[9.0, 0.0], [3.0, -99.0]]


@pytest.mark.parametrize("make", MAKERS)
class TestSamplesOutOfBounds:
    @pytest.mark.parametrize("bounds", [None, ([2, -5], [4, 5])])
    def test_are_clipped_by_default(self, make, bounds):
        e = finest(make, bounds=bounds).fit(X, LABELS).partial_fit(OUTSIDE, [2, 2])
        np.testing.assert_array_equal(weights(e)[4:], coded([[1.0, 0.5], [0.5, 0.0]]))
        border = [[4.0, 0.0], [3.0, -5.0]]
        np.testing.assert_array_equal(e.predict(OUTSIDE), e.predict(border))

    @pytest.mark.parametrize("bounds", [None, ([2, -5], [4, 5])])
    def test_are_refused_on_demand_with_where_and_why(self, make, bounds):
        e = make(bounds=bounds, out_of_bounds="error").fit(X, LABELS)
        before = weights(e)
        first = r"sample 0, feature 0 is 9, out of the bounds \[2, 4\]; widen bounds, or use out_of"
        second = r"sample 1, feature 1 is -99, out of the bounds \[-5, 5\]"
        for look in (lambda X: e.predict(X), lambda X: e.partial_fit(X, [0] * len(X))):
            with pytest.raises(ValueError, match=first):
                look(OUTSIDE)
            with pytest.raises(ValueError, match=second):
                look(np.array([X[0], OUTSIDE[1]]))
        with pytest.raises(ValueError, match=r"feature 1 is -99, out of the bounds \[-5, 5\]"):
            update(e, OUTSIDE[1])
        np.testing.assert_array_equal(weights(e), before)
        e.partial_fit(X, LABELS)  # the borders themselves are inside

    def test_are_refused_on_demand_by_a_fit_with_bounds(self, make):
        e = make(bounds=(0, 1), out_of_bounds="error")
        with pytest.raises(ValueError, match=r"sample 0, feature 0 is 2, out of the bounds"):
            e.fit(X, LABELS)
        assert not hasattr(e, "n_features_in_")

    def test_may_be_allowed_later(self, make):
        e = make(out_of_bounds="error").fit(X, LABELS)
        e.set_params(out_of_bounds="clip").partial_fit(OUTSIDE, [0, 1])
        e.set_params(out_of_bounds="error")
        with pytest.raises(ValueError, match="out of the bounds"):
            e.predict(OUTSIDE)


CONSTANT = np.array([[2.0, 7.0], [4.0, 7.0], [3.0, 7.0]])


@pytest.mark.parametrize("make", MAKERS)
class TestAConstantFeature:
    def test_becomes_zero(self, make):
        e = finest(make).fit(CONSTANT, [0, 0, 0])
        np.testing.assert_array_equal(weights(e), coded([[0, 0], [1, 0], [0.5, 0]]))

    def test_that_moves_after_all_is_on_the_border(self, make):
        e = finest(make).fit(CONSTANT, [0, 0, 0]).partial_fit([[3, 6], [3, 8]], [1, 1])
        np.testing.assert_array_equal(weights(e)[-1], coded([[0.5, 1.0]])[0])

    def test_that_moves_after_all_is_refused_on_demand(self, make):
        e = make(out_of_bounds="error").fit(CONSTANT, [0, 0, 0])
        with pytest.raises(ValueError, match=r"feature 1 is 8, out of the bounds \[7, 7\]"):
            e.predict([[3.0, 8.0]])
        e.predict([[3.0, 7.0]])

    def test_may_be_every_feature(self, make):
        e = make().fit(np.ones((5, 3)), [0] * 5)
        assert np.unique(weights(e), axis=0).tolist() == [[0, 0, 0, 1, 1, 1]]


def test_boxes_are_in_units_of_the_data():
    a = icvi.FuzzyART(0.7).fit(X)
    inside = [X[a.labels_ == j] for j in range(a.n_clusters_)]
    assert [len(samples) for samples in inside] == [2, 1, 1]
    for box, samples in zip(a.boxes_, inside, strict=True):
        np.testing.assert_allclose(box, [samples.min(axis=0), samples.max(axis=0)])


@pytest.mark.parametrize("bounds", [None, ([0, -50], [10, 50])])
def test_prototypes_are_the_middles_of_boxes_in_units_of_the_data(bounds):
    s = icvi.FuzzySMART(0.7, 0.0, bounds=bounds).fit(X)
    q = icvi.Quantizer(0.7, bounds=bounds).fit(X, [0] * 4)
    np.testing.assert_array_equal(s.prototypes_, q.prototypes_)
    winners = q.winners_[:, 0]
    for j, prototype in enumerate(q.prototypes_):
        won = X[winners == j]
        np.testing.assert_allclose(prototype, (won.min(axis=0) + won.max(axis=0)) / 2)


@pytest.mark.parametrize("make", MAKERS)
def test_the_unit_and_the_origin_of_the_data_do_not_matter(make):
    rng = np.random.default_rng(0)
    samples, labels = rng.integers(0, 1025, (60, 3)) / 1024.0, rng.integers(0, 3, 60)
    plain = make(bounds=(0, 1)).fit(samples, labels)
    moved = make(bounds=(1024, 1024 + 2**13)).fit(1024 + 2**13 * samples, labels)
    np.testing.assert_array_equal(weights(moved), weights(plain))
