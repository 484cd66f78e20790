"""Fuzzy ARTMAP against its definition, and as a scikit-learn estimator."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import processes
from icvi import FuzzyARTMAP
from naive_artmap import NaiveARTMAP


@parametrize_with_checks([FuzzyARTMAP(), FuzzyARTMAP(rho_b=0.9)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# -- against the definition ----------------------------------------------------------------

# Eighths and halves make exact sums, hence many true ties; other numbers round.
EIGHTHS = st.integers(0, 8).map(lambda i: i / 8)
FRACTIONS = st.floats(0.0, 1.0)


@st.composite
def streams(draw, width, beta):
    """Samples with duplicates and constant features, and one seed for their targets."""
    d = draw(st.integers(1, 5))
    entry = EIGHTHS if beta < 1.0 or draw(st.booleans()) else FRACTIONS
    X = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=2, max_size=40))
    X = X + draw(st.lists(st.sampled_from(X), max_size=10))
    if draw(st.booleans()):
        X = [[X[0][0], *x[1:]] for x in X]
    if width == 0:
        y = draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)))
    else:
        row = st.lists(entry, min_size=width, max_size=width)
        y = draw(st.lists(row, min_size=len(X), max_size=len(X)))
    return np.array(X), np.array(y)


VIGILANCE = st.sampled_from([0.0, 0.3, 0.5, 0.75, 0.9, 1.0])
LEARNING = st.sampled_from([1.0, 1.0, 0.5])
CHOICE = st.sampled_from([1e-3, 0.1, 10.0])


def together(X, y, rho, alpha, beta, rho_b=None):
    """Both versions, which agree on the category of every sample when it is learnt."""
    ref = NaiveARTMAP(rho, alpha, beta, rho_b)
    comp = FuzzyARTMAP(rho, alpha, beta, rho_b=rho_b, bounds=(0.0, 1.0), bounds_y=(0.0, 1.0))
    for x, target in zip(X, y, strict=True):
        assert comp.update(x, target) == ref.learn(x, target)
    return ref, comp


@settings(max_examples=200, deadline=None)
@given(data=st.data(), rho=VIGILANCE, alpha=CHOICE, beta=LEARNING)
def test_classes_are_learnt_as_defined(data, rho, alpha, beta):
    X, y = data.draw(streams(0, beta))
    ref, comp = together(X, y, rho, alpha, beta)
    np.testing.assert_array_equal(comp.classes_, np.unique(y))
    np.testing.assert_array_equal(comp.classes_[comp.map_], ref.map)
    np.testing.assert_allclose(comp.weights_, ref.A.weights, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(comp.predict(X), [ref.predict(x) for x in X])
    whole = FuzzyARTMAP(rho, alpha, beta, bounds=(0.0, 1.0)).fit(X, y)
    np.testing.assert_array_equal(whole.weights_, comp.weights_)
    np.testing.assert_array_equal(whole.map_, comp.map_)


@settings(max_examples=150, deadline=None)
@given(
    *(st.data(), VIGILANCE, CHOICE, LEARNING, VIGILANCE, st.integers(1, 3)),
)
def test_vectors_are_learnt_as_defined(data, rho, alpha, beta, rho_b, m):
    X, y = data.draw(streams(m, beta))
    ref, comp = together(X, y, rho, alpha, beta, rho_b)
    np.testing.assert_array_equal(comp.map_, ref.map)
    np.testing.assert_allclose(comp.weights_, ref.A.weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(comp.weights_b_, ref.B.weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(comp.predict(X), [ref.predict(x) for x in X], rtol=0, atol=1e-12)
    whole = FuzzyARTMAP(rho, alpha, beta, rho_b=rho_b, bounds=(0.0, 1.0), bounds_y=(0.0, 1.0)).fit(
        X, y
    )
    np.testing.assert_array_equal(whole.weights_, comp.weights_)
    np.testing.assert_array_equal(whole.weights_b_, comp.weights_b_)


@pytest.mark.parametrize("beta", [0.9, 0.35, 0.1])
@pytest.mark.parametrize("d", [1, 3, 12])
def test_slow_learning_agrees_within_rounding(beta, d):
    rng = np.random.default_rng(d)
    X, y = rng.random((300, d)), rng.integers(0, 3, 300)
    ref, comp = together(X, y, 0.6, 1e-3, beta)
    np.testing.assert_array_equal(comp.map_, ref.map)
    np.testing.assert_allclose(comp.weights_, ref.A.weights, rtol=0, atol=1e-12)


def test_many_features_and_categories_agree():
    rng = np.random.default_rng(5)
    X, y = rng.random((250, 20)), rng.integers(0, 4, 250)
    ref, comp = together(X, y, 0.7, 1e-3, 1.0)
    assert comp.n_categories_ > 100
    np.testing.assert_array_equal(comp.map_, ref.map)
    np.testing.assert_array_equal(comp.apply(X[:50]), comp.apply(X)[:50])
    fresh = rng.random((100, 20))
    np.testing.assert_array_equal(comp.predict(fresh), [ref.predict(x) for x in fresh])


# -- by hand -------------------------------------------------------------------------------


def test_match_tracking_asks_for_more_than_the_match_that_erred():
    m = FuzzyARTMAP(bounds=(0.0, 1.0))
    assert [m.update([0.0], 0), m.update([0.5], 0), m.update([0.25], 1)] == [0, 0, 1]
    assert m.update([0.75], 1) == 1
    np.testing.assert_array_equal(m.boxes_[:, :, 0], [[0.0, 0.5], [0.25, 0.75]])
    # Both match by 0.5 now, and tie: the first errs, and the second is not above it.
    assert m.update([0.375], 1) == 2


def test_a_category_that_errs_does_not_learn():
    m = FuzzyARTMAP(bounds=(0.0, 1.0)).fit([[0.2, 0.2]], ["a"])
    before = m.weights_
    assert m.update([0.4, 0.9], "b") == 1
    np.testing.assert_array_equal(m.weights_[:1], before)


def test_equal_samples_of_different_classes_found_a_category_each_time():
    m = FuzzyARTMAP(bounds=(0.0, 1.0))
    assert [m.update([0.5], label) for label in (0, 1, 0, 1)] == [0, 1, 0, 2]
    assert m.predict([[0.5]]).tolist() == [0]


def test_predictions_beyond_vigilance_are_the_highest_choice():
    m = FuzzyARTMAP(rho=0.9, bounds=(0.0, 1.0)).fit([[0.0], [1.0]], ["low", "high"])
    assert m.predict([[0.45], [0.55]]).tolist() == ["low", "high"]


def test_middles_of_boxes_are_in_units_of_y():
    m = FuzzyARTMAP(rho_b=0.8, bounds_y=([0.0, -100.0], [10.0, 100.0]))
    m.fit([[0.0], [0.1], [5.0]], [[1.0, 0.0], [2.0, 20.0], [9.0, -80.0]])
    np.testing.assert_allclose(m.predict([[0.0], [5.0]]), [[1.5, 10.0], [9.0, -80.0]])
    assert m.map_.tolist() == [0, 1]
    assert m.weights_b_.shape == (2, 4)


@pytest.mark.parametrize("shape", [(6,), (6, 1), (6, 2)])
def test_predictions_have_the_shape_of_y(shape):
    y = np.arange(np.prod(shape), dtype=float).reshape(shape)
    m = FuzzyARTMAP(rho_b=1.0).fit(np.arange(6.0)[:, None], y)
    predicted = m.predict(np.arange(6.0)[:, None])
    assert predicted.shape == shape
    np.testing.assert_allclose(predicted, y, rtol=0, atol=1e-12)
    assert m.score(np.arange(6.0)[:, None], y) == pytest.approx(1.0)


# -- learning well -------------------------------------------------------------------------


def spirals(n, rng):
    """Two spirals, and which of them each point is on."""
    turn = np.sqrt(rng.uniform(0.02, 1.0, n)) * 3.0 * np.pi
    side = rng.integers(0, 2, n)
    angle = turn + np.pi * side
    return np.column_stack([turn * np.cos(angle), turn * np.sin(angle)]), side


def test_two_spirals_are_told_apart():
    rng = np.random.default_rng(0)
    X, y = spirals(3000, rng)
    m = FuzzyARTMAP(max_iter=200).fit(X, y)
    assert m.n_iter_ < 200
    assert m.score(X, y) == 1.0
    assert m.score(*spirals(2000, rng)) > 0.95
    assert m.n_categories_ < 600


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), rho=st.sampled_from([0.0, 0.6]))
def test_settled_epochs_predict_all_training_samples(seed, d, rho):
    rng = np.random.default_rng(seed)
    X = rng.random((80, d))
    y = (X.sum(axis=1) > d / 2).astype(int) + 2 * (X[:, 0] > 0.7)
    m = FuzzyARTMAP(rho, max_iter=1000).fit(X, y)
    assert m.n_iter_ < 1000
    assert m.score(X, y) == 1.0


def test_a_curve_is_followed():
    rng = np.random.default_rng(1)
    X = rng.random((3000, 1))
    y = np.sin(6.0 * X[:, 0])
    assert FuzzyARTMAP(rho_b=0.95).fit(X, y).score(X, y) > 0.99


def test_boxes_hold_the_samples_of_their_class():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3)) * [1.0, 10.0, 100.0]
    y = (X[:, 0] > 0).astype(int)
    m = FuzzyARTMAP(max_iter=100).fit(X, y)
    own = m.boxes_[m.apply(X)]
    assert (own[:, 0] <= X + 1e-9).all()
    assert (own[:, 1] >= X - 1e-9).all()


# -- labels --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ["b", "a", "c"],
        np.array(["b", "a", "c"], dtype=object),
        [7, -3, 2],
        [2.0, 1.0, 3.0],
        [True, False, True],
        np.array([3, 1, 2], dtype=np.uint8),
    ],
)
def test_labels_come_back_as_they_were(names):
    m = FuzzyARTMAP().fit([[0.0], [0.5], [1.0]], names)
    np.testing.assert_array_equal(m.predict([[0.0], [0.5], [1.0]]), names)
    np.testing.assert_array_equal(m.classes_, np.unique(names))
    assert m.classes_.dtype == np.asarray(names).dtype


def test_classes_join_as_they_appear():
    m = FuzzyARTMAP(bounds=(0.0, 1.0)).partial_fit([[0.0], [1.0]], ["m", "z"])
    assert m.classes_.tolist() == ["m", "z"]
    m.partial_fit([[0.5]], ["afterwards"])
    assert m.classes_.tolist() == ["afterwards", "m", "z"]
    assert m.map_.tolist() == [1, 2, 0]
    assert m.predict([[0.0], [0.5], [1.0]]).tolist() == ["m", "afterwards", "z"]


def test_classes_given_first_are_all_there_is():
    m = FuzzyARTMAP(bounds=(0.0, 1.0)).partial_fit([[0.0]], [2], classes=[3, 2, 1])
    assert m.classes_.tolist() == [1, 2, 3]
    m.partial_fit([[1.0]], [3]).partial_fit([[1.0]], [3], classes=[1, 2, 3])
    assert m.classes_[m.map_].tolist() == [2, 3]
    with pytest.raises(ValueError, match="label 4 is not among the classes given first"):
        m.partial_fit([[0.5]], [4])
    with pytest.raises(ValueError, match=r"expected classes=\[1, 2, 3\] as before"):
        m.partial_fit([[0.5]], [3], classes=[2, 3])


def test_many_classes_given_first_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FuzzyARTMAP(bounds=(0.0, 1.0)).partial_fit([[0.0]], [2], classes=np.arange(100))


def test_one_class_is_fine():
    m = FuzzyARTMAP().fit([[0.0], [1.0]], ["only", "only"])
    assert m.predict([[0.3]]).tolist() == ["only"]
    assert m.n_categories_ == 1


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        m = FuzzyARTMAP().fit([[0.0], [1.0]], [[0], [1]])
    assert m.predict([[1.0]]).shape == (1,)


# -- refusals ------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[0.1, NAN]], ["a"], "NaN"),
        (np.array([[0.1, NAN]]), np.array(["a"]), "NaN"),
        ([[0.1, INF]], ["a"], "inf"),
        ([[0.1]], ["a"], "features"),
        ([[0.1, 0.1]], ["a", "b"], "got 2 for 1 samples"),
        ([[0.1, 0.1]], ["unheard of"], "not among the classes"),
        ([[0.1, 0.1], [0.2, 0.2]], ["a", "unheard of"], "not among the classes"),
        ([[0.1, 0.1]], [1], "numbers and strings cannot be mixed"),
        ([[0.1, 0.1]], None, "requires y"),
        ([[0.1, 0.1]], [["a", "b"]], "1d array"),
        ([[0.1, 0.1]], [0.5], "continuous"),
        ([[0.1, 0.1]], [NAN], "NaN"),
        ([[0.1, 1.1]], ["a"], "out of the bounds"),
    ],
)
def test_refused_labels_change_nothing(X, y, words):
    m = FuzzyARTMAP(bounds=(0.0, 1.0), out_of_bounds="error")
    m.partial_fit([[0.0, 0.0], [1.0, 1.0]], ["a", "b"], classes=["a", "b"])
    assert_refused(m, X, y, words)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[0.1, NAN]], [[0.0, 0.0]], "NaN"),
        ([[0.1]], [[0.0, 0.0]], "features"),
        ([[0.1, 0.1]], [[0.0, 0.0], [1.0, 1.0]], "got 2 for 1 samples"),
        ([[0.1, 0.1]], [[0.0, 0.0, 0.0]], "2 columns as before, got 3"),
        ([[0.1, 0.1]], [0.0], "2 columns as before, got 1"),
        ([[0.1, 0.1]], [[0.0, NAN]], "NaN"),
        (np.array([[0.1, 0.1]]), np.array([[0.0, NAN]]), "NaN"),
        (np.array([[0.1, 0.1]]), np.array([[0.0, INF]]), "inf"),
        ([[0.1, 0.1]], [[0.0, 1.5]], "widen bounds_y"),
        ([[0.1, 0.1]], [["a", "b"]], "could not convert"),
        ([[0.1, 0.1]], [[[0.0, 0.0]]], "dim 3"),
        ([[0.1, 0.1]], 1.0, "at least 1 dimension"),
        ([[0.1, 0.1]], None, "requires y"),
    ],
)
def test_refused_vectors_change_nothing(X, y, words):
    m = FuzzyARTMAP(
        rho_b=0.9, bounds=(0.0, 1.0), bounds_y=(0.0, 1.0), out_of_bounds="error"
    ).partial_fit([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    assert_refused(m, X, y, words)


def assert_refused(m, X, y, words):
    before = pickle.dumps(m)
    with pytest.raises((TypeError, ValueError), match=words):
        m.partial_fit(X, y)
    assert pickle.dumps(m) == before


@pytest.mark.parametrize("rho_b", [None, 0.9])
def test_a_refused_start_leaves_an_estimator_unfitted(rho_b):
    m = FuzzyARTMAP(rho_b=rho_b)
    for y in ([0.0, NAN], [0.0], None):
        with pytest.raises(ValueError, match=r"y|targets"):
            m.fit([[0.0], [1.0]], y)
        with pytest.raises(ValueError, match=r"y|targets"):
            m.partial_fit([[0.0], [1.0]], y)
    with pytest.raises(NotFittedError):
        m.predict([[0.0]])
    assert vars(m) == vars(FuzzyARTMAP(rho_b=rho_b))


def test_a_refused_fit_keeps_what_was_learnt():
    m = FuzzyARTMAP().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="continuous"):
        m.fit([[0.0, 1.0], [1.0, 2.0]], [0.1, 0.2])
    assert m.predict([[1.0]]).tolist() == [1]


def test_one_first_sample_gives_no_bounds():
    with pytest.raises(ValueError, match=r"set bounds=\(low, high\)"):
        FuzzyARTMAP().update([0.0], 1)
    with pytest.raises(ValueError, match=r"set bounds_y=\(low, high\)"):
        FuzzyARTMAP(rho_b=0.9, bounds=(0.0, 1.0)).update([0.0], 1.0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"rho": 1.1},
        {"rho": None},
        {"alpha": 0.0},
        {"beta": 0.0},
        {"rho_b": -0.1},
        {"rho_b": "high"},
        {"max_iter": 0},
        {"out_of_bounds": "ignore"},
    ],
)
def test_parameters_out_of_range_are_refused(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"expected {name} to be"):
        FuzzyARTMAP(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_bounds_of_y_are_checked():
    with pytest.raises(ValueError, match="expected finite bounds_y with low <= high"):
        FuzzyARTMAP(rho_b=0.9, bounds_y=(1.0, 0.0)).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"expected bounds_y=\(low, high\)"):
        FuzzyARTMAP(rho_b=0.9, bounds_y=3).fit([[0.0], [1.0]], [0, 1])


def test_what_y_means_does_not_change_on_the_way():
    m = FuzzyARTMAP().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="call fit"):
        m.set_params(rho_b=0.9).partial_fit([[0.0]], [1.0])
    m.fit([[0.0], [1.0]], [0.5, 1.5])
    with pytest.raises(ValueError, match="call fit"):
        m.set_params(rho_b=None).partial_fit([[0.0]], [1])


def test_classes_are_refused_where_targets_are_vectors():
    with pytest.raises(ValueError, match="expected no classes"):
        FuzzyARTMAP(rho_b=0.9).partial_fit([[0.0], [1.0]], [0.0, 1.0], classes=[0, 1])


def test_attributes_of_the_other_form_are_absent():
    assert not hasattr(FuzzyARTMAP(), "classes_")
    assert not hasattr(FuzzyARTMAP().fit([[0.0]], [1]), "weights_b_")
    assert not hasattr(FuzzyARTMAP(rho_b=0.5).fit([[0.0]], [1]), "classes_")


# -- in company ----------------------------------------------------------------------------


def test_tags_follow_rho_b():
    assert is_classifier(FuzzyARTMAP())
    assert is_regressor(FuzzyARTMAP(rho_b=0.9))
    assert not is_classifier(FuzzyARTMAP().set_params(rho_b=0.9))


def test_it_works_in_pipelines_and_cross_validation():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2)) + np.repeat([[0.0, 0.0], [8.0, 8.0], [0.0, 8.0]], 100, axis=0)
    y = np.repeat(["a", "b", "c"], 100)
    pipeline = make_pipeline(StandardScaler(), FuzzyARTMAP(max_iter=20))
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.95
    assert cross_val_score(FuzzyARTMAP(rho_b=0.9), X, X @ [1.0, 2.0], cv=3).shape == (3,)


@pytest.mark.parametrize("rho_b", [None, 0.8])
def test_copies_go_on_alone(rho_b):
    rng = np.random.default_rng(4)
    X, y = rng.random((100, 2)), rng.integers(0, 3, 100)
    m = FuzzyARTMAP(0.5, rho_b=rho_b, max_iter=3).fit(X, y)
    weights, answers = m.weights_, m.predict(X)
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        np.testing.assert_array_equal(other.predict(X), answers)
        other.partial_fit(X[::-1] * 0.5, y)
        assert other.n_categories_ > m.n_categories_
    np.testing.assert_array_equal(m.weights_, weights)
    assert clone(m).get_params() == m.get_params()
    assert not hasattr(clone(m), "map_")


def test_passes_may_be_given_as_a_whole_float():
    assert FuzzyARTMAP(max_iter=3.0).fit([[0.0], [1.0]], [0, 1]).n_iter_ == 2


def test_inputs_are_not_kept():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    m = FuzzyARTMAP().fit(X, y)
    X[:], y[:] = 0.5, 7
    assert m.predict([[0.0], [1.0]]).tolist() == [0, 1]


def test_plain_arrays_and_lists_are_learnt_alike():
    rng = np.random.default_rng(6)
    X, y = rng.random((50, 3)), rng.integers(0, 2, 50)
    quick = FuzzyARTMAP(bounds=(0.0, 1.0)).partial_fit(X, y)
    slow = FuzzyARTMAP(bounds=(0.0, 1.0)).partial_fit(X, y)
    for x, label in zip(X * 0.9, y, strict=True):
        quick.partial_fit(x[None], np.array([label]))
        slow.partial_fit([x.tolist()], [int(label)])
    np.testing.assert_array_equal(quick.weights_, slow.weights_)
    np.testing.assert_array_equal(quick.map_, slow.map_)


def test_frames_and_series_are_taken():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [0.0, 0.0, 1.0]})
    for y in (pd.Series(["u", "v", "u"]), pd.Series(["u", "v", "u"], dtype="category")):
        m = FuzzyARTMAP(max_iter=5).fit(X, y).partial_fit(X, y)
        assert m.predict(X).tolist() == ["u", "v", "u"]
        assert m.feature_names_in_.tolist() == ["a", "b"]
        assert m.update([2.0, 1.0], "u") == m.apply(X)[2]


def test_without_scikit_learn_it_says_what_to_install():
    code = (
        "import sys; sys.modules['sklearn'] = None; import icvi\n"
        "try: icvi.FuzzyARTMAP\n"
        "except ImportError as error: print(error)"
    )
    said = processes.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pip install 'icvi[art]'" in said.stdout
