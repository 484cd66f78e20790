"""A decorated function of the state is an index: compiled in a tracker, interpreted by scores."""

import copy
import functools
import math
import pickle
import sys

import numba
import numpy as np
import pytest

import icvi
import processes
from icvi.indices import calinski_harabasz
from naive import NAIVE
from streams import blobs

X, LABELS = blobs(60, 2, 4)
FACTOR = 2.5
TABLE = np.array([1.0, 10.0])


@icvi.index
def bare(s):
    """Mean of the clusters' mean squared radii.

    More words that are not the title.
    """
    total = 0.0
    for i in range(s.k):
        total += s.CP[i] / s.n[i]
    return total / s.k


@icvi.index(
    name="Ball", title="Ball-Hall", direction="min", range=(0.0, math.inf), reference="1965"
)
def with_arguments(s):
    return s.W / s.k


def widest(s):
    best = 0.0
    for i in range(s.k):
        best = max(best, s.var[i])
    return best


def closest(s):
    return s.D_min / widest(s)


@numba.njit
def halved(s):
    return s.CP_0 / 2


@icvi.index
def with_helpers(s):
    return closest(s) + halved(s)


@icvi.index
def with_globals(s):
    return FACTOR * s.B + TABLE[1] * s.beta_T


@icvi.index
def with_numpy(s):
    return np.sqrt(np.max(s.farthest)) + np.exp(-s.N) + s.b.sum()


@icvi.index
def with_a_comprehension(s):
    return max([s.nearest[i] / s.n[i] for i in range(s.k)])


@icvi.index
def not_a_number(s):
    return math.nan


@icvi.index
def whole_number(s):
    return s.k * 2


def closure_over_numbers(power, scale):
    @icvi.index(name=f"power {power}")
    def powered(s):
        return scale * s.W**power

    return powered


def closure_over_a_function():
    def ratio(s):
        return s.B / s.N

    @icvi.index(name="nested")
    def nested(s):
        return ratio(s) * 2.0

    return nested


# Every field of the state, in groups so that no number drowns another.


@icvi.index
def sizes(s):
    total = s.k + 10.0 * s.d + 100.0 * s.N
    for i in range(s.k):
        total += (i + 1) * s.n[i]
    return total


@icvi.index
def moments(s):
    total = s.CP_0 + 2.0 * s.W + 3.0 * s.B + 5.0 * s.beta_T + s.closeness + s.pooled
    for i in range(s.k):
        total += (i + 1) * (s.CP[i] + 2.0 * s.var[i] + 3.0 * s.sep[i])
        for t in range(s.d):
            total += (t + 1) * ((i + 1) * s.v[i, t] + 7.0 * s.mu[t])
    return total


@icvi.index
def distances(s):
    total = s.D_min + 2.0 * s.D_max
    for i in range(s.k):
        total += (i + 1) * (s.nearest[i] + 2.0 * s.farthest[i] + 3.0 * s.b[i] + 5.0 * s.R[i])
    return total


@icvi.index
def scatter(s):
    total = 0.0
    for i in range(s.k):
        for q in range(s.S.shape[0]):
            total += (i + 1) * (q + 1) * s.S[q, i] + s.d
    return total


@icvi.index
def gaussians(s):
    total = s.logdet_T + 2.0 * s.h_sum + 3.0 * s.cip_sum + 5.0 * s.log_cip
    for i in range(s.k):
        total += (i + 1) * s.logdet[i]
    return total


FIELDS = [sizes, moments, distances, scatter, gaussians]
OWN = [
    bare, with_arguments, with_helpers, with_globals, with_numpy,
    whole_number, closure_over_numbers(3, 0.5), closure_over_numbers(-1, 2),
]  # fmt: skip


@pytest.fixture(scope="module")
def stream():
    """A tracker of many own indices among others, and its trace."""
    t = icvi.Tracker(["CH", *OWN, "SIL", *FIELDS[:-1]])
    return t, t.update_many(X, LABELS)


def named(case):
    """A test's name: the index's, the function's, or none of its own."""
    return getattr(case, "name", getattr(case, "__name__", ""))


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [*OWN, *FIELDS[:-1]], ids=named)
def test_compiled_readings_are_those_of_the_plain_function(stream, index):
    t, trace = stream
    for upto in (2, 9, 30, 60):
        expected = icvi.score(X[:upto], LABELS[:upto], index)
        assert trace[index][upto - 1] == pytest.approx(expected, rel=1e-10, nan_ok=True), upto
    assert math.isfinite(t[index])
    assert t[index] == t[index.name] == t.values[index.name] == trace[index][-1]


def test_fields_that_depend_on_delta_are_those_of_the_plain_function():
    t = icvi.Tracker([gaussians])
    t.update_many(X, LABELS)
    assert math.isfinite(t["gaussians"])
    assert t["gaussians"] == pytest.approx(icvi.score(X, LABELS, gaussians), rel=1e-10)


def test_fields_that_depend_on_delta_take_the_default_one():
    @icvi.index
    def own(s):
        return s.h_sum

    t = icvi.Tracker([own])
    t.update_many(X, LABELS)
    assert t["own"] == pytest.approx(NAIVE["rH"](X, LABELS), rel=1e-9)
    assert icvi.score(X, LABELS, own) == pytest.approx(NAIVE["rH"](X, LABELS), rel=1e-9)


def test_the_groups_use_every_field_of_the_state():
    assert {name for index in FIELDS for name in index.needs} == {*icvi.State._fields}


def test_own_indices_do_not_disturb_the_others(stream):
    t, _ = stream
    alone = icvi.Tracker(["CH", "SIL"])
    alone.update_many(X, LABELS)
    for name, value in alone.values.items():
        assert t[name] == pytest.approx(value, rel=1e-13)


def test_single_samples_are_read_the_same(stream):
    t = icvi.Tracker(OWN)
    for x, label in zip(X, LABELS, strict=True):
        t.update(x, label)
    for index in OWN:
        assert t[index] == pytest.approx(stream[0][index], rel=1e-12)


def test_known_values_come_out():
    data, labels = [[0.0], [2.0], [10.0], [14.0]], [0, 0, 1, 1]
    assert icvi.score(data, labels, bare) == 2.5
    assert icvi.score(data, labels, with_arguments) == 5.0
    assert icvi.scores(data, labels, ["CH", whole_number])["whole_number"] == 4.0


def test_a_whole_number_is_read_as_a_float(stream):
    t, _ = stream
    assert isinstance(t["whole_number"], float)
    assert t["whole_number"] == 8.0


def test_a_function_may_call_a_function_of_its_own_scope():
    index = closure_over_a_function()
    assert index.needs == ("N", "B")
    t = icvi.Tracker([index])
    t.update_many(X, LABELS)
    assert t[index] == pytest.approx(icvi.score(X, LABELS, index), rel=1e-12)


def test_a_function_may_hold_a_comprehension():
    t = icvi.Tracker([with_a_comprehension])
    t.update_many(X, LABELS)
    expected = icvi.score(X, LABELS, with_a_comprehension)
    assert t["with_a_comprehension"] == pytest.approx(expected, rel=1e-12)


def test_default_arguments_have_their_default_values():
    @icvi.index
    def weighted(s, power=3.0):
        return s.N * power

    t = icvi.Tracker([weighted])
    t.update_many(X, LABELS)
    assert t["weighted"] == icvi.score(X, LABELS, weighted) == 180.0


# -- facts -------------------------------------------------------------------------------------


def test_facts_come_from_the_function_by_default():
    assert isinstance(bare, icvi.Index)
    assert bare.name == "bare"
    assert bare.title == "Mean of the clusters' mean squared radii"
    assert bare.direction == "max"
    assert bare.range == (-math.inf, math.inf)
    assert bare.reference == ""


def test_facts_can_be_given():
    assert with_arguments.name == "Ball"
    assert with_arguments.title == "Ball-Hall"
    assert with_arguments.direction == "min"
    assert with_arguments.range == (0.0, math.inf)
    assert with_arguments.reference == "1965"


def test_without_a_docstring_the_name_is_the_title():
    assert sizes.title == sizes.name == "sizes"


@pytest.mark.parametrize(
    ("index", "needs"),
    [
        (bare, {"k", "n", "CP"}),
        (with_arguments, {"k", "W"}),
        (with_helpers, {"k", "var", "D_min", "CP_0"}),
        (with_a_comprehension, {"k", "n", "nearest"}),
        (distances, {"k", "nearest", "farthest", "D_min", "D_max", "b", "R"}),
        (not_a_number, set()),
    ],
    ids=named,
)
def test_needs_are_found_in_the_function_and_its_helpers(index, needs):
    assert {*index.needs} == needs


def test_needs_can_be_given():
    @icvi.index(needs=("k", "D_min"))
    def asked(s):
        return getattr(s, "D_min") + s.k  # noqa: B009 - a name that cannot be found

    assert asked.needs == ("k", "D_min")
    assert icvi.score(X, LABELS, asked) == pytest.approx(4 + icvi.score(X, LABELS, dmin))


@icvi.index
def dmin(s):
    return s.D_min


def test_the_direction_shows_in_the_trace(stream):
    _, trace = stream
    assert (trace.direction("Ball"), trace.direction(bare)) == ("min", "max")


def test_an_index_needs_no_compiler_to_be_made_or_called_on_a_state():
    state = icvi.State(**dict.fromkeys(icvi.State._fields, 0.0) | {"W": 6.0, "k": 3})
    assert with_arguments(state) == 2.0


# -- undefined values --------------------------------------------------------------------------


@icvi.index
def by_zero(s):
    return s.W / (s.k - 4)


@icvi.index
def zero_by_zero(s):
    return (s.k - 4) / (s.k - 4)


@icvi.index
def log_of_minus_one(s):
    return math.log(-s.N)


@icvi.index
def infinite(s):
    return math.inf * s.N


@icvi.index
def minus_infinite(s):
    return -math.inf * s.N


@icvi.index
def raises_value_error(s):
    if s.k == 4:
        raise ValueError("four is too many")
    return 1.0


@icvi.index
def raises_runtime_error(s):
    if s.k == 4:
        raise RuntimeError("four is too many")
    return 1.0


WITHOUT_VALUE = [
    by_zero, zero_by_zero, log_of_minus_one, infinite, minus_infinite, not_a_number,
    raises_value_error, raises_runtime_error,
]  # fmt: skip


@pytest.fixture(scope="module")
def undefined():
    t = icvi.Tracker([*WITHOUT_VALUE, "CH"])
    trace = t.update_many(X, LABELS)
    return t, trace


@pytest.mark.parametrize("index", WITHOUT_VALUE, ids=named)
class TestAFunctionWithoutAValue:
    def test_reads_nan_with_a_reason_in_a_tracker(self, undefined, index):
        t, trace = undefined
        assert math.isnan(t[index])
        assert isinstance(t.why(index), str)
        assert math.isnan(trace[index][-1])

    def test_scores_nan(self, index):
        assert math.isnan(icvi.score(X, LABELS, index))

    def test_does_not_end_the_stream(self, undefined, index):
        t, trace = undefined
        assert len(trace) == 60
        assert t["CH"] == pytest.approx(NAIVE["CH"](X, LABELS), rel=1e-10)


def test_a_function_that_raises_has_values_where_it_does_not(undefined):
    _, trace = undefined
    early = trace.k < 4
    assert early.any()
    for index in (raises_value_error, raises_runtime_error):
        assert (trace[index][early] == 1.0).all()
        assert np.isnan(trace[index][~early]).all()


def test_infinities_are_called_overflows(undefined):
    t, _ = undefined
    assert t.why(infinite) == "overflow"
    assert t.why(minus_infinite) == "negative_overflow"


def test_the_limit_of_an_overflow_is_infinite():
    t = icvi.Tracker([infinite, minus_infinite, not_a_number], undefined="limit")
    t.update_many(X, LABELS)
    scores = icvi.scores(X, LABELS, [infinite, minus_infinite, not_a_number], undefined="limit")
    for values in (t.values, scores):
        assert values["infinite"] == math.inf
        assert values["minus_infinite"] == -math.inf
        assert math.isnan(values["not_a_number"])


def test_undefined_values_of_own_indices_raise_where_asked_to():
    with pytest.raises(icvi.UndefinedIndexError, match="infinite is undefined: overflow"):
        icvi.score(X, LABELS, infinite, undefined="raise")


# -- refusals ----------------------------------------------------------------------------------


def unknown_field(s):
    return s.foo + s.W


def unknown_field_in_a_helper(s):
    return unknown_field(s)


def opens_a_file(s):
    with open("data.csv") as file:
        return float(file.read())


def calls_open(s):
    return open("data.csv")


def undefined_name(s):
    return s.W * nowhere  # noqa: F821 - that is the point


def unknown_function(s):
    return math.cube_root(s.W)


def returns_a_string(s):
    return "large"


def returns_nothing(s):
    s.W + 1.0


def returns_an_array(s):
    return s.n


def adds_a_string(s):
    return s.W + "1"


def imports_a_module(s):
    import os

    return float(os.getpid())


def formats_a_number(s):
    return float(f"{s.W:.3f}")


CAUSES = {
    unknown_field: "foo",
    unknown_field_in_a_helper: "foo",
    opens_a_file: "with|open",
    calls_open: "open",
    undefined_name: "nowhere",
    unknown_function: "cube_root",
    returns_a_string: "float|str",
    returns_nothing: "none|None",
    returns_an_array: "array",
    adds_a_string: "str",
    imports_a_module: "import|IMPORT",
    formats_a_number: "f-string|FORMAT",
}


@pytest.mark.parametrize(("function", "cause"), CAUSES.items(), ids=named)
def test_a_function_that_cannot_be_compiled_says_why(function, cause):
    index = icvi.index(function, name=f"own {function.__name__}")
    with pytest.raises(icvi.IndexCompilationError, match=cause) as error:
        icvi.Tracker(["CH", index])
    assert f"index 'own {function.__name__}' cannot be compiled" in str(error.value)


def test_the_error_says_what_an_index_may_use():
    with pytest.raises(icvi.IndexCompilationError, match=r"fields of icvi\.State"):
        icvi.Tracker([icvi.index(unknown_field)])


def test_the_error_is_a_type_error():
    assert issubclass(icvi.IndexCompilationError, TypeError)


@pytest.mark.parametrize("direction", ["up", "MAX", None, 1])
def test_a_wrong_direction_is_refused(direction):
    with pytest.raises(ValueError, match="expected direction 'max' or 'min', got"):
        icvi.index(direction=direction)(unknown_field)


@pytest.mark.parametrize("thing", ["CH", 5, [1]])
def test_what_is_no_function_cannot_be_decorated(thing):
    with pytest.raises(TypeError, match="expected a function of the state, got"):
        icvi.index(thing)


@pytest.mark.parametrize(
    "use",
    [
        lambda f: icvi.Tracker([f]),
        lambda f: icvi.Tracker(f),
        lambda f: icvi.score(X, LABELS, f),
        lambda f: icvi.scores(X, LABELS, ["CH", f]),
    ],
)
def test_a_function_without_the_decorator_is_refused_with_a_hint(use):
    with pytest.raises(TypeError, match=r"decorate your own function with @icvi\.index"):
        use(widest)


def test_an_own_index_with_the_name_of_another_is_refused():
    mine = icvi.index(widest, name="CH")
    with pytest.raises(ValueError, match="every index once, got CH more than once"):
        icvi.Tracker([mine, "CH"])


# -- other processes ---------------------------------------------------------------------------

SCRIPT = """
import math
import pickle
import sys

import joblib
import numba
import numpy as np

import icvi


def root(x):
    return math.sqrt(x)


@icvi.index(direction="min")
def decorated(s):
    return root(s.W / s.N)


def plain(s):
    return root(s.W / s.N) * 2.0


@icvi.index
@numba.njit
def compiled(s):
    return s.W / s.N


def closing_over(factor):
    @icvi.index(name="closure")
    def closure(s):
        return factor * root(s.W / s.N)

    return closure


def fed(tracker, X, labels):
    tracker.update_many(X, labels)
    return tracker


if __name__ == "__main__":
    own = [decorated, icvi.index(plain), compiled, closing_over(3.0)]
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 2)), np.arange(60) % 3
    parts = joblib.Parallel(n_jobs=2, backend=sys.argv[1])(
        joblib.delayed(fed)(icvi.Tracker(["CH", *own]), X[half::2], labels[half::2])
        for half in range(2)
    )
    assert parts[0].indices[1].reading is decorated.reading
    parts = pickle.loads(pickle.dumps(parts))
    values = (parts[0] + parts[1]).values
    for name, value in icvi.scores(X, labels, ["CH", *own]).items():
        assert math.isclose(values[name], value, rel_tol=1e-12), (name, values[name], value)
    print(", ".join(values))
"""


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_own_indices_of_a_script_work_in_other_processes(tmp_path, backend):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = processes.run(
        [sys.executable, "script.py", backend],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "CH, decorated, plain, compiled, closure\n"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("index", [bare, with_arguments, with_helpers], ids=named)
def test_an_own_index_of_a_module_is_pickled_by_its_name(index, protocol):
    written = pickle.dumps(index, protocol)
    assert pickle.loads(written).reading is index.reading
    assert len(written) < 1000


def test_pickles_of_older_versions_hold_the_place_of_a_function():
    facts = {key: value for key, value in vars(bare).items() if key != "reading"}
    make = bare.__reduce__()[0]
    assert make(__name__, "bare", facts).reading is bare.reading


def test_an_own_index_inside_a_function_takes_its_code_along():
    twins = [pickle.loads(pickle.dumps(closing_over(factor))) for factor in (2.0, 2.0, 3.0)]
    assert [icvi.score(X, LABELS, twin) for twin in twins] == [
        factor * icvi.score(X, LABELS, with_arguments) for factor in (2.0, 2.0, 3.0)
    ]


def test_what_comes_several_times_is_compiled_once():
    written = pickle.dumps(closing_over(5.0))
    assert pickle.loads(written).reading is pickle.loads(written).reading


def test_an_own_index_that_is_no_longer_there_is_an_error():
    facts = {key: value for key, value in vars(bare).items() if key != "reading"}
    make = bare.__reduce__()[0]
    with pytest.raises(AttributeError, match="no_longer"):
        make(__name__, "no_longer", facts)


def closing_over(factor):
    @icvi.index
    def closure(s):
        return factor * (s.W / s.k)

    return closure


# -- whose it is -------------------------------------------------------------------------------


def test_indices_of_the_catalogue_are_not_own():
    assert [index.name for index in icvi.catalogue() if index.own] == []
    made = [icvi.I(1), icvi.NI(), icvi.rCIP(prototypes=True), icvi.rH(mean=True), icvi.Conn()]
    assert not any(index.own for index in made)


@pytest.mark.parametrize("index", [bare, with_arguments, closure_over_numbers(2, 1)], ids=named)
def test_an_index_that_a_user_decorates_is_own(index):
    assert index.own
    assert index.spec == {"own": index.name}


def test_a_function_that_wraps_a_reading_of_icvi_is_own():
    """It has the module and the name of what it wraps, but is another index."""

    @icvi.index(name="halved CH")
    @functools.wraps(calinski_harabasz.CH.reading)
    def wrapper(s):
        return s.B / s.W / 2.0

    assert wrapper.own
    t = icvi.Tracker(["CH", wrapper])
    t.update_many(X, LABELS)
    assert t["halved CH"] == pytest.approx(icvi.score(X, LABELS, wrapper), rel=1e-12)
    assert t["halved CH"] != t["CH"]
    assert pickle.loads(pickle.dumps(t)).values == t.values


@pytest.mark.parametrize("module", ["icvi.indices.mine", "icvi.indices", "icvi", None])
def test_a_function_of_any_module_is_own(module):
    def function(s):
        return s.W

    function.__module__ = module
    assert icvi.index(function).own


@pytest.mark.parametrize(
    "name", ["it's", '"quoted"', "{braces}", "back\\slash", "new\nline", "日本"]
)
def test_readings_have_the_name_of_an_index_whatever_it_is(name):
    """The dictionary of readings is made by code that has the names in it."""
    own = icvi.index(name=name)(lambda s: s.W / s.k)
    t = icvi.Tracker(["CH", own])
    t.update_many([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    assert list(t.values) == ["CH", name]
    assert t.values[name] == pytest.approx(1.25)
    assert list(copy.deepcopy(t).values) == list(t.values)
