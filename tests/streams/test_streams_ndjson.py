"""NDJSON: one object per line is one sample; what is not is named by line and column."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icvi.streams import open_source
from icvi.streams.bad_rows import BadRows
from icvi.streams.columns import Chosen
from icvi.streams.files.blocks import Block
from icvi.streams.files.ndjson_decoder import NdjsonDecoder
from icvi.streams.times import Times
from stream_inputs import collected, concatenated, same_rows


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_file_is_read_end_to_end(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        '{"x1": 1, "x2": 2.5, "c": "a", "t": "2024-05-01T12:00:00", "more": {"y": [1]}}\n\n'
        '  {"x2": -4e-5, "c": "b", "x1": 3, "t": "2024-05-01T12:00:01", "more": null}\r\n   \n',
    )
    with open_source(path, label="c", time="t") as source:
        assert source.columns == ("x1", "x2")
        (batch,) = source
    assert batch.X.tolist() == [[1.0, 2.5], [3.0, -4e-5]]
    assert batch.labels.tolist() == ["a", "b"]
    assert (batch.time[1] - batch.time[0]) == np.timedelta64(1, "s")
    assert source.done == source.size == path.stat().st_size


#: Line 3 of a file with columns x1, x2, c, t; and its message.
BAD = {
    "a list": (b"[1, 2]", ": expected an object such as .*, got a list"),
    "a number": (b"5", ": expected an object such as .*, got a number"),
    "null": (b"null", ": expected an object such as .*, got null"),
    "text": (b'"a"', r": expected an object such as .*, got text \('a'\)"),
    "missing key": (b'{"x1": 1, "c": "a", "t": 1}', ", column 'x2': the key is missing"),
    "nothing in it": (b"{}", ", column 'x1': the key is missing"),
    "null value": (
        b'{"x1": null, "x2": 2, "c": "a", "t": 1}',
        ", column 'x1': expected a number, got null",
    ),
    "text value": (
        b'{"x1": "1", "x2": 2, "c": "a", "t": 1}',
        r", column 'x1': expected a number, got text \('1'\)",
    ),
    "boolean": (
        b'{"x1": true, "x2": 2, "c": "a", "t": 1}',
        r", column 'x1': expected a number, got a boolean \(true\)",
    ),
    "an object": (
        b'{"x1": {"x": 1}, "x2": 2, "c": "a", "t": 1}',
        ", column 'x1': expected a number, got an object",
    ),
    "a list value": (
        b'{"x1": [1], "x2": 2, "c": "a", "t": 1}',
        ", column 'x1': expected a number, got a list",
    ),
    "twice": (
        b'{"x1": 1, "x2": 2, "x1": 3, "c": "a", "t": 1}',
        ", column 'x1': the key appears 2 times",
    ),
    "trailing comma": (
        b'{"x1": 1, "x2": 2, "c": "a", "t": 1,}',
        r": not valid JSON \(trailing comma in object",
    ),
    "truncated": (b'{"x1": 1, "x2": 2, "c"', ": the line ends in the middle of an object: '{"),
    "two objects": (
        b'{"x1": 1, "x2": 2, "c": "a", "t": 1} {"x1": 1, "x2": 2, "c": "a", "t": 1}',
        ": expected one object per line, got more",
    ),
    "NaN": (
        b'{"x1": NaN, "x2": 2, "c": "a", "t": 1}',
        ": not valid JSON .*NaN and Infinity are neither JSON nor",
    ),
    "too large for float": (b'{"x1": 1e999, "x2": 2, "c": "a", "t": 1}', ".*(1e999|inf|range)"),
    "too large": (
        b'{"x1": 1e141, "x2": 2, "c": "a", "t": 1}',
        r", column 'x1': expected a number up to 1e\+140",
    ),
    "a huge whole number": (
        b'{"x1": 1' + b"0" * 400 + b', "x2": 2, "c": "a", "t": 1}',
        ".*(up to 1e|range)",
    ),
    "single quotes": (b"{'x1': 1}", ": not valid JSON"),
    "no label": (b'{"x1": 1, "x2": 2, "t": 1}', ", column 'c': the key is missing"),
    "null label": (
        b'{"x1": 1, "x2": 2, "c": null, "t": 1}',
        ", column 'c': expected a label .* got null",
    ),
    "empty label": (
        b'{"x1": 1, "x2": 2, "c": "", "t": 1}',
        ", column 'c': expected a label, got nothing",
    ),
    "a list as label": (
        b'{"x1": 1, "x2": 2, "c": [1], "t": 1}',
        ", column 'c': expected a label .* got a list",
    ),
    "no time": (
        b'{"x1": 1, "x2": 2, "c": "a", "t": null}',
        ", column 't': expected seconds or an ISO timestamp, got None",
    ),
    "another time": (
        b'{"x1": 1, "x2": 2, "c": "a", "t": "2024-05-01"}',
        ", column 't': expected seconds like the rows before, got '2024-05-01'",
    ),
    "not UTF-8": (
        b'{"x1": 1, "x2": 2, "c": "\xff", "t": 1}',
        ": byte 0xff is not UTF-8; convert the file",
    ),
    "NUL": (b'{"x1": 1, "x2": 2, "c": "a\0", "t": 1}', ": not valid JSON"),
    "too deep": (
        b'{"x1": 1, "x2": 2, "c": "a", "t": 1, "z": ' + b"[" * 9999 + b"]" * 9999 + b"}",
        ": nested too deeply",
    ),
    "over two lines": (b'{"x1": 1, "x2": 2,', ": the line ends in the middle of an object"),
}


@pytest.mark.parametrize(("bad", "message"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named_or_left_out(tmp_path, bad, message):
    content = b'{"x1":1,"x2":2,"c":"a","t":0}\n\n%s\n{"x1":3,"x2":4,"c":"b","t":1}' % bad
    path = write(tmp_path / "a.ndjson", content)
    options = {"label": "c", "time": "t"}
    with pytest.raises(ValueError, match=f"a.ndjson, line 3{message}"):
        collected(path, **options)
    for rows in (1, 100):
        with open_source(path, bad_rows="skip", rows=rows, **options) as source:
            got = concatenated(source)
        assert got.X.tolist() == [[1, 2], [3, 4]]
        assert got.labels.tolist() == ["a", "b"]
        assert source.skipped == 1
        assert "a.ndjson, line 3" in source.reasons[0]


def test_nothing_and_blank_lines_are_streams_of_no_samples(tmp_path):
    for content in (b"", b"\n\n  \n", b"\xef\xbb\xbf"):
        path = write(tmp_path / "a.ndjson", content)
        assert collected(path) == []
        assert open_source(path).columns == ()


def test_a_first_line_that_is_bad_is_named_or_left_out(tmp_path):
    path = write(tmp_path / "a.ndjson", b'{"x": 1,\n{"x": 2}\n')
    with pytest.raises(ValueError, match="line 1: the line ends in the middle"):
        collected(path)
    for rows in (1, 9):
        with open_source(path, bad_rows="skip", rows=rows) as source:
            assert concatenated(source).X.tolist() == [[2]]
        assert source.skipped == 1


def test_marks_escapes_and_utf8_names_are_read(tmp_path):
    content = (
        b'\xef\xbb\xbf{"gr\\u00f6\\u00dfe": 1, "c": "\\u732b"}\n'
        + '{"größe": 2, "c": "猫"}'.encode()
    )
    got = concatenated(collected(write(tmp_path / "a.ndjson", content), label="c"))
    assert got.X.tolist() == [[1], [2]]
    assert got.labels.tolist() == ["猫", "猫"]


def test_numbers_as_labels_stay_what_they_are(tmp_path):
    path = write(
        tmp_path / "a.ndjson", "".join(f'{{"x":1,"c":{c}}}\n' for c in (3, '"3"', 2.5, "true"))
    )
    labels = concatenated(collected(path, label="c")).labels.tolist()
    assert labels == [3, "3", 2.5, True]
    assert list(map(type, labels)) == [int, str, float, bool]


def test_an_unknown_column_is_refused_with_those_there_are(tmp_path):
    path = write(tmp_path / "a.ndjson", '{"x": 1, "y": "a"}\n')
    with pytest.raises(ValueError, match=r"a.ndjson has no column 'z'; it has 'x', 'y'"):
        collected(path, columns=["z"])
    with pytest.raises(ValueError, match=r"a.ndjson: no column holds numbers"):
        collected(write(path, '{"y": "a"}\n'))


@pytest.mark.parametrize("rows", [1, 3, 10, 1000])
@pytest.mark.parametrize("tail", ["\n", ""])
def test_reading_resumes_exactly_after_any_batch(tmp_path, rows, tail):
    rng = np.random.default_rng(rows)
    lines = [json.dumps({"x": x, "c": f"l{i}"}) for i, x in enumerate(rng.random(90).tolist())]
    lines[40], lines[41], lines[80] = "oops", "", "{}"
    write(tmp_path / "1.ndjson", "\n".join(lines[:50]) + tail)
    write(tmp_path / "2.ndjson", "\n".join(lines[50:]) + tail)
    options = {"label": "c", "bad_rows": "skip"}
    whole = collected(tmp_path / "*.ndjson", rows=rows, **options)
    assert sum(map(len, whole)) == 87
    for at, batch in enumerate(whole):
        with open_source(tmp_path / "*.ndjson", rows=int(rng.integers(1, 60)), **options) as later:
            later.seek(json.loads(json.dumps(batch.position)))
            same_rows([*whole[: at + 1], *later], whole)
            assert later.skipped == 2


values = st.one_of(
    st.floats(-1e140, 1e140, allow_nan=False).map(json.dumps),
    st.sampled_from(
        ["1", "-0", '"x"', '"a:b"', "null", "true", "{}", '{"x":1}', "1e999", '"\\u0078"']
    ),
)
keys = st.sampled_from(['"x"', '"c"', '"y"', '"\\u0063"', '"z" '])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.tuples(keys, values), max_size=4), min_size=1, max_size=4))
def test_the_fast_way_agrees_with_the_slow_way_wherever_it_gives_an_answer(objects):
    lines = ["{" + ",".join(f"{k}:{v}" for k, v in pairs) + "}\n" for pairs in objects]
    data = "".join(lines).encode()
    bad = BadRows("skip")
    rows = NdjsonDecoder("a", Chosen(("x",), "c"), Times(), bad)
    fast, slow = rows._read_at_once(data), rows.read_one_by_one(Block(data, 1))
    if fast is not None and b"\\u" not in data:
        assert bad.count == 0
        assert fast.X.tolist() == slow.X.tolist()
        assert fast.labels.tolist() == slow.labels.tolist()
