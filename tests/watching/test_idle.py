"""A stream that is idle: checkpoints and acknowledgements come by a timer, and windows empty."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from datetime import timedelta

import numpy as np
import pytest

import icvi
from icvi.saving import container
from icvi.streams import open_source
from icvi.watching import loop
from icvi.watching.checkpoint import Checkpoint
from watch_inputs import PATIENCE, write_samples

RNG = np.random.default_rng(0)
X, LABELS = RNG.normal(size=(60, 2)), np.arange(60) % 3
START = np.datetime64("2026-01-01T00:00:00")


class Hands:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.time = time.monotonic()

    def __call__(self):
        return self.time


@contextmanager
def limited(source):
    """A source that ends after a while, whatever it waits for."""
    timer = threading.Timer(PATIENCE, source.close)
    timer.daemon = True
    timer.start()
    with source:
        yield source
    timer.cancel()


@contextmanager
def watching(*arguments, **options):
    with icvi.watch(*arguments, **options) as one, limited(one.source):
        yield one


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Nothing has come for a while after a moment."""
    monkeypatch.setattr(loop, "IDLE", 0.01)


def rows(start, stop, times=None):
    lines = [f"{X[i, 0]},{X[i, 1]},{LABELS[i]}" for i in range(start, stop)]
    if times is not None:
        lines = [f"{line},{times[i]}" for i, line in enumerate(lines, start)]
    return "".join(f"{line}\n" for line in lines)


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


def processed(folder):
    with open(folder / "watch.icvi", "rb") as file:
        return container.read(file)[0]["seen"]


def test_what_came_before_a_pause_is_checkpointed_when_it_is_due(tmp_path, monkeypatch):
    path, kept = tmp_path / "s.csv", tmp_path / "kept"
    path.write_text("x,y,c\n" + rows(0, 20))
    options = {"label": "c", "indices": ["CH"], "follow": True, "checkpoint_every": 100.0}
    writes, write = [], Checkpoint.write
    monkeypatch.setattr(Checkpoint, "write", lambda *a: (writes.append(1), write(*a))[1])
    with watching(path, checkpoint=kept, **options) as one:
        one._loop.clock = clock = Hands()
        steps = one.steps()
        assert len(next(steps).labels) + len(next(steps).labels) <= 20
        while one.seen < 20:
            next(steps)
        append(path, rows(20, 30))
        while one.seen < 30:
            next(steps)
        assert processed(kept) < 30  # the first step is checkpointed at once
        clock.time += 99.0
        assert len(next(steps).labels) == 0
        assert processed(kept) < 30
        clock.time += 2.0
        assert len(next(steps).labels) == 0
        assert processed(kept) == 30
        before = len(writes)
        for _ in range(3):
            clock.time += 500.0
            next(steps)
        assert len(writes) == before  # nothing new, nothing to write
        steps.close()


def test_entries_of_a_server_are_acknowledged_while_nothing_comes(server):
    server.add(0, 30)
    options = {"label": "c", "indices": ["CH"], "follow": True, "checkpoint_every": 0.2}
    with watching(server.url, **options) as one:
        steps = one.steps()
        while one.seen < 30 or server.pending():
            next(steps)
        assert (one.seen, server.pending()) == (30, 0)
        steps.close()


@pytest.mark.parametrize("kind", ["seconds", "timestamps"])
def test_a_window_of_time_empties_while_nothing_comes_and_late_samples_are_welcome(kind, tmp_path):
    seconds = [float(i) for i in range(60)]
    times = (
        seconds if kind == "seconds" else [str(START + np.timedelta64(i, "s")) for i in range(60)]
    )
    path = tmp_path / "s.csv"
    path.write_text("x,y,c,when\n" + rows(0, 30, times))
    options = {"label": "c", "time": "when", "indices": ["CH"], "window": timedelta(seconds=20)}
    with watching(path, follow=True, trace=tmp_path / "t.csv", **options) as one:
        one._loop.clock = clock = Hands()
        steps = one.steps()
        while one.seen < 30:
            next(steps)
        left = []
        for _ in range(3):
            clock.time += 8.0
            step = next(steps)
            left.append((len(step.labels), step.tracker.n_samples, step.tracker.n_clusters))
        assert left == [(0, 12.0, 3), (0, 4.0, 3), (0, 0.0, 0)]
        assert one.tracker.n_samples == 20  # of the samples alone
        append(path, rows(30, 60, times))  # their times are before those that have passed
        while one.seen < 60:
            next(steps)
        steps.close()
    path.write_text("x,y,c,when\n" + rows(0, 60, times))
    with icvi.watch(path, trace=tmp_path / "whole.csv", **options) as whole:
        whole.run()
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_half_life_of_time_fades_while_nothing_comes(tmp_path):
    path = tmp_path / "s.csv"
    write_samples(path, X, LABELS, when=[float(i) for i in range(60)])
    options = {"label": "c", "time": "when", "indices": ["CH"], "half_life": timedelta(seconds=5)}
    with watching(path, follow=True, **options) as one:
        one._loop.clock = clock = Hands()
        steps = one.steps()
        while one.seen < 60:
            next(steps)
        clock.time += 10.0
        step = next(steps)
        assert step.tracker.n_samples == pytest.approx(one.tracker.n_samples / 4)
        steps.close()


def test_before_the_first_sample_there_is_no_step(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("x,y,c\n")
    timer = threading.Timer(0.5, append, [path, rows(0, 5)])
    timer.start()
    with watching(path, label="c", indices=["CH"], follow=True) as one:
        assert len(next(one.steps()).labels)
    timer.join(10)


def test_half_a_row_is_not_lost_when_a_wait_is_left(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("x,y,c\n1,2,0\n3,4")
    with limited(open_source(path, label="c", follow=True)) as source:
        batches = source.batches(0.01)
        assert next(batches).X.tolist() == [[1.0, 2.0]]
        assert next(batches) is None
        append(path, ",1\n5,")
        assert next(batches).X.tolist() == [[3.0, 4.0]]
        assert next(batches) is None
        append(path, "6,1\n")
        assert next(batches).X.tolist() == [[5.0, 6.0]]


def test_a_header_that_comes_in_two_halves_is_waited_for(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("x,y")
    timer = threading.Timer(0.5, append, [path, ",c\n1,2,0\n"])
    timer.start()
    try:
        with limited(open_source(path, label="c", follow=True)) as source:
            assert next(source.batches(0.01)).X.tolist() == [[1.0, 2.0]]
            assert source.columns == ("x", "y")
    finally:
        timer.join(10)


def test_a_pipe_says_that_nothing_comes(tmp_path):
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as file, os.fdopen(theirs, "wb", buffering=0) as writer:
        writer.write(b"x,y,c\n1,2,0\n")
        with limited(open_source(file, label="c", format="csv")) as source:
            batches = source.batches(0.01)
            assert next(batches).X.tolist() == [[1.0, 2.0]]
            assert next(batches) is None
            writer.write(b"3,4,1\n")
            assert next(batches).X.tolist() == [[3.0, 4.0]]


def test_without_a_pause_an_iteration_gives_batches_alone():
    with open_source((X, LABELS), rows=25) as source:
        assert [len(batch) for batch in source.batches()] == [25, 25, 10]
        source.close()
        with pytest.raises(ValueError, match="closed"):
            source.batches(1.0)
