"""Parquet, tables, arrays and iterables; the same data are the same samples whatever the form."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icvi.streams import open_source
from stream_inputs import collected, concatenated, same_rows

RNG = np.random.default_rng(7)
N = 300
X = RNG.normal(size=(N, 3))
STAMPS = np.datetime64("2024-05-01T00:00", "ns") + np.arange(N) * np.timedelta64(1500, "ms")
NAMES = ["x1", "x2", "x3"]


def table(labels, times):
    return pa.table({name: X[:, j] for j, name in enumerate(NAMES)} | {"c": labels, "t": times})


def forms(path, data):
    frame = data.to_pandas()
    text = data.set_column(4, "t", data["t"].cast("string"))
    if pa.types.is_timestamp(data["t"].type):
        frame_text = frame.assign(t=text["t"].to_pylist())
    else:
        frame_text = frame
    frame_text.to_csv(path / "a.csv", index=False)
    frame_text.to_json(path / "a.ndjson", orient="records", lines=True, double_precision=15)
    lines = [json.dumps(row) for row in frame_text.to_dict("records")]
    (path / "a.ndjson").write_text("\n".join(lines))
    pq.write_table(data, path / "a.parquet", row_group_size=70)
    return {
        "csv": path / "a.csv",
        "ndjson": path / "a.ndjson",
        "parquet": path / "a.parquet",
        "pandas": frame,
        "polars": pl.from_arrow(data),
        "arrow": data,
        "record batch": data.combine_chunks().to_batches()[0],
        "batches": data.to_batches(max_chunksize=40),
        "frames": (frame.iloc[at : at + 33] for at in range(0, N, 33)),
    }


@pytest.mark.parametrize("labels", [np.arange(N) % 7, [f"l{i % 5}" for i in range(N)]], ids="is")
@pytest.mark.parametrize("times", [STAMPS, np.arange(N) / 4], ids=["timestamps", "seconds"])
def test_the_same_data_are_the_same_samples_in_every_form(tmp_path, labels, times):
    expected = None
    for form, what in forms(tmp_path, table(labels, times)).items():
        with open_source(what, label="c", time="t", rows=64) as source:
            assert source.columns == ("x1", "x2", "x3"), form
            batches = list(source)
        assert all(len(batch) <= 64 for batch in batches)
        expected = expected or batches
        same_rows(batches, expected)
    rows = concatenated(expected)
    assert rows.labels.tolist() == list(labels)
    assert rows.time.tolist() == np.asarray(times).tolist()
    for what in ((X, labels), [(X, labels)], zip(X, labels), zip(X.tolist(), labels)):
        got = concatenated(collected(what, rows=50))
        assert got.X.tobytes() == rows.X.tobytes()
        assert got.labels.tolist() == rows.labels.tolist()
    for what in (X, list(X), X.tolist(), [X[:100], X[100:]], iter(X), np.asfortranarray(X)):
        assert concatenated(collected(what, rows=50)).X.tobytes() == rows.X.tobytes()
    records = ({"x1": a, "x2": b, "x3": c} for a, b, c in X.tolist())
    with open_source(records, columns=["x2"]) as source:
        assert concatenated(source).X.ravel().tolist() == X[:, 1].tolist()


def memory_forms():
    data = table(np.arange(N) % 7, STAMPS)
    return {
        "pandas": lambda: data.to_pandas(),
        "polars": lambda: pl.from_arrow(data),
        "arrow": lambda: data,
        "batches": lambda: iter(data.to_batches(max_chunksize=40)),
    }


@pytest.mark.parametrize("form", [*memory_forms(), "array", "pairs", "parquet"])
@pytest.mark.parametrize("rows", [1, 7, 50, 1000])
def test_reading_resumes_exactly_after_any_batch(tmp_path, form, rows):
    options = {"label": "c", "time": "t"}
    bad = X.copy()
    bad[[3, 70, 71, 299], 1] = np.nan
    data = table(np.arange(N) % 7, STAMPS).set_column(1, "x2", pa.array(bad[:, 1]))
    if form == "parquet":
        paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
        pq.write_table(data.slice(0, 130), paths[0], row_group_size=40)
        pq.write_table(data.slice(130), paths[1], row_group_size=1000)

        def make():
            return paths
    elif form in ("array", "pairs"):
        options = {}

        def make():
            return bad if form == "array" else zip(bad, range(N))
    else:
        forms_of = {"pandas": data.to_pandas, "polars": lambda: pl.from_arrow(data)}
        forms_of |= {"arrow": lambda: data, "batches": lambda: iter(data.to_batches(40))}
        make = forms_of[form]
    options |= {"bad_rows": "skip"}
    whole = collected(make(), rows=rows, **options)
    assert sum(map(len, whole)) == N - 4
    rng = np.random.default_rng(rows)
    for at in rng.permutation(len(whole))[:25].tolist():
        with open_source(make(), rows=int(rng.integers(1, 90)), **options) as later:
            later.seek(json.loads(json.dumps(whole[at].position)))
            rest = list(later)
            assert later.skipped == 4
        same_rows([*whole[: at + 1], *rest], whole)
        assert not rest or rest[0].first == whole[at].stop


def test_lengths_are_known_where_they_can_be(tmp_path):
    data = table(np.arange(N), STAMPS)
    pq.write_table(data, tmp_path / "a.parquet")
    for what in (
        tmp_path / "a.parquet",
        data,
        data.to_pandas(),
        pl.from_arrow(data),
        X,
        (X, X[:, 0]),
    ):
        with open_source(what) as source:
            assert source.length == N
    assert open_source(iter(X)).length is None


LABELS = {
    "text": (pa.array(["a", "b"]), ["a", "b"]),
    "large text": (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
    "view": (pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
    "digits": (pa.array(["1", "2"]), ["1", "2"]),
    "int": (pa.array([1, 2], pa.int8()), [1, 2]),
    "unsigned": (pa.array([1, 2**64 - 1], pa.uint64()), [1, 2**64 - 1]),
    "boolean": (pa.array([True, False]), [True, False]),
    "dictionary": (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    "numbers in a dictionary": (pa.array([3, 4]).dictionary_encode(), [3, 4]),
    "float": (pa.array([0.5, 2.0]), [0.5, 2.0]),
}


@pytest.mark.parametrize(("labels", "expected"), LABELS.values(), ids=LABELS)
def test_labels_of_any_simple_type_stay_as_they_are(tmp_path, labels, expected):
    data = pa.table({"x": [1.0, 2.0], "c": labels})
    sources = [data]
    try:
        pq.write_table(data, tmp_path / "a.parquet")
        sources.append(tmp_path / "a.parquet")
    except pa.ArrowNotImplementedError:  # older versions cannot write these
        assert labels.type == pa.string_view()
    for what in sources:
        got = concatenated(collected(what, label="c")).labels.tolist()
        assert got == expected
        assert list(map(type, got)) == list(map(type, expected))


NUMBERS = {
    "int64": pa.array([1, 2], pa.int64()),
    "uint8": pa.array([1, 2], pa.uint8()),
    "float32": pa.array([1, 2], pa.float32()),
    "float16": pa.array([np.float16(1), np.float16(2)]),
    "decimal": pa.array([decimal.Decimal("1.00"), decimal.Decimal("2.00")]),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_all_kinds_of_numbers_are_features_and_booleans_are_not(numbers):
    data = pa.table({"x": numbers, "b": [True, False], "s": ["a", "b"]})
    with open_source(data) as source:
        assert source.columns == ("x",)
        assert concatenated(source).X.tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="the table, column 'b': expected numbers, got bool"):
        collected(data, columns=["x", "b"])


DAY = datetime.datetime(2024, 5, 1)
TIMES = {
    "date": (pa.array([DAY.date()]), "2024-05-01"),
    "seconds": (pa.array([DAY], pa.timestamp("s")), "2024-05-01"),
    "zone": (
        pa.array([DAY], pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Europe/Berlin")),
        "2024-05-01",
    ),
    "text": (pa.array(["2024-05-01T02:00:00+02:00"]), "2024-05-01"),
}


@pytest.mark.parametrize(("times", "expected"), TIMES.values(), ids=TIMES)
def test_times_of_any_type_are_nanoseconds(times, expected):
    got = concatenated(collected(pa.table({"x": [1.0], "t": times}), time="t")).time
    assert got.dtype == "datetime64[ns]"
    assert got.tolist() == np.array([expected], "datetime64[ns]").tolist()


BAD = {
    "null": ({"x": [1.0, None]}, "column 'x': expected a number, got nothing"),
    "null among ints": ({"x": [1, None]}, "column 'x': expected a number, got nothing"),
    "nan": ({"x": [1.0, np.nan]}, "column 'x': expected a finite number, got nan"),
    "inf": ({"x": [1.0, -np.inf]}, "column 'x': expected a finite number, got -inf"),
    "too large": ({"x": [1.0, 1e200]}, r"column 'x': expected a number up to 1e\+140"),
    "no label": ({"c": ["a", None]}, "column 'c': expected a label, got nothing"),
    "empty label": ({"c": ["a", ""]}, "column 'c': expected a label, got nothing"),
    "no number as label": ({"c": [1, None]}, "column 'c': expected a label, got nothing"),
    "no boolean as label": ({"c": [True, None]}, "column 'c': expected a label, got nothing"),
    "nan as label": ({"c": [1.0, np.nan]}, "column 'c': expected a label, got nan"),
    "no time": ({"t": [DAY, None]}, "column 't': expected a time, got nothing"),
    "no seconds": ({"t": [1.0, np.nan]}, "column 't': expected a finite number of seconds"),
    "text for a time": ({"t": ["2024-05-01", "soon"]}, "column 't': expected seconds or an ISO"),
    "too late": (
        {"t": pa.array([DAY, datetime.datetime(3000, 1, 1)])},
        "column 't': expected a time between the years 1678 and 2262, got 3000",
    ),
}


@pytest.mark.parametrize(("columns", "message"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_a_bad_row_is_named_or_left_out(tmp_path, columns, message, form):
    data = pa.table({"x": [1.0, 2.0], "c": ["a", "b"], "t": [0.0, 1.0]} | columns)
    what, where = data, "the table"
    if form == "parquet":
        what, where = tmp_path / "a.parquet", "a.parquet"
        pq.write_table(data, what)
    options = {"label": "c", "time": "t"}
    with pytest.raises(ValueError, match=rf"{where}, row 1 \(counted from 0\), {message}"):
        collected(what, **options)
    with open_source(what, bad_rows="skip", **options) as source:
        (batch,) = source
    assert batch.X.tolist() == [[1.0]]
    assert (len(batch.labels), len(batch.time), source.skipped) == (1, 1, 1)


def test_all_rows_bad_are_counted(tmp_path):
    data = pa.table({"x": pa.array([None] * 20, pa.float64())})
    for what in (data, np.full((20, 1), np.nan), [data]):
        with open_source(what, bad_rows="skip", rows=8) as source:
            assert list(source) == []
        assert (source.skipped, len(source.reasons)) == (20, 5)


def test_columns_that_can_never_be_right_are_refused(tmp_path):
    data = pa.table({"x": [1.0], "l": [[1]], "s": ["a"]})
    for options, message in (
        ({"columns": ["s"]}, "the table, column 's': expected numbers, got string"),
        ({"label": "l"}, "the table, column 'l': expected labels .* got list"),
        ({"time": "l"}, "the table, column 'l': expected timestamps or seconds, got list"),
        ({"columns": ["y"]}, "the table has no column 'y'; it has 'x', 'l', 's'"),
    ):
        with pytest.raises(ValueError, match=message):
            collected(data, **options)
    with pytest.raises(TypeError, match="collect"):
        open_source(pl.LazyFrame({"x": [1.0]}))


def test_parquet_files_are_checked(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"no parquet at all")
    with pytest.raises(ValueError, match=r"a.parquet is not a Parquet file, or a damaged one"):
        open_source(path)
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [1, 2]}), path)
    pq.write_table(pa.table({"x": [1.0], "z": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet: .* got it without 'y' and with 'z'"):
        open_source(tmp_path / "*.parquet")
    with pytest.raises(ValueError, match="follow=False"):
        open_source(path, follow=True)
    position = collected(path, rows=1)[0].position
    pq.write_table(pa.table({"x": [2.0, 2.0, 3.0], "y": [7, 1, 2]}), path)
    with pytest.raises(ValueError, match="position is of another stream"):
        open_source(path).seek(position)


def test_arrays_of_other_shapes_and_kinds_are_refused():
    for what, error, message in (
        (np.zeros(3), ValueError, "got .3,.; for one feature use X.reshape"),
        (np.array([["a"]]), TypeError, "expected samples of real numbers, got dtype <U1"),
        (5, TypeError, "cannot read samples from int; expected files, a URL"),
        ({"x": [1]}, TypeError, "cannot read samples from dict"),
        ([5], TypeError, "item 0 of the iterable: expected a sample, .* got int"),
        ([np.zeros((1, 1, 1))], TypeError, "item 0 of the iterable"),
        ([[1.0, 2.0], [1.0]], ValueError, "row 1: expected a value 'x2' like before, got none"),
        ([(X, [1, 2])], ValueError, "as many labels as samples, got 2 for 300"),
    ):
        with pytest.raises(error, match=message):
            collected(what)
    with pytest.raises(
        ValueError, match="expected a file, a Redis stream or a topic to follow, got ndarray"
    ):
        open_source(X, follow=True)
    with pytest.raises(
        ValueError, match="labels beside the samples or in a column of them, got both"
    ):
        collected((X, X[:, 0]), label=0)


def test_bad_samples_in_iterables_are_named_or_left_out():
    pairs = [([1.0, 2.0], "a"), ([1.0, np.nan], "b"), ([None, 2.0], "c"), ([3.0, 4.0], None)]
    with pytest.raises(
        ValueError, match=r"row 1 \(counted from 0\), column 'x2': expected a finite"
    ):
        collected(pairs)
    with open_source([*pairs, ([5.0, 6.0], "e")], bad_rows="skip") as source:
        (batch,) = source
    assert batch.X.tolist() == [[1, 2], [5, 6]]
    assert batch.labels.tolist() == ["a", "e"]
    assert source.skipped == 3
    assert "expected a label, got None" in source.reasons[2]


def test_columns_of_an_array_are_chosen_by_position_or_name():
    array = np.array([[1.0, 2.0, 3.0, 0.5], [4.0, 5.0, 6.0, 1.5]])
    (batch,) = collected(array, columns=[1, "x1"], label=2, time="x4")
    assert batch.X.tolist() == [[2, 1], [5, 4]]
    assert batch.labels.tolist() == [3, 6]
    assert batch.time.tolist() == [0.5, 1.5]
    assert batch.X.flags.c_contiguous
    with pytest.raises(ValueError, match="the array has no column 'z'"):
        collected(array, columns=["z"])


def test_nothing_is_a_stream_of_no_samples():
    for what in (np.empty((0, 3)), [], iter([]), pa.table({"x": pa.array([], "float64")})):
        assert collected(what) == []


def test_an_iterable_is_taken_only_as_far_as_needed():
    taken = []

    def samples():
        for x in X:
            taken.append(1)
            yield x

    source = open_source(samples(), rows=10)
    assert source.columns == ("x1", "x2", "x3")
    assert len(taken) == 10
    next(iter(source))
    assert len(taken) == 10
    rest = concatenated(source)
    assert len(rest.X) == N - 10


def test_the_rows_of_a_frame_need_no_index():
    frame = pd.DataFrame(X, columns=NAMES, index=RNG.permutation(N))
    same_rows(collected(frame), collected(X))
    same_rows(collected(pd.DataFrame(X)), collected(X))
