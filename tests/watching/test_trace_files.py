"""The trace file: the same bytes however the stream came, and whole rows whatever happened."""

import csv
import errno
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
import zlib
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import processes
from icvi.indices.undefined import UndefinedPolicy
from icvi.tracking.trace import Trace
from icvi.watching.step import Step
from icvi.watching.trace_files import growing_file, journal, open_trace, parquet_trace, recover
from streams import blobs

FORMATS = ["csv", "ndjson", "parquet"]
TEXT_FORMATS = ["csv", "ndjson"]
NAMES = ["CH", "XB"]
N = 200


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def of_kind(kind):
    """N labels of a kind that clusterers give."""
    _, y = blobs(N, 2, 5, seed=1)
    texts = ["a", 'say "b"', "c, d", "e\nf\r\n", "grün 日本 [null]"]
    return {
        "whole numbers": y - 2,
        "strings": objects([texts[i] for i in y]),
        "numbers, then strings": objects(
            [int(i) if s < 120 else texts[i] for s, i in enumerate(y)]
        ),
        "now this, now that": objects([int(i) if i % 2 else texts[i] for i in y]),
        "whole numbers as objects": objects([np.int32(i) if i % 2 else int(i) for i in y]),
        "tuples": objects([(int(i), "x") for i in y]),
        "truth values": objects([bool(i % 2) for i in y]),
        "huge numbers": objects([2**63 - 1 + int(i) for i in y]),
        "floats": y + 0.5,
        "spans of time": objects([np.timedelta64(int(i), "s") for i in y]),
        "numpy strings": np.array(["a", "b", "ü", "null", ""])[y],
    }[kind]


KINDS = [
    "whole numbers",
    "strings",
    "numbers, then strings",
    "now this, now that",
    "whole numbers as objects",
    "tuples",
    "truth values",
    "huge numbers",
    "floats",
    "spans of time",
    "numpy strings",
]

STAMPS = np.datetime64("2024-05-01T12:00", "ns") + np.arange(N) * np.timedelta64(250_000_001, "ns")
SECONDS = 1e9 + np.arange(N) / 8
TIMES = {None: None, "datetime": STAMPS, "seconds": SECONDS}


def steps_of(labels, cuts=(), *, time=None, every=1, indices=NAMES, X=None, first=0, **options):
    """One stream, cut into steps before these samples; those before ``first`` are left out."""
    X = blobs(N, 2, 5, seed=1)[0][: len(labels)] if X is None else X
    tracker = icvi.Tracker(indices, **options)
    edges = sorted({0, first, len(labels), *cuts})
    steps = []
    for start, stop in pairwise(edges):
        part = slice(start, stop)
        trace = tracker.update_many(X[part], labels[part], every=every)
        times = None if time is None else time[part]
        steps.append(Step(X[part], labels[part], times, start, trace, tracker))
    return [step for step in steps if step.first >= first]


def kind_of(time):
    if time is None:
        return None
    return "datetime" if time.dtype.kind == "M" else "seconds"


def written(path, steps, *, names=NAMES, time=None, **options):
    """A finished trace file."""
    path.unlink(missing_ok=True)
    with closing(open_trace(path, names=names, time=time, **options)) as trace:
        trace.begin()
        for step in steps:
            trace.take(step)
        trace.finish()
    return path.read_bytes()


def small(gathered=20, group=48):
    """Batches and row groups of few rows, so that a short stream has many of them."""
    stack = ExitStack()
    stack.enter_context(mock.patch.object(parquet_trace, "_GATHERED", gathered))
    stack.enter_context(mock.patch.object(parquet_trace, "ROW_GROUP", group))
    stack.enter_context(mock.patch.object(journal, "ROW_GROUP", group))
    return stack


def read_back(path):
    """Columns of a trace file, with None for what is undefined; labels as they are in the file."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pydict()
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        columns = dict(zip(header, zip(*rows, strict=True) if rows else [()] * len(header)))
        for name in set(columns) - {"label", "time"}:
            kind = int if name in ("sample", "k") else float
            columns[name] = [None if text == "" else kind(text) for text in columns[name]]
        return {name: list(column) for name, column in columns.items()}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    columns = {name: [line[name] for line in lines] for name in lines[0]}
    infinite = {"Infinity": math.inf, "-Infinity": -math.inf}
    for name in set(columns) - {"label", "time"}:
        columns[name] = [infinite.get(value, value) for value in columns[name]]
    return columns


def same_floats(ours, theirs):
    """Whether floats are the same to the last bit, with None for any nan."""
    bits = [None if math.isnan(value) else float(value).hex() for value in theirs]
    assert [None if value is None else value.hex() for value in ours] == bits


# -- what is in the file -------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("every", [1, 7])
def test_what_is_read_back_is_the_trace_exactly(tmp_path, format, every):
    path = tmp_path / f"trace.{format}"
    steps = steps_of(of_kind("whole numbers"), [3, 4, 90], every=every)
    written(path, steps)
    columns = read_back(path)
    assert list(columns) == ["sample", "label", "k", *NAMES]
    assert columns["sample"] == [n for n in range(1, N + 1) if n % every == 0]
    labels = [int(label) for label in columns["label"]]
    assert labels == np.concatenate([step.trace.labels for step in steps]).tolist()
    assert columns["k"] == np.concatenate([step.trace.k for step in steps]).tolist()
    for name in NAMES:
        same_floats(columns[name], np.concatenate([step.trace[name] for step in steps]))


def test_pandas_reads_every_format(tmp_path):
    (step,) = steps_of(of_kind("whole numbers"))
    for ending in FORMATS:
        written(tmp_path / f"trace.{ending}", [step])
    tables = [
        pd.read_csv(tmp_path / "trace.csv"),
        pd.read_json(tmp_path / "trace.ndjson", lines=True, precise_float=True),
        pd.read_parquet(tmp_path / "trace.parquet"),
    ]
    for table in tables:
        pd.testing.assert_frame_equal(table, step.trace.to_pandas(), check_exact=False, rtol=1e-13)


def test_the_lines_look_as_described(tmp_path):
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    time = np.array(["2024-05-01", "2024-05-01T00:00:00.5", "NaT", "2025-01-01"], "datetime64[ns]")
    steps = steps_of(objects([0, 0, "b", "b"]), [3], X=X, time=time)
    assert written(tmp_path / "a.csv", steps, time="datetime").decode() == (
        "sample,time,label,k,CH,XB\n"
        "1,2024-05-01T00:00:00,0,1,,\n"
        "2,2024-05-01T00:00:00.5,0,1,,\n"
        '3,,"b",2,75.0,0.002962962962962963\n'
        '4,2025-01-01T00:00:00,"b",2,128.0,0.00390625\n'
    )
    assert written(tmp_path / "a.jsonl", steps, time="datetime").decode() == (
        '{"sample":1,"time":"2024-05-01T00:00:00","label":0,"k":1,"CH":null,"XB":null}\n'
        '{"sample":2,"time":"2024-05-01T00:00:00.5","label":0,"k":1,"CH":null,"XB":null}\n'
        '{"sample":3,"time":null,"label":"b","k":2,"CH":75.0,"XB":0.002962962962962963}\n'
        '{"sample":4,"time":"2025-01-01T00:00:00","label":"b","k":2,"CH":128.0,"XB":0.00390625}\n'
    )


@pytest.mark.parametrize("format", FORMATS)
@given(values=st.lists(st.floats(), min_size=1, max_size=20))
def test_every_number_reads_back_exactly(tmp_path_factory, format, values):
    path = tmp_path_factory.mktemp("numbers") / f"trace.{format}"
    n = len(values)
    tracker = icvi.Tracker(["CH"])
    trace = Trace(
        UndefinedPolicy(tracker.indices, "nan"),
        np.array(values).reshape(n, 1),
        np.ones(n, dtype=np.int64),
        np.arange(1, n + 1),
        np.zeros(n, dtype=np.int64),
    )
    written(path, [Step(np.zeros((n, 1)), trace.labels, None, 0, trace, tracker)], names=["CH"])
    same_floats(read_back(path)["CH"], values)


@pytest.mark.parametrize("format", FORMATS)
def test_infinite_readings_survive(tmp_path, format):
    X = np.array([[0.0], [0.0], [5.0], [5.0]])
    path = tmp_path / f"trace.{format}"
    steps = steps_of(objects(["a", "a", "b", "b"]), X=X, undefined="limit")
    content = written(path, steps)
    assert read_back(path)["CH"] == [None, None, math.inf, math.inf]
    expected = {"csv": b'4,"b",2,inf,0.0\n', "ndjson": b'"CH":"Infinity"', "parquet": b"PAR1"}
    assert expected[format] in content


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_labels_of_every_kind_read_back(tmp_path, format, kind):
    labels = of_kind(kind)
    path = tmp_path / f"trace.{format}"
    written(path, steps_of(labels, range(0, N, 13)))

    def whole(label):
        is_number = isinstance(label, (int, np.integer))
        is_number = is_number and not isinstance(label, (bool, np.timedelta64))
        return is_number and -(2**63) <= int(label) < 2**63

    expected = [int(label) if whole(label) else str(label) for label in labels]
    all_whole = all(isinstance(label, int) for label in expected)
    if format == "csv" or (format == "parquet" and not all_whole):
        expected = [str(label) for label in expected]
    assert read_back(path)["label"] == expected
    if format == "parquet":
        assert pq.read_schema(path).field("label").type == (
            pa.int64() if all_whole else pa.string()
        )


def test_csv_quotes_the_labels_that_are_no_whole_numbers(tmp_path):
    labels = objects([1, "1", 2, "a"])
    lines = written(tmp_path / "trace.csv", steps_of(labels), names=[]).decode().split()
    assert [line.split(",")[1] for line in lines[1:]] == ["1", '"1"', "2", '"a"']


@pytest.mark.parametrize("format", FORMATS)
def test_text_that_is_no_unicode_is_spelt_out(tmp_path, format):
    path = tmp_path / f"trace.{format}"
    written(path, steps_of(objects(["a", "ü\udc80"])))
    assert read_back(path)["label"] == ["a", "ü\\udc80"]


@pytest.mark.parametrize("every", [1, 9])
@pytest.mark.parametrize("time", [STAMPS, SECONDS], ids=["datetime", "seconds"])
@pytest.mark.parametrize("format", FORMATS)
def test_times_are_those_of_the_samples(tmp_path, format, time, every):
    path = tmp_path / f"trace.{format}"
    steps = steps_of(of_kind("strings"), [1, 2, 100], time=time, every=every)
    content = written(path, steps, time=kind_of(time))
    assert written(path, steps, time=True) == content
    expected = time[every - 1 :: every]
    if format == "parquet":
        assert pq.read_table(path)["time"].to_numpy().tolist() == expected.tolist()
        return
    found = read_back(path)["time"]
    assert np.array(found, dtype=time.dtype).tolist() == expected.tolist()


@pytest.mark.parametrize("time", [None, "datetime", "seconds", True])
@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_without_samples_leaves_a_valid_file(tmp_path, format, time):
    path = tmp_path / f"trace.{format}"
    content = written(path, [], time=time)
    header = ["sample", *(["time"] if time else []), "label", "k", *NAMES]
    if format == "csv":
        assert content.decode() == ",".join(header) + "\n"
    elif format == "ndjson":
        assert content == b""
    else:
        table = pq.read_table(path)
        assert table.column_names == header
        assert len(table) == 0
        assert table["label"].type == pa.int64()
        if time:
            kind = pa.float64() if time == "seconds" else pa.timestamp("ns")
            assert table["time"].type == kind


@pytest.mark.parametrize("format", FORMATS)
def test_steps_without_readings_leave_no_trace(tmp_path, format):
    path = tmp_path / f"trace.{format}"
    steps = steps_of(of_kind("whole numbers"), time=SECONDS, every=N + 1)
    assert len(steps[0].trace) == 0
    content = written(path, steps, time="seconds")
    assert content == written(path, [], time="seconds")


def test_names_may_be_anything_but_those_of_our_columns(tmp_path):
    (step,) = steps_of(of_kind("strings"))
    odd = ['a "b", c', "ü\nx", "label as text", "c0"]
    trace = Trace.__new__(Trace)
    trace.names, trace.k, trace.samples = odd, step.trace.k, step.trace.samples
    trace.labels, trace._values = step.trace.labels, np.tile(step.trace["CH"], (4, 1)).T
    trace._policy = mock.Mock(column=lambda _, values: values)
    odd_step = Step(step.X, step.labels, None, 0, trace, step.tracker)
    for ending in FORMATS:
        path = tmp_path / f"trace.{ending}"
        written(path, [odd_step], names=odd)
        columns = read_back(path)
        assert list(columns) == ["sample", "label", "k", *odd]
        same_floats(columns["label as text"], step.trace["CH"])


def test_a_large_file_has_row_groups_of_one_size(tmp_path):
    path = tmp_path / "trace.parquet"
    n = 2 * journal.ROW_GROUP + 100
    X, y = blobs(n, 1, 3)
    written(path, steps_of(y, [10, 70_000], X=X))
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert groups == [65_536, 65_536, 100]
    assert pq.read_table(path)["sample"].to_numpy().tolist() == list(range(1, n + 1))


# -- the same bytes ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@given(
    cuts=st.lists(st.integers(0, N), max_size=30),
    kind=st.sampled_from(KINDS),
    time=st.sampled_from(list(TIMES)),
    every=st.sampled_from([1, 4]),
)
def test_how_a_stream_is_cut_into_steps_changes_no_byte(
    tmp_path_factory, format, cuts, kind, time, every
):
    path = tmp_path_factory.mktemp("cuts") / f"trace.{format}"
    labels = of_kind(kind)
    options = {"time": TIMES[time], "every": every}
    with small():
        whole = written(path, steps_of(labels, **options), time=time)
        assert written(path, steps_of(labels, cuts, **options), time=time) == whole


def test_labels_that_fill_many_pages_make_the_same_file_in_any_batches(tmp_path):
    path, n, tracker = tmp_path / "trace.parquet", 40_000, icvi.Tracker(["CH"])
    treatment = UndefinedPolicy(tracker.indices, "nan")

    def step(first, stop):
        labels = objects([f"{sample:0100}" for sample in range(first, stop)])
        ones, samples = np.ones(stop - first, dtype=np.int64), np.arange(first, stop) + 1
        trace = Trace(treatment, ones[:, None] / 3, ones, samples, labels)
        return Step(ones[:, None], labels, None, first, trace, tracker)

    whole = written(path, [step(0, n)], names=["CH"])
    edges = [*range(0, n, 7001), n]
    assert written(path, [step(*pair) for pair in pairwise(edges)], names=["CH"]) == whole


@pytest.mark.parametrize("format", FORMATS)
def test_samples_one_by_one_make_the_same_file(tmp_path, format):
    path = tmp_path / f"trace.{format}"
    labels = of_kind("now this, now that")
    whole = written(path, steps_of(labels))
    assert written(path, steps_of(labels, range(N))) == whole


@pytest.mark.parametrize("format", FORMATS)
@given(
    kind=st.sampled_from(["whole numbers", "numbers, then strings", "now this, now that"]),
    time=st.sampled_from(list(TIMES)),
    cuts=st.lists(st.integers(1, N - 1), min_size=2, max_size=12, unique=True),
    data=st.data(),
)
def test_a_run_that_was_killed_goes_on_to_the_same_file(
    tmp_path_factory, format, kind, time, cuts, data
):
    folder = tmp_path_factory.mktemp("killed")
    path, labels = folder / f"trace.{format}", of_kind(kind)
    cuts.sort()
    kept_at = data.draw(st.sampled_from([0, *cuts[:-1]]), "checkpoint")
    killed_at = data.draw(st.sampled_from([cut for cut in cuts if cut > kept_at]), "killed")
    garbage = data.draw(st.sampled_from([b"", b'199,"a', bytes(50_000)]), "being written")
    declared = data.draw(st.sampled_from([time, True if time else None]), "declared")
    options = {"names": NAMES, "time": declared, "journal": folder}
    with small():
        steps = steps_of(labels, cuts, time=TIMES[time])
        whole = written(folder / f"whole.{format}", steps, time=time)

        first = open_trace(path, **options)
        first.begin()
        for step in steps:
            if step.first == kept_at:
                first.flush()
                facts = json.loads(json.dumps(first.keep()[0]))
            if step.first < killed_at:
                first.take(step)
        first._file.close()  # a process that dies writes nothing out
        file = folder / "trace.arrows" if format == "parquet" else path
        with open(file, "ab") as end:
            end.write(garbage)

        with closing(open_trace(path, **options)) as second:
            second.resume(facts, {})
            assert second.rows == kept_at
            for step in steps_of(labels, [N - 7, *cuts], time=TIMES[time], first=kept_at):
                second.take(step)
            second.finish()
        assert path.read_bytes() == whole


@pytest.mark.parametrize("format", FORMATS)
def test_a_finished_trace_can_be_gone_on_with(tmp_path, format):
    path, labels = tmp_path / f"trace.{format}", of_kind("numbers, then strings")
    whole = written(tmp_path / f"whole.{format}", steps_of(labels))
    first, *rest = steps_of(labels, [70, 150])
    with closing(open_trace(path, names=NAMES, journal=tmp_path)) as trace:
        trace.begin()
        trace.take(first)
        trace.finish()
        trace.flush()
        facts, arrays = trace.keep()
    assert len(read_back(path)["sample"]) == 70
    with closing(open_trace(path, names=NAMES, journal=tmp_path)) as trace:
        trace.resume(facts, arrays)
        for step in rest:
            trace.take(step)
        trace.finish()
        trace.finish()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("format", FORMATS)
def test_a_checkpoint_from_before_the_beginning_begins_anew(tmp_path, format):
    path, steps = tmp_path / f"trace.{format}", steps_of(of_kind("strings"), [50])
    whole = written(tmp_path / f"whole.{format}", steps)
    trace = open_trace(path, names=NAMES)
    trace.check_new()
    facts, arrays = trace.keep()
    assert not path.exists()
    trace.begin()
    trace.take(steps[0])
    trace.close()
    for there in (True, False):
        again = open_trace(path, names=NAMES)
        again.resume(facts, arrays)
        for step in steps:
            again.take(step)
        again.finish()
        again.close()
        assert path.read_bytes() == whole, there
        path.unlink()


CHILD = """
    import errno, json, os, resource, signal, sys
    sys.path[:0] = {tests!r}
    from test_trace_files import FORMATS, NAMES, N, of_kind, steps_of
    from icvi.watching.trace_files import open_trace

    def steps(**options):
        return steps_of(of_kind("numbers, then strings"), range(0, N, 10), **options)

    def limit(length):
        resource.setrlimit(resource.RLIMIT_FSIZE, (length, resource.RLIM_INFINITY))

    def say(*what):
        print(json.dumps(what), file=sys.stderr, flush=True)
"""


def child(script, *arguments, **options):
    """A process that has steps of a stream at hand and says JSON on standard error."""
    code = CHILD.format(
        tests=[str(Path(__file__).parent), str(Path(__file__).parents[1])]
    ) + textwrap.indent(textwrap.dedent(script), "    ")
    source = str(Path(icvi.__file__).parents[1])
    return processes.begin(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
        **options,
    )


def said(process):
    """What a child said; it must have ended well."""
    errors = heard(process)
    assert process.returncode == 0, errors
    return [json.loads(line) for line in errors.splitlines()]


def heard(process):
    """Standard error of a child, to its end."""
    try:
        return process.communicate(timeout=processes.PATIENCE)[1].decode()
    finally:
        processes.end(process)


def in_child():
    """The stream of a child, in one step."""
    return steps_of(of_kind("numbers, then strings"))


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing_that_was_flushed(tmp_path):
    script = """
        paths = [os.path.join(sys.argv[1], f"trace.{ending}") for ending in FORMATS]
        traces = [open_trace(path, names=NAMES, journal=sys.argv[1]) for path in paths]
        for trace in traces:
            trace.begin()
        for number, step in enumerate(steps()):
            for trace in traces:
                trace.take(step)
                if number == 7:
                    trace.flush()
                    say(trace.keep()[0])
            if number == 12:
                os.kill(os.getpid(), signal.SIGKILL)
    """
    process = child(script, tmp_path)
    kept = [json.loads(line)[0] for line in heard(process).splitlines()]
    assert process.returncode == -signal.SIGKILL
    assert [(facts["format"], facts["rows"]) for facts in kept] == [(f, 80) for f in FORMATS]
    for facts in kept:
        assert_goes_on(tmp_path / f"trace.{facts['format']}", tmp_path, facts)


def assert_goes_on(path, folder, facts):
    """Another process goes on to the file that would have been."""
    with closing(open_trace(path, names=NAMES, journal=folder)) as trace:
        trace.resume(facts, {})
        for step in steps_of(of_kind("numbers, then strings"), first=facts["rows"]):
            trace.take(step)
        trace.finish()
    assert path.read_bytes() == written(path.parent / f"whole{path.suffix}", in_child())


# -- disks that are full -------------------------------------------------------------------------

FILLING = """
    limited = sys.argv[1] == "limited"
    for ending, folder in zip(FORMATS, sys.argv[2:]):
        trace = open_trace(os.path.join(folder, f"trace.{ending}"), names=NAMES)
        trace.begin()
        limit(5000 if limited else resource.RLIM_INFINITY)
        try:
            for step in steps():
                trace.take(step)
                trace.flush()
                facts = trace.keep()[0]
        except OSError as error:
            say(error.errno, str(error), facts)
        trace.close()
"""


def assert_intact(path, message, facts):
    """What a full disk leaves: whole rows, as many as the message says."""
    file = path.parent / ".trace.parquet.arrows" if path.suffix == ".parquet" else path
    rows = facts["rows"]
    assert f"the file is intact and holds {rows:,} readings" in message
    assert str(file) in message
    assert 0 < rows < N
    assert file.stat().st_size == facts["length"]
    if path.suffix != ".parquet":
        assert len(read_back(path)["sample"]) == rows


@pytest.mark.slow
def test_a_file_that_may_not_grow_ends_with_a_whole_row(tmp_path):
    told = said(child(FILLING, "limited", *[tmp_path] * len(FORMATS)))
    for ending, (number, message, facts) in zip(FORMATS, told, strict=True):
        path = tmp_path / f"trace.{ending}"
        assert number == errno.EFBIG
        assert facts["length"] <= 5000
        assert_intact(path, message, facts)
        assert_goes_on(path, None, facts)


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_the_trace_intact(tmp_path):
    mounted = []
    try:
        for ending in FORMATS:
            disk = tmp_path / ending
            disk.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(disk)]
            if os.geteuid() != 0 or processes.run(mount, capture_output=True).returncode != 0:
                pytest.skip("only root can mount a small disk, and not everywhere")
            mounted.append(disk)
        told = said(child(FILLING, "full", *mounted))
        for disk, (number, message, facts) in zip(mounted, told, strict=True):
            assert number == errno.ENOSPC
            assert_intact(disk / f"trace.{disk.name}", message, facts)
        left = mounted[-1] / ".trace.parquet.arrows"
        assert recover(left, tmp_path / "saved.parquet") == facts["rows"]
    finally:
        for disk in mounted:
            processes.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_a_parquet_file_that_cannot_be_written_leaves_its_journal(tmp_path):
    path = tmp_path / "trace.parquet"
    script = """
        trace = open_trace(sys.argv[1], names=NAMES)
        trace.begin()
        for step in steps():
            trace.take(step)
        trace.flush()
        limit(3000)
        try:
            trace.finish()
        except OSError as error:
            say(error.errno, str(error))
        trace.close()
    """
    [[number, message]] = said(child(script, path))
    left = tmp_path / ".trace.parquet.arrows"
    assert number == errno.EFBIG
    assert str(left) in message
    assert f"{N} readings are safe" in message
    assert os.listdir(tmp_path) == [left.name]
    assert recover(left, path) == N
    assert path.read_bytes() == written(tmp_path / "whole.parquet", in_child())


class ShakyFile(io.FileIO):
    """A file that writes half of what it is given and fails, as long as there is an error."""

    error = None
    can_be_cut = True

    def write(self, data):
        if ShakyFile.error is None:
            return super().write(data)
        super().write(memoryview(data)[: len(data) // 2])
        raise ShakyFile.error

    def truncate(self, length):
        if ShakyFile.can_be_cut:
            return super().truncate(length)
        raise OSError(errno.EROFS, "it cannot be cut either")


@pytest.fixture
def shaky(monkeypatch):
    """Files that fail when their ``error`` is set."""
    monkeypatch.setattr(growing_file, "FileIO", ShakyFile)
    monkeypatch.setattr(ShakyFile, "error", None)
    monkeypatch.setattr(ShakyFile, "can_be_cut", True)
    return ShakyFile


@pytest.mark.parametrize("error", [OSError(errno.EIO, "bad luck"), KeyboardInterrupt()])
@pytest.mark.parametrize("format", FORMATS)
def test_a_step_that_could_not_be_written_can_be_taken_again(tmp_path, shaky, format, error):
    path, steps = tmp_path / f"trace.{format}", steps_of(of_kind("strings"), [30, 60])
    with small(gathered=50), closing(open_trace(path, names=NAMES)) as trace:
        trace.begin()
        trace.take(steps[0])
        shaky.error = error
        with pytest.raises(type(error)):
            trace.take(steps[1])
        assert trace.rows == 30
        shaky.error = None
        for step in steps[1:]:
            trace.take(step)
        trace.finish()
        content = path.read_bytes()
        assert content == written(tmp_path / f"whole.{format}", steps)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_cannot_be_cut_back_tells_the_first_error(tmp_path, shaky, format):
    path, (step,) = tmp_path / f"trace.{format}", steps_of(of_kind("strings"))
    trace = open_trace(path, names=NAMES)
    trace.begin()
    shaky.error, shaky.can_be_cut = OSError(errno.EIO, "bad luck"), False
    message = "bad luck; the file has an incomplete end, and before that 0 readings"
    with small(gathered=1), pytest.raises(OSError, match=message) as caught:
        trace.take(step)
    assert caught.value.errno == errno.EIO
    trace.close()


@pytest.mark.parametrize("format", FORMATS)
def test_a_disk_that_does_not_take_what_was_written_is_an_error(tmp_path, monkeypatch, format):
    trace = open_trace(tmp_path / f"trace.{format}", names=NAMES)
    trace.begin()
    trace.take(steps_of(of_kind("strings"))[0])

    def fails(_):
        raise OSError(errno.EIO, "bad luck")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="bad luck; not all of its 200 readings may be on"):
        trace.flush()
    trace.close()


def test_a_header_that_cannot_be_written_leaves_no_file(tmp_path, shaky):
    trace = open_trace(tmp_path / "trace.csv", names=NAMES)
    shaky.error = OSError(errno.ENOSPC, "full")
    with pytest.raises(OSError, match="full; the file is intact and holds 0 readings"):
        trace.begin()
    assert os.listdir(tmp_path) == []
    shaky.error = None
    trace.begin()
    trace.close()
    assert (tmp_path / "trace.csv").read_text() == "sample,label,k,CH,XB\n"


# -- standard output -----------------------------------------------------------------------------

TO_STANDARD_OUTPUT = """
    trace = open_trace("-", names=NAMES, format=sys.argv[1])
    try:
        trace.begin()
        for step in steps():
            trace.take(step)
            trace.flush()
        trace.finish()
        trace.close()
    except OSError as error:
        say(type(error).__name__, error.errno, str(error))
"""


@pytest.mark.slow
@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_standard_output_gets_what_a_file_would(tmp_path, format):
    with open(tmp_path / "out", "wb") as out:
        assert said(child(TO_STANDARD_OUTPUT, format, stdout=out)) == []
    whole = written(tmp_path / f"whole.{format}", in_child())
    assert (tmp_path / "out").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_standard_output_that_is_full_is_an_error_and_nothing_else():
    with open("/dev/full", "wb") as out:
        [[kind, number, message]] = said(child(TO_STANDARD_OUTPUT, "csv", stdout=out))
    assert (kind, number) == ("OSError", errno.ENOSPC)
    assert "0 readings were written before: 'standard output'" in message


@pytest.mark.slow
def test_a_reader_that_went_away_is_a_broken_pipe():
    read, write = os.pipe()
    os.close(read)
    try:
        process = child(TO_STANDARD_OUTPUT, "csv", stdout=write)
    finally:
        os.close(write)
    [[kind, number, _]] = said(process)
    assert (kind, number) == ("BrokenPipeError", errno.EPIPE)


def test_standard_output_keeps_its_order_and_cannot_be_checkpointed(capfdbinary):
    sys.stdout.write("before\n")
    trace = open_trace("-", names=NAMES, format="csv", overwrite=True)
    trace.check_new()
    with pytest.raises(RuntimeError, match=r"call begin\(\) first"):
        trace.take(in_child()[0])
    trace.begin()
    trace.close()
    for call in (trace.keep, lambda: trace.resume({}, {})):
        with pytest.raises(ValueError, match="standard output cannot be checkpointed"):
            call()
    assert capfdbinary.readouterr().out == b"before\nsample,label,k,CH,XB\n"


def test_standard_output_may_be_an_object_in_memory(monkeypatch):
    memory = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(memory))
    trace = open_trace("-", names=NAMES, format="ndjson")
    trace.begin()
    trace.take(in_child()[0])
    assert memory.getvalue().count(b"\n") == N


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trace.csv.gz", "trace.ndjson.gz", "trace", "trace.txt", "csv"])
def test_an_ending_that_does_not_tell_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"expected one of \.csv, \.ndjson, \.jsonl, \.parquet"):
        open_trace(tmp_path / name, names=NAMES)


def test_the_format_may_be_given(tmp_path):
    content = written(tmp_path / "trace.txt", in_child(), format="csv")
    assert content == written(tmp_path / "TRACE.CSV", in_child())
    with pytest.raises(ValueError, match="expected format 'csv', 'ndjson' or 'parquet', got 'xls'"):
        open_trace(tmp_path / "trace.txt", names=NAMES, format="xls")
    for wrong in (None, "parquet"):
        with pytest.raises(
            ValueError, match="expected format='csv' or format='ndjson' for standard"
        ):
            open_trace("-", names=NAMES, format=wrong)


@pytest.mark.parametrize("name", ["sample", "time", "label", "k"])
def test_an_index_with_the_name_of_a_column_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=f"an index is called '{name}'.*give the index another"):
        open_trace(tmp_path / "trace.csv", names=["CH", name])
    with pytest.raises(ValueError, match="got 'CH' twice"):
        open_trace(tmp_path / "trace.csv", names=["CH", "XB", "CH"])


def test_paths_that_cannot_be_trace_files_are_refused(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="expected a file for the trace, got a folder"):
        open_trace(tmp_path / "folder.csv", names=NAMES)
    with pytest.raises(FileNotFoundError, match="no such folder; make it first"):
        open_trace(tmp_path / "nowhere" / "trace.csv", names=NAMES)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="not a file that can be cut back"):
        open_trace(tmp_path / "pipe.csv", names=NAMES)


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_created_before_it_is_begun(tmp_path, format):
    trace = open_trace(tmp_path / f"trace.{format}", names=NAMES)
    for call in (lambda: trace.take(in_child()[0]), trace.finish, trace.flush):
        with pytest.raises(RuntimeError, match=r"call begin\(\) or resume\(\) first"):
            call()
    trace.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_is_there_is_not_written_over_unless_asked(tmp_path, format):
    path = tmp_path / f"trace.{format}"
    path.write_text("precious")
    trace = open_trace(path, names=NAMES)
    for call in (trace.check_new, trace.begin):
        with pytest.raises(FileExistsError, match="overwrite=True writes it anew"):
            call()
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "precious"
    steps = in_child()
    with closing(open_trace(path, names=NAMES, overwrite=True)) as trace:
        trace.check_new()
        trace.begin()
        assert (path.read_text() == "precious") == (format == "parquet")
        trace.take(steps[0])
        trace.finish()
    assert path.read_bytes() == written(tmp_path / f"whole.{format}", steps)
    assert sorted(os.listdir(tmp_path)) == [path.name, f"whole.{format}"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_changed_is_not_gone_on_with(tmp_path, format):
    path = tmp_path / f"trace.{format}"
    file = tmp_path / "trace.arrows" if format == "parquet" else path
    trace = open_trace(path, names=NAMES, journal=tmp_path)
    trace.begin()
    trace.take(in_child()[0])
    facts, arrays = trace.keep()
    trace.close()
    content = file.read_bytes()

    def resume():
        with closing(open_trace(path, names=NAMES, journal=tmp_path)) as again:
            again.resume(facts, arrays)

    changed = content[:-3] + b"xyz" + b"more"
    middle = len(content) // 2
    assert middle > 600
    before = "is not the file it was: its content was changed; begin anew with overwrite"
    for bad, message in (
        (b"#" + content[1:], before),
        (content[:middle] + b"#" + content[middle + 1 :], before),
        (content[:middle] + content[middle + 8 :] + content[:8], before),
        (content[8:] + bytes(8), before),
        (b"another file\n" * len(content), before),
        (content[:-1], r"is shorter than it was \(.* bytes\): it was changed since; begin anew"),
        (changed, "is not the file it was: its content was changed; begin anew with overwrite"),
    ):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=message):
            resume()
        assert file.read_bytes() == bad
    file.unlink()
    with pytest.raises(FileNotFoundError, match="the file to go on with is not there: begin anew"):
        resume()


@pytest.mark.parametrize("format", FORMATS)
def test_the_trace_of_a_checkpoint_of_before_is_known_by_its_end(tmp_path, format):
    path = tmp_path / f"trace.{format}"
    file = tmp_path / "trace.arrows" if format == "parquet" else path
    first, *rest = steps_of(of_kind("strings"), [70])
    whole = written(tmp_path / f"whole.{format}", [first, *rest])
    with closing(open_trace(path, names=NAMES, journal=tmp_path)) as trace:
        trace.begin()
        trace.take(first)
        facts, arrays = trace.keep()
    content = file.read_bytes()
    del facts["crc"]
    facts["tail"] = zlib.crc32(content[-4096:])
    file.write_bytes(content[:-1] + b"#" + b"more")
    again = open_trace(path, names=NAMES, journal=tmp_path)
    with pytest.raises(ValueError, match="is not the file it was"):
        again.resume(facts, arrays)
    file.write_bytes(content + b"more")
    again.resume(facts, arrays)
    for step in rest:
        again.take(step)
    again.finish()
    facts, arrays = again.keep()  # from here on all of it is known
    again.close()
    assert path.read_bytes() == whole
    assert facts["crc"] == zlib.crc32(file.read_bytes())


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are always followed")
def test_a_link_in_the_place_of_a_journal_is_not_followed(tmp_path):
    path, victim = tmp_path / "trace.parquet", tmp_path / "victim"
    journal = tmp_path / ".trace.parquet.arrows"
    victim.write_bytes(b"")  # one with content is refused anyway
    journal.symlink_to(victim)
    with pytest.raises(OSError, match=re.escape(str(journal))):
        open_trace(path, names=NAMES).begin()
    with pytest.raises(OSError, match=re.escape(str(journal))):
        open_trace(path, names=NAMES, overwrite=True).begin()
    assert victim.read_bytes() == b""


def test_a_checkpoint_of_another_trace_is_refused(tmp_path):
    path = tmp_path / "trace.csv"
    trace = open_trace(path, names=NAMES)
    trace.begin()
    facts, arrays = trace.keep()
    trace.close()
    for message, options in (
        ("with format csv and is to go on with format ndjson", {"format": "ndjson"}),
        (
            "with the indices CH, XB and is to go on with the indices XB, CH",
            {"names": ["XB", "CH"]},
        ),
        ("with no times and is to go on with times as seconds", {"time": "seconds"}),
        ("with no times and is to go on with times;", {"time": True}),
    ):
        with pytest.raises(ValueError, match=message):
            open_trace(path, **{"names": NAMES, **options}).resume(facts, arrays)
    facts["time"] = "datetime"
    with pytest.raises(ValueError, match="with times as datetime and is to go on with no times"):
        open_trace(path, names=NAMES).resume(facts, arrays)


def test_times_that_come_and_go_are_refused(tmp_path):
    labels = of_kind("whole numbers")
    without, seconds, stamps = (steps_of(labels, time=t)[0] for t in (None, SECONDS, STAMPS))
    for declared, wrong, message in (
        (None, seconds, "expected steps with no times, got times as seconds"),
        (True, without, "expected steps with times, got no times"),
        ("seconds", stamps, "expected steps with times as seconds, got times as datetime"),
    ):
        for ending in FORMATS:
            path = tmp_path / f"trace.{ending}"
            trace = open_trace(path, names=NAMES, time=declared, overwrite=True)
            trace.begin()
            with pytest.raises(ValueError, match=message):
                trace.take(wrong)
            trace.close()
    with pytest.raises(ValueError, match="expected time None, 'datetime', 'seconds' or True, got"):
        open_trace(tmp_path / "trace.csv", names=NAMES, time="hours")
    assert not (tmp_path / ".trace.parquet.arrows").exists()
    with pytest.raises(TypeError, match="expected times as datetime64 or numbers of seconds"):
        written(path, steps_of(labels, time=objects(["noon"] * N)), time=True)


def test_readings_of_other_samples_are_refused(tmp_path):
    (step,) = steps_of(of_kind("whole numbers"), time=SECONDS)
    shifted = Step(step.X, step.labels, step.time, 5, step.trace, step.tracker)
    with pytest.raises(
        ValueError, match="expected readings of samples 6 to 205, got readings of 1"
    ):
        written(tmp_path / "trace.csv", [shifted], time="seconds")


# -- journals that are left over -----------------------------------------------------------------


def left_over(path, **options):
    """The journal of a run that did not end."""
    trace = open_trace(path, names=NAMES, **options)
    trace.begin()
    trace.take(in_child()[0])
    trace.close()
    return Path(trace.journal)


def test_what_an_error_leaves_behind_can_be_had_back(tmp_path):
    path = tmp_path / "trace.parquet"
    left = left_over(path)
    assert os.listdir(tmp_path) == [".trace.parquet.arrows"]
    with pytest.raises(FileExistsError, match=r"of a run that did not end: .*recover"):
        open_trace(path, names=NAMES).begin()
    assert recover(left, path) == N
    assert path.read_bytes() == written(tmp_path / "whole.parquet", in_child())
    with pytest.raises(FileExistsError):
        recover(left, path)
    with closing(open_trace(path, names=NAMES, overwrite=True)) as trace:
        trace.begin()
        trace.finish()
    assert not left.exists()


def test_a_journal_without_readings_is_in_nobodys_way(tmp_path):
    path = tmp_path / "trace.parquet"
    (tmp_path / ".trace.parquet.arrows").touch()  # a process that was killed at once
    trace = open_trace(path, names=NAMES)
    trace.begin()
    trace.close()
    assert os.listdir(tmp_path) == []


def test_a_journal_has_everything_though_a_write_failed_before(tmp_path, shaky):
    trace = open_trace(tmp_path / "trace.parquet", names=NAMES)
    trace.begin()
    trace.take(in_child()[0])
    shaky.error = OSError(errno.ENOSPC, "full")
    with pytest.raises(
        OSError, match=r"full; the file is intact and holds 0 readings; icvi\.watching"
    ):
        trace.flush()
    shaky.error = None
    trace.close()
    assert recover(trace.journal, tmp_path / "saved.parquet") == N


def test_closing_tells_what_could_not_be_written_unless_it_was_told(tmp_path, shaky):
    trace = open_trace(tmp_path / "trace.parquet", names=NAMES)
    trace.begin()
    trace.take(in_child()[0])
    shaky.error = OSError(errno.ENOSPC, "full")
    with pytest.raises(OSError, match="full"):
        trace.close()
    trace.close()
    trace = open_trace(tmp_path / "trace.parquet", names=NAMES, overwrite=True)
    shaky.error = None
    trace.begin()
    trace.take(in_child()[0])
    shaky.error = OSError(errno.ENOSPC, "full")
    with pytest.raises(OSError, match="full"):
        trace.flush()
    trace.close()


@pytest.mark.parametrize("end", ["cut", "zeros", "zeros in the data", "half zeros", "garbage"])
def test_a_journal_with_a_damaged_end_gives_the_readings_before(tmp_path, end):
    path = tmp_path / "trace.parquet"
    steps = steps_of(of_kind("strings"), [100])
    trace = open_trace(path, names=NAMES)
    trace.begin()
    trace.take(steps[0])
    first = trace.keep()[0]["length"]
    trace.take(steps[1])
    trace.close()
    left = Path(trace.journal)
    content = left.read_bytes()
    batch = pa.ipc.read_message(content[first:])
    head = len(content) - len(batch.body)
    ends = {
        "cut": content[: (first + len(content)) // 2],
        "zeros": content[:first] + bytes(len(content) - first),
        "zeros in the data": content[:head] + bytes(len(content) - head),
        "half zeros": content[: head + 400] + bytes(len(content) - head - 400),
        "garbage": content[:first] + b"\xff\xff\xff\xff" + b"garbage" * 20,
    }
    left.write_bytes(ends[end])
    assert recover(left, path) == 100
    assert path.read_bytes() == written(tmp_path / "whole.parquet", steps[:1])


def test_a_file_that_is_no_journal_is_refused(tmp_path):
    for content, message in (
        (b"", "holds no readings"),
        (b"sample,label\n" * 10, "is not a journal of a trace"),
        (left_over(tmp_path / "a.parquet").read_bytes()[:700], "holds no readings"),
        (pa.schema([("x", pa.int64())]).serialize(), "not a journal of a trace: it has columns"),
    ):
        (tmp_path / "x.arrows").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            recover(tmp_path / "x.arrows", tmp_path / "b.parquet")
    with pytest.raises(FileNotFoundError):
        recover(tmp_path / "nothing.arrows", tmp_path / "b.parquet")


def test_a_journal_that_somebody_changed_is_not_made_a_file(tmp_path):
    trace = open_trace(tmp_path / "trace.parquet", names=NAMES)
    trace.begin()
    trace.take(in_child()[0])
    trace.flush()
    os.truncate(trace.journal, trace.keep()[0]["length"] // 2)
    with pytest.raises(ValueError, match="holds 0 of 200 readings: it was changed meanwhile"):
        trace.finish()
    trace.close()
    assert os.listdir(tmp_path) == [".trace.parquet.arrows"]


def test_a_parquet_file_is_beside_what_a_link_points_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "trace.parquet").write_text("old")
    link = tmp_path / "trace.parquet"
    link.symlink_to(tmp_path / "real" / "trace.parquet")
    with closing(open_trace(link, names=NAMES, overwrite=True)) as trace:
        trace.begin()
        trace.finish()
    assert link.is_symlink()
    assert len(pq.read_table(tmp_path / "real" / "trace.parquet")) == 0
