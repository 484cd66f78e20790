"""What `icvi watch` shows in a terminal, and what it writes elsewhere."""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import io
import math
import os
import re
import select
import signal
import struct
import sys
import termios
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import icvi
import processes
from icvi.kernels.compiler import announcing
from icvi.kernels.undefined import COINCIDENT
from icvi.streams import open_source
from icvi.watching.beginning import Gathering
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal import View, live, view_for
from icvi.watching.terminal.headline import how_good, what_to_do
from icvi.watching.terminal.idle import IdleLines
from icvi.watching.terminal.live import LiveTable
from icvi.watching.terminal.numbers import fitted_number
from icvi.watching.terminal.pace import Pace
from icvi.watching.terminal.plain import PlainLines
from icvi.watching.terminal.screen import Screen
from icvi.watching.terminal.signs import ASCII, UNICODE
from icvi.watching.terminal.snapshot import StreamProgress
from icvi.watching.terminal.sparkline import sparkline
from icvi.watching.terminal.summary import End
from icvi.watching.terminal.trend import trend
from icvi.watching.terminal.waiting import GatheringPace
from icvi.wording import percent, printable, shortened

ESCAPE = "\x1b"


class Hands:
    """A clock that is set by hand."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


class Stream:
    """A stream of two features that is fed to a view, step by step."""

    def __init__(self, X, labels, indices=("CH", "XB"), every=1, **options):
        self.X, self.labels = np.asarray(X, dtype=float), np.asarray(labels)
        self.tracker = icvi.Tracker(list(indices), **options)
        self.history = History([index.name for index in self.tracker.indices])
        self.source = open_source((self.X, self.labels))
        self.every = every

    def begin(self, view, title="sensors.csv"):
        view.begin(title, self.source, self.tracker, self.history)

    def step(self, n):
        a, b = self.history.seen, self.history.seen + n
        X, labels = self.X[a:b], self.labels[a:b]
        trace = self.tracker.update_many(X, labels, every=self.every)
        step = Step(X, labels, None, a, trace, self.tracker)
        self.history.take(step)
        return step

    def progress(self, title="sensors.csv"):
        return StreamProgress(title, self.source, self.tracker, self.history)


def small(**options):
    """Two clusters; the second comes with sample 4."""
    X = [[0, 0], [0, 2], [0, 1], [10, 0], [10, 2], [10, 1], [0, 1], [10, 1]]
    return Stream(X, [0, 0, 0, 1, 1, 1, 0, 1], **options)


def blobs(n, k=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.minimum(np.arange(n) * k // n, k - 1)
    return rng.normal(size=(n, 2)) + 8.0 * rng.normal(size=(k, 2))[labels], labels


def drawn(screen, width, height=24, **options):
    """The lines that a terminal of that size would show."""
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, _environ={}, **options
    )
    with console.capture() as capture:
        console.print(screen, end="")
    return capture.get().split("\n")[:-1]


def plainly(screen, width, height=24):
    lines = drawn(screen, width, height, color_system=None)
    assert not any(ESCAPE in line for line in lines)
    return lines


def screen_of(stream, n, clock=None, title="sensors.csv"):
    clock = clock or Hands()
    progress = stream.progress(title)
    screen = Screen(progress.snapshot(clock()), clock)
    if n:
        stream.step(n)
        screen.snapshot = progress.snapshot(clock())
    return screen


# -- curves --------------------------------------------------------------------------------

numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(numbers, max_size=300), st.integers(0, 80), st.sampled_from([UNICODE, ASCII]))
def test_a_sparkline_has_a_character_per_value_until_the_room_is_used(values, width, signs):
    drawn = sparkline(np.array(values, dtype=float), width, signs.blocks)
    assert len(drawn) == min(len(values), width)
    assert set(drawn) <= set(signs.blocks + " ")


@given(st.lists(numbers, min_size=1, max_size=60))
def test_extremes_are_the_lowest_and_the_highest_block_and_gaps_are_blanks(values):
    drawn = sparkline(np.array(values), 60)
    finite = [value for value in values if math.isfinite(value)]
    for value, block in zip(values, drawn):
        assert (block == " ") == math.isnan(value)
        if value == math.inf or (finite and value == max(finite) > min(finite)):
            assert block == UNICODE.blocks[-1]
        if value == -math.inf or (finite and value == min(finite) < max(finite)):
            assert block == UNICODE.blocks[0]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=300), st.integers(2, 80))
def test_the_newest_value_is_at_the_right_end(values, width):
    values[-1] = 2e6
    assert sparkline(np.array(values), width)[-1] == UNICODE.blocks[-1]
    values[-1] = math.nan
    assert sparkline(np.array(values), width)[-1] == " "


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_higher_values_have_no_lower_blocks(values):
    drawn = sparkline(np.array(values), 60)
    heights = [UNICODE.blocks.index(block) for block in drawn]
    order = np.argsort(values, kind="stable")
    assert all(np.diff(np.array(heights)[order]) >= 0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ""),
        ([3.0], "▄"),
        ([3.0, 3.0, 3.0], "▄▄▄"),
        ([math.nan, math.nan], "  "),
        ([math.inf, 1.0, 2.0, -math.inf], "▇▁▇▁"),
        ([math.inf, math.inf], "▇▇"),
        ([math.inf, 5.0], "▇▄"),
        ([-1.7e308, 0.0, 1.7e308], "▁▄▇"),
        ([5e-324, 0.0], "▇▁"),
    ],
)
def test_odd_curves_are_drawn(values, expected):
    assert sparkline(np.array(values, dtype=float), 10) == expected


def test_a_long_curve_shows_the_value_at_the_right_edge_of_each_column():
    assert sparkline(np.arange(700.0), 7) == "▁▂▃▄▅▆▇"
    spike = np.zeros(100)
    spike[49] = 1.0
    assert sparkline(spike, 10) == "▁▁▁▁▇▁▁▁▁▁"


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (np.arange(1000.0), 1),
        (-np.arange(1000.0), -1),
        (np.ones(1000), 0),
        (np.r_[np.arange(1000.0), np.full(100, 1000.0)], 0),
        (np.r_[np.arange(1000.0), -np.arange(100.0)], -1),
        (np.r_[np.full(500, 1.0), 2.0], 0),
        (np.r_[np.full(500, 1.0), np.full(10, 2.0)], 1),
        (np.random.default_rng(0).normal(size=900), 0),
        (np.r_[0.0, 100.0, np.full(500, 50.0) + np.linspace(0, 0.1, 500)], 0),
        ([], 0),
        ([1.0], 0),
        ([math.nan] * 5, 0),
        ([math.nan, 1.0, 2.0], 1),
        ([1.0, 2.0, math.inf], 1),
        ([math.inf, 3.0], -1),
        ([math.inf, math.inf], 0),
        ([0.0] * 9, 0),
        ([-1.7e308] * 4 + [1.7e308] * 4, 1),
        ([1.0] * 4 + [1.0 + 2.0**-52] * 4, 0),
    ],
)
def test_the_trend_is_that_of_the_last_stretch(curve, expected):
    assert trend(np.array(curve, dtype=float)) == expected


@given(st.lists(st.floats(0.95, 0.96), min_size=1, max_size=60))
def test_a_flat_curve_looks_flat_on_the_scale_of_its_index(values):
    assert set(sparkline(np.array(values), 60, bounds=(-1.0, 1.0))) == {UNICODE.blocks[-1]}
    assert len(set(sparkline(np.array(values), 60, bounds=(0.0, math.inf)))) <= 2


# -- words ---------------------------------------------------------------------------------


@given(st.floats(-1.7e308, 1.7e308))
def test_numbers_keep_their_width_and_what_digits_fit(value):
    shown = fitted_number(value)
    assert len(shown) <= 10
    digits = len(re.sub(r"e.*|\D", "", shown).lstrip("0"))
    assert float(shown) == pytest.approx(value, rel=0.51 * 10.0 ** (1 - max(digits, 1)), abs=1e-320)
    if 1e-99 < abs(value) < 1e100:
        assert float(shown) == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0000"),
        (-0.0, "0.0000"),
        (0.98095123, "0.98095"),
        (-12.3456, "-12.346"),
        (99999.6, "100000"),
        (123456.7, "123457"),
        (1e6, "1.0000e6"),
        (2.5e-8, "2.5000e-8"),
        (-1.25e-300, "-1.25e-300"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_numbers_are_short(value, shown):
    assert fitted_number(value) == shown


def test_only_all_is_a_hundred_percent():
    assert [percent(share) for share in (0.0, 1e-9, 0.29, 0.999999, 1.0)] == [
        "0 %",
        "< 0.1 %",
        "29 %",
        "> 99 %",
        "100 %",
    ]


def test_text_that_is_cut_says_so_and_fits():
    assert shortened("negentropy_increment_v2", 10, "…") == "negentrop…"
    assert shortened("データ流れ", 5, "…") == "デー…"
    assert shortened("abc", 3, "…") == "abc"
    assert shortened("abc", 1, "..") == "."
    assert shortened("abc", 0, "…") == ""


def test_names_move_no_cursor():
    assert printable("a\x1b[2J\nb\r") == "a?[2J?b?"
    assert printable("größe\udcff", ascii_only=True) == "gr??e?"


# -- pace ----------------------------------------------------------------------------------


def test_the_rate_is_that_of_the_last_seconds():
    pace = Pace()
    assert (pace.rate, pace.left) == (None, None)
    for second in range(100):
        pace.mark(float(second), 10 * second, None)
    for second in range(100, 120):
        pace.mark(float(second), 1000 * second, None)
    assert pace.rate == pytest.approx(1000.0)
    assert pace.left is None


def test_marks_that_come_too_soon_do_not_pile_up():
    pace = Pace()
    for n in range(100_000):
        pace.mark(n * 1e-3, n, n / 200_000)
    assert len(pace._marks) < 150
    assert pace.rate == pytest.approx(1000.0)
    assert pace.left == pytest.approx(100.0, rel=0.01)


def test_a_source_slower_than_the_window_has_a_rate():
    pace = Pace()
    for n in range(5):
        pace.mark(60.0 * n, n, None)
    assert pace.rate == pytest.approx(1 / 60)


# -- the table -----------------------------------------------------------------------------


AT_80 = [
    "sensors.csv   8 samples   2 clusters",
    "cluster 1 created at sample 4, 4 samples ago",
    "",
    "index  better        value  now        whole stream",
    "CH     larger       300.00  ↑ rising      ▁▁▃▅▇",
    "XB     smaller   0.0050000  → level       ▁▇▄▂▁",
    "",
    "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━   100 %   0:00 elapsed",
]
AT_60 = [
    "sensors.csv   8 samples   2 clusters",
    "cluster 1 created at sample 4, 4 samples ago",
    "",
    "index best      value now       curve",
    "CH    max      300.00 ↑ rising     ▁▁▃▅▇",
    "XB    min   0.0050000 → level      ▁▇▄▂▁",
    "",
    "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━   100 %   0:00 elapsed",
]


@pytest.mark.parametrize(("width", "expected"), [(60, AT_60), (80, AT_80), (200, AT_80)])
def test_a_small_stream_at_several_widths(width, expected):
    assert plainly(screen_of(small(), 8), width) == expected


def test_values_are_those_of_the_tracker():
    stream = small()
    lines = plainly(screen_of(stream, 8), 80)
    assert lines[4].split()[2] == fitted_number(stream.tracker["CH"])


GREEN, YELLOW, RED = "32", "33", "31"


def coloured(lines):
    """The colours of grades that are used: green, yellow and red."""
    codes = re.findall(ESCAPE + r"\[([0-9;]*)m", "".join(lines))
    return {part for code in codes for part in code.split(";")} & {GREEN, YELLOW, RED}


def test_movement_has_no_colour():
    lines = drawn(screen_of(small(), 8), 80, color_system="standard")
    assert lines[3].startswith(f"{ESCAPE}[1mindex")
    assert f"{ESCAPE}[2m↑ rising {ESCAPE}[0m" in lines[4]
    assert coloured(lines) == set()


# -- the answer ----------------------------------------------------------------------------


def apart(distance, n=600, **options):
    """Two clusters at this distance, in steps of their standard deviation; whole names."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + distance * y[:, None] * [1.0, 0.0]
    labels = np.array(["left", "right"], dtype=object)[y]
    return Stream(X, labels, insight=True, **options)


def together(n=900, **options):
    """Three clusters, two of which have one label."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + 9.0 * np.eye(3)[y, :2]
    return Stream(X, np.array(["a", "b", "a"], dtype=object)[y], insight=True, **options)


GRADES = {
    "distinct": (8.0, "distinct", GREEN),
    "touching": (4.0, "touching", YELLOW),
    "overlapping": (1.0, "overlapping", RED),
}


@pytest.mark.parametrize("grade", GRADES)
def test_the_first_word_is_the_grade_in_its_colour(grade):
    distance, word, colour = GRADES[grade]
    stream = apart(distance)
    screen = screen_of(stream, 600)
    assert screen.snapshot.verdict.grade == grade
    lines = drawn(screen, 80, color_system="standard")
    assert lines[0].startswith(f"{ESCAPE}[1;{colour}m{word}{ESCAPE}[0m")
    plain = plainly(screen, 80)
    assert plain[0].endswith("sensors.csv   600 samples   2 clusters")
    assert " ".join(plain[1:3]).startswith(str(screen.snapshot.verdict).splitlines()[0][:80])
    without = drawn(screen, 80, color_system="standard", no_color=True)
    assert word in without[0]
    assert not coloured(without)


def test_one_cluster_cannot_be_told_and_has_no_colour():
    stream = apart(0.0)
    stream.labels[:] = "all"
    lines = drawn(screen_of(stream, 600), 80, color_system="standard")
    assert lines[0].startswith(f"{ESCAPE}[2mcannot tell{ESCAPE}[0m")
    assert lines[1] == "There is one cluster only, so there is nothing to compare it with."
    assert lines[2] == "no advice yet"
    # Yellow is what says that CH and XB are undefined.
    assert not coloured(lines[:6])


def test_what_to_do_now_stands_below_the_grade_with_its_sample():
    stream = together()
    screen = screen_of(stream, 900)
    (advice,) = stream.tracker.advice
    lines = plainly(screen, 80)
    assert lines[0].startswith("distinct, 1 to split   sensors.csv   900 samples   2 clusters")
    assert f"split 'a' since sample {advice.since}" in lines
    assert f"{ESCAPE}[1;33m, 1 to split" in drawn(screen, 80, color_system="standard")[0]


def test_where_nothing_is_to_be_done_it_says_so():
    assert "nothing to merge, nothing to split" in plainly(screen_of(apart(8.0), 600), 80)


def advised(n, name="cluster"):
    """A verdict with so much advice."""
    stream = together()
    stream.step(900)
    found = stream.tracker.verdict(quick=True)
    each = [
        dataclasses.replace(found.advice[0], action="merge", clusters=(f"{name} {i}", i), since=i)
        for i in range(1000, 1000 + n)
    ]
    return dataclasses.replace(found, advice=each)


@given(n=st.integers(1, 30), width=st.integers(21, 200))
def test_advice_is_shortened_to_what_fits(several, n, width):
    shown = what_to_do(dataclasses.replace(several, advice=several.advice[:n]), width)
    assert len(shown) <= width
    told = shown.count("since sample")
    if told and told < n:
        assert shown.endswith(f"; {n - told} more")
    assert "more" in shown or told == n or "…" in shown


@pytest.fixture(scope="module")
def several():
    return advised(30)


def test_advice_at_80_columns(several):
    assert what_to_do(several, 80) == "merge 'cluster 1000' with 1000 since sample 1,000; 29 more"
    two = dataclasses.replace(several, advice=several.advice[:2])
    assert what_to_do(two, 120) == (
        "merge 'cluster 1000' with 1000 since sample 1,000; "
        "merge 'cluster 1001' with 1001 since sample 1,001"
    )
    long = advised(2, "x" * 100)
    assert what_to_do(long, 80) == "merge 'xxxxxxxxxxxx'... with 1000 since sample 1,000; 1 more"


def test_a_long_sentence_takes_two_lines_and_no_more(several):
    weakest = dataclasses.replace(several.weakest, label="a" * 70, neighbour="b" * 70)
    lines = how_good(dataclasses.replace(several, weakest=weakest), 80)
    assert len(lines) == 2
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].endswith("…")


def test_names_in_advice_move_no_cursor(several):
    evil = dataclasses.replace(several.advice[0], clusters=("\x1b[2J", "ü"))
    shown = what_to_do(dataclasses.replace(several, advice=[evil]), 80, "..", ascii_only=True)
    assert shown == "merge '\\x1b[2J' with '?' since sample 1,000"


def test_a_verdict_is_made_once_a_second_and_when_an_alarm_or_a_cluster_comes(monkeypatch):
    stream, made = together(), []
    real = type(stream.tracker).verdict

    def counted(tracker, **options):
        made.append(options)
        return real(tracker, **options)

    monkeypatch.setattr(type(stream.tracker), "verdict", counted)
    monkeypatch.setattr("icvi.watching.terminal.snapshot._SHARE", math.inf)
    progress = stream.progress()
    assert progress.snapshot(0.0).verdict is None
    assert not made
    stream.step(10)
    first = progress.snapshot(0.0).verdict
    stream.step(10)
    assert progress.snapshot(0.9).verdict is first
    assert progress.snapshot(1.1).verdict is not first
    step = stream.step(400)
    assert step.alarms
    assert progress.snapshot(1.2).verdict.advice
    assert made == [{"quick": True}] * 3
    progress.final_snapshot(1.3)
    assert made[3:] == [{"quick": False, "feature_names": ["x1", "x2"]}]
    assert stream.history.verdict(stream.tracker) is progress.final_snapshot(1.4).verdict
    assert len(made) == 4


def test_without_insight_there_is_no_headline():
    screen = screen_of(small(), 8)
    assert screen.snapshot.verdict is None
    assert plainly(screen, 80)[0] == "sensors.csv   8 samples   2 clusters"
    screen.end = End("done", None, 1.0, 0)
    assert "without clusters" not in "".join(plainly(screen, 80))


def test_the_last_table_has_the_whole_verdict_and_what_is_read_without_clusters():
    stream, clock = together(indices=("SIL", "DB", "Conn")), Hands()
    progress = stream.progress()
    screen = Screen(progress.snapshot(0.0), clock)
    stream.step(900)
    screen.snapshot, screen.end = progress.final_snapshot(1.0), End("done", None, 1.0, 0)
    found = screen.snapshot.verdict
    lines = plainly(screen, 80)
    table = [line.startswith("index") for line in lines].index(True)
    assert lines[3] == "distinct, 1 to split"
    assert " ".join(lines[4 : table - 1]).split() == str(found).split()
    assert lines[table].split() == [
        "index",
        "better",
        "value",
        "without",
        "clusters",
        "compared",
        "curve",
    ]
    for line, name in zip(lines[table + 1 :], ("SIL", "DB")):
        low, _, high = found.reference[name]
        ends = [fitted_number(end, digits=4) for end in (low, high)]
        assert f"  {ends[0]} to {ends[1]}  " in line
        compared = "better" if name in found.better else "no better"
        assert re.search(rf"  {compared} +[▁▂▃▄▅▆▇]+$", line)
    assert "cannot tell" in lines[table + 3]
    assert max(map(len, lines)) <= 80


@icvi.index(direction="min", name="negentropy_increment_v2")
def long_name(s):
    return s.CP[0] / s.n[0]


MANY = ("paper", "Conn", "WB", "GD43", "GD53", long_name)


@pytest.fixture(scope="module")
def many():
    X, labels = blobs(3000)
    stream = Stream(X, labels, MANY, noise_label=4)
    return screen_of(stream, 2800, title="/data/plant/of-the-north/sensors-2024.csv")


@given(width=st.integers(1, 220), height=st.integers(1, 40))
def test_it_fits_every_terminal(many, width, height):
    lines = plainly(many, width, height)
    assert max(map(len, lines)) <= width
    assert len(lines) <= max(height - 1, 1)
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_fourteen_indices_fit_24_lines_with_values_verdicts_and_curves(many, width):
    lines = plainly(many, width, 24)
    rows = lines[4:18]
    assert len(lines) == 20
    assert [row.split()[0] for row in rows[:9]] == [index.name for index in icvi.Tracker().indices]
    assert all(re.search(r"[▁▂▃▄▅▆▇]+$", row) for row in rows)
    assert all(re.search(r"level|rising|falling", row) for row in rows)
    assert lines[0].endswith("sensors-2024.csv   2,800 samples   4 clusters   14 % noise")
    name = {60: "negentrop…", 80: "negentropy_i…", 200: "negentropy_increment_v2"}[width]
    assert rows[13].startswith(name + " ")
    assert "93 %" in lines[-1]


def test_a_low_terminal_says_that_indices_are_missing(many):
    lines = plainly(many, 80, 10)
    assert len(lines) == 9
    assert [line.split()[0] for line in lines[2:7]] == ["index", "CH", "PBM", "SIL", "NI"]
    assert lines[7] == "… 10 more; make the window taller to see them"
    assert "93 %" in lines[8]
    many.end = End("done", None, 1.0, 0)
    try:
        assert len(plainly(many, 100, 10)) == 18
    finally:
        many.end = None


def test_an_undefined_reading_says_why_and_keeps_its_curve():
    screen = screen_of(small(), 2)
    lines = plainly(screen, 80)
    assert lines[4] == "CH     larger    undefined  k<2"
    assert lines[0] == "sensors.csv   2 samples   1 cluster"
    stream = small()
    screen = screen_of(stream, 8)
    values = np.array([COINCIDENT, 1.0])
    screen.snapshot = dataclasses.replace(screen.snapshot, values=values)
    row = plainly(screen, 80)[4]
    assert row.startswith("CH     larger    undefined  coincident_centr… ")
    assert row.endswith("▁▁▃▅▇")
    assert plainly(screen, 30)[4] == "CH    max   undefined"


def test_an_index_of_ones_own_that_gives_no_reason_is_just_undefined():
    @icvi.index
    def nothing(s):
        return s.CP[0] / 0.0 * 0.0

    assert plainly(screen_of(small(indices=[nothing]), 8), 80)[4] == "nothing  larger    undefined"


def test_limits_are_shown_as_infinities():
    X = [[0.0], [0.0], [5.0], [5.0], [5.5]]
    stream = Stream(X, [0, 0, 1, 1, 1], ["CH"], undefined="limit")
    screen = screen_of(stream, 4)
    assert stream.tracker["CH"] == math.inf
    assert plainly(screen, 80)[4].split() == ["CH", "larger", "inf", "→", "level", "▇▇"]
    stream.step(1)
    screen.snapshot = stream.progress().snapshot(0.0)
    row = plainly(screen, 80)[4].split()
    assert row[3:] == ["↓", "falling", "▇▇▄"]


def test_before_the_first_reading_it_says_so():
    lines = plainly(screen_of(small(), 0), 80)
    assert lines[0] == "sensors.csv   0 samples   0 clusters"
    assert lines[1] == ""
    assert lines[4] == "CH     larger               no reading yet"


def test_with_readings_far_apart_the_last_new_cluster_is_named_all_the_same():
    lines = plainly(screen_of(small(every=6), 8), 80)
    assert lines[1] == "cluster 1 created at sample 4, 4 samples ago"
    assert lines[4].split()[2] == fitted_number(small_at(6))


def small_at(n):
    stream = small()
    return float(stream.tracker.update_many(stream.X[:n], stream.labels[:n])["CH"][-1])


def test_noise_is_no_new_cluster():
    stream = small(noise_label=1)
    lines = plainly(screen_of(stream, 5), 80)
    assert lines[0] == "sensors.csv   5 samples   1 cluster   40 % noise"
    assert lines[1] == "cluster 0 created at sample 1, 4 samples ago"


def test_nothing_that_data_are_called_reaches_the_terminal_as_a_command():
    labels = np.array(["\x1b[2Jevil[red]\n", "a" * 100, "b"], dtype=object)
    stream = Stream([[0.0], [1.0], [2.0]], labels)
    screen = screen_of(stream, 1, title="\x1b]0;title\x07.csv")
    lines = plainly(screen, 80)
    assert lines[0].startswith("?]0;title?.csv   ")
    assert lines[1].startswith("cluster ?[2Jevil[red]? created at sample 1, just now")
    stream.step(1)
    screen.snapshot = stream.progress().snapshot(0.0)
    assert f"cluster {'a' * 23}… created at sample 2, just now" in plainly(screen, 80)[1]


def test_a_terminal_without_unicode_gets_ascii(many):
    file = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    console = Console(file=file, width=80, height=24, force_terminal=True, _environ={})
    console.print(many)
    shown = file.buffer.getvalue().decode("ascii")
    assert "negentropy_.." in shown
    assert re.search(r"= level", shown)
    assert re.search(r"[_.=+*#-]{12}", shown)


def test_the_foot_tells_rate_and_time_left():
    clock, (X, labels) = Hands(), blobs(1000)
    stream = Stream(X, labels)
    screen, progress = Screen(stream.progress().snapshot(0.0), clock), stream.progress()
    assert plainly(screen, 80)[-1].split() == ["0", "%", "0:00", "elapsed"]
    for _ in range(5):
        stream.step(100)
        clock.time += 2.0
        screen.snapshot = progress.snapshot(clock.time)
    assert plainly(screen, 80)[-1].endswith("    50 %   50.0 samples/s   0:10 left")


def test_a_stream_of_unknown_length_has_an_elapsed_time(tmp_path):
    clock = Hands()
    stream = small()
    stream.source.length = None
    screen = screen_of(stream, 8, clock)
    clock.time += 75.0
    assert plainly(screen, 80)[-1] == "1:15 elapsed"
    screen.waits = clock.time - 0.5
    assert plainly(screen, 80)[-1] == "1:15 elapsed"
    screen.waits = clock.time - 2.0
    assert plainly(screen, 80)[-1] == "waiting for samples, 2 s   1:15 elapsed"


def test_bytes_tell_the_share_until_the_last_are_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y,label\n" + "1.5,2.5,0\n" * 300_000)
    stream = small()
    with open_source(str(path), label="label", rows=8192) as source:
        stream.source = source
        shares = [stream.progress().snapshot(0.0).share for _ in source]
    assert source.length is None
    known = [share for share in shares if share is not None]
    assert 0.0 < known[0] < known[-1] < 1.0
    assert known == sorted(known)
    assert shares[-1] is None


def test_rows_that_were_left_out_are_counted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,label\n1.0,0\n?,0\n2.0,1\n")
    stream = Stream([[1.0], [2.0]], [0, 1])
    stream.source = open_source(str(path), label="label", columns=["x"], bad_rows="skip")
    assert sum(len(batch) for batch in stream.source) == 2
    screen = screen_of(stream, 2)
    assert plainly(screen, 80)[-1] == "0:00 elapsed   1 row skipped"
    screen.end = End("done", None, 1.0, 0)
    assert plainly(screen, 80)[-1] == "1 row skipped"


# -- the end -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (End("done", None, 3.2, 0), "8 samples in 3.2 s (2.5 per second), 2 clusters"),
        (
            End("interrupted", None, 125.0, 3),
            "interrupted after 8 samples, 5 of them in 2 min 5 s (0.04 per second), 2 clusters",
        ),
        (End("failed", None, 0.0, 0), "failed after 8 samples in 0.0 s, 2 clusters"),
    ],
)
def test_the_last_table_says_how_it_ended(end, expected):
    screen = screen_of(small(), 8)
    screen.end = end
    lines = plainly(screen, 120)
    assert lines == [f"sensors.csv   {expected}", *AT_80[1:6]]


def test_the_last_message_is_not_cut():
    screen = screen_of(small(), 8)
    message = "stopped; to resume:\nicvi watch sensors.csv --checkpoint somewhere --trace all.csv"
    screen.end = End("interrupted", message, 1.0, 0)
    assert " ".join(plainly(screen, 60)[-3:]).split() == message.split()


@pytest.mark.parametrize("undefined", ["nan", "raise"])
def test_samples_after_the_last_reading_count_at_the_end(undefined):
    stream = small(every=5, undefined=undefined)
    progress = stream.progress()
    stream.step(8)
    before, after = progress.snapshot(0.0), progress.final_snapshot(0.0)
    assert before.values[0] == pytest.approx(small_at(5), rel=1e-12)
    assert after.values[0] == pytest.approx(small_at(8), rel=1e-12)


def test_no_reading_at_all_is_read_at_the_end():
    stream = small(every=100, undefined="raise")
    progress = stream.progress()
    stream.step(3)
    assert math.isnan(progress.final_snapshot(0.0).values[0])


# -- lines for a file ----------------------------------------------------------------------


def test_a_short_run_leaves_the_final_table_only():
    clock, file, stream = Hands(), io.StringIO(), small()
    view = view_for(file, clock=clock)
    stream.begin(view)
    for _ in range(4):
        view.take(stream.step(2))
        with view.waiting():
            clock.time += 1.0
    assert file.getvalue() == ""
    view.finish("good\nbye")
    view.close()
    assert file.getvalue().splitlines() == [
        "sensors.csv: 8 samples in 3.0 s (2.7 per second), 2 clusters",
        "cluster 1 created at sample 4, 4 samples ago",
        "index       value  better",
        "CH        300.000  larger",
        "XB     0.00500000  smaller",
        "good",
        "bye",
    ]


def test_a_file_gets_a_line_per_alarm_the_grade_and_the_whole_verdict():
    clock, file, stream = Hands(), io.StringIO(), together()
    view = view_for(file, clock=clock)
    stream.begin(view)
    step = stream.step(450)
    view.take(step)
    assert step.alarms
    assert file.getvalue().splitlines() == [str(alarm) for alarm in step.alarms]
    clock.time += 6.0
    view.take(stream.step(450))
    lines = file.getvalue().splitlines()
    assert re.fullmatch(
        r"0:06  100 %  900 samples  k=2  grade=distinct  CH=[\d.]+  XB=[\d.]+", lines[-1]
    )
    view.finish()
    end = file.getvalue().splitlines()[len(lines) :]
    said = str(stream.history.verdict(stream.tracker)).splitlines()
    assert end[2 : 2 + len(said)] == said
    assert re.fullmatch(r"index +value  better   without clusters +compared", end[2 + len(said)])
    assert re.fullmatch(r"CH +[\d.]+  larger   [\d.]+ to [\d.]+ +(no )?better", end[-2])


def test_a_long_run_has_a_line_every_five_seconds_at_most():
    clock, file, (X, labels) = Hands(), io.StringIO(), blobs(4000)
    stream = Stream(X, labels)
    view = view_for(file, clock=clock)
    stream.begin(view)
    for _ in range(400):
        clock.time += 0.1
        view.take(stream.step(10))
        view.waiting()
    lines = file.getvalue().splitlines()
    assert len(lines) == 7
    assert re.fullmatch(
        r"0:05  13 %  5\d0 samples  k=1  CH=undefined:k<2  XB=undefined:k<2", lines[0]
    )
    assert re.fullmatch(r"0:15  3\d %  1,5\d0 samples  k=2  CH=[\d.]+  XB=[\d.]+", lines[2])
    clock.time += 100.0
    view.waiting()
    assert file.getvalue().splitlines()[len(lines) :] != []
    known = file.getvalue()
    clock.time += 100.0
    view.waiting()
    assert file.getvalue() == known


def test_a_file_gets_no_control_characters():
    file, stream = io.StringIO(), small(indices=["paper", "Conn"])
    console = Console(file=file, _environ={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert console.is_terminal
    view = view_for(console)
    stream.begin(view, "\x1b[31mred\r.csv")
    view.take(stream.step(8))
    view.finish("\x1b[2J")
    assert "red" in file.getvalue()
    assert all(c.isprintable() or c == "\n" for c in file.getvalue())


def test_a_file_gets_what_its_encoding_has():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    @icvi.index(name="größe")
    def size(s):
        return s.CP[0]

    stream = small(indices=[size])
    view = view_for(file)
    stream.begin(view, "größe.csv")
    view.take(stream.step(8))
    view.finish()
    text = file.buffer.getvalue().decode("ascii")
    assert "gr??e.csv: 8 samples" in text
    assert "\ngr??e  " in text


class Closed(io.StringIO):
    """A pipe that nobody reads any more."""

    def write(self, text):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def test_a_pipe_that_was_closed_is_the_callers_affair():
    clock, stream = Hands(), small()
    view = view_for(Closed(), clock=clock)
    stream.begin(view)
    step = stream.step(8)
    clock.time += 6.0
    with pytest.raises(BrokenPipeError):
        view.take(step)
    with pytest.raises(BrokenPipeError):
        view.finish()
    view.close()


def test_quiet_shows_nothing(capfd):
    view, stream = view_for(None), small()
    stream.begin(view)
    view.take(stream.step(8))
    with view.waiting():
        pass
    view.finish("nothing")
    view.close()
    assert type(view) is View
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("view", [view_for(None), view_for(io.StringIO())])
def test_a_run_that_never_began_can_be_ended(view):
    with view.waiting():
        pass
    view.take(None)
    view.finish("no such file", "failed")
    view.close()
    view.close()


# -- a terminal ----------------------------------------------------------------------------


class Terminal(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self):
        return True


def terminal(**environ):
    environ = {"TERM": "xterm-256color", **environ}
    return Console(file=Terminal(), width=80, height=24, _environ=environ)


def test_a_terminal_gets_the_table_unless_it_is_dumb():
    assert isinstance(view_for(terminal()), LiveTable)
    assert isinstance(view_for(terminal(NO_COLOR="1")), LiveTable)
    assert isinstance(view_for(terminal(TERM="dumb")), PlainLines)
    assert isinstance(view_for(Console(file=io.StringIO(), force_terminal=True)), PlainLines)


class Counting(History):
    """A history that counts how often somebody looks."""

    looks = 0

    @property
    def last(self):
        self.looks += 1
        return super().last


def test_the_table_is_not_made_for_every_step():
    clock, (X, labels) = Hands(), blobs(4000)
    stream = Stream(X, labels)
    stream.history = Counting(stream.history.names)
    view = LiveTable(terminal(), clock)
    stream.begin(view)
    for _ in range(1000):
        view.take(stream.step(1))
    assert stream.history.looks == 2
    for _ in range(1000):
        clock.time += 0.01
        view.take(stream.step(1))
    assert stream.history.looks <= 2 + 50
    view.close()


def test_what_was_taken_is_shown_before_a_wait():
    stream, clock = small(), Hands()
    view = LiveTable(terminal(), clock)
    stream.begin(view)
    view.take(stream.step(3))
    view.take(stream.step(3))
    assert view._screen.snapshot.samples == 3
    with view.waiting():
        assert view._screen.snapshot.samples == 6
        clock.time += 2.0
        assert "waiting for samples" in plainly(view._screen, 80)[-1]
    assert "waiting for samples" not in plainly(view._screen, 80)[-1]
    view.waiting()
    clock.time += 2.0
    assert "waiting for samples" in plainly(view._screen, 80)[-1]
    view.take(stream.step(1))
    assert "waiting for samples" not in plainly(view._screen, 80)[-1]
    view.close()


def test_while_a_kernel_is_compiled_the_table_says_so():
    stream, clock = small(), Hands()
    view = LiveTable(terminal(), clock)
    stream.begin(view)
    view.take(stream.step(3))
    announcing._announce()
    clock.time += 5.0
    foot = f"{announcing.COMPILING}   0:05 elapsed"
    assert plainly(view._screen, 120)[-1].endswith(foot)
    view.take(stream.step(3))
    assert announcing.COMPILING not in plainly(view._screen, 120)[-1]
    view.finish()
    assert announcing._show is announcing._print_once


def test_a_terminal_that_fails_stops_the_loop():
    console, stream, clock = terminal(), small(), Hands()
    view = LiveTable(console, clock)
    stream.begin(view)
    failed = threading.Event()

    def fail(text):
        failed.set()
        raise OSError(errno.EIO, "Input/output error")

    console.file.write = fail
    clock.time += 1.0
    assert failed.wait(processes.PATIENCE)
    processes.wait_until(lambda: view._drawing._failure is not None)
    with pytest.raises(OSError, match="Input/output error"):
        view.take(stream.step(1))
    with pytest.raises(OSError, match="Input/output error"):
        view.waiting()
    view.finish("no second error", "failed")
    view.close()


def test_drawing_continues_while_the_history_changes(monkeypatch):
    monkeypatch.setattr(live, "_PAUSE", 1e-4)
    (X, labels), console = blobs(6000), terminal()
    stream = Stream(X, labels, ["CH", "SIL", "XB"], noise_label=3)
    view = view_for(console)
    stream.begin(view)
    for _ in range(1500):
        view.take(stream.step(4))
        with view.waiting():
            pass
    view.finish()
    frames = console.file.getvalue().split("sensors.csv")[1:]
    assert len(frames) >= 2  # the first and the last, and what chance brings between
    seen = [int(re.search(r"([\d,]+) samples?", frame)[1].replace(",", "")) for frame in frames]
    assert seen == sorted(seen)
    assert seen[-1] == 6000
    assert all(name in frame for frame in frames for name in ("CH", "SIL", "XB"))


def test_bars_of_long_computations_keep_quiet_meanwhile():
    from icvi.progress import SHOWN

    view = LiveTable(terminal(), Hands())
    small().begin(view)
    assert SHOWN.locked()
    view.finish()
    assert not SHOWN.locked()


# -- a real terminal, seen from outside ----------------------------------------------------

CHILD = """
import os, sys
import numpy as np
from rich.console import Console
import icvi
from icvi.streams import open_source
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal import view_for

commands, answers = os.fdopen(int(sys.argv[1])), os.fdopen(int(sys.argv[2]), "w")
now = 0.0
rng = np.random.default_rng(0)
labels = np.arange(6000) * 5 // 6000
X = rng.normal(size=(6000, 2)) + 8.0 * rng.normal(size=(5, 2))[labels]
tracker = icvi.Tracker(["paper", "Conn"], insight="insight" in sys.argv)
history = History([index.name for index in tracker.indices])
source = open_source((X, labels), rows=20)
view = view_for(Console(stderr="stderr" in sys.argv), clock=lambda: now)
batches = iter(source)
view.begin("demo.csv", source, tracker, history)
for line in commands:
    word, _, rest = line.strip().partition(" ")
    if word == "feed":
        for _ in range(int(rest) // 20):
            batch = next(batches)
            trace = tracker.update_many(batch.X, batch.labels)
            step = Step(batch.X, batch.labels, None, batch.first, trace, tracker)
            history.take(step)
            now += 0.01
            view.take(step)
        view.waiting()
    elif word == "pass":
        now += float(rest)
    elif word == "print":
        print(rest, flush=True)
    elif word == "warn":
        print(rest, file=sys.stderr)
    elif word == "fail":
        with open_source([[1.0]]) as source:
            view.close()
            raise ValueError(rest)
    elif word == "finish":
        view.finish(rest or None)
        view.close()
        break
    answers.write("ok")
    answers.flush()
"""

SETTINGS = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}
NAMES = ["CH", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS", "Conn"]
PROMPT = "$ icvi watch demo.csv"


class Session:
    """A process in a pseudo-terminal, and what is to be seen there.

    The clock of the process is set by commands: it draws when something has changed, not because
    time goes by.
    """

    def __init__(self, columns=80, lines=24, *arguments, stdout=None, **environ):
        self.screen = pyte.HistoryScreen(columns, lines, history=1000)
        self._stream = pyte.ByteStream(self.screen)
        self._stream.feed(f"{PROMPT}\r\n".encode())
        self.written = b""
        self._master, slave = os.openpty()
        self._set_size(columns, lines)
        read, self._commands = os.pipe()
        self._answers, write = os.pipe()
        kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        self.process = processes.begin(
            [sys.executable, "-c", CHILD, str(read), str(write), *arguments],
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            pass_fds=(read, write),
            start_new_session=True,
            env={**kept, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environ},
        )
        for descriptor in (slave, read, write):
            os.close(descriptor)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        processes.end(self.process)
        for descriptor in (self._master, self._commands, self._answers):
            os.close(descriptor)

    def tell(self, command):
        """Have a command carried out."""
        os.write(self._commands, f"{command}\n".encode())
        self._pump(lambda: bool(select.select([self._answers], [], [], 0)[0]))
        assert os.read(self._answers, 2) == b"ok"

    def until(self, text):
        """Wait until a text is on the screen."""
        self._pump(lambda: any(text in line for line in self.lines))

    def end(self, command):
        """Give the last command, and wait until the process has ended."""
        os.write(self._commands, f"{command}\n".encode())
        self._pump(lambda: self.process.poll() is not None)

    def resize(self, columns, lines, *, reflow=False):
        """Change the size, as terminals do that wrap long lines, or cut them."""
        before = [line.rstrip() for line in self.screen.display[: self.screen.cursor.y + 1]]
        self._set_size(columns, lines)
        self.screen.resize(lines, columns)
        if reflow:
            self.screen.erase_in_display(2)
            self.screen.cursor_position(1, 1)
            self._stream.feed("\r\n".join(before).encode())
        self.process.send_signal(signal.SIGWINCH)

    @property
    def lines(self):
        """What is on the screen, without empty lines at its bottom."""
        lines = [line.rstrip() for line in self.screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def above(self):
        """What has been scrolled away."""
        columns = range(self.screen.columns)
        top = self.screen.history.top
        return ["".join(line[x].data for x in columns).rstrip() for line in top]

    def _set_size(self, columns, lines):
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def _pump(self, ready):
        deadline = time.monotonic() + processes.PATIENCE
        while time.monotonic() < deadline:
            done = ready()
            while select.select([self._master], [], [], 0.0 if done else 0.02)[0]:
                try:
                    data = os.read(self._master, 65536)
                except OSError:  # nobody has the other end any more
                    self.process.wait(processes.PATIENCE)
                    return
                self.written += data
                self._stream.feed(data)
            if done:
                return
        raise AssertionError("nothing happened; on the screen:\n" + "\n".join(self.lines))


def table_on(lines):
    """The lines from the head of the table on; there must be one table."""
    assert sum(line.startswith("index ") for line in lines) == 1
    (start,) = [y for y, line in enumerate(lines) if line.startswith("demo.csv   ")]
    return lines[start:]


def names_on(lines):
    start = [line.startswith("index ") for line in lines].index(True) + 1
    return [line.split()[0] for line in lines[start : start + 10]]


@pytest.mark.slow
def test_a_terminal_shows_the_table_and_redraws_it_in_place():
    with Session() as session:
        session.until("  0 %   0:00 elapsed")
        assert session.screen.cursor.hidden
        assert len(table_on(session.lines)) == 16
        for seen in ("1,000", "2,000", "3,000"):
            session.tell("feed 1000")
            session.until(f"{seen} samples")
            lines = table_on(session.lines)
            assert names_on(lines) == NAMES
            assert len(lines) == 16
        session.until(" 50 %   2,000 samples/s   0:01 left")
        session.tell("pass 2.5")
        session.until(" 50 %   waiting for samples, 2 s   0:04 elapsed")
        session.tell("feed 3000")
        session.end("finish that was all")
        lines = table_on(session.lines)
        assert lines[:3] == [
            "demo.csv   6,000 samples in 5.5 s (1,091 per second), 5 clusters",
            "cluster 4 created at sample 4,801, 1,199 samples ago",
            "",
        ]
        assert names_on(lines) == NAMES
        assert lines[14:] == ["", "that was all"]
        assert session.lines[0] == PROMPT
        assert not session.above
        assert not session.screen.cursor.hidden
        assert (session.screen.cursor.x, session.screen.cursor.y) == (0, len(session.lines))
        colours = {cell.fg for line in session.screen.buffer.values() for cell in line.values()}
        assert "cyan" in colours
        assert not {"green", "red"} & colours  # they are for grades
        assert session.process.returncode == 0


@pytest.mark.slow
def test_a_terminal_shows_the_answer_above_the_table_and_redraws_it_in_place():
    with Session(80, 24, "insight") as session:
        session.until("  0 %   0:00 elapsed")
        session.tell("feed 1000")
        session.until("cannot tell   demo.csv   1,000 samples   1 cluster")
        session.until("There is one cluster only, so there is nothing to compare it with.")
        session.tell("feed 2000")
        session.until("distinct   demo.csv   3,000 samples   3 clusters")
        session.until("nothing to merge, nothing to split")
        session.until(" 50 %   2,000 samples/s   0:01 left")
        lines = session.lines
        (head,) = [y for y, line in enumerate(lines) if "demo.csv   " in line]
        assert lines[head + 1].startswith("The 3 clusters are distinct: the closest two, ")
        assert names_on(lines) == NAMES
        assert max(map(len, lines)) <= 80
        assert {session.screen.buffer[head][x].fg for x in range(8)} == {"green"}
        session.tell("feed 3000")
        session.end("finish")
        everything = session.above + session.lines
        assert sum(line.startswith("index ") for line in everything) == 1
        assert any("The 5 clusters" in line for line in everything)
        assert any("without clusters  " in line for line in everything)
        assert names_on(everything) == NAMES
        assert everything[0] == PROMPT


@pytest.mark.slow
def test_a_low_terminal_shows_what_fits_and_all_of_it_at_the_end():
    with Session(80, 10) as session:
        for seen in ("1,000", "2,000", "3,000"):
            session.tell("feed 1000")
            session.until(f"{seen} samples")
        session.until("… 6 more; make the window taller to see them")
        assert len(table_on(session.lines)) == 9
        session.end("finish")
        everything = session.above + session.lines
        assert names_on(everything) == NAMES
        assert len(table_on(everything)) == 14
        assert not session.screen.cursor.hidden


@pytest.mark.slow
@pytest.mark.parametrize("reflow", [False, True])
def test_a_terminal_may_be_resized(reflow):
    with Session(80, 40) as session:
        session.tell("feed 3000")
        session.until(" 50 %   2,000 samples/s")
        before = session.lines
        session.resize(60, 40, reflow=reflow)
        session.until("index best ")
        lines = table_on(session.lines)
        assert names_on(lines) == NAMES
        assert len(lines) == 16
        if reflow:  # nothing but the table was touched
            assert "".join(session.lines[:-16]) == "".join(before[:-16])
        session.resize(120, 40)
        session.until("index  better ")
        assert len(table_on(session.lines)) == 16
        session.resize(120, 12)
        session.until("more; make the window taller")
        assert len(table_on(session.lines)) == 11
        session.tell("feed 3000")
        session.end("finish")
        assert names_on([*session.above, *session.lines][-11:]) == NAMES
        assert not session.screen.cursor.hidden


@pytest.mark.slow
def test_what_is_printed_meanwhile_stands_above_the_table():
    with Session() as session:
        session.tell("feed 3000")
        session.tell("print said on the way")
        session.tell("warn Warning: slow")
        session.until("Warning: slow")
        assert session.lines.index("said on the way") < session.lines.index("Warning: slow")
        assert table_on(session.lines)[-1].endswith(" left")
        session.end("finish")
        assert len(table_on(session.lines)) == 14
        assert session.lines.count("said on the way") == 1


@pytest.mark.slow
def test_what_goes_to_a_file_does_not_come_out_on_the_terminal(tmp_path):
    with open(tmp_path / "out.csv", "wb") as out, Session(80, 24, "stderr", stdout=out) as session:
        session.tell("feed 3000")
        session.tell("print 1,2,3")
        session.end("finish")
        assert len(table_on(session.lines)) == 14
    assert (tmp_path / "out.csv").read_bytes() == b"1,2,3\n"


@pytest.mark.slow
def test_a_run_that_fails_gives_the_terminal_back():
    with Session() as session:
        session.tell("feed 3000")
        session.end("fail it broke")
        assert session.lines[-1] == "ValueError: it broke"
        assert sum(line.startswith("index ") for line in session.lines) == 1
        assert not session.screen.cursor.hidden
        assert session.process.returncode == 1


@pytest.mark.slow
def test_a_terminal_without_colours_gets_none():
    with Session(NO_COLOR="1") as session:
        session.tell("feed 3000")
        session.end("finish")
        assert len(table_on(session.lines)) == 14
        colours = {cell.fg for line in session.screen.buffer.values() for cell in line.values()}
        assert colours == {"default"}


@pytest.mark.slow
def test_a_dumb_terminal_gets_lines():
    with Session(TERM="dumb") as session:
        session.tell("feed 1000")
        session.tell("pass 10")
        session.tell("feed 1000")
        session.end("finish")
        assert ESCAPE.encode() not in session.written
        lines = session.lines
        assert any(re.match(r"0:10  1\d %  1,020 samples  k=1  CH=", line) for line in lines)
        assert names_on(lines) == NAMES


@pytest.mark.slow
def test_a_pipe_gets_no_escape_bytes(tmp_path):
    path = tmp_path / "out.txt"
    with open(path, "wb") as out, Session(stdout=out, FORCE_COLOR="1") as session:
        session.tell("feed 6000")
        session.end("finish")
        assert "index" not in "".join(session.lines)
    lines = path.read_text().splitlines()
    assert lines[0] == "demo.csv: 6,000 samples in 3.0 s (2,000 per second), 5 clusters"
    assert lines[2].split()[:2] == ["index", "value"]
    assert [line.split()[0] for line in lines[3:]] == NAMES
    assert ESCAPE not in path.read_text()


# -- a picture of it -----------------------------------------------------------------------

TOOL = Path(__file__).parents[2] / "tools" / "terminal_picture.py"


@pytest.mark.slow
@pytest.mark.skipif(not TOOL.exists(), reason="tools are not part of a release")
def test_the_picture_is_complete_in_itself(tmp_path):
    path = tmp_path / "table.svg"
    processes.run([sys.executable, str(TOOL), str(path), "--width", "100"], check=True)
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\s\"')]+", text) == ["http://www.w3.org/2000/svg"]
    assert "@font-face" not in text
    assert "url(" not in text.replace("url(#", "")
    root = ElementTree.fromstring(text)
    shown = "".join(root.itertext()).replace("\xa0", " ")
    assert "8,400 samples   5 clusters" in shown
    assert "Conn" in shown


# -- what waits, and what else is read -----------------------------------------------------


class Waiting:
    """A watch in which samples wait."""

    def __init__(self):
        self.gathering, self.agreement = None, {}

    def hints(self):
        return ["One cluster.", "Turn rho."]


def test_samples_to_begin_with_are_counted_with_the_time_left():
    watched = Waiting()
    pace = GatheringPace(watched)
    assert pace.text(0.0) is None
    watched.gathering = Gathering(0, 1024, True)
    assert pace.text(1.0) is None
    watched.gathering = Gathering(24, 1024, True)
    assert pace.text(2.0) == "24 of 1,024 samples to begin with (--batch)"
    watched.gathering = Gathering(124, 1024, True)
    assert pace.text(4.0) == "124 of 1,024 samples to begin with (--batch), 0:18 left"
    watched.gathering = Gathering(124, 1024, True, 3.0)
    assert pace.text(4.5) == "124 of 1,024 samples to begin with (--batch), 0:03 left"
    watched.gathering = Gathering(10, 1024, False)
    assert pace.text(5.0) is None  # it may be full in a moment
    watched.gathering = Gathering(20, 1024, False)
    assert pace.text(7.0) == "20 of 1,024 samples for the next step (--batch), 3:20 left"


def test_a_table_shows_what_waits_and_for_how_long():
    stream, clock, watched = small(), Hands(), Waiting()
    view = LiveTable(terminal(), clock)
    view.begin("s", stream.source, stream.tracker, stream.history, watched)
    watched.gathering = Gathering(237, 1024, True)
    view.waiting()
    line = "237 of 1,024 samples to begin with (--batch)"
    assert line in plainly(view._screen, 80)[-1]
    clock.time += 12.0
    assert f"{line}   waiting for samples, 12 s" in plainly(view._screen, 80)[-1]
    view.take(stream.step(3))
    assert line not in plainly(view._screen, 80)[-1]
    assert "One cluster. Turn rho." in plainly(view._screen, 80)
    view.close()


def test_idle_lines_come_ever_more_rarely():
    lines, clock = [], Hands()
    idle = IdleLines(clock, lines.append)
    idle.look()
    with idle.waiting(0):
        for _ in range(100):
            clock.time += 1.0
            idle.look()
    clock.time += 100.0
    idle.look()
    idle.close()
    times = ("5 s", "10 s", "20 s", "40 s", "1:20")
    assert lines == [f"waiting for samples, {time}" for time in times]


def test_a_wait_that_is_left_for_a_moment_goes_on_until_samples_come():
    lines, clock = [], Hands()
    idle = IdleLines(clock, lines.append)
    for came in (3, 3, 3, 4, 4):
        with idle.waiting(came):
            clock.time += 3.0
            idle.look()
    idle.close()
    assert lines == ["waiting for samples, 6 s", "waiting for samples, 6 s"]


def test_a_table_shows_how_long_nothing_has_come_though_time_passes_for_the_tracker():
    stream, clock = small(), Hands()
    view = LiveTable(terminal(), clock)
    stream.begin(view)
    view.take(step := stream.step(3))
    none = dataclasses.replace(step, labels=step.labels[:0], tracker=icvi.Tracker(["CH", "XB"]))
    for _ in range(4):
        with view.waiting():
            clock.time += 3.0
            shown = plainly(view._screen, 80)[-1]
        view.take(none)
    assert "waiting for samples, 12 s" in shown
    assert view._progress.snapshot(0.0).k == 0
    assert np.isnan(view._progress.snapshot(0.0).values).all()
    assert view._progress.final_snapshot(0.0).k == stream.tracker.n_clusters
    view.close()


def test_an_error_of_an_idle_line_is_raised_when_the_loop_waits_again():
    clock = Hands()

    def fail(line):
        raise OSError("full")

    idle = IdleLines(clock, fail)
    with idle.waiting(0):
        clock.time += 6.0
        idle.look()
    with pytest.raises(OSError, match="full"), idle.waiting(0):
        pass
    idle.close()
