"""When a watch begins, and what waits until then."""

from __future__ import annotations

import re
import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans

import icvi
from icvi.streams import Batch, open_source
from icvi.watching.beginning import Beginning, read_ahead
from icvi.watching.rebatching import rebatch
from icvi.watching.step_size import StepSize
from processes import PATIENCE
from watch_inputs import read_trace, samples

SIZES = []


class Spy(MiniBatchKMeans):
    def partial_fit(self, X):
        SIZES.append(len(X))
        return super().partial_fit(X)


class Hands:
    time = 0.0

    def __call__(self):
        return self.time


def test_time_counts_from_the_first_sample_on():
    clock = Hands()
    beginning = Beginning(1024, timedelta(seconds=5), clock)
    clock.time = 100.0
    assert beginning.left is None
    assert not beginning.over()
    beginning.came()
    clock.time = 103.0
    beginning.came()
    assert beginning.left == 2.0
    clock.time = 105.0
    assert beginning.over()
    assert beginning.size == beginning.full == 1024
    assert beginning.began(17) == 17
    assert Beginning(1024).began(17) is None


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (0, "expected begin (--begin) as a number of samples from 1 to 1,024"),
        (2000, "or as a time such as 5s, got 2000"),
        (1.5, "got 1.5"),
        (True, "got True"),
        (timedelta(0), "more than no time"),
    ],
)
def test_beginnings_that_cannot_be_are_refused(begin, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        Beginning(1024, begin)


def test_a_beginning_without_anything_to_wait_for_is_refused():
    with pytest.raises(ValueError, match="nothing waits for a first batch"):
        icvi.watch(samples(50), indices=["CH"], begin=10)


def test_where_fewer_will_do_what_there_is_is_handed_on():
    enough = False
    X, _ = samples(50)
    parts = [Batch(X[i : i + 10], first=i, position={"at": i + 10}) for i in range(0, 50, 10)]

    def come():
        nonlocal enough
        yield parts[0]
        yield None
        enough = True
        yield None
        enough = False
        yield from parts[1:]

    pieces = rebatch(come(), lambda seen: 25 if not seen else 15, fewer=lambda: enough)
    assert (pieces.gathered, pieces.needed) == (0, 25)
    assert next(pieces) is None
    first = next(pieces)
    assert (len(first), first.position) == (10, {"at": 10})
    assert next(pieces) is None
    assert [len(piece) for piece in pieces] == [15, 15, 10]


def test_a_piece_is_never_larger_than_asked_for():
    X, _ = samples(50)
    pieces = rebatch([Batch(X)], lambda seen: 20, fewer=lambda: True)
    assert [len(piece) for piece in pieces] == [20, 20, 10]


def test_a_source_is_read_ahead_while_the_clock_is_looked_at():
    go_on = threading.Event()

    def come():
        yield [0.0, 1.0]
        assert go_on.wait(PATIENCE)
        yield [2.0, 3.0]

    with open_source(come(), rows=1) as source:
        batches = read_ahead(source)
        found = [next(batches) for _ in range(1)]
        while found[-1] is not None:
            found.append(next(batches))
        go_on.set()
        found += batches
    assert [batch.X.tolist() for batch in found if batch] == [[[0.0, 1.0]], [[2.0, 3.0]]]


def test_an_error_of_a_source_that_is_read_ahead_is_raised_here():
    def come():
        yield [0.0]
        raise OSError("gone")

    with open_source(come(), rows=1) as source:
        batches = read_ahead(source)
        with pytest.raises(OSError, match="gone"):
            list(batches)


def test_a_reader_that_is_left_ends():
    before = threading.active_count()
    with open_source(samples(50), rows=1) as source:
        batches = read_ahead(source)
        next(batches)
        batches.close()
        (reader,) = [t for t in threading.enumerate() if t.name == "icvi-source"]
        reader.join(PATIENCE)
    assert threading.active_count() == before


def test_a_watch_begins_with_fewer_samples_and_chunks_are_counted_from_there(tmp_path):
    X, _ = samples(300)
    SIZES.clear()
    model = Spy(3, random_state=0, n_init=1)
    watched = icvi.watch(X, model, ["CH"], batch=100, begin=30).run()
    assert SIZES == [30, 100, 100, 70]
    assert watched.began == 30
    options = {"batch": 100, "begin": 30, "checkpoint": tmp_path / "kept", "rows": 50}
    stopped = icvi.watch(X, Spy(3, random_state=0, n_init=1), ["CH"], **options)
    for _ in zip(range(2), stopped.steps()):
        pass
    stopped.close()
    resumed = icvi.watch(X, Spy(3, random_state=0, n_init=1), ["CH"], **options).run()
    assert 0 < resumed.resumed < 300
    assert resumed.began == 30
    assert resumed.tracker["CH"] == watched.tracker["CH"]
    with pytest.raises(ValueError, match="begin was 30 and is not set"):
        icvi.watch(X, Spy(3, random_state=0, n_init=1), ["CH"], **{**options, "begin": None}).run()


def test_a_start_by_time_takes_what_has_come(tmp_path):
    X, _ = samples(120)
    begun = threading.Event()

    def come():
        yield from X[:40]
        assert begun.wait(PATIENCE)
        yield from X[40:]

    # One sample is a batch: the reader of the source waits for more, and time goes by.
    options = {"begin": timedelta(milliseconds=300), "rows": 1, "trace": tmp_path / "t.csv"}
    watched = icvi.watch(come(), icvi.FuzzyART(rho=0.8), ["CH"], **options)
    for _ in watched.steps():
        begun.set()
    assert 1 <= watched.began <= 40
    assert len(read_trace(tmp_path / "t.csv")["sample"]) == 120
    again = icvi.watch(X, icvi.FuzzyART(rho=0.8), ["CH"], begin=watched.began).run()
    assert again.tracker["CH"] == watched.tracker["CH"]


def test_single_samples_are_handed_on_when_they_come_slowly():
    def come():
        for i in range(4):
            if i:
                time.sleep(0.25)
            yield [float(i), 1.0]

    watched = icvi.watch(((x, 0) for x in come()), indices=["CH"])
    steps = [len(step.labels) for step in watched.steps()]
    assert len(steps) >= 3  # not all of them at the end


# -- steps ---------------------------------------------------------------------------------


def test_steps_take_about_as_long_as_they_should():
    size = StepSize()
    assert size.most == 1
    for _ in range(20):
        size.took(size.most, size.most * 0.001)
    assert size.most == 200
    size.took(200, 30.0)
    assert size.most == 1
    size.took(1, 0.0)
    assert size.most == 8


class Chance:
    """Steps of any size."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.most = 1

    def took(self, samples, seconds):
        self.most = int(self._rng.integers(1, 60))


@pytest.mark.parametrize("seed", range(2))
def test_the_trace_does_not_depend_on_how_long_steps_take(seed, tmp_path, monkeypatch):
    X, labels = samples(500)

    def traced(name):
        options = {"trace": tmp_path / name, "truth": labels, "batch": 64}
        list(icvi.watch(X, icvi.FuzzySMART(), ["CH", "SIL", "Conn"], **options).steps())
        alarms = tmp_path / f"{name[:-4]}.alarms.ndjson"
        return (tmp_path / name).read_bytes(), alarms.read_bytes()

    whole = traced("whole.csv")
    monkeypatch.setattr("icvi.watching.loop.StepSize", lambda: Chance(seed))
    assert traced("parts.csv") == whole


def test_a_clusterer_that_learns_one_by_one_is_stopped_when_the_time_of_a_step_is_over():
    from river import cluster

    X, _ = samples(200)
    clock = Hands()

    class Slow(cluster.KMeans):
        def learn_one(self, x):
            clock.time += 0.05
            super().learn_one(x)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("icvi.watching.loop.time", SimpleNamespace(monotonic=clock))
        watched = icvi.watch(X, Slow(3, seed=0), ["CH"], checkpoint_every=1e9)
        sizes = [len(step.labels) for step in watched.steps()]
    assert sum(sizes) == 200
    assert set(sizes[:-1]) <= {4, 5}
    whole = icvi.watch(X, cluster.KMeans(3, seed=0), ["CH"]).run()
    assert whole.tracker["CH"] == watched.tracker["CH"]
