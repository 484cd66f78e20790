"""A picture of the table that `icvi watch` shows, for the README.

Six clusters arrive one after the other and are clustered by Fuzzy SMART; the picture is taken when
so much of the stream has gone by. The SVG is complete in itself: it loads no fonts.

    python tools/terminal_picture.py picture.svg [--width 80] [--share 0.7] [--done]
"""

from __future__ import annotations

import argparse
import io
import re
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.terminal_theme import MONOKAI

import icvi
from icvi.streams import open_source
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.screen import Screen
from icvi.watching.terminal.snapshot import StreamProgress
from icvi.watching.terminal.summary import End

CENTERS = np.array([[0.2, 0.2], [0.5, 0.8], [0.8, 0.3], [0.15, 0.65], [0.5, 0.42], [0.85, 0.72]])
SIZE, SPREAD, ROWS = 2000, 0.035, 250
RATE = 2_500  # samples per second, as they may come from a queue
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def make_stream() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples in order of presentation, their clusters and the prototypes that won."""
    rng = np.random.default_rng(7)
    truth = np.repeat(np.arange(len(CENTERS)), SIZE)
    X = CENTERS[truth] + SPREAD * rng.standard_normal((truth.size, 2))
    smart = icvi.FuzzySMART(rho_a=0.95, rho_b=0.7).fit(X)
    return X, smart.labels_, smart.winners_


def screen_at(share: float, done: bool) -> Screen:
    """The screen after a share of the stream."""
    X, labels, winners = make_stream()
    time, last = 0.0, len(X) if done else int(share * len(X))
    tracker = icvi.Tracker(["paper", "Conn"], insight=True)
    history = History([index.name for index in tracker.indices])
    with open_source((X, labels), rows=ROWS) as source:
        watch = StreamProgress("sensors.csv", source, tracker, history)
        screen = Screen(watch.snapshot(time), lambda: time)
        for batch in source:
            part = slice(batch.first, min(batch.first + ROWS, last))
            if part.start >= last:
                break
            trace = tracker.update_many(X[part], labels[part], winners=winners[part])
            history.take(Step(X[part], labels[part], None, part.start, trace, tracker))
            time = part.stop / RATE
            screen.snapshot = watch.snapshot(time)
    if done:
        screen.snapshot = watch.final_snapshot(time)
        screen.end = End("done", None, time, 0)
    return screen


def as_svg(screen: Screen, width: int) -> str:
    """What a terminal of that width shows."""
    console = Console(
        file=io.StringIO(),
        record=True,
        width=width,
        height=24,
        force_terminal=True,
        color_system="truecolor",
    )
    console.print(screen, "")  # the last line of a picture is cut at its bottom
    svg = console.export_svg(title="icvi watch", theme=MONOKAI, unique_id="icvi")
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg)
    svg = svg.replace("Fira Code, monospace", FONTS).replace("arial", "sans-serif")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="A picture of the table of icvi watch.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--width", type=int, default=80)
    parser.add_argument("--share", type=float, default=0.7)
    parser.add_argument("--done", action="store_true", help="the table that stays")
    given = parser.parse_args()
    given.path.write_text(as_svg(screen_at(given.share, given.done), given.width), encoding="utf-8")


if __name__ == "__main__":
    main()
