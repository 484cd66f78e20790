"""Copies and pickles are objects of their own, whatever memory they came from."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import icvi
from saved_objects import KINDS, LABELS, X


def arrays_in(thing, seen=None):
    """All arrays inside an object of ours."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, dict):
        inside = list(thing.values())
    elif isinstance(thing, (list, tuple)):
        inside = list(thing)
    elif type(thing).__module__.startswith("icvi.") and hasattr(thing, "__dict__"):
        inside = list(vars(thing).values())
    else:
        return []
    return [array for value in inside for array in arrays_in(value, seen)]


def out_of_band(thing, frozen=bytes):
    """There and back by pickle with arrays apart, in buffers of the kind given."""
    buffers = []
    data = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[frozen(buffer.raw()) for buffer in buffers])


def assert_same(ours, theirs):
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=name)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_unpickled_from_read_only_buffers_resumes(name):
    kind = KINDS[name]
    twin, plain = out_of_band(kind.make()), pickle.loads(pickle.dumps(kind.make()))
    assert_same(kind.resume(twin), kind.resume(plain))


@pytest.mark.parametrize("name", KINDS)
def test_what_is_unpickled_does_not_write_to_buffers_that_others_hold(name):
    kind = KINDS[name]
    buffers = []
    data = pickle.dumps(kind.make(), protocol=5, buffer_callback=buffers.append)
    shared = [bytearray(buffer.raw()) for buffer in buffers]
    before = [bytes(buffer) for buffer in shared]
    kind.resume(pickle.loads(data, buffers=shared))
    assert [bytes(buffer) for buffer in shared] == before


def test_a_bank_is_unpickled_from_read_only_buffers():
    bank = icvi.TrackerBank(["CH", "rH"], window=30)
    keys = np.array(["pump", "fan"])[np.arange(40) % 2]
    bank.update_many(keys, X[:40], LABELS[:40])
    twin = out_of_band(bank)
    for each in (bank, twin):
        each.update_many(keys[:20], X[40:], LABELS[40:])
    assert twin["pump"].values == bank["pump"].values


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, out_of_band])
@pytest.mark.parametrize("name", KINDS)
def test_a_copy_shares_no_array_with_the_original(name, way):
    thing = KINDS[name].make()
    twin = way(thing)
    assert type(twin) is type(thing)
    mine = [a for a in arrays_in(thing) if a.size and a.dtype != object]
    for array in arrays_in(twin):
        # Parameters, which nothing of ours writes to, are whose they were.
        if array.size and array.dtype != object and array.flags.writeable:
            assert not any(np.shares_memory(array, other) for other in mine)


@pytest.mark.parametrize("name", ["tracker", "partition", "connectivity", "fuzzy-smart"])
def test_a_shallow_copy_outlives_the_original_and_goes_its_own_way(name):
    kind = KINDS[name]
    thing = kind.make()
    twin = copy.copy(thing)
    kind.resume(thing)
    expected = kind.resume(kind.make())
    del thing
    gc.collect()
    rubbish = [np.full(n, np.nan) for n in (10, 96, 128, 256, 512) for _ in range(50)]
    assert_same(kind.resume(twin), expected)
    del rubbish


def test_a_shallow_copy_of_a_bank_goes_its_own_way():
    bank = icvi.TrackerBank(["CH"])
    bank.update_many(["a"] * 40, X[:40], LABELS[:40])
    before = bank["a"].values
    twin = copy.copy(bank)
    twin.update_many(["a"] * 20, X[40:], LABELS[40:])
    twin.update("b", X[0], 0)
    assert (bank["a"].values, len(bank)) == (before, 1)


def test_a_connectivity_does_not_grow_with_the_labels_that_come_and_go():
    c = icvi.Connectivity()
    c.update(0, None, "stays")
    c.update(1, 0, "stays")

    def pass_by(first, last):
        for n in range(first, last):
            c.update(2, 0, n)
            c.remove(2, 0, n)

    def held():
        """Memory that icvi has allocated; other threads may allocate some, too."""
        gc.collect()
        ours = tracemalloc.Filter(True, str(Path(icvi.__file__).parent / "*"))
        return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([ours]).traces)

    pass_by(0, 2_000)
    tracemalloc.start()
    try:
        pass_by(2_000, 3_000)
        before = held()
        pass_by(3_000, 8_000)
        grown = held() - before
    finally:
        tracemalloc.stop()
    assert c.known_labels == ["stays"]
    assert len(c._state.labels.serials) < 500
    assert grown < 20_000  # serials of 5,000 labels alone would take 40,000 bytes, and more
