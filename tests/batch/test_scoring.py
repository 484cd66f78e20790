"""Scores of data at hand are the readings at the end of a stream, without the compiler."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given

import icvi
import processes
from naive import NAIVE
from streams import GAUSSIAN, NAMES, blobs, labelled_streams

PAPER = ["CH", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS"]

PARAMETRISED = [
    (icvi.I(p=1), "I", {"p": 1}),
    (icvi.I(p=0.5), "I", {"p": 0.5}),
    (icvi.NI(delta=0.1), "NI", {"delta": 0.1}),
    (icvi.NI(epsilon=3), "NI", {"epsilon": 3}),
    (icvi.rCIP(log_rcip=True), "rCIP", {"log_rcip": True}),
    (icvi.rCIP(mean=True), "rCIP", {"mean": True}),
    (icvi.rCIP(log_rcip=True, mean=True), "rCIP", {"log_rcip": True, "mean": True}),
    (icvi.rH(mean=True), "rH", {"mean": True}),
    (icvi.rH(delta=0.5), "rH", {"delta": 0.5}),
]


def options_of_a_call(which, n):
    rng = np.random.default_rng(9)
    return {
        "plain": {},
        "whole weights": {"weights": rng.integers(1, 4, size=n)},
        "fractional weights": {"weights": rng.uniform(0.3, 2.0, size=n)},
        "some weights zero": {"weights": rng.integers(0, 3, size=n)},
        "noise": {"noise_label": 0},
        "noise and weights": {"noise_label": 0, "weights": rng.uniform(0.5, 2.0, size=n)},
    }[which]


def counted(X, labels, weights=None, noise_label=None):
    """The samples that are in a cluster, for references that know nothing of noise."""
    keep = labels != noise_label if noise_label is not None else np.full(len(X), True)
    return X[keep], labels[keep], None if weights is None else weights[keep]


def tracked(X, labels, indices, weights=None, noise_label=None):
    t = icvi.Tracker(indices, noise_label=noise_label)
    t.update_many(X, labels, weights)
    return t.values


@pytest.mark.parametrize(
    "which",
    ["plain", "whole weights", "fractional weights", "some weights zero", "noise",
     "noise and weights"],
)  # fmt: skip
@pytest.mark.parametrize(("d", "k"), [(1, 2), (2, 4), (6, 3)])
@pytest.mark.parametrize("name", NAMES)
def test_a_score_is_the_definition_and_the_end_of_the_stream(name, d, k, which):
    X, labels = blobs(50, d, k, seed=d)
    options = options_of_a_call(which, len(X))
    value = icvi.score(X, labels, name, **options)
    assert isinstance(value, float)
    assert value == pytest.approx(
        NAIVE[name](*counted(X, labels, **options)), rel=1e-9, nan_ok=True
    )
    assert value == pytest.approx(
        tracked(X, labels, [name], **options)[name], rel=1e-9, nan_ok=True
    )


@pytest.mark.parametrize(
    ("index", "naive", "parameters"), PARAMETRISED, ids=[index.name for index, *_ in PARAMETRISED]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_parameters_reach_the_formula(index, naive, parameters, weighted):
    X, labels = blobs(50, 2, 4)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=50) if weighted else None
    value = icvi.score(X, labels, index, weights=weights)
    assert value == pytest.approx(NAIVE[naive](X, labels, weights, **parameters), rel=1e-9)
    assert value != icvi.score(X, labels, naive, weights=weights)


@given(labelled_streams())
def test_scores_of_any_small_stream_are_the_definitions(stream):
    X, labels = stream
    for name, value in icvi.scores(X, labels, "all").items():
        rel, least = (1e-6, 1e-7) if name in GAUSSIAN else (1e-9, 1e-12)
        expected = NAIVE[name](X, labels.tolist())
        assert value == pytest.approx(expected, rel=rel, abs=least, nan_ok=True), name


def test_scores_of_the_paper_come_in_its_order():
    X, labels = blobs()
    assert list(icvi.scores(X, labels)) == PAPER
    assert list(icvi.scores(X, labels, "paper")) == PAPER
    assert list(icvi.scores(X, labels, "all")) == NAMES


def test_scores_take_names_and_objects():
    X, labels = blobs()
    scores = icvi.scores(X, labels, ["XB", icvi.I(p=1), "CH", icvi.NI(delta=1), icvi.rH])
    assert list(scores) == ["XB", "I(p=1)", "CH", "NI(delta=1)", "rH"]
    # To rounding: with covariances CP is their trace, and libraries sum in orders of their own.
    alone = {
        "XB": icvi.score(X, labels, "XB"),
        "I(p=1)": icvi.score(X, labels, icvi.I(p=1)),
        "CH": icvi.score(X, labels),
        "NI(delta=1)": icvi.score(X, labels, icvi.NI(delta=1)),
        "rH": icvi.score(X, labels, "rH"),
    }
    assert scores == pytest.approx(alone, rel=1e-13)
    assert icvi.scores(X, labels, "XB") == {"XB": alone["XB"]}


@pytest.mark.parametrize("name", NAMES)
def test_an_index_scores_the_same_alone_and_among_all(name):
    X, labels = blobs(k=7)
    among_all = icvi.scores(X, labels, "all")[name]
    assert icvi.score(X, labels, name) == pytest.approx(among_all, rel=1e-13)


@pytest.mark.parametrize("index", ["paper", "all", ["CH", "XB"]])
def test_one_score_of_several_indices_is_refused(index):
    with pytest.raises(
        ValueError, match=r"expected one index, got .*; use icvi.scores for several"
    ):
        icvi.score([[0.0], [1.0]], [0, 1], index)


def test_unknown_indices_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown index 'Dunn'; expected one of CH, I, PBM"):
        icvi.scores([[0.0], [1.0]], [0, 1], ["CH", "Dunn"])


def test_an_unknown_treatment_of_undefined_scores_is_refused():
    with pytest.raises(ValueError, match="expected undefined to be one of"):
        icvi.score([[0.0], [1.0]], [0, 1], "CH", undefined="zero")


def test_many_clusters_are_scored_in_blocks(monkeypatch):
    X, labels = blobs(300, 2, 60)
    whole = icvi.scores(X, labels, "all")
    monkeypatch.setattr("icvi.indices.from_moments.derived._BLOCK", 500)
    assert icvi.scores(X, labels, "all") == whole


def run(code):
    done = processes.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_scores_need_no_compiler():
    code = (
        "import sys, icvi\n"
        "icvi.scores([[0.0, 1], [2, 0], [9, 8], [7, 9]], [0, 0, 1, 1], 'all')\n"
        "icvi.metrics.rh_score([[0.0], [2], [9], [7]], [0, 0, 1, 1])\n"
        "own = icvi.index(lambda s: s.D_min, name='own')\n"
        "icvi.score([[0.0], [2], [9], [7]], [0, 0, 1, 1], own)\n"
        "icvi.catalogue()\n"
        "print(*(m for m in ('numba', 'llvmlite') if m in sys.modules))"
    )
    assert run(code) == []


def test_importing_the_package_imports_next_to_nothing():
    heavy = ("numpy", "numba", "pandas", "matplotlib", "pyarrow", "rich", "sklearn")
    code = f"import sys, icvi\nprint(*(m for m in {heavy} if m in sys.modules))"
    assert run(code) == []


def test_every_public_name_exists():
    assert {*icvi.__all__} <= {*dir(icvi)}
    for name in icvi.__all__:
        assert getattr(icvi, name) is not None
    with pytest.raises(AttributeError, match="module 'icvi' has no attribute 'nothing'"):
        _ = icvi.nothing


# -- the catalogue -----------------------------------------------------------------------------

DIRECTIONS = {
    "CH": "max", "I": "max", "PBM": "max", "SIL": "max", "NI": "min", "rCIP": "min", "rH": "max",
    "XB": "min", "DB": "min", "PS": "max", "WB": "min", "GD43": "max", "GD53": "max",
    "Conn": "max",
}  # fmt: skip


def test_the_catalogue_lists_every_index_once_with_its_direction():
    assert {index.name: index.direction for index in icvi.catalogue()} == DIRECTIONS
    assert len(icvi.catalogue()) == 14


@pytest.mark.parametrize("index", icvi.catalogue(), ids=lambda index: index.name)
class TestAnEntryOfTheCatalogue:
    def test_has_a_title_a_reference_and_needs(self, index):
        assert isinstance(index, icvi.Index)
        assert index.title
        assert any(character.isdigit() for character in index.reference)  # a year
        assert bool(index.needs) == (index.on == "clusters")
        assert {*index.needs} <= {*icvi.State._fields}

    def test_has_a_range_that_holds_its_readings(self, index):
        low, high = index.range
        assert low < high
        for k in (2, 5):
            trace = icvi.Tracker([index]).update_many(*blobs(80, 2, k))
            values = trace[index][~np.isnan(trace[index])]
            assert values.size
            assert ((values >= low) & (values <= high)).all()

    def test_can_be_given_as_itself(self, index):
        X, labels = blobs(40)
        assert icvi.score(X, labels, index) == icvi.score(X, labels, index.name)

    def test_shows_itself_by_name_and_title(self, index):
        assert repr(index.name) in repr(index)
        assert index.title in repr(index)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in GAUSSIAN])
def test_an_index_reads_no_field_but_those_it_needs(name):
    X, labels = blobs(40)
    seen = []
    spy = icvi.index(lambda s: seen.append(s) or 0.0, name="spy", needs=icvi.State._fields)
    icvi.score(X, labels, spy)
    index = next(index for index in icvi.catalogue() if index.name == name)
    others = {*icvi.State._fields} - {*index.needs}
    state = seen[0]._replace(**dict.fromkeys(others, math.nan))
    assert index(state) == pytest.approx(icvi.score(X, labels, name), rel=1e-12)
