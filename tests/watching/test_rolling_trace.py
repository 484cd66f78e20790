"""A trace in a folder: parts are complete when the next begins, and the same after a kill."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.cli.main import main
from icvi.tracking.reading_times import ReadingTimes
from icvi.watching.report.trace_reader import TraceReader
from icvi.watching.trace_files.parquet_trace import ParquetTrace
from icvi.watching.trace_files.parts import Periods, parts_in
from icvi.watching.trace_files.rolling_trace import RollingTrace
from watch_inputs import write_samples

N = 240
RNG = np.random.default_rng(1)
X, LABELS = RNG.normal(size=(N, 2)) + 6.0 * (np.arange(N) % 3)[:, None], np.arange(N) % 3
#: A sample every quarter of an hour: two and a half days.
START = np.datetime64("2026-03-01T00:00:00", "ns")
TIMES = START + np.arange(N) * np.timedelta64(15, "m")
HOURS = timedelta(hours=12)


def source(folder, n=N, times=TIMES):
    folder.mkdir(exist_ok=True)
    return write_samples(folder / "s.csv", X[:n], LABELS[:n], when=[str(t) for t in times[:n]])


def watch(folder, n=N, **options):
    given = {"label": "c", "time": "when", "indices": ["CH", "SIL"], "trace_roll": HOURS}
    given |= {"trace": f"{folder}/t/", "checkpoint": folder / "kept", "rows": 7}
    return icvi.watch(source(folder, n), **{**given, "checkpoint_every": 0.0, **options})


def run(folder, n=N, **options):
    with watch(folder, n, **options) as one:
        return one.run()


def command(*arguments):
    return CliRunner().invoke(main, arguments)


def digests(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder


def test_parts_are_in_folders_of_their_days_and_have_all_readings(whole, tmp_path):
    names = [str(path.relative_to(whole / "t")) for _, path in parts_in(whole / "t")]
    assert names == [
        f"date=2026-03-0{1 + number // 2}/part-{number:06}.parquet" for number in range(5)
    ]
    tables = [pq.read_table(path) for _, path in parts_in(whole / "t")]
    assert [len(table) for table in tables] == [48] * 5
    samples = [sample for table in tables for sample in table["sample"].to_pylist()]
    assert samples == list(range(1, N + 1))
    run(tmp_path, trace=tmp_path / "one.parquet", trace_roll=None, checkpoint=None)
    one = pq.read_table(tmp_path / "one.parquet")
    assert one["CH"].to_pylist() == [v for table in tables for v in table["CH"].to_pylist()]


def test_a_part_is_complete_and_readable_as_soon_as_the_next_begins(tmp_path):
    with watch(tmp_path) as one:
        steps = one.steps()
        while one.seen <= 48:
            assert not any((tmp_path / "t").rglob("*.parquet"))
            next(steps)
        [(_, first)] = parts_in(tmp_path / "t")
        assert pq.read_table(first)["sample"].to_pylist() == list(range(1, 49))
        before = first.read_bytes()
        for _ in steps:
            assert first.read_bytes() == before


def test_killed_at_any_moment_the_parts_are_the_same_byte_for_byte(whole, tmp_path):
    """A kill leaves the files as they are after any step: a copy of them is resumed."""
    copies = []
    with watch(tmp_path / "run", rows=11) as one:
        for number, _ in enumerate(one.steps()):
            if number % 4 == 0 or one.seen in range(44, 100):
                copies.append(tmp_path / f"killed-{number}")
                shutil.copytree(tmp_path / "run", copies[-1])
    expected = digests(whole / "t")
    assert digests(tmp_path / "run" / "t") == expected
    for copy in copies[:: max(1, len(copies) // 8)]:
        resumed = run(copy)
        assert resumed.readings_written == N
        assert digests(copy / "t") == expected


def test_killed_in_the_middle_of_a_rollover_the_parts_are_the_same(whole, tmp_path, monkeypatch):
    """A kill leaves the files as they are before and after each of the steps of a rollover."""
    copies = []

    def copying(kind, name):
        before = getattr(kind, name)

        def both(self, *arguments, **options):
            for moment in ("before", "after"):
                if moment == "after":
                    before(self, *arguments, **options)
                if len(parts_in(tmp_path / "run" / "t")) in (1, 2):
                    copies.append(tmp_path / f"killed-{len(copies)}")
                    shutil.copytree(tmp_path / "run", copies[-1])

        monkeypatch.setattr(kind, name, both)

    with monkeypatch.context() as monkeypatch:
        copying(ParquetTrace, "finish")
        copying(ParquetTrace, "begin")
        copying(RollingTrace, "_remove_old")
        run(tmp_path / "run", rows=20)
    assert len(copies) >= 8
    for copy in copies[:8]:
        run(copy)
        assert digests(copy / "t") == digests(whole / "t")


def test_resumed_from_a_checkpoint_before_several_rollovers_parts_are_written_again(
    whole, tmp_path
):
    """The checkpoint is of the first part, and two others were completed after it."""
    with watch(tmp_path, checkpoint_every=1e6) as one:
        for _ in one.steps():
            if one.seen > 150:
                shutil.copytree(tmp_path, tmp_path.with_name("killed"))
                break
    killed = tmp_path.with_name("killed")
    assert len(parts_in(killed / "t")) == 3
    run(killed, checkpoint_every=1e6)
    assert digests(killed / "t") == digests(whole / "t")


def test_a_stream_that_has_grown_continues_in_the_part_that_was_open(whole, tmp_path):
    run(tmp_path, n=100)
    assert [pq.read_metadata(path).num_rows for _, path in parts_in(tmp_path / "t")] == [48, 48, 4]
    run(tmp_path)
    assert digests(tmp_path / "t") == digests(whole / "t")


def test_the_checkpoint_lists_the_parts_and_no_journal_is_left_but_the_open_one(whole):
    from icvi.saving import container

    with open(whole / "kept" / "watch.icvi", "rb") as file:
        facts = container.read(file)[0]["outputs"]["trace"]
    assert [part["name"] for part in facts["parts"]] == [
        str(path.relative_to(whole / "t")) for _, path in parts_in(whole / "t")
    ][:4]
    assert facts["number"] == 4
    assert [path.name for path in (whole / "kept").glob("*.arrows")] == ["trace-000004.arrows"]


def test_a_part_that_was_changed_is_refused_and_one_that_was_moved_away_is_not(tmp_path):
    run(tmp_path, n=200)
    _, first = parts_in(tmp_path / "t")[0]
    content = first.read_bytes()
    first.write_bytes(content + b"!")
    with pytest.raises(ValueError, match="is not the file it was"):
        run(tmp_path)
    first.unlink()
    assert run(tmp_path).readings_written == N
    assert not first.exists()


def test_rows_are_counted_where_there_are_no_times(tmp_path):
    options = {"label": "c", "exclude": "when", "indices": ["CH"], "trace_roll": 100}
    with icvi.watch(source(tmp_path), trace=f"{tmp_path}/t/", rows=33, **options) as one:
        one.run()
    rows = [pq.read_metadata(path).num_rows for _, path in parts_in(tmp_path / "t")]
    assert rows == [100, 100, 40]
    assert not list((tmp_path / "t").rglob(".*"))


def test_seconds_are_times_too_and_late_rows_stay_in_the_open_part(tmp_path):
    write_samples(
        tmp_path / "s.csv", X[:6], LABELS[:6], when=[10.0, 50.0, 70.0, 30.0, 119.0, 130.0]
    )
    options = {"label": "c", "time": "when", "indices": ["CH"], "trace": f"{tmp_path}/t/"}
    with icvi.watch(tmp_path / "s.csv", trace_roll=timedelta(minutes=1), **options) as one:
        one.run()
    found = {path.parent.name: [] for _, path in parts_in(tmp_path / "t")}
    for _, path in parts_in(tmp_path / "t"):
        found[path.parent.name].append(pq.read_table(path)["sample"].to_pylist())
    assert found == {"date=1970-01-01": [[1, 2], [3, 4, 5], [6]]}


def test_old_parts_are_removed_with_their_folders_also_after_a_kill(tmp_path):
    options = {"trace_keep": timedelta(days=1)}
    run(tmp_path / "a", **options)
    assert [number for number, _ in parts_in(tmp_path / "a" / "t")] == [1, 2, 3, 4]
    kept = {"trace_keep": timedelta(hours=13)}
    run(tmp_path / "b", n=130, **kept)
    run(tmp_path / "b", **kept)
    assert [number for number, _ in parts_in(tmp_path / "b" / "t")] == [2, 3, 4]
    assert sorted(path.name for path in (tmp_path / "b" / "t").iterdir()) == [
        "date=2026-03-02",
        "date=2026-03-03",
    ]


def test_a_folder_with_a_trace_is_not_overwritten_unless_asked(tmp_path):
    run(tmp_path, checkpoint=None)
    (tmp_path / "t" / "mine.txt").write_text("kept")
    with pytest.raises(FileExistsError, match="the folder has a trace"):
        run(tmp_path, checkpoint=None)
    run(tmp_path, n=50, checkpoint=None, overwrite=True)
    assert [number for number, _ in parts_in(tmp_path / "t")] == [0, 1]
    assert (tmp_path / "t" / "mine.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time": None, "exclude": "when"}, "it needs times of samples"),
        ({"trace_roll": 0}, "expected trace_roll"),
        ({"trace_roll": 2.5}, "expected trace_roll"),
        ({"trace_roll": timedelta(milliseconds=1)}, "at least a second"),
        ({"trace_keep": 30}, "expected trace_keep"),
        ({"trace": "t.csv"}, "are for a folder"),
        ({"trace": None}, "need a trace"),
        ({"trace_format": "csv"}, "a folder is of Parquet files"),
    ],
)
def test_what_makes_no_parts_is_refused(options, words, tmp_path):
    if options.get("trace"):
        options = {"trace": tmp_path / options["trace"]}
    with pytest.raises(ValueError, match=words):
        watch(tmp_path, **options)


def test_a_folder_without_a_place_and_a_file_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        watch(tmp_path, trace=f"{tmp_path}/not/there/")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="expected a folder"):
        watch(tmp_path, trace=f"{tmp_path}/file/")


def test_other_rollovers_are_refused_when_a_watch_resumes(tmp_path):
    run(tmp_path, n=50)
    with pytest.raises(ValueError, match="trace_roll was"):
        run(tmp_path, trace_roll=timedelta(hours=1))


# -- reading them ----------------------------------------------------------------------------


def test_a_folder_is_read_like_one_trace(whole):
    reader = TraceReader(whole / "t")
    assert reader.names == ["CH", "SIL"]
    assert np.concatenate([part.samples for part in reader]).tolist() == list(range(1, N + 1))


def test_a_page_is_made_from_a_folder_and_its_alarms(whole, tmp_path):
    done = command("report", f"{whole}/t/", "--out", str(tmp_path / "p.html"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "p.html").stat().st_size > 10_000
    assert (whole / "t.alarms.ndjson").exists()


def test_a_folder_without_parts_or_with_others_is_refused(whole, tmp_path):
    with pytest.raises(ValueError, match="there are no parts"):
        TraceReader(tmp_path)
    shutil.copytree(whole / "t", tmp_path / "t")
    other = tmp_path / "t" / "date=2026-03-01" / "part-000001.parquet"
    pq.write_table(pq.read_table(other).drop(["SIL"]), other)
    with pytest.raises(ValueError, match="expected columns"):
        list(TraceReader(tmp_path / "t"))


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_single_parquet_trace_can_be_read_while_it_grows(checkpoint, tmp_path):
    kept = tmp_path / "kept" if checkpoint else None
    options = {"trace": tmp_path / "t.parquet", "trace_roll": None, "checkpoint": kept}
    with watch(tmp_path, **options) as one:
        steps = one.steps()
        while one.seen < 100:
            next(steps)
        one._loop.commit()
        path = kept / "trace.arrows" if checkpoint else tmp_path / "t.parquet"
        samples = np.concatenate([part.samples for part in TraceReader(path)])
        assert samples.tolist() == list(range(1, one.seen + 1))
        steps.close()


def test_a_parquet_trace_that_is_not_there_yet_says_how_it_is_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"appears when its stream ends.*trace\.arrows"):
        TraceReader(tmp_path / "t.parquet")
    (tmp_path / "empty.arrows").write_bytes(b"")
    with pytest.raises(ValueError, match="expected the columns of a trace"):
        TraceReader(tmp_path / "empty.arrows")


# -- readings by time --------------------------------------------------------------------------


def naive_rows(times, every):
    """Rows that are the first of their period, later than all periods before."""
    read, newest = [], None
    for row, when in enumerate(times):
        period = when // every
        if newest is None or period > newest:
            read.append(row + 1)
            newest = period
    return read


@settings(max_examples=25)
@given(
    gaps=st.lists(st.integers(-3, 9), min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 39), max_size=4),
    every=st.integers(1, 12),
)
def test_readings_by_time_are_those_after_the_first_sample_of_each_period(gaps, cuts, every):
    times = 100 + np.cumsum(gaps)
    n = len(times)
    tracker, reading = icvi.Tracker(["CH"]), ReadingTimes(timedelta(seconds=every))
    found, values, edges = [], [], [0, *sorted(cut for cut in cuts if cut < n), n]
    for start, stop in itertools.pairwise(edges):
        part = slice(start, stop)
        facts = json.loads(json.dumps(reading.keep()))
        reading = ReadingTimes(timedelta(seconds=every))
        reading.resume(facts)
        trace = reading.update_many(tracker, X[part], LABELS[part], time=times[part].astype(float))
        found += trace.samples.tolist()
        values += trace["CH"].tolist()
    assert found == naive_rows(times.tolist(), every)
    assert reading.last == found[-1]
    all_of_them = icvi.Tracker(["CH"]).update_many(X[:n], LABELS[:n])["CH"]
    np.testing.assert_array_equal(values, all_of_them[np.array(found) - 1])


def test_a_watch_reads_by_time_and_resumes_where_it_was(tmp_path):
    options = {"every": timedelta(hours=1), "trace_roll": None, "insight": False}
    for name, n in (("a", 90), ("a", N), ("b", N)):
        trace = tmp_path / name / "t.csv"
        run(tmp_path / name, n, trace=trace, window=timedelta(hours=5), **options)
    assert (tmp_path / "a" / "t.csv").read_bytes() == (tmp_path / "b" / "t.csv").read_bytes()
    lines = (tmp_path / "b" / "t.csv").read_text().splitlines()
    assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(1, N + 1, 4))


def test_alarms_between_readings_by_time_belong_to_the_next_one_also_in_the_next_run(tmp_path):
    options = {"every": timedelta(hours=3), "trace": None, "trace_roll": None}
    found = {}
    for name, n in (("a", 101), ("a", N), ("b", N)):
        with watch(tmp_path / name, n, **options, distinct=50.0) as one:
            found.setdefault(name, [])
            found[name] += [(reading.sample, alarm) for reading in one for alarm in reading.alarms]
    assert found["a"] == found["b"] != []
    assert all(0 <= sample - alarm.sample < 12 for sample, alarm in found["a"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time": None, "exclude": "when"}, "it needs time=COL"),
        ({"truth": "c"}, "give every .* as a number"),
        ({"every": timedelta(0)}, "more than no time"),
    ],
)
def test_readings_by_time_that_cannot_be_are_refused(options, words, tmp_path):
    given = {"every": timedelta(seconds=1), "trace": None, "trace_roll": None, **options}
    with pytest.raises(ValueError, match=words):
        watch(tmp_path, **given)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--every", "1s"], "--every is a time: it needs --time"),
        (["--every", "1.5"], "--every is a number of samples"),
        (["--trace", "t/", "--trace-roll", "1h"], "--trace-roll is a time: it needs --time"),
        (["--trace", "t/", "--trace-keep", "30"], "--trace-keep is a time"),
    ],
)
def test_options_that_need_times_say_so(arguments, words, tmp_path):
    done = command("watch", str(source(tmp_path)), "--labels", "c", *arguments)
    assert done.exit_code == 2
    assert words in done.output


def test_the_command_writes_parts_by_time(tmp_path):
    done = command(
        *["watch", str(source(tmp_path)), "--labels", "c", "--time", "when", "--indices", "CH"],
        *[
            "--trace",
            f"{tmp_path}/t/",
            "--trace-roll",
            "1d",
            "--trace-keep",
            "30d",
            "--every",
            "6h",
        ],
    )
    assert done.exit_code == 0, done.output
    assert f"trace: {tmp_path}/t/" in done.output
    rows = [pq.read_metadata(path).num_rows for _, path in parts_in(Path(tmp_path / "t"))]
    assert rows == [4, 4, 2]


def test_a_day_is_the_default_where_there_are_times():
    assert Periods(None, timed=False).rows == 1_000_000
    assert Periods(None, timed=True).of(
        np.array([86_399_999_999_999, 86_400_000_000_000])
    ).tolist() == [
        0,
        1,
    ]
