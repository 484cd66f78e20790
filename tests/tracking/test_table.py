"""A table of named columns: what it holds, and how it looks."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from icvi.tracking.table import Table

TABLE = Table(
    {
        "label": ["left", "right", None],
        "count": np.array([2.0, 10.0, math.nan]),
        "k": np.array([1, 2, 3]),
        "duda": np.array([0.123456789, 1.0, 1e-9]),
    }
)


def test_columns_rows_and_slices():
    assert TABLE.names == ["label", "count", "k", "duda"]
    assert TABLE["k"].tolist() == [1, 2, 3]
    assert TABLE[1] == {"label": "right", "count": 10.0, "k": 2, "duda": 1.0}
    assert TABLE[-2] == TABLE[1]
    assert type(TABLE[0]["k"]) is int
    assert [row["label"] for row in TABLE] == ["left", "right", None]
    assert len(TABLE[:2]) == 2
    assert TABLE[::2]["k"].tolist() == [1, 3]


def test_what_is_not_there_is_an_error_that_says_so():
    with pytest.raises(KeyError, match=r"'cound' is not a column; there are \['label', 'count'"):
        TABLE["cound"]
    with pytest.raises(IndexError):
        TABLE[3]
    with pytest.raises(ValueError, match=r"columns of one length, got \{'a': 1, 'b': 2\}"):
        Table({"a": [1], "b": [1, 2]})


def test_it_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        TABLE["k"][0] = 9
    with pytest.raises(TypeError):
        TABLE["k"] = TABLE["count"]
    with pytest.raises(AttributeError):
        TABLE.names = []


def test_it_is_aligned_and_rounded_in_a_terminal():
    assert repr(TABLE).splitlines() == [
        "label  count  k    duda",
        "left       2  1  0.1235",
        "right     10  2       1",
        "-        nan  3   1e-09",
    ]


def test_large_counts_keep_their_digits():
    assert repr(Table({"count": [1234567.0]})).splitlines()[1].strip() == "1234567"


def test_numbers_as_objects_are_aligned_like_numbers():
    lines = repr(Table({"nearest": [None, 12]})).splitlines()
    assert lines == ["nearest", "      -", "     12"]


@pytest.mark.parametrize(
    ("rows", "last"), [(20, "19"), (21, "... (1 more row)"), (5020, "... (5,000 more rows)")]
)
def test_twenty_rows_are_shown(rows, last):
    lines = repr(Table({"a": np.arange(rows)})).splitlines()
    assert lines[-1] == last
    assert lines[20].strip() == "19"


def test_odd_labels_do_not_break_the_lines():
    lines = repr(Table({"label": ["a\nb", "x" * 40, (1, 2)]})).splitlines()
    assert lines == ["label", r"'a\nb'", "x" * 21 + "...", "(1, 2)"]


def test_no_rows_and_no_columns():
    assert repr(Table({"a": [], "b": []})) == "a  b\n(no rows)"
    assert repr(Table({})) == "(no rows)"
    assert len(Table({})) == 0
    assert list(Table({})) == []


def test_notebooks_get_html_with_labels_escaped():
    page = Table({"label": ["<b>"] * 21, "n": range(21)})._repr_html_()
    assert page.count("<tr>") == 21
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "1 more row" in page


def test_pandas_gets_the_same_and_may_change_it():
    frame = TABLE.to_pandas()
    assert list(frame.columns) == TABLE.names
    assert frame["k"].dtype == np.int64
    frame.loc[0, "k"] = 99
    assert TABLE["k"][0] == 1


def test_copies_hold_the_same():
    for other in (copy.deepcopy(TABLE), pickle.loads(pickle.dumps(TABLE))):
        assert repr(other) == repr(TABLE)


def test_times_are_shown_as_times_and_stay_such_in_rows():
    times = np.array(["2026-01-01T10:00", "2026-01-01T11:30"], dtype="datetime64[ns]")
    table = Table({"start": times, "n": [1.0, 2.5]})
    assert str(table).splitlines()[1] == "2026-01-01T10:00    1"
    assert table[1]["start"] == np.datetime64("2026-01-01T11:30")
    assert table.to_arrow()["start"].to_numpy().tolist() == times.tolist()


def test_columns_of_several_types_are_strings_in_arrow():
    table = Table({"label": [1, "a", None], "n": [1.0, np.nan, 2.0]}).to_arrow()
    assert table["label"].to_pylist() == ["1", "a", "None"]
    assert table["n"].null_count == 0
