"""A row of scores_by is what scores returns for the samples of the group, however they come."""

from __future__ import annotations

import datetime
import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
import processes
from icvi.batch.groups import codes as group_codes
from icvi.batch.groups import scoring
from naive import NAIVE
from streams import GAUSSIAN, NAMES

FEW = ["CH", "SIL", "XB"]


@pytest.fixture(params=["numpy", "compiled"])
def way(request, monkeypatch):
    """Both ways to score groups, whatever their number."""
    monkeypatch.setattr(scoring, "_FEW", 10**9 if request.param == "numpy" else 0)
    return request.param


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(scoring, "_FEW", 0)


def grouped(groups=12, d=2, seed=0):
    """Groups of all sizes from 1 on with one to six clusters, in random order of rows."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[1, 2], rng.integers(3, 60, groups - 2)])
    keys = np.repeat(np.arange(groups), sizes)
    labels = rng.integers(0, 1 + keys % 6)
    X = rng.normal(size=(len(keys), d)) + 6.0 * rng.normal(size=(6, d))[labels]
    order = rng.permutation(len(keys))
    return keys[order], X[order], labels[order]


def assert_rows_are_scores(table, keys, X, labels, indices, weights=None, rtol=1e-12, **options):
    for row in table:
        members = np.asarray(keys) == row["key"]
        w = None if weights is None else weights[members]
        expected = icvi.scores(X[members], labels[members], indices, weights=w, **options)
        for name, value in expected.items():
            near = rtol[name] if isinstance(rtol, dict) else rtol
            np.testing.assert_allclose(row[name], value, rtol=near, atol=1e-12, err_msg=name)


def options_of_a_call(which, n):
    rng = np.random.default_rng(9)
    return {
        "plain": {},
        "fractional weights": {"weights": rng.uniform(0.3, 2.0, size=n)},
        "some weights zero": {"weights": rng.integers(0, 3, size=n)},
        "noise": {"noise_label": 0},
        "noise and weights": {"noise_label": 1, "weights": rng.uniform(0.5, 2.0, size=n)},
    }[which]


@pytest.mark.parametrize(
    "which",
    ["plain", "fractional weights", "some weights zero", "noise", "noise and weights"],
)
@pytest.mark.parametrize("d", [1, 5])
def test_a_row_is_the_scores_of_its_group(way, d, which):
    keys, X, labels = grouped(d=d)
    options = options_of_a_call(which, len(X))
    table = icvi.scores_by(keys, X, labels, NAMES, **options)
    assert_rows_are_scores(table, keys, X, labels, NAMES, **options)


def test_a_row_is_the_definition(way):
    keys, X, labels = grouped(groups=8)
    weights = np.random.default_rng(1).uniform(1.0, 2.0, size=len(X))
    for row in icvi.scores_by(keys, X, labels, NAMES, weights=weights):
        members = keys == row["key"]
        for name in NAMES:
            expected = NAIVE[name](X[members], labels[members].tolist(), weights[members])
            assert row[name] == pytest.approx(expected, rel=1e-9, nan_ok=True), name


def test_rows_count_weights_and_clusters_without_noise(way):
    keys, X, labels = grouped()
    weights = np.random.default_rng(1).integers(0, 3, size=len(X))
    table = icvi.scores_by(keys, X, labels, ["CH"], weights=weights, noise_label=2)
    for row in table:
        counted = (keys == row["key"]) & (labels != 2) & (weights > 0)
        assert row["n_samples"] == weights[counted].sum()
        assert row["n_clusters"] == len(set(labels[counted].tolist()))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.integers(1, 6),
    st.booleans(),
    st.integers(1, 3),
)
@settings(max_examples=25, deadline=None)
def test_any_small_groups_are_scored_as_scores_does(seed, n, groups, on_a_grid, d):
    rng = np.random.default_rng(seed)
    keys, labels = rng.integers(groups, size=n), rng.integers(4, size=n)
    X = rng.integers(-2, 3, (n, d)).astype(float) if on_a_grid else rng.normal(size=(n, d))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "_FEW", 0)
        table = icvi.scores_by(keys, X, labels, NAMES)
    # Covariances that are next to singular are certain to 1e-9 only.
    rtol = {name: 1e-7 if name in GAUSSIAN else 1e-12 for name in NAMES}
    assert_rows_are_scores(table, keys, X, labels, NAMES, rtol=rtol)
    reasons = {name: table.why(name) for name in NAMES}
    for at, key in enumerate(table["key"].tolist()):
        expected = icvi.scores(X[keys == key], labels[keys == key], NAMES)
        assert [reasons[name][at] for name in NAMES] == icvi.reasons([*expected.values()])


def test_data_far_from_the_origin_lose_no_digits(compiled):
    keys, X, labels = grouped()
    X = np.round(X * 2**10) / 2**10  # exact at both places
    here, there = (icvi.scores_by(keys, X + at, labels, NAMES) for at in (0.0, 2.0**30))
    for name in NAMES:
        np.testing.assert_allclose(there[name], here[name], rtol=1e-9, err_msg=name)


def test_groups_with_many_clusters_do_not_disturb_those_with_few(compiled):
    rng = np.random.default_rng(3)
    keys = np.concatenate([np.repeat([0, 1, 2], 40), np.full(300, 3), np.repeat([4, 5], 30)])
    labels = np.where(keys == 3, np.arange(len(keys)) % 60, np.arange(len(keys)) % 3)
    X = rng.normal(size=(len(keys), 2)) + 3.0 * rng.normal(size=(60, 2))[labels]
    table = icvi.scores_by(keys, X, labels, NAMES)
    assert table["n_clusters"].tolist() == [3, 3, 3, 60, 3, 3]
    assert_rows_are_scores(table, keys, X, labels, NAMES)


def test_many_groups_are_read_in_several_calls(compiled, monkeypatch):
    from icvi.batch.groups import compiled_pass

    keys, X, labels = grouped(groups=30)
    whole = icvi.scores_by(keys, X, labels, FEW)
    monkeypatch.setattr(compiled_pass, "_BLOCK", 50)
    parts = icvi.scores_by(keys, X, labels, FEW)
    for name in FEW:
        np.testing.assert_array_equal(parts[name], whole[name])


# -- indices ---------------------------------------------------------------------------------


@icvi.index
def mean_radius(s):
    """Mean of CP / n."""
    total = 0.0
    for i in range(s.k):
        total += s.CP[i] / s.n[i]
    return total / s.k


@icvi.index
def by_dictionary(s):
    """What no compiler takes: a dictionary of arrays."""
    return float({"n": s.n, "k": [s.k]}["n"].max())


def test_own_indices_are_scored(way):
    keys, X, labels = grouped()
    table = icvi.scores_by(keys, X, labels, [mean_radius, "CH"])
    assert_rows_are_scores(table, keys, X, labels, [mean_radius, "CH"])


def test_an_own_index_that_cannot_be_compiled_is_scored_with_numpy(compiled):
    keys, X, labels = grouped()
    table = icvi.scores_by(keys, X, labels, [by_dictionary, "CH"])
    assert_rows_are_scores(table, keys, X, labels, [by_dictionary, "CH"])


def test_indices_on_prototypes_are_read_from_a_stream_of_the_group(way):
    keys, X, labels = grouped(groups=3)
    table = icvi.scores_by(keys, X, labels, ["CH", "Conn", "XB"], noise_label=0)
    assert table.names[3:] == ["CH", "Conn", "XB"]
    assert_rows_are_scores(table, keys, X, labels, ["CH", "Conn", "XB"], noise_label=0)


def test_options_of_indices_reach_the_formula(way):
    keys, X, labels = grouped(groups=6)
    chosen = [icvi.NI(delta=0.1), icvi.rCIP(log_rcip=True), icvi.rH(delta=0.5), icvi.I(p=1), "NI"]
    assert_rows_are_scores(icvi.scores_by(keys, X, labels, chosen), keys, X, labels, chosen)


# -- undefined values ------------------------------------------------------------------------


def test_reasons_of_undefined_values_can_be_asked_for(way):
    keys = ["one", "two", "two", "noise", "three", "three", "three"]
    X, labels = np.array([[0.0], [0.0], [1.0], [5.0], [2.0], [2.0], [4.0]]), [0, 0, 1, -1, 0, 0, 1]
    table = icvi.scores_by(keys, X, labels, ["CH"], noise_label=-1)
    assert table.why("CH") == ["k<2", "N<=k", "empty", "zero_within"]
    assert icvi.reasons(table.to_pandas()["CH"]) == table.why("CH")
    assert icvi.reasons(table.to_arrow()["CH"]) == table.why("CH")
    limits = icvi.scores_by(keys, X, labels, ["CH"], noise_label=-1, undefined="limit")
    assert limits["CH"][3] == math.inf


def test_an_undefined_value_can_raise_and_names_its_group(way):
    with pytest.raises(icvi.UndefinedIndexError, match="CH is undefined in group 'b': k<2"):
        icvi.scores_by(
            list("aaaab"), np.arange(5.0)[:, None], [0, 0, 1, 1, 0], ["CH"], undefined="raise"
        )


# -- keys and labels -------------------------------------------------------------------------


def test_groups_are_in_order_of_first_appearance(way):
    table = icvi.scores_by([3, 1, 3, 2], [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0], ["CH"])
    assert table["key"].tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "kinds",
    [
        ["a", "b"],
        [1, "1"],
        [("x", 1), ("x", 2)],
        [None, frozenset([1])],
        [2**70, -1],
        [True, False],
        [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)],
        [1.5, -0.5],
    ],
    ids=str,
)
def test_keys_and_labels_may_be_anything_hashable(way, kinds):
    keys, X, labels = grouped(groups=2)
    named = [kinds[key] for key in keys.tolist()]
    plain = icvi.scores_by(keys, X, labels % 2, FEW)
    table = icvi.scores_by(named, X, [kinds[label % 2] for label in labels.tolist()], FEW)
    assert table["key"].tolist() == [kinds[key] for key in plain["key"]]
    for name in FEW:
        np.testing.assert_array_equal(table[name], plain[name])


@pytest.mark.parametrize(
    "made",
    [
        np.array,
        lambda keys: np.array(keys) * 10**15,
        lambda keys: np.array(keys).astype(str),
        lambda keys: np.array([f"k{key}" for key in keys], dtype=object),
        lambda keys: pd.Series(keys).astype(str),
        lambda keys: pd.Series(keys).astype(str).astype("category"),
        lambda keys: pl.Series(keys).cast(pl.String),
        lambda keys: pl.Series(keys).cast(pl.String).cast(pl.Categorical),
        lambda keys: pl.Series(keys).cast(pl.Float64),
        lambda keys: pa.array(keys),
        lambda keys: pa.chunked_array([keys[:50], keys[50:]]).cast("string").dictionary_encode(),
        lambda keys: np.array(keys, dtype=np.uint64) + np.uint64(2**63),
    ],
)
def test_keys_of_any_container_make_the_same_groups(made, monkeypatch):
    monkeypatch.setattr(group_codes, "_MANY", 10)
    keys, X, labels = grouped()
    expected, table = (icvi.scores_by(k, X, labels, FEW) for k in (keys, made(keys.tolist())))
    for name in ["n_samples", *FEW]:
        np.testing.assert_array_equal(table[name], expected[name])


# -- frames ----------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "device": ["pump", "fan", "pump", "fan", "pump", "pump", "fan"],
        "day": [1, 1, 2, 1, 1, 2, 1],
        "x": [0.0, 5.0, 1.0, 6.0, 8.0, 9.0, 1.0],
        "y": [0, 5, 2, 6, 8, 8, 1],
        "label": ["a", "a", "a", "a", "b", "b", "b"],
        "ok": [True] * 7,
        "w": [1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0],
    }
)
FRAMES = {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "pyarrow": pa.Table.from_pandas(FRAME)}


def as_lists(frame):
    """The columns of any frame as lists."""
    frame = frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame
    frame = frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict("list")
    return {name: list(column) for name, column in frame.items()}


@pytest.mark.parametrize("package", FRAMES)
class TestFrames:
    def test_a_frame_gives_a_frame_of_its_package(self, package):
        frame = FRAMES[package]
        table = icvi.scores_by("device", frame, "label", ["CH"], features=["x", "y"])
        assert type(table) is type(frame)
        found = as_lists(table)
        assert list(found) == ["device", "n_samples", "n_clusters", "CH"]
        assert found["device"] == ["pump", "fan"]
        expected = icvi.scores_by(FRAME["device"].tolist(), FRAME[["x", "y"]], FRAME["label"], "CH")
        assert found["CH"] == expected["CH"].tolist()

    def test_features_are_the_numbers_that_nothing_else_names(self, package):
        table = icvi.scores_by("device", FRAMES[package], "label", ["CH"], weights="w")
        expected = icvi.scores_by(
            *(FRAME["device"].tolist(), FRAME[["day", "x", "y"]], FRAME["label"].tolist(), ["CH"]),
            weights=FRAME["w"],
        )
        assert as_lists(table)["CH"] == expected["CH"].tolist()

    def test_several_columns_make_a_group_together(self, package):
        frame = FRAMES[package]
        table = as_lists(icvi.scores_by(["device", "day"], frame, "label", ["CH"], features="x"))
        assert [*zip(table["device"], table["day"])] == [("pump", 1), ("fan", 1), ("pump", 2)]
        assert table["n_samples"] == [2.0, 3.0, 2.0]

    def test_keys_labels_and_weights_may_be_columns(self, package):
        frame = FRAMES[package]
        by_name = icvi.scores_by("device", frame, "label", ["CH"], weights="w", features=["x"])
        by_value = icvi.scores_by(
            *(frame["device"], frame, frame["label"], ["CH"]), weights=frame["w"], features=["x"]
        )
        assert as_lists(by_value)["CH"] == as_lists(by_name)["CH"]

    def test_a_noise_label_is_left_out(self, package):
        table = icvi.scores_by("device", FRAMES[package], "label", ["CH"], noise_label="b")
        assert as_lists(table)["n_samples"] == [2.0, 2.0]

    def test_a_column_that_is_not_there_is_refused(self, package):
        with pytest.raises(ValueError, match=r"no column is called 'devise'; there are 'device'"):
            icvi.scores_by("devise", FRAMES[package], "label")
        with pytest.raises(ValueError, match="no column is called 'z'"):
            icvi.scores_by("device", FRAMES[package], "label", features=["z"])

    def test_a_missing_key_or_label_is_refused_with_its_row(self, package):
        missing = FRAME.assign(device=["pump", "fan", None, *FRAME["device"][3:]])
        frame = {
            "pandas": missing,
            "polars": pl.from_pandas(missing),
            "pyarrow": pa.Table.from_pandas(missing),
        }[package]
        with pytest.raises(ValueError, match="keys, row 2: the value is missing"):
            icvi.scores_by("device", frame, "label", features=["x"])
        with pytest.raises(ValueError, match="labels, row 2: the value is missing"):
            icvi.scores_by("day", frame, "device", features=["x"])

    def test_a_missing_number_is_refused_with_its_row(self, package):
        missing = FRAME.assign(x=[0.0, None, *FRAME["x"][2:]])
        frame = {
            "pandas": missing,
            "polars": pl.from_pandas(missing),
            "pyarrow": pa.Table.from_pandas(missing),
        }[package]
        with pytest.raises(ValueError, match="sample 1, feature 0"):
            icvi.scores_by("device", frame, "label", features=["x"])

    def test_a_key_that_a_column_of_the_result_is_called_is_refused(self, package):
        renamed = FRAME.rename(columns={"device": "n_samples"})
        frame = {
            "pandas": renamed,
            "polars": pl.from_pandas(renamed),
            "pyarrow": pa.Table.from_pandas(renamed),
        }[package]
        with pytest.raises(ValueError, match="the result has a column 'n_samples' of its own"):
            icvi.scores_by("n_samples", frame, "label")


def test_keys_of_a_frame_keep_their_type():
    days = pd.date_range("2026-01-01", periods=7, tz="Europe/Paris")
    table = icvi.scores_by("day", FRAME.assign(day=days), "label", ["CH"])
    assert table["day"].dtype == days.dtype
    as_category = FRAME.assign(device=FRAME["device"].astype("category"))
    assert icvi.scores_by("device", as_category, "label", ["CH"])["device"].dtype == "category"


def test_columns_with_one_name_are_refused():
    frame = FRAME[["device", "x", "label"]].set_axis(["device", "x", "x"], axis=1)
    with pytest.raises(ValueError, match="several columns are called 'x'"):
        icvi.scores_by("device", frame, "x")


def test_a_frame_without_numbers_is_refused():
    with pytest.raises(ValueError, match="no column is left for features"):
        icvi.scores_by("device", FRAME[["device", "label", "ok"]], "label")


def test_a_table_becomes_a_frame_of_pandas_or_arrow():
    table = icvi.scores_by([("a", 1), "b"], [[0.0], [1.0]], [0, 0], ["CH"])
    assert table.to_pandas()["key"].tolist() == [("a", 1), "b"]
    arrow = table.to_arrow()
    assert arrow["key"].to_pylist() == ["('a', 1)", "b"]
    assert arrow["n_clusters"].to_pylist() == [1, 1]


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [[0.0], [1.0]], [0, 0]), "got 1 for 2 samples"),
        (([1, 1], [[0.0], [1.0]], [0]), "got 1 for 2 samples"),
        (([1, 1], [[0.0], [np.nan]], [0, 0]), "sample 1, feature 0"),
        (([1, [2]], [[0.0], [1.0]], [0, 0]), r"keys, row 1: expected a hashable"),
        (([1, 1], [[0.0], [1.0]], [0, (1, math.nan)]), "labels, row 1: a label must equal itself"),
        (([1.0, math.nan], [[0.0], [1.0]], [0, 0]), "keys, row 1: a label must equal itself"),
        ((np.array([1.0, math.nan]), [[0.0], [1.0]], [0, 0]), "keys, .*: label 1 is nan"),
        (([1, 1], [[0.0], [1.0]], np.array([0.0, math.nan])), "label 1 is nan"),
        ((pd.Series([1]), [[0.0], [1.0]], [0, 0]), "expected 2 keys, one per row, got 1"),
        (("ab", [[0.0], [1.0]], [0, 0]), "expected a sequence of 2 labels, got one str"),
        (([], np.empty((0, 1)), []), "at least one sample"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        icvi.scores_by(*arguments, indices="CH")


def test_bad_options_are_refused():
    keys, X, labels = grouped(groups=2)
    with pytest.raises(ValueError, match=r"got -1.0 at 1"):
        icvi.scores_by([1, 1], [[0.0], [1.0]], [0, 0], "CH", weights=[1.0, -1.0])
    with pytest.raises(ValueError, match="features names columns of a frame"):
        icvi.scores_by(keys, X, labels, features=["x"])
    with pytest.raises(ValueError, match="expected undefined to be one of"):
        icvi.scores_by(keys, X, labels, undefined="zero")
    with pytest.raises(TypeError, match="expected a hashable label"):
        icvi.scores_by(keys, X, labels, noise_label=[1])


def test_few_groups_need_numpy_alone():
    code = (
        "import sys, icvi; icvi.scores_by([1, 1, 2], [[0.0], [1.0], [5.0]], [0, 1, 1], 'paper');"
        "print([m for m in ('numba', 'pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    done = processes.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
