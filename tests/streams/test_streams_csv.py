"""CSV: every row is a sample or a bad row that is named; reading can resume anywhere."""

import csv
import gzip
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icvi.streams import open_source
from icvi.streams.bad_rows import BadRows
from icvi.streams.columns import Chosen
from icvi.streams.files.blocks import Block
from icvi.streams.files.csv_decoder import CsvDecoder
from icvi.streams.files.row_ends import csv_row_ends
from icvi.streams.times import Times
from stream_inputs import collected, concatenated, same_rows


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, **options):
    with open_source(path, **options) as source:
        return concatenated(source)


def test_a_file_is_read_end_to_end(tmp_path):
    path = write(tmp_path / "a.csv", "x1,x2,name,c\n1,2,u,0\n3.5,-4e-5,v,1\n")
    with open_source(path, label="c") as source:
        assert source.columns == ("x1", "x2")
        assert source.size == path.stat().st_size
        (batch,) = source
    assert batch.X.tolist() == [[1.0, 2.0], [3.5, -4e-5]]
    assert batch.X.flags.c_contiguous
    assert batch.X.dtype == np.float64
    assert batch.labels.tolist() == [0, 1]
    assert batch.labels.dtype == np.int64
    assert (batch.first, batch.time, source.skipped, source.reasons) == (0, None, 0, ())
    assert source.done == path.stat().st_size
    json.dumps(batch.position)


GOOD = {
    "no line end at the end": (b"x,y\n1,2\n3,4", [[1, 2], [3, 4]]),
    "carriage returns": (b"x,y\r\n1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
    "a byte order mark": (b"\xef\xbb\xbfx,y\n1,2\n", [[1, 2]]),
    "a byte order mark and quotes": (b'\xef\xbb\xbf"x","y"\n1,2\n', [[1, 2]]),
    "spaces": (b"x , y\n 1 ,\t2\n  3,4\n", [[1, 2], [3, 4]]),
    "quoted numbers": (b'x,y\n"1","2"\n', [[1, 2]]),
    "empty lines": (b"\nx,y\n\n1,2\n\n\n3,4\n\n", [[1, 2], [3, 4]]),
    "empty lines, carriage returns": (b"x,y\r\n\r\n1,2\r\n", [[1, 2]]),
    "exponents and signs": (b"x,y\n1e-5,+2E3\n-.5,7.\n", [[1e-5, 2e3], [-0.5, 7.0]]),
    "text beside": (b'x,t,y\n1,"a,\n""b""",2\n3,5" pipe,4\n', [[1, 2], [3, 4]]),
    "one column": (b"x\n1\n2\n", [[1], [2]]),
    "a column of nothing else but text": (b"x,t\n1,\n2,a\n", [[1], [2]]),
}


@pytest.mark.parametrize(("content", "expected"), GOOD.values(), ids=GOOD)
def test_what_is_well_formed_is_read(tmp_path, content, expected):
    assert read(write(tmp_path / "a.csv", content)).X.tolist() == expected


def test_only_a_header_is_a_stream_of_no_samples(tmp_path):
    path = write(tmp_path / "a.csv", "x,y,c\n")
    with open_source(path, label="c") as source:
        assert source.columns == ("x", "y")
        assert list(source) == []
    assert list(open_source(path)) == []


BROKEN = {
    "empty file": (b"", "a.csv is empty; expected a header with the names"),
    "half a header": (
        b"1.5,y\na,2\n",
        r"a.csv, line 1: expected a header .* got numbers \('1.5'",
    ),
    "a name twice": (b"x,y,x\n1,2,3\n", "a.csv, line 1: column 'x' appears twice"),
    "UTF-16": ("x,y\n1,2\n".encode("utf-16"), "a.csv, line 1: this is UTF-16; convert the file"),
    "not UTF-8 in the header": (b"x,h\xf6he\n1,2\n", "a.csv, line 1: byte 0xf6 is not UTF-8"),
    "NUL in the header": (b"x,y\0\n1,2\n", "a.csv, line 1: a NUL byte"),
    "old Mac": (b"x,y\r1,2\r3,4\r", "a.csv, line 1: a carriage return in the middle"),
    "an open quote": (
        b'x,y\n1,2\n3,"4\n5,6\n',
        "a.csv, line 3: a quote was opened and never closed",
    ),
    "no numbers": (b"x,y\na,b\n", "a.csv: no column holds numbers; it has 'x', 'y'"),
    "nothing to judge by": (b"x,y\n1,\n2,\n", "a.csv: cannot tell whether 'y' hold numbers"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_a_broken_file_is_refused_with_file_and_line(tmp_path, content, message, bad_rows):
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path / "a.csv", content), bad_rows=bad_rows)


#: The third line of a file with columns x1, x2, t, c; its line and message.
BAD_ROWS = {
    "text": (b"1,abc,0,a", 3, "column 'x2': expected a number, got 'abc'"),
    "nothing": (b"1,,0,a", 3, "column 'x2': expected a number, got nothing"),
    "a space": (b"1, ,0,a", 3, "column 'x2': expected a number, got nothing"),
    "nan": (b"1,nan,0,a", 3, "column 'x2': expected a finite number, got 'nan'"),
    "NA": (b"1,NA,0,a", 3, "column 'x2': expected a number, got 'NA'"),
    "inf": (b"-inf,1,0,a", 3, "column 'x1': expected a finite number, got '-inf'"),
    "too large for float": (b"1e999,1,0,a", 3, "column 'x1': expected a finite number, got inf"),
    "too large": (b"1e141,1,0,a", 3, r"column 'x1': expected a number up to 1e\+140 in size"),
    "underscores": (b"1_000,1,0,a", 3, "column 'x1': expected a number, got '1_000'"),
    "hexadecimal": (b"0x10,1,0,a", 3, "column 'x1': expected a number, got '0x10'"),
    "other digits": ("١,1,0,a".encode(), 3, "column 'x1': expected a number, got '١'"),
    "a long text": (b"x" * 99 + b",1,0,a", 3, "column 'x1': expected a number, got 'x{40}'[.]{3}"),
    "boolean": (b"true,1,0,a", 3, "column 'x1': expected a number, got 'true'"),
    "too few": (b"1,2,0", 3, "expected 4 fields like the header, got 3"),
    "too many": (b"1,2,0,a,b", 3, "expected 4 fields like the header, got 5"),
    "decimal commas": (b"1,5,2,5,0,a", 3, "expected 4 fields like the header, got 6"),
    "spaces only": (b"   ", 3, "expected 4 fields like the header, got 1"),
    "no label": (b"1,2,0,", 3, "column 'c': expected a label, got nothing"),
    "no time": (b"1,2,,a", 3, "column 't': expected a time, got nothing"),
    "no such time": (
        b"1,2,soon,a",
        3,
        "column 't': expected seconds or an ISO timestamp .* 'soon'",
    ),
    "another time": (b"1,2,2024-05-01,a", 3, "column 't': expected seconds like the rows before"),
    "infinite time": (b"1,2,inf,a", 3, "column 't': expected a finite number of seconds"),
    "NUL": (b"1,2\0,0,a", 3, "column 'x2': a NUL byte in '2.x00'; is the file damaged"),
    "NUL in a label": (b"1,2,0,a\0", 3, "column 'c': a NUL byte"),
    "not UTF-8": (b"1,2,0,\xe4b", 3, "column 'c': byte 0xe4 in '.b' is not UTF-8; convert"),
    "carriage return": (b"1,2\r,0,a", 3, "a carriage return in the middle of a line"),
    "after a quoted newline": (
        b'1,2,0,"a\nb"\nx,2,0,a',
        5,
        "column 'x1': expected a number, got 'x'",
    ),
    "a quoted newline": (b'1,"2\n2",0,a', 3, r"column 'x2': expected a number, got '2\\n2'"),
    "after an empty line": (b"\n1,x,0,a", 4, "column 'x2': expected a number, got 'x'"),
}


@pytest.mark.parametrize(("bad", "line", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_bad_row_is_named_or_left_out(tmp_path, bad, line, message, end):
    bad = bad.replace(b"\n", end) if line > 3 else bad
    content = end.join([b"x1,x2,t,c", b"1,2,0,a", bad, b"3,4,5.5,b", b""])
    path = write(tmp_path / "stream.csv", content)
    options = {"label": "c", "time": "t"}
    with pytest.raises(ValueError, match=f"stream.csv, line {line}(: |, ){message}"):
        read(path, **options)
    source = open_source(path, bad_rows="skip", **options)
    rows = concatenated(source)
    assert rows.labels.tolist()[:: len(rows.labels) - 1] == ["a", "b"]
    assert len(rows.X) == (3 if line == 5 and b"x,2" in bad else 2)
    assert rows.time.tolist()[-1] == 5.5
    assert source.skipped == 1
    assert len(source.reasons) == 1
    assert f"line {line}" in source.reasons[0]


def test_an_error_says_what_to_do_and_closes_the_source(tmp_path):
    path = write(tmp_path / "stream.csv", "x1,x2\n" + "1,2\n" * 15 + "1,abc\n")
    source = open_source(path)
    expected = (
        "stream.csv, line 17, column 'x2': expected a number, got 'abc' "
        r"\(bad_rows='skip' leaves such rows out and counts them\)"
    )
    with pytest.raises(ValueError, match=expected):
        list(source)
    assert source.closed
    with pytest.raises(ValueError, match="this source is closed; open it again"):
        iter(source)


def test_skipped_rows_are_counted_and_the_first_reasons_kept(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n" + "1,2\n,3\n" * 50)
    with open_source(path, bad_rows="skip", rows=7) as source:
        assert len(concatenated(source).X) == 50
    assert source.skipped == 50
    assert len(source.reasons) == 5
    assert source.reasons[1].endswith("a.csv, line 5, column 'x': expected a number, got nothing")


def test_a_file_of_bad_rows_only_is_a_stream_of_no_samples(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n1\n2\n3,4,5\n")
    with open_source(path, bad_rows="skip") as source:
        assert list(source) == []
    assert source.skipped == 3
    with pytest.raises(ValueError, match="line 2: expected 2 fields like the header, got 1"):
        read(path)


def test_an_empty_line_of_one_column_is_a_missing_value(tmp_path):
    with pytest.raises(ValueError, match="line 3, column 'x': expected a number, got nothing"):
        read(write(tmp_path / "a.csv", "x\n1\n\n2\n"))


def test_a_word_among_numbers_is_an_error_and_not_a_lost_column(tmp_path):
    with pytest.raises(ValueError, match="line 2, column 'y': expected a number, got 'abc'"):
        read(write(tmp_path / "a.csv", "x,y\n1,abc\n2,3\n"))


LABELS = {
    "numbers": ("3 -1 0", [3, -1, 0]),
    "words": ("a b a", ["a", "b", "a"]),
    "both": ("1 noise 2", [1, "noise", 2]),
    "zeros before": ("7 007 +7", [7, "007", "+7"]),
    "decimals": ("1.0 1 2", ["1.0", 1, 2]),
    "huge": ("9223372036854775808 1 2", ["9223372036854775808", 1, 2]),
    "letters": ("größe 猫 a", ["größe", "猫", "a"]),
}


@pytest.mark.parametrize(("texts", "expected"), LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("rows", [1, 100])
def test_labels_do_not_depend_on_their_neighbours(tmp_path, texts, expected, rows):
    path = write(tmp_path / "a.csv", "x,c\n" + "".join(f"1,{text}\n" for text in texts.split()))
    with open_source(path, label="c", rows=rows) as source:
        labels = [label for batch in source for label in batch.labels.tolist()]
    assert labels == expected
    assert list(map(type, labels)) == list(map(type, expected))


TIMES = {
    "seconds": (["0", "1.5", "1e3"], [0.0, 1.5, 1000.0]),
    "timestamps": (
        ["2024-05-01T12:00:00", "2024-05-01 12:00:00.123456789", "2024-05-02"],
        np.array(
            ["2024-05-01T12:00", "2024-05-01T12:00:00.123456789", "2024-05-02"], "datetime64[ns]"
        ).tolist(),
    ),
    "zones": (
        ["2024-05-01T12:00:00Z", "2024-05-01T12:00:00+02:00"],
        np.array(["2024-05-01T12:00", "2024-05-01T10:00"], "datetime64[ns]").tolist(),
    ),
}


@pytest.mark.parametrize(("texts", "expected"), TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("extra", ["", "bad,\n"], ids=["fast", "slow"])
def test_times_are_seconds_or_timestamps(tmp_path, texts, expected, extra):
    path = write(tmp_path / "a.csv", "x,t\n" + "".join(f"1,{text}\n" for text in texts) + extra)
    assert read(path, time="t", bad_rows="skip").time.tolist() == expected


def test_columns_are_chosen_by_name_or_position(tmp_path):
    path = write(tmp_path / "a.csv", "a,b,c,größe\n1,2,3,4\n")
    assert read(path, columns=["größe", "a"]).X.tolist() == [[4, 1]]
    assert read(path, columns=[2, "a"], label=1).X.tolist() == [[3, 1]]
    assert read(path, columns="b").X.tolist() == [[2]]
    for columns, message in {
        ("z",): "has no column 'z'; it has 'a', 'b', 'c', 'größe'",
        (4,): "has no column at position 4; it has 4, counted from 0",
        (-1,): "has no column at position -1",
        ("a", "a"): "column 'a' is given twice",
        ("a", "c"): "column 'c' cannot be both a feature and the label",
        (): "expected at least one column",
    }.items():
        with pytest.raises(ValueError, match=message):
            read(path, columns=columns, label="c")
    with pytest.raises(TypeError, match=r"by name .* or position .* got 1.5"):
        read(path, columns=[1.5])


def test_files_of_a_pattern_are_one_stream(tmp_path):
    for day, content in enumerate(["x,y\n1,2\n3,4\n", "y,x\n6,5\n", "x,y\n7,8"]):
        write(tmp_path / f"day-{day}.csv", content)
    with open_source(tmp_path / "day-*.csv") as source:
        batches = list(source)
    assert np.concatenate([batch.X for batch in batches]).tolist() == [
        [1, 2],
        [3, 4],
        [5, 6],
        [7, 8],
    ]
    assert [batch.first for batch in batches] == [0, 2, 3]
    listed = open_source([tmp_path / "day-2.csv", str(tmp_path / "day-0.csv")])
    assert concatenated(listed).X[0].tolist() == [7, 8]


def test_other_columns_in_a_later_file_are_named_before_anything_is_read(tmp_path):
    write(tmp_path / "1.csv", "x,y\n1,2\n")
    write(tmp_path / "2.csv", "x,z\n1,2\n")
    with pytest.raises(
        ValueError, match=r"2.csv: expected .* of .*1.csv, got it without 'y' and with 'z'"
    ):
        open_source(tmp_path / "*.csv")


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone.csv"):
        open_source(tmp_path / "gone.csv")
    with pytest.raises(FileNotFoundError, match=r"no file matches '.*x-"):
        open_source(tmp_path / "x-*.csv")
    with pytest.raises(IsADirectoryError, match="is a folder; give its files"):
        open_source(tmp_path)
    with pytest.raises(ValueError, match=r"cannot tell the format of .*a\.dat .*give format="):
        open_source(write(tmp_path / "a.dat", "x\n1\n"))
    assert read(tmp_path / "a.dat", format="csv").X.tolist() == [[1]]
    write(tmp_path / "b.jsonl", "{}")
    with pytest.raises(ValueError, match="expected files of one format"):
        open_source([write(tmp_path / "a.csv", "x\n1"), tmp_path / "b.jsonl"])
    vanishing = open_source(tmp_path / "a.csv")
    (tmp_path / "a.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.csv"):
        list(vanishing)


def test_compressed_files_are_read_and_damaged_ones_named(tmp_path):
    content = b"x,y\n" + b"1.25,2\n" * 5000
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(content))
    batches = collected(path, rows=999)
    assert sum(map(len, batches)) == 5000
    source = open_source(path, rows=999)
    source.seek(batches[2].position)
    assert len(concatenated(source).X) == 5000 - 3 * 999
    path.write_bytes(gzip.compress(content)[:-20])
    with pytest.raises(OSError, match=r"a\.csv\.gz is damaged or incomplete"):
        collected(path)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 50, 1000])
@pytest.mark.parametrize("bad_rows", [0, 9])
@pytest.mark.parametrize("tail", ["\n", ""])
def test_reading_resumes_exactly_after_any_batch(tmp_path, rows, bad_rows, tail):
    rng = np.random.default_rng(rows)
    lines = [
        f'{x!r},"l\n{label}",{x > 0.5}' for x, label in zip(rng.random(100).tolist(), range(100))
    ]
    for at in rng.integers(0, 100, bad_rows).tolist():
        lines[at] = "bad,row,here"
    paths = []
    for part in range(2):
        text = "\n".join(["x,c,t", *lines[50 * part : 50 * part + 50]]) + tail
        paths.append(write(tmp_path / f"{part}.csv", text))
    options = {"label": "c", "rows": rows, "bad_rows": "skip"}
    whole = collected(paths, **options)
    for at, batch in enumerate(whole):
        later = open_source(paths, **(options | {"rows": int(rng.integers(1, 60))}))
        later.seek(json.loads(json.dumps(batch.position)))
        rest = list(later)
        assert [b.first for b in rest][:1] == ([batch.stop] if rest else [])
        same_rows([*whole[: at + 1], *rest], whole)
        assert later.skipped == 100 - sum(map(len, whole))


def test_a_position_of_another_file_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n1,2\n3,4\n5,6\n")
    position = collected(path, rows=1)[1].position

    def seek(to, **options):
        open_source(to, **options).seek(position)

    with pytest.raises(
        ValueError, match=r"position is of another stream: file 1 was .*a.csv and is"
    ):
        seek(write(tmp_path / "b.csv", path.read_bytes()))
    with pytest.raises(ValueError, match=r"its columns were \('x', 'y'\)"):
        seek(path, columns=["x"])
    with pytest.raises(ValueError, match="its columns were"):
        seek(path, label="y")
    write(path, "x,y\n1,2\n3,5\n5,6\n")
    with pytest.raises(ValueError, match="begins with other bytes than it did"):
        seek(path)
    write(path, "x,y\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="the file has 12 bytes now and had 16"):
        seek(path)
    write(path, "x,y\n1,2\n3,4\n5,6\n7,8\n")
    source = open_source(path)
    source.seek(position)
    assert concatenated(source).X.tolist() == [[5, 6], [7, 8]]
    with pytest.raises(ValueError, match="seek before reading"):
        source.seek(position)


def test_a_last_line_that_grew_after_it_was_read_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n1,2\n3,4")
    position = collected(path)[-1].position
    write(path, "x,y\n1,2\n3,4\n5,6\n")
    source = open_source(path)
    source.seek(position)
    assert concatenated(source).X.tolist() == [[5, 6]]
    write(path, "x,y\n1,2\n3,45\n6,7\n")
    source = open_source(path)
    source.seek(position)
    with pytest.raises(
        ValueError, match="line 3: the last line had no end when it was read, and has"
    ):
        list(source)


def test_a_pipe_is_read_and_continued_from_its_beginning():
    content = b"x,y\n" + b"".join(b"%d,2\n" % i for i in range(100))
    with pytest.raises(ValueError, match="expected format='csv' or format='ndjson'"):
        open_source(io.BytesIO(content))
    batches = collected(io.BytesIO(content), format="csv", rows=30)
    assert [len(batch) for batch in batches] == [30, 30, 30, 10]
    again = open_source(io.BytesIO(content), format="csv")
    again.seek(batches[1].position)
    assert concatenated(again).X[0].tolist() == [60, 2]
    other = open_source(io.BytesIO(content.replace(b"7", b"8")), format="csv")
    with pytest.raises(ValueError, match="begins with other bytes"):
        other.seek(batches[1].position)
    short = open_source(io.BytesIO(content[:20]), format="csv")
    with pytest.raises(ValueError, match="the stream ends at 20; a pipe must bring the same"):
        short.seek(batches[1].position)
    with pytest.raises(TypeError, match="expected bytes, got str; open it in mode 'rb'"):
        list(open_source(io.StringIO("x\n1\n"), format="csv"))


def test_very_long_lines_are_read_and_endless_ones_refused(tmp_path, monkeypatch):
    text = "a" * 3_000_000
    path = write(tmp_path / "a.csv", f"x,t\n1,{text}\n2,{text}\nbad,{text}\n3,b\n")
    source = open_source(path, bad_rows="skip")
    assert concatenated(source).X.tolist() == [[1], [2], [3]]
    assert source.skipped == 1
    monkeypatch.setattr("icvi.streams.files.blocks.LONGEST", 1 << 20)
    with pytest.raises(
        ValueError, match=r"a.csv, line 2: a row is longer than 1 MB; is this a text"
    ):
        read(path)
    write(path, f'x,t\n1,"{text}\n')
    with pytest.raises(ValueError, match="line 2: a row is longer than 1 MB; a quote was opened"):
        read(path)


def test_memory_is_bounded_by_the_block(tmp_path):
    import tracemalloc

    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + b"1.25,2.5\n" * 3_000_000)
    tracemalloc.start()
    with open_source(path, rows=1000) as source:
        for batch in source:
            assert len(batch) <= 1000
            if batch.first > 600_000:
                break
    assert tracemalloc.get_traced_memory()[1] < 6 * 2**20
    tracemalloc.stop()


numbers = st.floats(-1e140, 1e140, allow_nan=False)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(numbers, texts, numbers, texts), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    size=st.integers(1, 5),
)
def test_what_the_csv_module_writes_is_read_back(rows, end, size):
    rows = [(x, f"l{label}", y, text) for x, label, y, text in rows]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end)
    writer.writerows([("x", "c", "y", "t"), *rows])
    source = open_source(
        io.BytesIO(file.getvalue().encode()),
        columns=["x", "y"],
        label="c",
        format="csv",
        rows=size,
    )
    got = concatenated(source)
    assert got.X.tolist() == [[x, y] for x, _, y, _ in rows]
    assert got.labels.tolist() == [label.strip(" \t") for _, label, _, _ in rows]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from('1.5e-+ ,"\nabni\t\r'), max_size=12), max_size=6))
def test_the_fast_way_agrees_with_the_slow_way_wherever_it_gives_an_answer(lines):
    data = "".join(line + "\n" for line in lines).encode()
    ends, is_open = csv_row_ends(data)
    data = data[: ends[-1]] if len(ends) else b""
    if not data or is_open:
        return
    bad = BadRows("skip")
    rows = CsvDecoder("a", ["x", "c"], Chosen(("x",), "c"), Times(), bad)
    fast = rows._read_at_once(data)
    slow = rows.read_one_by_one(Block(data, 1))
    if fast is not None:
        assert bad.count == 0
        assert fast.X.tolist() == slow.X.tolist()
        assert fast.labels.tolist() == slow.labels.tolist()


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('a,"\n'), max_size=30))
def test_rows_end_where_the_csv_module_ends_them(text):
    data = text.encode()
    ends, is_open = csv_row_ends(data)
    reader = csv.reader(io.StringIO(text, newline=""))
    lines = [reader.line_num for _ in reader]
    positions = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1
    expected = [int(positions[line - 1]) for line in lines if line <= len(positions)]
    if is_open and expected and expected[-1] == len(data):
        expected.pop()  # the module takes the rest for a row
    assert ends.tolist() == expected


def test_numbers_come_back_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=500), 10.0 ** rng.uniform(-320, 139, 500), [0.0, 5e-324]])
    path = write(tmp_path / "a.csv", "x\n" + "".join(f"{x!r}\n" for x in X.tolist()))
    assert read(path).X.ravel().tolist() == X.tolist()
    assert math.isclose(read(path).X.sum(), X.sum())


@pytest.mark.parametrize("format", ["csv", "ndjson"])
def test_few_bad_rows_in_many_are_found_wherever_they_are(format):
    rng = np.random.default_rng(1)
    n = 5000
    bad = set(rng.integers(0, n, 12).tolist()) | {0, n - 1}
    rows = [(i / 3, f"{i % 9}" if i % 1000 else "zero") for i in range(n)]
    if format == "csv":
        lines = ["x,c", *(f'{x!r},"{c}"' for x, c in rows)]
    else:
        lines = ["", *(json.dumps({"x": x, "c": c}) for x, c in rows)]
    for i in bad:
        lines[i + 1] = "oops"
    content = "\n".join(lines).encode()
    with open_source(io.BytesIO(content), label="c", bad_rows="skip", format=format) as source:
        got = concatenated(source)
    kept = [row for i, row in enumerate(rows) if i not in bad]
    assert got.X.ravel().tolist() == [x for x, _ in kept]
    assert list(map(str, got.labels.tolist())) == [c for _, c in kept]
    assert source.skipped == len(bad)
    for reason, i in zip(source.reasons, sorted(bad)):
        assert f"line {i + 2}:" in reason
