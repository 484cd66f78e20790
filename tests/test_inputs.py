"""Bad input is refused with a clear error and changes nothing; good input comes in many forms."""

import contextlib
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import icvi

X = np.array([[0, 3, 1], [1, 0, 2], [0, 1, 5], [7, 6, 1], [6, 7, 2], [7, 7, 0], [3, 9, 4]], float)
LABELS = ["a", "a", "a", "b", "b", "b", "c"]
NEXT = [2.0, 5.0, 4.0]


def bits(values):
    """Numbers with their signs of zero and the payloads of their nan."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    return array.shape, array.ravel().view(np.int64).tolist()


def snapshot(state):
    """Everything that can be seen of a tracker or a partition, to the last bit."""
    names = ("n_samples", "noise_share", "counts", "centers", "compactness", "covariances")
    seen = {name: bits(getattr(state, name)) for name in names}
    seen |= {name: getattr(state, name) for name in ("labels", "n_clusters", "n_features")}
    if isinstance(state, icvi.Tracker):
        seen |= {name: (bits(value), state.why(name)) for name, value in state.values.items()}
    return seen


def new_tracker():
    return icvi.Tracker("all", noise_label="noise")


def new_partition():
    return icvi.Partition(scatter=True, noise_label="noise")


def feed(state, x, label, *rest):
    (state.update if isinstance(state, icvi.Tracker) else state.add)(x, label, *rest)


def feed_many(state, *args, **options):
    one_call = state.update_many if isinstance(state, icvi.Tracker) else state.add_many
    return one_call(*args, **options)


def used(new):
    state = new()
    feed_many(state, X, LABELS)
    feed(state, NEXT, "noise")
    return state


def goes_on(state):
    """What comes of the next samples."""
    feed(state, NEXT, "c")
    trace = feed_many(state, X, LABELS)
    return snapshot(state), None if trace is None else trace_content(trace)


def trace_content(trace):
    columns = {name: bits(trace[name]) for name in trace}
    return columns, trace.k.tolist(), trace.samples.tolist(), trace.labels.tolist()


class Rejection:
    """What a call that must be refused may not change."""

    def __init__(self, new):
        self.state, self.twin = used(new), used(new)
        self.fresh = new()

    @contextlib.contextmanager
    def expected(self, state, error, match):
        before = snapshot(state)
        with pytest.raises(error, match=match):
            yield
        assert snapshot(state) == before

    def check(self, call, error, match):
        """Refused by a used and by a fresh state, which then go on as if nothing had been."""
        with self.expected(self.state, error, match):
            call(self.state)
        snapshot(self.twin)  # read as often as the other
        assert goes_on(self.state) == goes_on(self.twin)

    def check_fresh(self, call, error, match):
        with self.expected(self.fresh, error, match):
            call(self.fresh)
        assert self.fresh.n_features is None
        feed(self.fresh, [1.0, 2.0, 3.0, 4.0, 5.0], "x")
        assert self.fresh.n_features == 5


@pytest.fixture(params=[new_tracker, new_partition], ids=["Tracker", "Partition"])
def rejection(request):
    return Rejection(request.param)


def with_entry(value, dtype=float):
    """Two samples, of which the last is bad in its last entry."""
    array = np.ones((2, 3), dtype=dtype)
    array[1, 2] = value
    return array


BAD_NUMBERS = {
    "nan": (math.nan, "expected finite numbers.* got nan at .*feature 2"),
    "inf": (math.inf, "expected finite numbers.* got inf at .*feature 2"),
    "-inf": (
        -math.inf,
        "expected finite numbers.* got -inf at .*feature 2",
    ),
    "too large": (1e141, r"expected entries up to 1e\+140 in size, got 1e\+141"),
    "too large, negative": (-1e300, r"expected entries up to 1e\+140 in size, got -1e\+300"),
}

BAD_DTYPES = {
    "objects": np.array([[1, 2, None], [1, 2, 3]], dtype=object),
    "complex": with_entry(1j, complex),
    "strings": np.array([["1", "2", "3"], ["4", "5", "six"]]),
    "bytes": np.array([[b"1", b"2", b"3"], [b"4", b"5", b"6"]]),
    "datetimes": np.zeros((2, 3), dtype="datetime64[s]"),
    "timedeltas": np.zeros((2, 3), dtype="timedelta64[s]"),
    "None in a list": [[1.0, 2.0, 3.0], [1.0, None, 3.0]],
}

MASKED = np.ma.masked_array(np.ones((2, 3)), mask=[[0, 0, 0], [0, 0, 1]])

BAD_SAMPLES = {
    **{name: (with_entry(bad), ValueError, match) for name, (bad, match) in BAD_NUMBERS.items()},
    **{name: (bad, TypeError, "X to hold real numbers") for name, bad in BAD_DTYPES.items()},
    "float32 inf": (with_entry(math.inf, np.float32), ValueError, "expected finite numbers"),
    "no samples": (np.empty((0, 3)), ValueError, "expected at least one sample, got none"),
    "no features": (np.empty((2, 0)), ValueError, "expected at least one feature, got none"),
    "an empty list": ([], ValueError, r"2-D array \(samples, features\), got shape \(0,\)"),
    "1-D": ([1.0, 2.0], ValueError, r"2-D array .*reshape\(-1, 1\)"),
    "3-D": (np.ones((2, 3, 1)), ValueError, r"2-D array .*got shape \(2, 3, 1\)"),
    "0-d": (5.0, ValueError, r"2-D array .*got shape \(\)"),
    "None": (None, TypeError, "expected X to hold real numbers"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0, 2.0]], ValueError, "expected X with rows of equal length"),
    "masked": (MASKED, ValueError, "expected X without masked entries"),
}

BAD_LABELS = {
    "too few": (["a"], ValueError, "as many labels as samples, got 1 for 2 samples"),
    "too many": (["a", "b", "c"], ValueError, "as many labels as samples, got 3 for 2 samples"),
    "none": ([], ValueError, "as many labels as samples, got 0 for 2 samples"),
    "2-D": (np.array([[0], [1]]), ValueError, r"1-D sequence, got shape \(2, 1\)"),
    "0-d": (np.array(0), ValueError, r"1-D sequence, got shape \(\)"),
    "a number": (7, TypeError, "expected a sequence of labels, got int"),
    "None": (None, TypeError, "expected a sequence of labels, got NoneType"),
    "a string": ("ab", TypeError, "expected a sequence of 2 labels, got one str"),
    "a list inside": (["a", [1]], TypeError, "expected a hashable label .*got list"),
    "lists inside": ([[1], [2]], TypeError, "expected a hashable label .*got list"),
    "a dict inside": (["a", {}], TypeError, "expected a hashable label .*got dict"),
    "an array inside": (["a", np.zeros(2)], TypeError, "expected a hashable label .*got ndarray"),
    "nan in an array": (np.array([0.0, math.nan]), ValueError, "nan.* a label must equal itself"),
    "nan in a list": (["a", math.nan], ValueError, "a label must equal itself, got nan"),
    "masked": (np.ma.masked_array([0, 1], mask=[0, 1]), ValueError, "masked"),
}

BAD_WEIGHTS = {
    "negative": ([1.0, -1e-300], ValueError, "finite and not negative, got -1e-300 at 1"),
    "nan": ([1.0, math.nan], ValueError, "finite and not negative, got nan at 1"),
    "inf": ([1.0, math.inf], ValueError, "finite and not negative, got inf at 1"),
    "too few": ([1.0], ValueError, r"expected 2 weights, one per sample, got shape \(1,\)"),
    "too many": ([1.0] * 3, ValueError, r"expected 2 weights, one per sample, got shape \(3,\)"),
    "2-D": ([[1.0, 1.0]], ValueError, r"expected 2 weights, one per sample, got shape \(1, 2\)"),
    "a number": (2.0, ValueError, r"expected 2 weights, one per sample, got shape \(\)"),
    "strings": (["1", "2"], TypeError, "expected weights to hold real numbers"),
    "complex": ([1.0, 1j], TypeError, "expected weights to hold real numbers"),
    "None inside": ([1.0, None], TypeError, "expected weights to hold real numbers"),
    "masked": (np.ma.masked_array([1.0, 1.0], mask=[0, 1]), ValueError, "without masked entries"),
}

GOOD = np.array([[2.0, 2.0, 2.0], [3.0, 4.0, 5.0]])


def chunks():
    """All bad chunks as (samples, labels, weights), with the error they deserve."""
    for name, (bad, error, match) in BAD_SAMPLES.items():
        yield pytest.param((bad, ["a", "new"], None), error, match, id=f"samples: {name}")
    for name, (bad, error, match) in BAD_LABELS.items():
        yield pytest.param((GOOD, bad, None), error, match, id=f"labels: {name}")
    for name, (bad, error, match) in BAD_WEIGHTS.items():
        yield pytest.param((GOOD, ["a", "new"], bad), error, match, id=f"weights: {name}")


@pytest.mark.parametrize(("chunk", "error", "match"), [*chunks()])
class TestABadChunk:
    def test_is_refused_and_leaves_a_used_state_as_it_was(self, rejection, chunk, error, match):
        rejection.check(lambda state: feed_many(state, *chunk), error, match)

    def test_is_refused_and_leaves_a_fresh_state_empty(self, rejection, chunk, error, match):
        rejection.check_fresh(lambda state: feed_many(state, *chunk), error, match)

    @pytest.mark.parametrize("function", [icvi.score, icvi.scores])
    def test_is_refused_by_scores(self, function, chunk, error, match):
        samples, labels, weights = chunk
        with pytest.raises(error, match=match):
            function(samples, labels, weights=weights)


def one_samples():
    """All bad samples as (sample, label, weight), with the error they deserve."""
    for name, (bad, match) in BAD_NUMBERS.items():
        yield pytest.param((with_entry(bad)[1], "a"), ValueError, match, id=f"sample: {name}")
        case = ([1.0, 1.0, bad], "new")
        yield pytest.param(case, ValueError, match, id=f"list: {name}")
    for name, bad in BAD_DTYPES.items():
        row = bad[0] if name == "objects" else bad[1]
        yield pytest.param((row, "a"), TypeError, "x to hold real numbers", id=f"sample: {name}")
    shaped = r"expected one sample of shape \(features,\), got "
    for name, bad, match in [
        ("0-d", 5.0, shaped + r"\(\)"),
        ("2-D", np.ones((1, 3)), shaped + r"\(1, 3\); for many samples"),
        ("3-D", np.ones((1, 1, 3)), shaped + r"\(1, 1, 3\)"),
        ("no features", [], "expected at least one feature, got none"),
        ("ragged", [1.0, [2.0, 3.0]], "expected x with rows of equal length"),
        ("masked", MASKED[1], "expected x without masked entries"),
    ]:
        yield pytest.param((bad, "a"), ValueError, match, id=f"sample: {name}")
    for label in ([1], {}, {1}, np.zeros(2)):
        match = f"expected a hashable label .*got {type(label).__name__}"
        yield pytest.param((NEXT, label), TypeError, match, id=f"label: {label!r}")
    for label in (math.nan, np.float64("nan"), np.datetime64("NaT", "ns")):
        match = "a label must equal itself"
        yield pytest.param((NEXT, label), ValueError, match, id=f"label: {label!r}")
    for weight in (-1.0, -1e-300, math.nan, math.inf, -math.inf):
        match = f"finite and not negative, got {weight}"
        yield pytest.param((NEXT, "a", weight), ValueError, match, id=f"weight: {weight!r}")
    for weight in ("1", None, 1j):
        match = "expected weight to be a real number"
        yield pytest.param((NEXT, "a", weight), TypeError, match, id=f"weight: {weight!r}")
    for weight in ([1.0], np.ones(2)):
        yield pytest.param((NEXT, "a", weight), TypeError, "expected", id=f"weight: {weight!r}")


@pytest.mark.parametrize(("sample", "error", "match"), [*one_samples()])
class TestABadSample:
    def test_is_refused_and_leaves_a_used_state_as_it_was(self, rejection, sample, error, match):
        rejection.check(lambda state: feed(state, *sample), error, match)

    def test_is_refused_and_leaves_a_fresh_state_empty(self, rejection, sample, error, match):
        rejection.check_fresh(lambda state: feed(state, *sample), error, match)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"window": 8}])
@pytest.mark.parametrize("features", [3, 200])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -1e200])
def test_a_sample_that_leaves_or_moves_is_refused_without_a_warning(bad, features, options):
    t = icvi.Tracker("CH", **options)
    t.update_many(np.random.default_rng(0).random((9, features)), np.arange(9) % 2)
    before = t.values
    x = np.resize([1.0, bad], features)
    for given in (x, x.tolist(), tuple(x)):
        for change, labels in ((t.update, [0]), (t.remove, [0]), (t.relabel, [0, 1])):
            with pytest.raises(ValueError, match="expected"):
                change(given, *labels)
    assert t.values == before


@pytest.mark.parametrize("given", [1, 2, 4])
@pytest.mark.parametrize("label", ["a", "new", "noise"])
def test_a_sample_with_another_number_of_features_is_refused(rejection, given, label):
    match = f"expected 3 features like the samples before, got {given}"
    rejection.check(lambda state: feed(state, np.ones(given), label), ValueError, match)


@pytest.mark.parametrize("given", [1, 2, 4])
def test_a_chunk_with_another_number_of_features_is_refused(rejection, given):
    chunk = np.ones((2, given)), ["a", "new"]
    match = f"expected 3 features like the samples before, got {given}"
    rejection.check(lambda state: feed_many(state, *chunk), ValueError, match)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize(("label", "weight"), [("a", 0.0), ("new", 0.0), ("noise", 1.0)])
def test_a_sample_that_would_not_count_is_checked_all_the_same(rejection, label, weight, bad):
    sample = np.array([1.0, 1.0, bad]), label, weight
    rejection.check(lambda state: feed(state, *sample), ValueError, "expected finite numbers")


@pytest.mark.parametrize("label", [[1], {}])
def test_a_label_that_would_not_count_is_checked_all_the_same(rejection, label):
    chunk = GOOD, ["a", label], [1.0, 0.0]
    rejection.check(lambda state: feed_many(state, *chunk), TypeError, "expected a hashable label")


@pytest.mark.parametrize("every", [0, -1, 1.5, 0.5, math.nan, math.inf])
def test_every_below_one_or_between_whole_numbers_is_refused(every):
    rejection = Rejection(new_tracker)
    rejection.check(lambda t: t.update_many(GOOD, ["a", "b"], every=every), ValueError, "every")
    rejection.check_fresh(
        lambda t: t.update_many(GOOD, ["a", "b"], every=every), ValueError, "every"
    )


@pytest.mark.parametrize("new", [icvi.Tracker, icvi.Partition])
@pytest.mark.parametrize(
    ("label", "error", "match"),
    [([1], TypeError, "hashable label"), (math.nan, ValueError, "a label must equal itself")],
)
def test_a_noise_label_that_no_label_can_equal_is_refused(new, label, error, match):
    with pytest.raises(error, match=match):
        new(noise_label=label)


def test_entries_up_to_the_largest_size_are_accepted():
    t = icvi.Tracker(["CH", "SIL"])
    t.update_many([[1e140], [-1e140], [0.9e140], [-0.9e140]], [0, 1, 0, 1])
    assert t["CH"] == pytest.approx(icvi.score([[1.0], [-1], [0.9], [-0.9]], [0, 1, 0, 1]))


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def strided(array):
    wide = np.full((2 * array.shape[0], 2 * array.shape[1]), np.nan)
    wide[::2, ::2] = array
    return wide[::2, ::2]


FORMS = {
    "int64": lambda a: a.astype(np.int64),
    "int8": lambda a: a.astype(np.int8),
    "uint8": lambda a: a.astype(np.uint8),
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "longdouble": lambda a: a.astype(np.longdouble),
    "big-endian floats": lambda a: a.astype(">f8"),
    "big-endian integers": lambda a: a.astype(">i4"),
    "list of lists": lambda a: a.tolist(),
    "list of lists of int": lambda a: a.astype(int).tolist(),
    "tuple of tuples": lambda a: tuple(map(tuple, a.tolist())),
    "list of arrays": list,
    "Fortran order": np.asfortranarray,
    "every other row and column": strided,
    "negative strides": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "read-only integers": lambda a: read_only(a.astype(int)),
    "masked array without masked entries": np.ma.masked_array,
    "pandas frame": pd.DataFrame,
    "pandas frame of several dtypes": lambda a: pd.DataFrame(a).astype({0: int, 1: np.float32}),
    "polars frame": lambda a: pl.DataFrame(a.tolist(), orient="row"),
    "polars frame of integers": lambda a: pl.DataFrame(a.astype(int).tolist(), orient="row"),
}


def rows(form):
    if isinstance(form, pd.DataFrame):
        return [form.iloc[i] for i in range(len(form))]
    if isinstance(form, pl.DataFrame):
        return [pl.Series(row) for row in form.rows()]
    return list(form)


@pytest.fixture(scope="module")
def plain():
    return {new: snapshot(fed_at_once(new, X)) for new in (new_tracker, new_partition)}


def fed_at_once(new, form):
    state = new()
    feed_many(state, form, LABELS)
    return state


def fed_one_by_one(new, form):
    state = new()
    for x, label in zip(rows(form), LABELS, strict=True):
        feed(state, x, label)
    return state


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
class TestSamplesInAnyForm:
    @pytest.mark.parametrize("how", [fed_at_once, fed_one_by_one])
    @pytest.mark.parametrize("new", [new_tracker, new_partition])
    def test_give_the_state_of_plain_arrays(self, plain, form, how, new):
        assert snapshot(how(new, form(X))) == plain[new]

    def test_give_the_scores_of_plain_arrays(self, form):
        assert icvi.scores(form(X), LABELS, "all") == icvi.scores(X, LABELS, "all")


@pytest.mark.parametrize("form", [np.asarray, list, pd.DataFrame])
def test_truth_values_are_numbers(form):
    truth = X > 3
    plain = truth.astype(float)
    assert icvi.scores(form(truth), LABELS, "all") == icvi.scores(plain, LABELS, "all")
    for how in (fed_at_once, fed_one_by_one):
        assert snapshot(how(new_tracker, form(truth))) == snapshot(how(new_tracker, plain))


WEIGHTS = np.array([1, 2, 3, 1, 2, 0, 1], float)
WEIGHT_FORMS = {
    "list": list,
    "tuple": tuple,
    "integers": lambda w: w.astype(int),
    "uint8": lambda w: w.astype(np.uint8),
    "float32": lambda w: w.astype(np.float32),
    "big-endian": lambda w: w.astype(">f8"),
    "reversed twice": lambda w: w[::-1].copy()[::-1],
    "read-only": read_only,
    "pandas series": pd.Series,
    "polars series": pl.Series,
}


@pytest.mark.parametrize("form", WEIGHT_FORMS.values(), ids=WEIGHT_FORMS)
def test_weights_in_any_form_give_the_same_state(form):
    given, expected = new_tracker(), new_tracker()
    given.update_many(X, LABELS, form(WEIGHTS))
    expected.update_many(X, LABELS, WEIGHTS)
    assert snapshot(given) == snapshot(expected)
    scores = icvi.scores(X, LABELS, "all", weights=form(WEIGHTS))
    assert scores == icvi.scores(X, LABELS, "all", weights=WEIGHTS)


@pytest.mark.parametrize("weight", [2, True, np.float32(2), np.int8(2), np.array(2.0), 2.0])
def test_one_weight_may_be_any_real_number(weight):
    given, expected = icvi.Partition(), icvi.Partition()
    given.add([1.0, 2.0], "a", weight)
    expected.add([1.0, 2.0], "a", float(weight))
    assert given.counts.tolist() == expected.counts.tolist() == [float(weight)]


class TestABufferThatTheCallerReuses:
    def test_for_samples_one_by_one_changes_nothing(self):
        t, expected = new_tracker(), new_tracker()
        buffer = np.empty(3)
        for x, label in zip(X, LABELS, strict=True):
            buffer[:] = x
            t.update(buffer, label)
            expected.update(x.copy(), label)
            buffer[:] = np.nan
        assert snapshot(t) == snapshot(expected)

    def test_for_chunks_changes_neither_the_state_nor_the_trace(self):
        samples, labels, weights = X.copy(), np.array(LABELS), WEIGHTS.copy()
        t = new_tracker()
        trace = t.update_many(samples, labels, weights)
        before = snapshot(t), trace_content(trace)
        samples[:], labels[:], weights[:] = np.nan, "z", np.nan
        assert (snapshot(t), trace_content(trace)) == before

    def test_for_labels_as_objects_does_not_change_the_trace(self):
        labels = np.array(LABELS, dtype=object)
        trace = new_tracker().update_many(X, labels)
        labels[:] = None
        assert trace.labels.tolist() == LABELS

    def test_is_not_written_to(self):
        samples, labels, weights = X.copy(), np.array(LABELS), WEIGHTS.copy()
        new_tracker().update_many(samples, labels, weights)
        icvi.scores(samples, labels, "all", weights=weights)
        assert bits(samples) == bits(X)
        assert bits(weights) == bits(WEIGHTS)
        assert labels.tolist() == LABELS


def test_a_trace_stays_as_it_was_when_the_stream_goes_on():
    t = new_tracker()
    trace = t.update_many(X, LABELS)
    before = trace_content(trace)
    t.update_many(X + 5.0, [*"defghij"])
    t.update(NEXT, "k")
    assert trace_content(trace) == before


@pytest.mark.parametrize("name", ["counts", "centers", "compactness", "covariances"])
@pytest.mark.parametrize("new", [new_tracker, new_partition])
def test_writing_to_a_returned_array_does_not_change_the_state(new, name):
    state = used(new)
    before = snapshot(state)
    getattr(state, name)[:] = -1.0
    assert snapshot(state) == before


def test_changing_returned_labels_and_values_does_not_change_the_tracker():
    t = used(new_tracker)
    before = snapshot(t)
    t.labels.append("z")
    t.values.clear()
    assert snapshot(t) == before


def test_writing_to_a_trace_does_not_change_the_tracker():
    t = new_tracker()
    trace = t.update_many(X, LABELS)
    before = snapshot(t)
    for name in trace:
        trace[name][:] = -1.0
    trace.k[:] = -1
    trace.labels[:] = "z"
    assert snapshot(t) == before
