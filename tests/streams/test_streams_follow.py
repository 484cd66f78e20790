"""Files that grow while they are read, and pipes that bring rows when they have some."""

import os
import sys
import threading
import time

import pytest

import processes
from icvi.streams import open_source
from stream_inputs import collected, concatenated

HEADERS = {"csv": "x,c\n", "ndjson": ""}


def line(format, i):
    return f"{i},l{i}\n" if format == "csv" else f'{{"x": {i}, "c": "l{i}"}}\n'


def taking(source, rows, seconds=20.0):
    """Batches until there are so many rows; closes a source that takes too long."""
    timer = threading.Timer(seconds, source.close)
    timer.start()
    batches = []
    try:
        for batch in source:
            batches.append(batch)
            if batches[-1].stop >= rows:
                break
    finally:
        timer.cancel()
    assert batches
    assert batches[-1].stop == rows
    return batches


@pytest.mark.parametrize("format", HEADERS)
def test_rows_are_handed_on_while_they_are_written(tmp_path, format):
    path = tmp_path / f"a.{format}"
    path.write_text("")

    def write():
        text = HEADERS[format] + "".join(line(format, i) for i in range(200))
        with open(path, "w", buffering=1) as file:
            # Cut anywhere: what has no line end yet must wait for the rest.
            for start in range(0, len(text), 97):
                file.write(text[start : start + 97])
                file.flush()
                time.sleep(0.005)

    writer = threading.Thread(target=write)
    source = open_source(path, label="c", follow=True, rows=50)
    assert source.size is None
    writer.start()
    batches = taking(source, 200)
    writer.join(processes.PATIENCE)
    source.close()
    rows = concatenated(batches)
    assert rows.X.ravel().tolist() == list(range(200))
    assert rows.labels.tolist() == [f"l{i}" for i in range(200)]


@pytest.mark.parametrize("format", HEADERS)
def test_a_followed_file_is_continued_and_its_unfinished_line_waits(tmp_path, format):
    path = tmp_path / f"a.{format}"
    whole = HEADERS[format] + "".join(line(format, i) for i in range(5))
    path.write_text(whole[:-3])
    with open_source(path, follow=True) as source:
        (batch,) = taking(source, 4)
    path.write_text(whole)
    with open_source(path, follow=True) as source:
        source.seek(batch.position)
        (rest,) = taking(source, 5)
    assert rest.X.tolist() == [[4.0]]


def test_closing_from_another_thread_ends_the_wait(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n2")
    source = open_source(path, follow=True)
    threading.Timer(0.5, source.close).start()
    start = time.monotonic()
    assert concatenated(source).X.tolist() == [[1.0]]
    assert 0.3 < time.monotonic() - start < 10.0


def test_closing_before_there_is_a_header_is_no_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("")
    source = open_source(path, follow=True)
    threading.Timer(0.3, source.close).start()
    assert list(source) == []


def test_only_one_plain_file_can_be_followed(tmp_path):
    for name in ("a.csv", "b.csv", "c.csv.gz"):
        (tmp_path / name).write_text("x\n1\n")
    with pytest.raises(ValueError, match="expected one file to follow, got 2"):
        open_source(tmp_path / "?.csv", follow=True)
    with pytest.raises(ValueError, match=r"c.csv.gz: a compressed file cannot be followed"):
        open_source(tmp_path / "c.csv.gz", follow=True)


def test_a_pipe_hands_on_what_it_has():
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb", buffering=0) as end:
        source = open_source(pipe, format="csv")
        batches = iter(source)
        end.write(b"x\n1\n2\n3")
        assert next(batches).X.ravel().tolist() == [1, 2]
        end.write(b"4\n5\n")
        assert next(batches).X.ravel().tolist() == [34, 5]
        end.write(b"6")
        end.close()
        assert next(batches).X.ravel().tolist() == [6]
        assert list(batches) == []


def test_closing_ends_the_wait_for_a_pipe():
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb", buffering=0) as end:
        end.write(b"x\n1\n")
        source = open_source(pipe, format="csv")
        threading.Timer(0.5, source.close).start()
        assert concatenated(source).X.tolist() == [[1.0]]


def test_standard_input_is_read():
    code = (
        "from icvi.streams import open_source\n"
        "for b in open_source('-', format='ndjson', label='c'): print(b.X.tolist(), b.labels)"
    )
    done = processes.run(
        [sys.executable, "-c", code],
        input=b'{"x": 1, "c": "a"}\n{"x": 2, "c": "b"}\n',
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == "[[1.0], [2.0]] ['a' 'b']"


def test_iterating_again_resumes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(10)))
    with open_source(path, rows=3) as source:
        assert next(iter(source)).first == 0
        assert [batch.first for batch in source] == [3, 6, 9]


def test_nothing_optional_is_imported_before_it_is_used():
    code = (
        "import sys, icvi, icvi.streams\n"
        "from icvi.streams import open_source\n"
        "loaded = {'pyarrow', 'msgspec', 'redis', 'pandas', 'polars', 'numba'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    processes.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("pyarrow", "a.csv", "stream"),
        ("pyarrow", "a.parquet", "stream"),
        ("msgspec", "a.ndjson", "stream"),
        ("redis", "redis://localhost:1/0/k", "redis"),
    ],
)
def test_a_missing_package_says_how_to_install_it(tmp_path, monkeypatch, package, name, extra):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.csv", None)
    if not name.startswith("redis:"):
        (tmp_path / name).write_text("x\n1\n")
        name = tmp_path / name
    with pytest.raises(ImportError, match=rf"needs {package}; .* pip install 'icvi\[{extra}\]'"):
        collected(name)
