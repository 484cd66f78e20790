"""What FuzzyART, FuzzySMART and Quantizer have in common: being good scikit-learn estimators."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import icvi
from streams import blobs


@parametrize_with_checks(
    [
        icvi.FuzzyART(),
        icvi.FuzzyART(0.9, 1.0, 0.5, max_iter=5, bounds=(-4.0, 4.0)),
        icvi.FuzzyART(0.5, out_of_bounds="error"),
        icvi.FuzzySMART(),
        icvi.FuzzySMART(0.95, 0.85, beta=0.5, bounds=(-4.0, 4.0)),
        icvi.FuzzySMART(0.8, 0.5, out_of_bounds="error"),
        icvi.Quantizer(),
        icvi.Quantizer(0.5, beta=0.5, bounds=(-4.0, 4.0)),
        icvi.Quantizer(0.8, out_of_bounds="error"),
    ]
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


X, LABELS = blobs(n=120, d=3)
MORE, MORE_LABELS = blobs(n=60, d=3, seed=1)
MAKERS = {
    "FuzzyART": lambda **p: icvi.FuzzyART(**{"rho": 0.85, **p}),
    "FuzzySMART": lambda **p: icvi.FuzzySMART(**{"rho_a": 0.95, "rho_b": 0.8, **p}),
    "Quantizer": lambda **p: icvi.Quantizer(**{"rho": 0.9, **p}),
}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def make(request):
    return request.param


def update(estimator, x, label=0):
    if isinstance(estimator, icvi.Quantizer):
        return estimator.update(x, label)
    return estimator.update(x)


def content(thing):
    """Everything inside, to the last bit, and no reference to it."""
    if isinstance(thing, np.ndarray):
        data = thing.tolist() if thing.dtype == object else thing.tobytes()
        return thing.dtype.str, thing.shape, data
    if isinstance(thing, dict):
        return {name: content(value) for name, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [content(value) for value in thing]
    if hasattr(thing, "__dict__"):
        return type(thing).__name__, content(vars(thing))
    return thing


# -- copies ------------------------------------------------------------------------------------


def test_a_clone_has_the_parameters_and_has_learnt_nothing(make):
    e = make(alpha=0.5, beta=0.25, bounds=([0, 0, 0], 4), out_of_bounds="error")
    twin = clone(e.set_params(out_of_bounds="clip").fit(X, LABELS))
    assert twin.get_params() == e.get_params()
    assert content(twin) == content(make(**e.get_params()))
    with pytest.raises(NotFittedError):
        twin.predict(X)


@pytest.mark.parametrize(
    "copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_a_copy_goes_on_learning_as_the_original_would(make, copied):
    e = make(beta=0.5).fit(X, LABELS)
    twin = copied(e)
    assert content(twin) == content(e)
    before = content(e)
    twin.partial_fit(MORE, MORE_LABELS)
    update(twin, X[0])
    assert content(e) == before
    e.partial_fit(MORE, MORE_LABELS)
    update(e, X[0])
    assert content(twin) == content(e)
    np.testing.assert_array_equal(twin.predict(X), e.predict(X))


def test_a_copy_that_has_learnt_nothing_yet_can_start(make):
    e = pickle.loads(pickle.dumps(make())).fit(X, LABELS)
    assert content(e) == content(make().fit(X, LABELS))


# -- pipelines and parameters ------------------------------------------------------------------


def test_it_works_at_the_end_of_a_pipeline(make):
    pipeline = make_pipeline(StandardScaler(), make()).fit(X, LABELS)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    alone = make().fit(standard, LABELS)
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(standard))
    assert len(set(pipeline.predict(X).tolist())) > 2


@pytest.mark.parametrize("name", ["FuzzyART", "FuzzySMART"])
def test_a_pipeline_gives_the_labels_of_a_clusterer(name):
    labels = make_pipeline(StandardScaler(), MAKERS[name]()).fit_predict(X)
    np.testing.assert_array_equal(
        labels, MAKERS[name]().fit(StandardScaler().fit_transform(X)).labels_
    )


@pytest.mark.parametrize(
    ("e", "vigilant"),
    [
        (icvi.FuzzyART(0.0), {"rho": 1.0}),
        (icvi.FuzzySMART(0.1, 0.0), {"rho_a": 1.0, "rho_b": 0.999}),
        (icvi.Quantizer(0.0), {"rho": 1.0}),
    ],
    ids=MAKERS,
)
def test_new_vigilance_takes_effect_on_the_next_call(e, vigilant):
    def number(e):
        return e.n_clusters_ if isinstance(e, icvi.FuzzyART) else e.n_prototypes_

    e = clone(e).fit(X, [0] * len(X))
    few = number(e)
    assert few <= 2
    inside = X.mean(axis=0) + np.array([[0.0, 0.0, 0.01], [0.0, 0.02, 0.0]])
    e.partial_fit(inside, [0, 0])
    update(e, inside[0])
    assert number(e) == few
    assert number(e.set_params(**vigilant).partial_fit(X[:1], [0])) == few + 1
    update(e, X[1])
    assert number(e) == few + 2


def test_a_new_learning_rate_takes_effect_on_the_next_call():
    a = icvi.FuzzyART(0.0, bounds=(0, 1)).fit([[0.0]])
    a.set_params(beta=0.5).update([1.0])
    assert a.boxes_.tolist() == [[[0.0], [0.5]]]
    a.set_params(beta=1.0).partial_fit([[1.0]])
    assert a.boxes_.tolist() == [[[0.0], [1.0]]]


def test_a_new_choice_parameter_takes_effect_on_the_next_call():
    """A large alpha prefers the better match, a small one the tighter category."""
    a = icvi.FuzzyART(0.5, bounds=(0, 1)).fit([[0.0], [0.5], [0.75]])
    assert a.boxes_[:, :, 0].tolist() == [[0.0, 0.5], [0.75, 0.75]]
    small, large = a.predict([[0.5]])[0], a.set_params(alpha=1e3).predict([[0.5]])[0]
    assert (small, large) == (0, 1)


# -- samples in any form -----------------------------------------------------------------------


def strided(array):
    wide = np.full((2 * array.shape[0], 2 * array.shape[1]), np.nan)
    wide[::2, ::2] = array
    return wide[::2, ::2]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


FORMS = {
    "int64": lambda a: a.astype(np.int64),
    "uint8": lambda a: a.astype(np.uint8),
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "big-endian": lambda a: a.astype(">f8"),
    "list of lists": lambda a: a.tolist(),
    "list of lists of int": lambda a: a.astype(int).tolist(),
    "objects": lambda a: a.astype(object),
    "Fortran order": np.asfortranarray,
    "every other row and column": strided,
    "negative strides": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "pandas frame of several dtypes": lambda a: pd.DataFrame(
        {"a": a[:, 0].astype(int), "b": a[:, 1].astype(np.float32), "c": a[:, 2]}
    ),
}

WHOLE = np.random.default_rng(0).integers(0, 50, (60, 3)).astype(float)
WHOLE_LABELS = np.random.default_rng(1).integers(0, 4, 60)


def learnt(e):
    """What was learnt, without what is remembered of the form it came in."""
    return {
        name: content(value)
        for name, value in vars(e).items()
        if name not in ("feature_names_in_", "_accepted")
    }


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_samples_in_any_form_are_learnt_like_plain_arrays(make, form):
    plain, given = make(), make()
    plain.fit(WHOLE[:30], WHOLE_LABELS[:30]).partial_fit(WHOLE[30:], WHOLE_LABELS[30:])
    given.fit(form(WHOLE[:30]), WHOLE_LABELS[:30]).partial_fit(form(WHOLE[30:]), WHOLE_LABELS[30:])
    assert learnt(given) == learnt(plain)
    np.testing.assert_array_equal(given.predict(form(WHOLE)), plain.predict(WHOLE))


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        read_only,
        lambda x: x.astype(int),
        lambda x: x.astype(np.float32),
        lambda x: np.repeat(x, 2)[::2],
        pd.Series,
    ],
    ids=["list", "tuple", "read-only", "int", "float32", "strided", "series"],
)
def test_one_sample_in_any_form_is_learnt_like_a_plain_array(make, form):
    plain, given = make(bounds=(0, 50)), make(bounds=(0, 50))
    for x, label in zip(WHOLE, WHOLE_LABELS, strict=True):
        assert update(given, form(x), label) == update(plain, x, label)
    assert learnt(given) == learnt(plain)


def test_memory_mapped_samples_are_learnt_like_plain_arrays(make, tmp_path):
    np.save(tmp_path / "X.npy", WHOLE)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    plain, given = make(), make()
    plain.fit(WHOLE[:30], WHOLE_LABELS[:30]).partial_fit(WHOLE[30:], WHOLE_LABELS[30:])
    given.fit(mapped[:30], WHOLE_LABELS[:30]).partial_fit(mapped[30:], WHOLE_LABELS[30:])
    assert learnt(given) == learnt(plain)
    np.testing.assert_array_equal(given.predict(mapped), plain.predict(WHOLE))
    update(given, mapped[0])


def test_samples_are_neither_written_to_nor_kept(make):
    samples = X.copy()
    e = make().fit(samples, LABELS).partial_fit(samples, LABELS)
    e.predict(samples)
    np.testing.assert_array_equal(samples, X)
    before = content(e)
    samples[:] = np.nan
    assert content(e) == before


# -- names of features -------------------------------------------------------------------------

FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def test_names_of_features_are_remembered_and_change_nothing_else(make):
    named, plain = make().fit(FRAME, LABELS), make().fit(X, LABELS)
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    assert learnt(named.partial_fit(FRAME, LABELS)) == learnt(plain.partial_fit(X, LABELS))
    np.testing.assert_array_equal(named.predict(FRAME), plain.predict(X))


def test_features_in_another_order_are_refused(make):
    e = make().fit(FRAME, LABELS)
    before = content(e)
    for learn in (e.predict, lambda X: e.partial_fit(X, LABELS)):
        with pytest.raises(ValueError, match="feature names"):
            learn(FRAME[["c", "a", "b"]])
    assert content(e) == before


def test_chunks_without_names_are_warned_about_after_samples_with_names(make):
    e = make().fit(FRAME, LABELS)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        e.partial_fit(X, LABELS)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        e.predict(X)


def test_one_sample_needs_no_names(make):
    named, plain = make().fit(FRAME, LABELS), make().fit(X, LABELS)
    assert update(named, X[0]) == update(plain, X[0])  # and no warning, which would be an error
    assert update(named, FRAME.iloc[1]) == update(plain, X[1])


# -- refusals ----------------------------------------------------------------------------------


def with_entry(value):
    samples = X[:5].copy()
    samples[3, 1] = value
    return samples


BAD_SAMPLES = {
    "nan": (with_entry(math.nan), "NaN"),
    "inf": (with_entry(math.inf), "infinity"),
    "-inf": (with_entry(-math.inf), "infinity"),
    "too large": (with_entry(1e141), "expected entries up to"),
    "too large as float32 inf": (with_entry(math.inf).astype(np.float32), "infinity"),
    "empty": (np.empty((0, 3)), "0 sample"),
    "no features": (np.empty((5, 0)), "0 feature"),
    "an empty list": ([], "2D array"),
    "1-D": (X[0], "2D array"),
    "3-D": (X[:5][None], "dim 3"),
    "strings": ([["a", "b", "c"]] * 5, "could not convert string to float"),
    "complex": (X[:5] + 1j, "Complex data not supported"),
    "None": (None, "2D array"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0, 2.0]], "inhomogeneous"),
}

LEARNERS = {
    "fit": lambda e, X, y: e.fit(X, y),
    "partial_fit": lambda e, X, y: e.partial_fit(X, y),
}


def labels_for(samples):
    return [0] * (0 if samples is None else len(samples))


def assert_refused(e, call, match, error=ValueError):
    before = content(e)
    with pytest.raises(error, match=match):
        call(e)
    assert content(e) == before


@pytest.mark.parametrize(("bad", "match"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
class TestBadSamples:
    @pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
    def test_leave_a_used_estimator_as_it_was(self, make, learn, bad, match):
        e, twin = make().fit(X, LABELS), make().fit(X, LABELS)
        assert_refused(e, lambda e: learn(e, bad, labels_for(bad)), match)
        assert content(e.partial_fit(MORE, MORE_LABELS)) == content(
            twin.partial_fit(MORE, MORE_LABELS)
        )

    @pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
    @pytest.mark.parametrize("bounds", [None, (0, 4)])
    def test_leave_a_fresh_estimator_without_a_number_of_features(
        self, make, learn, bounds, bad, match
    ):
        e = make(bounds=bounds)
        assert_refused(e, lambda e: learn(e, bad, labels_for(bad)), match)
        wide = np.hstack([X, X])
        assert learn(e, wide, LABELS).n_features_in_ == 6

    def test_cannot_be_predicted(self, make, bad, match):
        assert_refused(make().fit(X, LABELS), lambda e: e.predict(bad), match)


BAD_SAMPLE = {
    "nan": ([1.0, math.nan, 1.0], ValueError, "expected finite numbers.*got nan at feature 1"),
    "inf": ([1.0, 1.0, math.inf], ValueError, "expected finite numbers.*got inf at feature 2"),
    "too large": ([1e141, 1.0, 1.0], ValueError, "expected entries up to"),
    "empty": ([], ValueError, "at least one feature"),
    "2-D": (X[:1], ValueError, r"one sample of shape .*\(1, 3\).*partial_fit"),
    "a number": (1.0, ValueError, "one sample of shape"),
    "strings": (["a", "b", "c"], TypeError, "real numbers"),
    "None": (None, TypeError, "real numbers"),
    "complex": ([1j, 1.0, 1.0], TypeError, "real numbers"),
}


@pytest.mark.parametrize(("bad", "error", "match"), BAD_SAMPLE.values(), ids=BAD_SAMPLE)
class TestOneBadSample:
    def test_leaves_a_used_estimator_as_it_was(self, make, bad, error, match):
        assert_refused(make().fit(X, LABELS), lambda e: update(e, bad), match, error)

    def test_leaves_a_fresh_estimator_as_it_was(self, make, bad, error, match):
        e = make(bounds=(0, 4))
        assert_refused(e, lambda e: update(e, bad), match, error)
        update(e, [1.0, 2.0, 3.0, 4.0])
        assert e.n_features_in_ == 4


@pytest.mark.parametrize("d", [1, 2, 4])
def test_another_number_of_features_is_refused(make, d):
    e = make().fit(X, LABELS)
    other = np.ones((5, d))
    match = f"X has {d} features, but {type(e).__name__} is expecting 3 features"
    assert_refused(e, lambda e: e.partial_fit(other, [0] * 5), match)
    assert_refused(e, lambda e: e.predict(other), match)
    match = f"expected 3 features like the samples before, got {d}"
    assert_refused(e, lambda e: update(e, other[0]), match)
    assert e.fit(other, [0] * 5).n_features_in_ == d


UNIT = [-0.1, 1.1, math.nan, math.inf, True, "0.5", None, Fraction(1, 2), 1j]
BAD_PARAMETERS = {
    "alpha": [0, -1.0, math.nan, math.inf, True, "1", None, [1.0]],
    "beta": [0, 0.0, -0.5, 1.5, math.nan, True, "1", None],
    "out_of_bounds": ["drop", None, True, 1],
    "rho": UNIT,
    "rho_a": UNIT,
    "rho_b": UNIT,
    "max_iter": [0, -1, 1.5, math.nan, math.inf, True, "2", None],
}
CASES = [
    pytest.param(make, name, value, id=f"{title}-{name}={value!r}")
    for title, make in MAKERS.items()
    for name, values in BAD_PARAMETERS.items()
    if name in make().get_params()
    for value in values
]
CALLS = {
    "fit": lambda e: e.fit(MORE, MORE_LABELS),
    "partial_fit": lambda e: e.partial_fit(MORE, MORE_LABELS),
    "update": lambda e: update(e, MORE[0]),
    "predict": lambda e: e.predict(MORE),
}


@pytest.mark.parametrize(("make", "name", "value"), CASES)
class TestABadParameter:
    def test_is_refused_by_an_estimator_that_has_learnt_which_keeps_it(self, make, name, value):
        # True equals 1, and what equals an accepted value is not looked at again.
        good = {"max_iter": 2} if name == "max_iter" else {"beta": 0.5}
        e, twin = make(**good).fit(X, LABELS), make(**good).fit(X, LABELS)
        e.set_params(**{name: value})
        for call in CALLS.values():
            with pytest.raises(ValueError, match=f"expected {name} to be"):
                call(e)
        e.set_params(**{name: twin.get_params()[name]})
        assert content(e) == content(twin)

    def test_is_refused_by_a_fresh_estimator_which_stays_fresh(self, make, name, value):
        e = make(bounds=(0, 4), **{name: value})
        for call in ("fit", "partial_fit", "update"):
            assert_refused(e, CALLS[call], f"expected {name} to be")


def test_prototypes_must_be_finer_than_clusters():
    for rho_a, rho_b in [(0.7, 0.7), (0.5, 0.7), (0.0, 0.0)]:
        e = icvi.FuzzySMART(rho_a, rho_b, bounds=(0, 4))
        match = f"expected rho_a above rho_b.*rho_a={rho_a}, rho_b={rho_b}"
        for call in ("fit", "partial_fit", "update"):
            assert_refused(e, CALLS[call], match)
        used = icvi.FuzzySMART().fit(X).set_params(rho_a=rho_a, rho_b=rho_b)
        for call in CALLS.values():
            assert_refused(used, call, match)


@pytest.mark.parametrize(
    "number", [np.float64(0.5), np.float32(0.5), np.float64(1), 1, np.int64(1)]
)
def test_parameters_may_be_any_usual_number(number):
    plain = icvi.FuzzyART(float(number), float(number), float(number), max_iter=2)
    given = icvi.FuzzyART(number, number, number, max_iter=np.int64(2))
    np.testing.assert_array_equal(given.fit(X).weights_, plain.fit(X).weights_)


BAD_LABELS = {
    "too few": ([0], ValueError, "as many labels as samples, got 1 for 60"),
    "too many": ([0] * 61, ValueError, "as many labels as samples, got 61 for 60"),
    "none at all": (None, ValueError, "requires y to be passed"),
    "a string": ("a" * 60, TypeError, "sequence of 60 labels, got one str"),
    "a number": (1, TypeError, "sequence of labels"),
    "2-D": (np.zeros((60, 1)), ValueError, "1-D"),
    "nan": ([*range(59), math.nan], ValueError, "a label must equal itself"),
    "a list inside": ([*range(59), [1]], TypeError, "hashable label"),
}


@pytest.mark.parametrize(("bad", "error", "match"), BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels_leave_a_quantizer_as_it_was(bad, error, match):
    for e in (icvi.Quantizer(), icvi.Quantizer().fit(X, LABELS)):
        for learn in LEARNERS.values():
            assert_refused(e, lambda e, learn=learn: learn(e, MORE, bad), match, error)
    if bad is not None:
        assert_refused(e, lambda e: e.winners(MORE, bad), match, error)


@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [([1], TypeError, "hashable label"), (math.nan, ValueError, "a label must equal itself")],
)
def test_a_bad_label_leaves_a_quantizer_as_it_was(bad, error, match):
    for e in (icvi.Quantizer(bounds=(0, 4)), icvi.Quantizer().fit(X, LABELS)):
        assert_refused(e, lambda e: e.update(X[0], bad), match, error)


def test_nothing_can_be_asked_before_something_was_learnt(make):
    e = make(bounds=(0, 4))
    assert_refused(e, lambda e: e.predict(X), "not fitted", NotFittedError)
    if isinstance(e, icvi.Quantizer):
        assert_refused(e, lambda e: e.winners(X, LABELS), "not fitted", NotFittedError)


def test_one_learnt_sample_is_enough_to_predict(make):
    e = make(bounds=(0, 4))
    update(e, X[0])
    assert e.predict(X).tolist() == [0] * len(X)


def test_a_fit_forgets_what_was_learnt_before(make):
    e = make().fit(MORE, MORE_LABELS)
    update(e, MORE[0])
    assert learnt(e.fit(X, LABELS)) == learnt(make().fit(X, LABELS))
