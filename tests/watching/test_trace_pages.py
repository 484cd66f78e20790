"""Pages from readings alone: a trace in memory, or a trace file of any format."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import icvi
from chromium import Chromium
from icvi.cli.main import main
from icvi.watching.history import History
from icvi.watching.report import trace_reader
from icvi.watching.report.trace_page import write_trace, write_trace_file
from icvi.watching.report.trace_reader import TraceReader
from pages import EVIL, clean, model, shown, words

RNG = np.random.default_rng(0)
LABELS = np.array(["left", "right", EVIL], dtype=object)[RNG.integers(0, 3, 900)]
X = RNG.normal(size=(900, 2)) + 9.0 * (LABELS == "left")[:, None]
FORMATS = ["csv", "ndjson", "parquet"]


def written(folder, format, **options):
    path = folder / f"run.{format}"
    icvi.watch((X, LABELS), indices=["CH", "SIL", "XB"], trace=path, **options).run()
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    window = Chromium(tmp_path_factory.mktemp("chromium"))
    yield window
    window.close()


def report(*arguments):
    result = CliRunner().invoke(main, ["report", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.parametrize("format", FORMATS)
def test_a_trace_file_reads_back_to_the_last_bit(tmp_path, format, monkeypatch):
    monkeypatch.setattr(trace_reader, "_ROWS", 100)
    monkeypatch.setattr(trace_reader, "_BLOCK", 4096)
    path = written(tmp_path, format, undefined="limit")
    trace = icvi.Tracker(["CH", "SIL", "XB"], undefined="limit").update_many(X, LABELS)
    reader = TraceReader(path)
    assert reader.names == ["CH", "SIL", "XB"]
    parts = list(reader)
    assert len(parts) > 5
    assert max(len(part.samples) for part in parts) < 300
    for column in ("samples", "k", "labels"):
        found = np.concatenate([getattr(part, column) for part in parts])
        np.testing.assert_array_equal(found, getattr(trace, column))
    found = np.concatenate([part.values for part in parts])
    np.testing.assert_array_equal(found, np.stack([trace[name] for name in trace.names], axis=1))


@pytest.mark.parametrize("format", FORMATS)
def test_the_page_of_a_trace_has_every_reading(browser, tmp_path, format):
    path = written(tmp_path, format)
    code, said = report(path)
    assert (code, said) == (0, f"report: {tmp_path / 'run.html'}\n")
    trace = icvi.Tracker(["CH", "SIL", "XB"]).update_many(X, LABELS)
    shown(browser, tmp_path / "run.html")
    data = browser.run(
        f"const data = {model('curves')}.data;"
        "return ['samples', 'k', 'last1'].map((name) =>"
        " Array.from(data[name], (x) => Number.isNaN(x) ? 'nan' : x))"
    )
    np.testing.assert_array_equal(np.array(data[0]), trace.samples)
    np.testing.assert_array_equal(np.array(data[1]), trace.k)
    np.testing.assert_array_equal(np.array(data[2], dtype=float), trace["SIL"])
    sizes = browser.run(f"return [...{model('layers')}.data.size0].pop()")
    assert sizes == max((label == LABELS).sum() for label in np.unique(LABELS))
    assert EVIL in browser.run("return document.querySelector('.legend').textContent")
    clean(browser, tmp_path / "run.html")


def test_the_page_of_a_trace_says_what_it_cannot_show(tmp_path):
    write_trace_file(written(tmp_path, "csv"), tmp_path / "page.html")
    said = words(tmp_path / "page.html")
    assert "900 samples arrived, and there are 3 clusters." in said
    assert "A trace holds no samples, so there is neither a verdict nor a picture" in said
    page = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r'<section aria-labelledby="(\w+)">', page) == [
        *("answer", "curves", "sizes", "run", "help")
    ]


def test_readings_after_every_tenth_sample_have_no_sizes(browser, tmp_path):
    write_trace_file(written(tmp_path, "parquet", every=10), tmp_path / "page.html")
    assert "Cluster sizes" not in words(tmp_path / "page.html")
    shown(browser, tmp_path / "page.html")
    assert browser.run(f"return {model('index0')}.x_range.start") == 0.5
    grown = browser.run(f"return {model('created')}.ticks")
    assert grown == [10.0]
    clean(browser, tmp_path / "page.html")


def test_alarms_beside_a_trace_are_shown(tmp_path):
    path = written(tmp_path, "csv")
    lines = (tmp_path / "run.alarms.ndjson").read_text().splitlines()
    assert lines
    assert report(path)[0] == 0
    said = words(tmp_path / "run.html")
    assert f"{len(lines)} alarm{'s' if len(lines) > 1 else ''} on the way" in said
    assert f"{json.loads(lines[-1])['sample']:,}" in said
    (tmp_path / "run.alarms.ndjson").write_text("{}\n")
    code, said = report(path, "--overwrite")
    assert code == 1
    assert "line 1: expected an alarm, got '{}'" in said


@pytest.mark.parametrize("columns", [("ARI", "AMI"), ("ARI",)])
def test_comparisons_with_the_truth_are_one_panel(browser, tmp_path, columns):
    path = tmp_path / "run.csv"
    rows = [f"{n},0,2,{n}.5" + f",{n / 100}" * len(columns) for n in range(1, 101)]
    path.write_text("\n".join([f"sample,label,k,CH,{','.join(columns)}", *rows, ""]))
    write_trace_file(path, tmp_path / "page.html")
    shown(browser, tmp_path / "page.html")
    figures = browser.run(
        "return Bokeh.documents[0].roots().filter((root) => root.type === 'Figure')"
        ".map((root) => root.name)"
    )
    assert figures == ["k", "index0", "truth", "sizes"]
    ends = browser.run(f"const range = {model('truth')}.y_range; return [range.start, range.end]")
    assert ends == [0.0, 1.08]
    clean(browser, tmp_path / "page.html")


def test_a_trace_in_memory_has_the_same_page(tmp_path):
    trace = icvi.Tracker(["CH", "SIL", "XB"], insight=True).update_many(X, LABELS)
    trace.report(tmp_path / "memory.html")
    write_trace_file(written(tmp_path, "parquet"), tmp_path / "file.html", alarms=None)
    memory, file = (words(tmp_path / f"{name}.html") for name in ("memory", "file"))
    start, end = "The indices at the end of the stream", "The run"
    assert start in memory
    assert (
        memory.partition(start)[2].partition(end)[0] == file.partition(start)[2].partition(end)[0]
    )


def test_a_part_of_a_trace_begins_where_it_begins(browser, tmp_path):
    trace = icvi.Tracker(["CH"]).update_many(X, LABELS)
    trace[600:].report(tmp_path / "page.html")
    assert "This part of the stream begins after sample 600." in words(tmp_path / "page.html")
    shown(browser, tmp_path / "page.html")
    ends = browser.run(f"const range = {model('k')}.x_range; return [range.start, range.end]")
    assert ends == [600.5, 900.5]
    clean(browser, tmp_path / "page.html")


def test_indices_of_others_have_a_page_without_an_arrow(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(f'sample,k,"{EVIL}"\n1,1,\n2,2,0.5\n')
    write_trace_file(path, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert EVIL not in page.split("<script>")[0]
    assert EVIL in words(tmp_path / "page.html")


BAD = {
    "no trace": ("a.csv", "x,y\n1,2\n", "sample and k are missing"),
    "no index": ("a.csv", "sample,label,k\n1,a,1\n", "there is no index in this trace"),
    "no readings": ("a.csv", "sample,label,k,CH\n", "there are no readings in this trace"),
    "nothing": ("a.ndjson", "", "sample and k are missing"),
    "samples that fall": ("a.csv", "sample,k,CH\n2,1,\n1,1,\n", "expected rising numbers"),
    "half a cluster": ("a.csv", "sample,k,CH\n1,0.5,\n", "whole numbers in column k, got 0.5"),
    "words": ("a.csv", "sample,k,CH\n1,1,much\n", "much"),
    "words in NDJSON": (
        *("a.ndjson", '{"sample": 1, "k": 1, "CH": "much"}\n'),
        "expected numbers in column 'CH'",
    ),
    "no JSON": ("a.ndjson", "sample\n", "invalid line"),
    "no Parquet": ("a.parquet", "sample", "a.parquet"),
    "a name": ("a.txt", "sample,k,CH\n", "ends in .csv, .ndjson, .jsonl, .parquet"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path, kind):
    name, content, message = BAD[kind]
    (tmp_path / name).write_text(content)
    code, said = report(tmp_path / name)
    assert code == 1
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "a.html").exists()


def test_a_page_that_is_there_stays_unless_told_otherwise(tmp_path):
    path = written(tmp_path, "csv")
    (tmp_path / "run.html").write_text("mine")
    code, said = report(path)
    assert code == 1
    assert "exists already; give another name, or --overwrite" in said
    assert (tmp_path / "run.html").read_text() == "mine"
    assert report(path, "--overwrite")[0] == 0
    assert report(path, "--out", tmp_path / "other.html")[0] == 0
    assert report(path, "--out", tmp_path / "other.pdf")[0] == 1
    assert report(tmp_path / "none.csv")[0] == 1


def test_a_trace_without_readings_has_no_page(tmp_path):
    trace = icvi.Tracker(["CH"]).update_many(X[:3], LABELS[:3], every=7)
    with pytest.raises(ValueError, match="expected a trace with readings, got none"):
        write_trace(trace, tmp_path / "page.html")


def test_readings_without_samples_give_the_same_history(tmp_path):
    trace = icvi.Tracker(["CH", "XB"]).update_many(X, LABELS)
    values = np.stack([trace["CH"], trace["XB"]], axis=1)
    whole, pieces = History(["CH", "XB"]), History(["CH", "XB"])
    whole.take_readings(trace.samples, trace.k, values, trace.labels)
    for cut in range(0, 900, 70):
        rows = slice(cut, cut + 70)
        pieces.take_readings(trace.samples[rows], trace.k[rows], values[rows], trace.labels[rows])
    (facts, arrays), (others, other_arrays) = whole.keep(), pieces.keep()
    assert facts == others
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)
