"""Forty awkward files: each is read, or refused, in exactly these words."""

from __future__ import annotations

import io
import json
import threading
import time

import numpy as np
import pytest
from click.testing import CliRunner

from awkward_files import FILES
from icvi.cli.main import main
from icvi.streams import open_source
from icvi.streams.batch import concatenate
from stream_inputs import collected, same_rows
from watch_inputs import watch

READ = [name for name, file in FILES.items() if file.rows is not None]
TEXT = [name for name in READ if not FILES[name].name.endswith(".gz")]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(case, folder):
    file = FILES[case]
    (folder / file.name).write_bytes(file.content)
    return file


def options_of(typed):
    """Options of the command line as arguments of `open_source`."""
    words = typed.split()
    given = dict(zip([word.removeprefix("--") for word in words[::2]], words[1::2]))
    names = {"labels": "label", "bad-rows": "bad_rows"}
    options = {names.get(name, name): value for name, value in given.items() if name != "scale"}
    for name in ("columns", "exclude"):
        if name in options:
            options[name] = options[name].split(",")
    return options


def score(file):
    typed = ["--indices", "CH", "--no-verdict", *file.typed.split()]
    return CliRunner().invoke(main, ["score", file.name, *typed], prog_name="icvi")


def test_there_are_forty_of_them():
    assert len(FILES) >= 40


@pytest.mark.parametrize("case", [case for case in FILES if "--labels" in FILES[case].typed])
def test_score_reads_or_refuses_a_file_in_these_words(case, folder):
    file = written(case, folder)
    result = score(file)
    assert result.stderr == file.words
    assert result.exit_code == (file.rows is None)
    assert "\x1b" not in result.output


@pytest.mark.parametrize("case", FILES)
def test_watch_reads_or_refuses_a_file_in_these_words(case, folder):
    file = written(case, folder)
    labels = [] if "--labels" in file.typed else ["--clusterer", "art", "--bounds", "0", "10"]
    typed = [*file.typed.split(), *labels, "--indices", "CH", "--no-insight"]
    result = watch(file.name, *typed)
    assert result.exit_code == (file.rows is None)
    if file.rows is not None:
        assert result.stderr == file.words
        return
    # How the source is read is told first, and what was done last.
    assert file.words.rstrip("\n") in result.stderr


@pytest.mark.parametrize("case", READ)
def test_its_samples_are_these(case, folder):
    file = written(case, folder)
    rows = concatenate(collected(file.name, **options_of(file.typed)))
    assert rows.X.tolist()[: len(file.rows)] == file.rows
    assert rows.X.flags.c_contiguous


@pytest.mark.parametrize("case", TEXT)
def test_reading_it_resumes_exactly_after_any_batch(case, folder):
    file = written(case, folder)
    options = {**options_of(file.typed), "format": "csv"}
    for again in (lambda: file.name, lambda: io.BytesIO(file.content)):
        whole = collected(again(), **options, rows=1)
        for at in range(0, len(whole), max(1, len(whole) // 4)):
            later = open_source(again(), **options)
            later.seek(json.loads(json.dumps(whole[at].position)))
            assert not later.notes  # they were reported before
            same_rows([*whole[: at + 1], *later], whole)


@pytest.mark.parametrize("case", TEXT)
def test_a_pipe_that_brings_it_slowly_gives_the_same_samples(case, folder):
    file = written(case, folder)
    options = options_of(file.typed)

    class Slow(io.RawIOBase):
        """A few bytes at a time."""

        left = file.content

        def read1(self, most):
            data, self.left = self.left[:700], self.left[700:]
            return data

        read = read1

    same_rows(collected(Slow(), **options, format="csv"), collected(file.name, **options))


@pytest.mark.parametrize("case", TEXT)
def test_two_files_of_its_kind_are_one_stream(case, folder):
    file = FILES[case]
    for name in ("1.csv", "2.csv"):
        (folder / name).write_bytes(file.content)
    once = collected("1.csv", **options_of(file.typed))
    same_rows(collected("*.csv", **options_of(file.typed)), [*once, *once])


def test_files_of_different_kinds_are_not_one_stream(folder):
    (folder / "1.csv").write_text("x,y\n1,2\n")
    (folder / "2.csv").write_text("x;y\n1;2\n")
    expected = (
        r"2\.csv: expected the separator of 1\.csv, ',', got ';'; read files of different kinds "
        r"one by one"
    )
    with pytest.raises(ValueError, match=expected):
        open_source("*.csv")


@pytest.mark.parametrize("first", ["x;y\n", "x;y\n1,5;2\n", "# nothing yet\n", ""])
def test_a_file_that_grows_is_followed_in_its_dialect(first, folder):
    path = folder / "f.csv"
    path.write_text(first)
    rest = "x;y\n1,5;2\n3;4,25\n".removeprefix(first.replace("# nothing yet\n", ""))

    def grow():
        for line in rest.splitlines(keepends=True):
            time.sleep(0.02)
            with path.open("a") as file:
                file.write(line)

    thread = threading.Thread(target=grow)
    with open_source(path, follow=True) as source:
        thread.start()
        found = []
        for batch in source:
            found.append(batch)
            if batch.stop == 2:
                break
    thread.join(60)
    assert concatenate(found).X.tolist() == [[1.5, 2.0], [3.0, 4.25]]
    assert found[-1].position["dialect"]["separator"] == ";"
    with path.open("a") as file:
        file.write("7;8\n")
    with open_source(path, follow=True) as later:
        later.seek(json.loads(json.dumps(found[-1].position)))
        assert next(iter(later)).X.tolist() == [[7.0, 8.0]]


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"sep": ","}, "its separator was ';', not ','"),
        ({"decimal": "."}, "its decimal mark was ',', not '.'"),
        ({"header": False}, "it was read with a header"),
    ],
)
def test_another_dialect_does_not_resume(now, why, folder):
    (folder / "f.csv").write_text("x;y\n1,5;2\n3;4\n")
    position = collected("f.csv", rows=1)[0].position
    with pytest.raises(ValueError, match=f"this position is of another stream: {why}"):
        open_source("f.csv", **now).seek(position)
    source = open_source("f.csv", sep=";", decimal=",", header=True)
    source.seek(position)
    assert concatenate(list(source)).X.tolist() == [[3.0, 4.0]]


def test_an_ordinary_position_is_as_it_was_before_there_were_dialects(folder):
    (folder / "f.csv").write_text("x,y\n1,2\n3,4\n")
    assert "dialect" not in collected("f.csv")[0].position


def test_numbers_of_many_rows_are_those_of_few(folder):
    """The fast way of pyarrow and the slow one of single rows agree, whatever the spelling."""
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(500, 3)) * 10.0 ** rng.integers(-3, 6, (500, 3))).round(2)
    for separator, decimal, thousands in (
        (";", ",", "."), ("\t", ".", ","), (" ", ",", ""), ("|", ".", "'"), (";", ",", " "),
    ):  # fmt: skip
        swapped = str.maketrans({",": thousands, ".": decimal})
        rows = [[f"{x:,.2f}".translate(swapped) for x in row] for row in X.tolist()]
        text = "".join(separator.join(row) + "\n" for row in [["a", "b", "c"], *rows])
        (folder / "f.csv").write_text(text)
        for size in (1, 500):
            found = concatenate(collected("f.csv", rows=size)).X
            assert found.tolist() == X.tolist(), (separator, decimal, thousands)


def test_only_csv_has_a_dialect(folder):
    (folder / "f.ndjson").write_text('{"x": 1}\n')
    for what in ("f.ndjson", np.zeros((2, 2))):
        with pytest.raises(ValueError, match="sep, decimal and header are for CSV, got"):
            open_source(what, sep=";")
    with pytest.raises(ValueError, match="expected sep to be ',', ';', "):
        open_source("f.csv", sep="ab")
    with pytest.raises(ValueError, match=r"expected decimal to be .* got 'x'"):
        open_source("f.csv", decimal="x")
    with pytest.raises(TypeError, match="expected header to be True or False, got 1"):
        open_source("f.csv", header=1)
