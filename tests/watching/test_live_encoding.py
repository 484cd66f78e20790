"""What a live page is sent: changes that add up to the whole, once for all viewers."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.watching.history import History
from icvi.watching.live import hub as hubs
from icvi.watching.live.encoding import Table, apply, delta, whole
from icvi.watching.live.hub import Event, Hub
from icvi.watching.live.plane import Plane
from icvi.watching.live.recent import MOST, Recent
from icvi.watching.step import Step
from live_inputs import blobs

NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4)
VALUES = st.one_of(st.integers(), NUMBERS, st.text(max_size=5), st.lists(st.text(max_size=3)))


@st.composite
def tables(draw):
    rows, first = draw(ROWS), draw(st.integers(0, 4))
    if draw(st.booleans()):
        return Table(np.array(rows, dtype=float).reshape(-1, 2), first)
    return Table([(a, str(b)) for a, b in rows], first)


STATES = st.lists(
    st.fixed_dictionaries({"a": VALUES, "points": tables(), "other": tables()}),
    min_size=1,
    max_size=4,
)


def shown(state):
    found = {}
    apply(whole(state), found)
    return found


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


@given(states=STATES)
def test_changes_add_up_to_the_whole(states):
    found, before = {}, {}
    for state in states:
        message = delta(state, before)
        if message is not None:
            apply(message, found)
        before = state
        assert same(found, shown(state))


@given(cuts=st.lists(st.integers(1, 400), min_size=1, max_size=6), every=st.integers(1, 5))
@settings(max_examples=15)
def test_changes_of_a_history_add_up_while_its_buckets_widen(cuts, every):
    found, before = {}, {}
    tracker = icvi.Tracker(["CH", "SIL"])
    history = History(["CH", "SIL"])
    a = 0
    for cut in cuts:
        X, labels = blobs(7 * cut, seed=cut)
        trace = tracker.update_many(X, labels, every=every)
        history.take(Step(X, labels, None, a, trace, tracker))
        a += len(X)
        state = {"history": Table(history.table(), width=history.width, later=4)}
        apply(delta(state, before), found)
        before = state
        assert found == shown(state)


def test_a_history_that_widens_is_not_sent_again():
    rng = np.random.default_rng(0)
    history = History(["SIL"])
    values = rng.normal(size=(5000, 1))
    counted = np.arange(1, 5001)

    def taken(a, b):
        history.take_readings(counted[a:b], np.full(b - a, 2), values[a:b])
        return {"history": Table(history.table(), width=history.width, later=3)}

    before, found = taken(0, 1000), {}
    apply(whole(before), found)
    after = taken(1000, 1100)
    assert history.width == 2
    message = delta(after, before)
    apply(message, found)
    assert found == shown(after)
    rows = json.loads(message)["rows"]["history"][4]
    assert 50 <= len(rows) <= 52  # those of the new samples


def test_what_has_not_changed_is_not_sent():
    state = {"k": 3, "rows": Table(np.array([[1.0, np.nan]])), "texts": Table([("a", 1.0)])}
    same = {"k": 3, "rows": Table(np.array([[1.0, np.nan]])), "texts": Table([("a", 1.0)])}
    assert delta(same, state) is None
    assert json.loads(delta({**same, "k": 4}, state)) == {"set": {"k": 4}, "rows": {}}


def test_counts_are_exact_and_readings_have_six_digits():
    table = Table(np.array([[123456789012.0, 1 / 3, np.nan, np.inf, -np.inf, -0.0]]), exact=1)
    row = json.loads(whole({"t": table}))["rows"]["t"][4][0][1]
    assert row == [123456789012, 0.333333, None, np.inf, -np.inf, 0]


def test_events_that_are_compressed_apart_are_one_stream():
    events = [Event.of("delta", json.dumps({"n": n, "text": "ab\u2028é" * n})) for n in range(20)]
    unzip = zlib.decompressobj(-zlib.MAX_WBITS)
    got = b"".join(unzip.decompress(event.deflated) for event in events[5:])
    assert got == b"".join(event.plain for event in events[5:])
    assert all(event.plain.count(b"\n") == 3 for event in events)


# -- viewers ----------------------------------------------------------------------------------


class Source:
    """Snapshots for a hub."""

    def __init__(self):
        self.number, self.state = 0, {"k": 0}

    def __call__(self):
        state = dict(self.state)
        return self.number, lambda: state

    def change(self, **parts):
        self.number, self.state = self.number + 1, {**self.state, **parts}


def taken(event, state):
    kind, data = event.plain.decode().split("\n")[:2]
    if kind == "event: full":
        state.clear()
    apply(data.removeprefix("data: "), state)
    return kind.removeprefix("event: ")


def test_a_viewer_gets_everything_first_and_changes_then():
    source, state = Source(), {}
    hub = Hub(source, 2)
    viewer = hub.enter()
    version, events = hub.wait(viewer, 0, 0.0)
    assert [taken(event, state) for event in events] == ["full"]
    source.change(k=1)
    hub.advance()
    hub.advance()  # nothing new
    version, events = hub.wait(viewer, version, 0.0)
    assert [taken(event, state) for event in events] == ["delta"]
    assert state == {"k": 1}
    assert hub.wait(viewer, version, 0.0) == (version, [])


def test_a_viewer_that_is_far_behind_gets_everything_again():
    source, state = Source(), {}
    hub = Hub(source, 2)
    slow = hub.enter()
    version, events = hub.wait(slow, 0, 0.0)
    taken(events[0], state)
    for k in range(1, hubs.KEPT + 1):
        source.change(k=k)
        hub.advance()
    _, events = hub.wait(slow, version, 0.0)
    assert {taken(event, {}) for event in events} == {"delta"}
    source.change(k=-1)
    hub.advance()
    _, events = hub.wait(slow, version, 0.0)
    assert [taken(event, state) for event in events] == ["full"]
    assert state == {"k": -1}


def test_viewers_share_what_was_encoded():
    hub = Hub(Source(), 3)
    first, second = hub.enter(), hub.enter()
    assert hub.wait(first, 0, 0.0)[1][0] is hub.wait(second, 0, 0.0)[1][0]


def test_there_are_only_so_many_viewers():
    hub = Hub(Source(), 2)
    first = hub.enter()
    assert hub.enter() is not None
    assert hub.enter() is None
    hub.leave(first)
    assert hub.enter() is not None
    hub.close()
    assert hub.enter() is None


def test_bulky_parts_wait_and_come_in_the_end(monkeypatch):
    source, state = Source(), {}
    source.state = {"k": 0, "points": Table(np.zeros((200, 2)))}
    hub = Hub(source, 1)
    clock = [0.0]
    monkeypatch.setattr(hubs.time, "monotonic", lambda: clock[0])
    viewer = hub.enter()
    version, events = hub.wait(viewer, 0, 0.0)
    taken(events[0], state)
    rng = np.random.default_rng(0)
    sizes = []
    for tick in range(1, 41):
        clock[0] = 0.5 * tick
        source.change(k=tick, points=Table(rng.normal(size=(200, 2))))
        hub.advance()
        version, events = hub.wait(viewer, version, 0.0)
        for event in events:
            taken(event, state)
            sizes.append(len(event.deflated))
        assert state["k"] == tick
    assert sum(sizes) / 20.0 < 1.5 * hubs.RATE  # bytes per second
    clock[0] += 60.0
    hub.advance()  # there is no newer snapshot, but something was held back
    for event in hub.wait(viewer, version, 0.0)[1]:
        taken(event, state)
    assert state == shown(source.state)


# -- what is recorded ---------------------------------------------------------------------------


def test_the_last_minutes_are_bounded_and_keep_extremes():
    recent, history = Recent(1), History(["SIL"])
    values = np.random.default_rng(0).normal(size=(5 * (MOST + 20), 1))
    for a in range(0, len(values), 5):
        counted = np.arange(a + 1, a + 6)
        history.take_readings(counted, np.full(5, 2), values[a : a + 5])
        table = recent.look(history.table())
    assert (table.first, table.stop) == (20, MOST + 20)
    assert table.rows[:, 0].tolist() == list(range(105, len(values) + 1, 5))
    for row in table.rows:
        inside = values[int(row[0]) - 5 : int(row[0]), 0]
        assert row[2] == inside[-1]
        assert row[3] <= inside.min()  # a bucket may have begun before
        assert row[4] >= inside.max()
    assert recent.look(history.table()).stop == table.stop  # no reading, no row


@pytest.mark.parametrize("chosen", [range(10), range(5, 15), [3, 9, 40, 41]])
def test_samples_keep_their_places_while_they_are_shown(chosen):
    plane, ten = Plane(), np.arange(10)
    old = plane._slotted(ten, ten[:, None].astype(float))[:, 0].tolist()
    chosen = np.array(chosen)
    new = plane._slotted(chosen, chosen[:, None].astype(float))[:, 0].tolist()
    assert sorted(new) == chosen.tolist()
    stayed = [i for i, number in enumerate(old[: len(new)]) if number in new]
    assert [new[i] for i in stayed] == [old[i] for i in stayed]
