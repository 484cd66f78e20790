"""Ctrl-C, or a signal handler that raises, at every moment of every call that changes a state."""

from __future__ import annotations

import functools
import pickle
from datetime import timedelta

import numpy as np
import pytest

import icvi
from icvi.connectivity import saved_connectivity
from icvi.insight.alarms import Watched
from icvi.state import saved_partition
from icvi.tracking.saved import tracker as saved_tracker
from interrupting import interrupt_by_signals, interrupt_everywhere, interrupt_twice

RNG = np.random.default_rng(5)
X = RNG.random((60, 2))
LABELS = RNG.integers(0, 4, 60)
NAMES = np.array(["a", "b", "c", "d"])[LABELS].tolist()
TIMES = np.arange(60.0)
CONN = {"indices": ["CH", "Conn"], "bounds": (0.0, 1.0)}
TRACKERS = {
    "plain": {"indices": ["CH", "XB", "PBM", "rCIP"], "noise_label": "d"},
    "window": {"indices": ["CH", "SIL"], "window": 12},
    "window of time": {"indices": ["CH"], "window": timedelta(seconds=9)},
    "half-life": {"indices": ["CH", "NI"], "half_life": 5.0},
    "Conn": CONN,
    "Conn in a window": {**CONN, "window": 12},
    "Conn with a half-life": {**CONN, "half_life": 3.0},
    "two forms of Conn": {
        "indices": ["Conn", icvi.Conn(convention="toolbox")],
        "bounds": (0.0, 1.0),
    },
    "mixtures": {"indices": [icvi.rCIP(prototypes=True)], "bounds": (0.0, 1.0)},
    "insight": {"indices": ["CH"], "insight": True, "noise_label": "d"},
    "insight in a window": {"indices": ["CH"], "insight": True, "window": 12},
    "insight with a half-life": {"indices": ["CH"], "insight": True, "half_life": 5.0},
    "insight and Conn": {**CONN, "insight": True},
    "mixtures in a window": {
        "indices": [icvi.rH(prototypes=True)],
        "bounds": (0.0, 1.0),
        "window": 12,
    },
}


@pytest.fixture(autouse=True)
def looks_that_come_soon(monkeypatch):
    """With insight, clusters are looked at within these few samples."""
    monkeypatch.setattr("icvi.insight.alarms._NEW", Watched(entered=0, due=4, total=50))
    monkeypatch.setattr("icvi.insight.alarms.FEWEST", 3)


def time_of(name, part):
    return TIMES[part] if name == "window of time" else None


@functools.cache
def template(name, n):
    t = icvi.Tracker(**TRACKERS[name])
    if n:
        t.update_many(X[:n], NAMES[:n], time=time_of(name, slice(n)))
    return t


def fed(name, n=25):
    return template(name, n).copy()


def bits(packed):
    facts, arrays = packed
    return repr(facts), {name: (a.shape, a.tobytes()) for name, a in arrays.items()}


def state(t):
    values = np.array(list(t.values.values())).tobytes()
    return values, bits(saved_tracker.pack(t)), t.n_samples, t.noise_share, t.labels


def single(name, label, n=25):
    time = time_of(name, n)
    return lambda t: t.update(X[n], label, time=time)


@pytest.mark.parametrize("name", TRACKERS)
@pytest.mark.parametrize("label", ["a", "new", "d"])
def test_an_interrupted_update_changes_nothing(name, label):
    n = interrupt_everywhere(lambda: fed(name), single(name, label), state, most=40)
    assert n > 2


@pytest.mark.parametrize("name", TRACKERS)
@pytest.mark.parametrize("before", [0, 25])
def test_an_interrupted_chunk_changes_nothing(monkeypatch, name, before):
    monkeypatch.setattr("icvi.tracking.tracker._BLOCK", 8)
    part = slice(before, before + 20)
    labels = [*NAMES[part][:-1], "new"]
    time = time_of(name, part)
    n = interrupt_everywhere(
        lambda: fed(name, before),
        lambda t: t.update_many(X[part], labels, time=time),
        state,
        most=40,
    )
    assert n > 10


@pytest.mark.parametrize("interrupt", [interrupt_everywhere, interrupt_twice])
@pytest.mark.parametrize(
    "grow",
    [lambda t: t.update_many(X[25:45], list(range(25, 45))), lambda t: t.update(X[25], "new")],
    ids=["many", "one"],
)
def test_arrays_that_grow_are_what_they_were_after_an_interrupt(interrupt, grow):
    t = icvi.Tracker(["CH", "rH"])
    t.update_many(X[:15], list(range(15)))  # there is no room for another cluster
    interrupt(t.copy, grow, state, most=20)


CHANGES = {
    "remove": lambda t: t.remove(X[24], NAMES[24]),
    "relabel": lambda t: t.relabel(X[24], NAMES[24], "new"),
    "merge": lambda t: t.merge_clusters("a", "b"),
    "decay": lambda t: t.decay(0.5),
    "sort": lambda t: t.sort_labels(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "name", ["plain", "window", "half-life", "Conn in a window", "insight", "insight in a window"]
)
def test_an_interrupted_change_changes_nothing(name, change):
    interrupt_everywhere(lambda: fed(name), CHANGES[change], state, most=40)


def test_a_cluster_that_vanishes_comes_back_after_an_interrupt():
    def make():
        t = fed("plain")
        t.update([0.5, 0.5], "lonely")
        t.update([0.1, 0.5], "after it")
        return t

    interrupt_everywhere(make, lambda t: t.remove([0.5, 0.5], "lonely"), state)
    interrupt_everywhere(make, lambda t: t.relabel([0.5, 0.5], "lonely", "a"), state)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.remove_many(X[20:25], NAMES[20:25]),
        lambda t: t.relabel_many(X[20:25], NAMES[20:25], ["new"] * 5),
        lambda t: t.combine(fed("plain", 40)),
        lambda t: t.check_many(X, NAMES),
    ],
    ids=["remove_many", "relabel_many", "combine", "check_many"],
)
def test_an_interrupted_change_of_many_samples_changes_nothing(call):
    interrupt_everywhere(lambda: fed("plain"), call, state)


@pytest.mark.parametrize("name", ["plain", "window", "Conn"])
def test_a_second_interrupt_on_the_way_back_is_undone_by_the_next_call(name):
    part = slice(25, 35)
    interrupt_twice(lambda: fed(name), lambda t: t.update_many(X[part], NAMES[part]), state, most=5)
    interrupt_twice(lambda: fed(name), single(name, "new"), state, most=5)


# -- partitions, connectivities, banks -----------------------------------------------------


def partition(n=25):
    p = icvi.Partition(scatter=True, noise_label="d")
    p.add_many(X[:n], NAMES[:n])
    return p


PARTITION_CALLS = {
    "add": lambda p: p.add(X[30], "a"),
    "add new": lambda p: p.add(X[30], "new"),
    "add many": lambda p: p.add_many(X[30:40], list(range(10))),
    "remove": lambda p: p.remove(X[0], NAMES[0]),
    "relabel": lambda p: p.relabel(X[0], NAMES[0], "new"),
    "remove many": lambda p: p.remove_many(X[:5], NAMES[:5]),
    "relabel many": lambda p: p.relabel_many(X[:5], NAMES[:5], ["new"] * 5),
    "merge": lambda p: p.merge_clusters("a", "b"),
    "decay": lambda p: p.decay(0.5),
    "combine": lambda p: p.combine(partition(50)),
    "sort": lambda p: p.sort_labels(),
}


@pytest.mark.parametrize("call", PARTITION_CALLS)
def test_an_interrupted_call_leaves_a_partition_as_it_was(call):
    def state(p):
        return p.n_samples, bits(saved_partition.pack(p))

    interrupt_everywhere(partition, PARTITION_CALLS[call], state)


EVENTS = [[0, -1], [1, 0], [2, 0], [1, 2], [3, 1], [0, 3], [2, 3]]
OWNERS = ["a", "a", "b", "a", "c", "a", "b"]
CONNECTIVITY_CALLS = {
    "update": lambda c: c.update(0, 1, "a"),
    "update new": lambda c: c.update(9, 1, "new"),
    "update far": lambda c: c.update(900, 1, "new"),
    "update many": lambda c: c.update_many([[4, 0], [5, 4]], ["new", "b"]),
    "remove": lambda c: c.remove(3, 1, "c"),
    "remove many": lambda c: c.remove_many([[3, 1], [1, 2]], ["c", "a"]),
    "merge": lambda c: c.merge_clusters("a", "b"),
    "reassign": lambda c: c.reassign(1, "new"),
    "declare": lambda c: c.declare([7, 8], ["new", "b"]),
    "decay": lambda c: c.decay(0.5),
    "check many": lambda c: c.check_many([[4, 0]], ["new"]),
    "combine": lambda c: c.combine(c.copy()),
    "to arrays": lambda c: c.to_arrays(),
    "sort": lambda c: c.sort_labels(),
}


@pytest.mark.parametrize("call", CONNECTIVITY_CALLS)
def test_an_interrupted_call_leaves_a_connectivity_as_it_was(call):
    def make():
        c = icvi.Connectivity()
        c.update_many(EVENTS, OWNERS)
        return c

    def state(c):
        return c.value, bits(saved_connectivity.pack(c))

    def run(c):
        # A copy is another graph, in whose call it is no use to be interrupted.
        CONNECTIVITY_CALLS[call](c)

    interrupt_everywhere(make, run, state)


def test_an_interrupted_call_leaves_all_streams_of_a_bank_as_they_were():
    keys = np.array(["x", "y", "z"])[RNG.integers(0, 3, 60)].tolist()

    def make():
        bank = icvi.TrackerBank(["CH"], workers=1)
        bank.update_many(keys[:30], X[:30], NAMES[:30])
        return bank

    def of_bank(bank):
        bank.readings()
        return [(key, state(t)) for key, t in bank.items()]

    new = ["new", *keys[31:50]]
    interrupt_everywhere(make, lambda b: b.update_many(new, X[30:50], NAMES[30:50]), of_bank)
    interrupt_everywhere(make, lambda b: b.update("x", X[30], "a"), of_bank)
    interrupt_everywhere(make, lambda b: b.update("new", X[30], "a"), of_bank)
    interrupt_everywhere(make, lambda b: b.drop("x"), of_bank)
    other = make()
    other.update("new", X[30], "a")
    interrupt_everywhere(make, lambda b: b.combine(other), of_bank, most=8)


# -- real signals --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "window", "half-life", "Conn", "Conn in a window"])
def test_real_signals_tear_nothing(name):
    t = fed(name)
    n = 200
    chunk, labels = RNG.random((n, 2)), RNG.integers(0, 4, n).tolist()
    warm = fed(name)
    for _ in range(3):  # what it takes is compiled and loaded: that is Numba's to protect
        warm.update_many(chunk, labels)
    counts = interrupt_by_signals(
        lambda _: t.update_many(chunk, labels),
        lambda: pickle.dumps(state(t)),
        interrupts=60,
        seconds=8.0,
        longest=0.01,
    )
    assert counts["interrupted"] + counts["completed"] > 0
    # Every completed call is there, and nothing of the others.
    expected = fed(name)
    for _ in range(counts["completed"]):
        state(expected)  # packing drops what is dead in a graph, which orders its edges anew
        expected.update_many(chunk, labels)
    assert state(t) == state(expected)
