"""`icvi watch` on sources that change: refused by name, or reported and counted in the summary."""

from __future__ import annotations

import gzip
import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import icvi
from icvi.cli.main import main
from icvi.streams import open_source
from redis_server import KEY
from stream_inputs import concatenated


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def watch(*arguments):
    return CliRunner().invoke(main, ["watch", *arguments])


def write(path, start, stop, columns=("x", "c")):
    rows = [[i / 7, i % 3] for i in range(start, stop)]
    if path.suffix == ".parquet":
        pq.write_table(pa.table(dict(zip(columns, map(list, zip(*rows))))), path)
        return
    if path.suffix == ".ndjson":
        lines = [json.dumps(dict(zip(columns, row))) for row in rows]
    else:
        lines = [",".join(columns), *(f"{x!r},{c}" for x, c in rows)]
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def after_some(files, rows=500, **options):
    """The position after some batches."""
    with open_source(files, label="c", rows=100, **options) as source:
        for batch in source:
            if batch.stop >= rows:
                return json.loads(json.dumps(batch.position))
    raise AssertionError("there are not so many rows")


def resumed(files, position):
    with open_source(files, label="c", rows=100) as source:
        source.seek(position)
        return concatenated(source).X.ravel()


def without_lines(path, first, last):
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    lines = data.splitlines(keepends=True)
    data = b"".join(lines[:first] + lines[last:])
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson", "a.csv.gz"])
def test_an_edit_that_moves_bytes_is_refused_by_name(folder, name):
    path = folder / name
    write(path, 0, 3000)
    position = after_some(path, 2500)
    assert len(resumed(path, position)) == 500
    if not name.endswith(".gz"):  # which does not grow
        write(path, 0, 9000)  # so that it has not shrunk after the edit
        assert len(resumed(path, position)) == 6500
    without_lines(path, 2000, 2100)
    with pytest.raises(ValueError, match=rf"{re.escape(name)}: .*(edited|other bytes|bytes now)"):
        resumed(path, position)


def test_100_lines_deleted_before_the_position_end_the_command_with_an_error(folder):
    path = folder / "s.csv"
    write(path, 0, 3000)
    typed = (
        "s.csv",
        "--labels",
        "c",
        "--indices",
        "CH",
        "--trace",
        "t.csv",
        "--checkpoint",
        "kept",
    )
    assert watch(*typed).exit_code == 0
    with open(path, "a") as file:
        file.writelines(f"{i / 7!r},{i % 3}\n" for i in range(3000, 4000))
    without_lines(path, 1500, 1600)
    left = (folder / "t.csv").read_bytes()
    result = watch(*typed)
    assert result.exit_code == 1
    assert "s.csv: this position is of another stream: it was edited: the bytes" in result.stderr
    assert (folder / "t.csv").read_bytes() == left


def test_the_same_bytes_under_another_inode_are_the_same_file(folder):
    """Copied back from a backup: what counts is the content."""
    path = folder / "a.csv"
    write(path, 0, 1000)
    position = after_some(path)
    other = folder / "b"
    other.write_bytes(path.read_bytes())
    os.replace(other, path)
    assert len(resumed(path, position)) == 500


@pytest.mark.parametrize("ending", [".csv", ".ndjson", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("how", ["edited", "grown"])
def test_a_file_that_was_read_before_and_changed_is_refused_by_name(folder, ending, how):
    files = [folder / f"{day}{ending}" for day in "abc"]
    for number, path in enumerate(files):
        write(path, 1000 * number, 1000 * number + 1000)
    position = after_some(files, 2500)
    assert len(resumed(files, position)) == 500
    if how == "grown":
        write(files[0], 0, 1100)
    elif ending == ".parquet":
        write(files[0], 1, 1001)
    else:
        without_lines(files[0], 500, 501)
    with pytest.raises(ValueError, match=rf"a{ending}: .*it (had|was edited)"):
        resumed(files, position)


def test_a_parquet_file_with_other_rows_is_refused(folder):
    path = folder / "a.parquet"
    X = np.arange(20_000) / 7
    write_table = {"x": X, "c": np.arange(20_000) % 3}
    pq.write_table(pa.table(write_table), path, row_group_size=1000, use_dictionary=False)
    position = after_some(path, 15_000)
    assert len(resumed(path, position)) == 5000
    X[12_345] += 1.0
    pq.write_table(pa.table(write_table), path, row_group_size=1000, use_dictionary=False)
    with pytest.raises(ValueError, match=r"a\.parquet: .*it (had|was edited)"):
        resumed(path, position)


NEW = ("tail", "tail_length", "device", "inode", "passed", "stamp", "lost", "losses")


@pytest.mark.parametrize("ending", [".csv", ".ndjson", ".csv.gz", ".parquet"])
def test_positions_of_the_version_before_are_resumed(folder, ending):
    files = [folder / f"{day}{ending}" for day in "ab"]
    for number, path in enumerate(files):
        write(path, 1000 * number, 1000 * number + 1000)
    position = after_some(files, 1500)
    assert len(resumed(files, {k: v for k, v in position.items() if k not in NEW})) == 500


def test_a_pipe_that_brings_other_bytes_before_the_position_is_refused(folder):
    path = folder / "a.csv"
    write(path, 0, 3000)
    with open(path, "rb") as file:
        position = after_some(file, 2500, format="csv")
    for change, how in ((False, None), (True, "it was edited")):
        if change:
            write(path, 0, 9000)
            without_lines(path, 2000, 2100)
        with open(path, "rb") as file, open_source(file, label="c", format="csv") as source:
            if how is None:
                source.seek(position)
                assert len(concatenated(source).X) == 500
            else:
                with pytest.raises(ValueError, match=how):
                    source.seek(position)


# -- in the summary --------------------------------------------------------------------------


def test_lost_entries_end_the_command_or_are_counted_in_the_summary(server, folder):
    typed = (server.url, "--columns", "x", "--columns", "y", "--labels", "c", "--indices", "CH")
    typed += ("--checkpoint", "kept", "--trace", "t.csv", "--report", "page.html")
    server.add(0, 100)
    assert watch(*typed).exit_code == 0
    server.add(100, 300)
    with server.client() as client:
        client.xtrim(KEY, maxlen=150, approximate=False)
    for _ in range(2):
        result = watch(*typed)
        assert result.exit_code == 1
        assert "/0/samples: 50 entries were trimmed before being read" in result.stderr
        assert "--on-data-loss continue resumes and counts what is lost" in result.stderr
    result = watch(*typed, "--on-data-loss", "continue")
    assert result.exit_code == 0, result.output
    assert "50 samples were lost:\n  redis://" in result.stderr
    assert "50 samples lost" in result.stdout
    assert len((folder / "t.csv").read_text().splitlines()) == 251
    assert "50 samples were lost before being read" in (folder / "page.html").read_text()
    server.add(300, 310)
    assert "50 samples were lost:" in watch(*typed).stderr
    asked = icvi.watch(
        server.url, columns=["x", "y"], label="c", indices=["CH"], on_data_loss="continue"
    )
    asked.close()


def test_a_missing_key_is_named_and_not_created(server):
    result = watch(server.url, "--labels", "c")
    assert result.exit_code == 1
    assert "there is no stream under this key" in result.stderr
    assert "--follow waits for its first entry" in result.stderr
    with server.client() as client:
        assert client.exists(KEY) == 0


def test_on_data_loss_is_stop_or_continue(folder):
    write(folder / "a.csv", 0, 3)
    with pytest.raises(ValueError, match="on_data_loss to be 'stop' or 'continue', got 'ignore'"):
        open_source(folder / "a.csv", on_data_loss="ignore")
    assert watch("a.csv", "--labels", "c", "--on-data-loss", "ignore").exit_code == 2
