"""Trackers with prototypes that change: what the surviving samples and their events say."""

from __future__ import annotations

import itertools
import math
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
import test_mixtures
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

import icvi
import naive_connectivity as naive
from streams import blobs

TOOLBOX = icvi.Conn("toolbox")
CADJ = icvi.Conn(border="CADJ")
RCIP = icvi.rCIP(prototypes=True)
INDICES = ["CH", "Conn", TOOLBOX, RCIP]

SAMPLES = st.tuples(*[st.integers(-6, 6).map(lambda n: n / 4.0)] * 2)
LABELS = st.sampled_from("abc")
WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 3.0])


def content(tracker):
    """Everything that is saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        tracker.save(path)
        return path.read_bytes()


class Changes(RuleBasedStateMachine):
    """A tracker, and a list of the samples that it should hold, each with its event."""

    @initialize(declared=st.booleans())
    def begin(self, declared):
        self.tracker, self.model = icvi.Tracker(INDICES), naive.Survivors()
        self.samples = []
        if declared:
            self.model.declared = {p: "abc"[p % 3] for p in range(5)}
            self.tracker.declare_prototypes(*zip(*self.model.declared.items(), strict=True))

    # -- what may come ---------------------------------------------------------------------

    def draw(self, data, owners=None, first=0):
        """A sample that could come: x, label, weight, and its event."""
        owners = self.model.declared if owners is None else owners
        x, label, weight = data.draw(SAMPLES), data.draw(LABELS), data.draw(WEIGHTS)
        return x, label, weight, self.event(data, owners, label, first)

    def event(self, data, owners, label, first=0):
        """An event of a cluster; its winner has an owner from now on."""
        own = [p for p in owners if owners[p] == label]
        fresh = next(p for p in itertools.count(first) if p not in owners)
        p = data.draw(st.sampled_from([*own, fresh] if len(own) < 4 else own))
        others = sorted(set(owners) - {p})
        owners[p] = label
        return p, data.draw(st.sampled_from(others)) if others else -1

    def hold(self, x, label, weight, event):
        winner, runner_up = event
        self.model.add(winner, None if runner_up < 0 else runner_up, label, weight)
        self.samples.append([x, weight, event, self.model.events[-1]])

    def label(self, sample):
        return self.model.owner[sample[2][0]]

    def drop(self, number):
        *_, held = self.samples.pop(number)
        self.model.take(next(i for i, e in enumerate(self.model.events) if e is held))

    # -- changes ---------------------------------------------------------------------------

    @rule(data=st.data())
    def add(self, data):
        x, label, weight, event = self.draw(data)
        pair = (event[0], None) if event[1] < 0 else event
        self.tracker.update(x, label, weight, winners=pair)
        self.hold(x, label, weight, event)

    @rule(data=st.data(), n=st.integers(1, 8))
    def add_many(self, data, n):
        chunk = [self.draw(data) for _ in range(n)]
        X, labels, weights, events = zip(*chunk, strict=True)
        self.tracker.update_many(X, labels, weights, winners=events)
        for sample in chunk:
            self.hold(*sample)

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove(self, data):
        at = data.draw(st.integers(0, len(self.samples) - 1))
        x, weight, event, held = self.samples[at]
        part = data.draw(st.sampled_from([weight, weight, weight / 2]))
        self.tracker.remove(x, self.label(self.samples[at]), part, winners=event)
        if part < weight:
            self.samples[at][1] -= part
            held[2] -= part
        else:
            self.drop(at)

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove_many(self, data):
        gone = data.draw(st.lists(st.integers(0, len(self.samples) - 1), min_size=1, unique=True))
        X, weights, events, _ = zip(*[self.samples[i] for i in gone], strict=True)
        labels = [self.label(self.samples[i]) for i in gone]
        trace = self.tracker.remove_many(X, labels, weights, winners=events)
        assert_traced(self.tracker, trace)
        for number in sorted(gone, reverse=True):
            self.drop(number)

    @precondition(lambda self: self.samples)
    @rule(data=st.data(), new=LABELS)
    def relabel(self, data, new):
        at = data.draw(st.integers(0, len(self.samples) - 1))
        x, weight, event, _ = self.samples[at]
        old = self.label(self.samples[at])
        other = self.event(data, self.model.declared, new) if new != old else None
        self.tracker.relabel(x, old, new, weight, winners=event, new_winners=other)
        if other is not None:
            self.drop(at)
            self.hold(x, new, weight, other)

    @precondition(lambda self: len(self.samples) > 1)
    @rule(data=st.data())
    def relabel_many(self, data):
        chosen = data.draw(
            st.lists(st.integers(0, len(self.samples) - 1), min_size=1, max_size=6, unique=True)
        )
        new = data.draw(st.lists(LABELS, min_size=len(chosen), max_size=len(chosen)))
        moved = [self.samples[i] for i in chosen]
        old = [self.label(sample) for sample in moved]
        others = [
            self.event(data, self.model.declared, n) if n != o else s[2]
            for n, o, s in zip(new, old, moved, strict=True)
        ]
        X, weights, events, _ = zip(*moved, strict=True)
        trace = self.tracker.relabel_many(X, old, new, weights, winners=events, new_winners=others)
        assert_traced(self.tracker, trace)
        for sample, o, n, other in zip(moved, old, new, others, strict=True):
            if o != n:
                self.drop(next(i for i, s in enumerate(self.samples) if s is sample))
                self.hold(sample[0], n, sample[1], other)

    @precondition(lambda self: self.tracker.n_clusters > 1)
    @rule(data=st.data())
    def merge_clusters(self, data):
        into, source = data.draw(st.permutations(self.tracker.labels))[:2]
        self.tracker.merge_clusters(into, source)
        self.model.merge(into, source)

    @rule()
    def decay(self):
        self.tracker.decay(0.5)
        self.model.decay(0.5)
        for sample in self.samples:
            sample[1] *= 0.5

    @rule(data=st.data(), n=st.integers(0, 6), shared=st.booleans(), other_way=st.booleans())
    def combine(self, data, n, shared, other_way):
        other, model = icvi.Tracker(INDICES), naive.Survivors()
        first = 0 if shared else 100 + len(self.model.declared)
        if shared and self.model.declared:
            model.declared = dict(self.model.declared)
            other.declare_prototypes(*zip(*model.declared.items(), strict=True))
        mine, self.model, self.samples, kept = self.model, model, [], self.samples
        for _ in range(n if mine.declared or not shared else 0):
            x, label, weight, event = self.draw(data, first=first)
            other.update(x, label, weight, winners=event)
            self.hold(x, label, weight, event)
        events = len(mine.events)
        mine.combine(model)
        for sample, event in zip(self.samples, mine.events[events:], strict=True):
            sample[3] = event
        self.model, self.samples = mine, kept + self.samples
        if other_way:
            other.combine(self.tracker)
            self.tracker = other
        else:
            self.tracker = self.tracker + other

    # -- nothing changes -------------------------------------------------------------------

    @rule(how=st.sampled_from(["copy", "pickle", "save"]))
    def come_back(self, how):
        before = content(self.tracker)
        if how == "copy":
            self.tracker = self.tracker.copy()
        elif how == "pickle":
            self.tracker = pickle.loads(pickle.dumps(self.tracker))
        else:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "state").write_bytes(before)
                self.tracker = icvi.load(Path(folder) / "state")
        assert content(self.tracker) == before

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def what_cannot_be_changes_nothing(self, data):
        t, before = self.tracker, content(self.tracker)
        x, weight, event, _ = data.draw(st.sampled_from(self.samples))
        owners = self.model.declared
        label, p = owners[event[0]], event[0]
        other = next(c for c in "abcd" if c != label)
        far = (99.0, 99.0)
        for arguments, options in [
            ((x, label, weight), {}),
            ((x, label, 1e6), {"winners": event}),
            ((x, label, weight), {"winners": (999, 998)}),
            ((x, label, weight), {"winners": (p, 999)}),
            ((x, other, weight), {"winners": event}),
            ((far, label, weight), {"winners": event}),
            ((x, label, weight), {"winners": "none"}),
        ]:
            with pytest.raises(ValueError, match=r"\w"):
                t.remove(*arguments, **options)
            if options.get("winners") != "none":
                rows = {name: [pair, pair] for name, pair in options.items()}
                twice = [arguments[0]] * 2, [arguments[1]] * 2, [1e-3, arguments[2]]
                with pytest.raises(ValueError, match=r"\w"):
                    t.remove_many(*twice, **rows)
            assert content(t) == before
        for options in [
            {"winners": event},
            {"new_winners": event},
            {"winners": event, "new_winners": event},
            {"winners": event, "new_winners": (999, 998)},
            {"winners": (p, 999), "new_winners": (999, p)},
        ]:
            with pytest.raises(ValueError, match=r"\w"):
                t.relabel(x, label, other, weight, **options)
            rows = {name: [pair] for name, pair in options.items()}
            with pytest.raises(ValueError, match=r"\w"):
                t.relabel_many([x], [label], [other], [weight], **rows)
            assert content(t) == before
        with pytest.raises(ValueError, match="no cluster has"):
            t.merge_clusters(label, "nobody")
        for factor in (0.0, 2.0):
            with pytest.raises(ValueError, match="expected a factor"):
                t.decay(factor)
        clash = icvi.Tracker(INDICES)
        clash.update(x, other, winners=(p, None))
        with pytest.raises(ValueError, match=f"prototype {p} belongs to cluster"):
            t.combine(clash)
        assert content(t) == before

    # -- what must be true -----------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "tracker"))
    @invariant()
    def readings_are_those_of_the_survivors(self):
        rows = [
            (x, self.label(sample), weight, event[0])
            for sample in self.samples
            for x, weight, event, _ in [sample]
        ]
        assert_reads(self.tracker, self.model, rows)
        assert self.tracker.connectivity.declared == self.model.declared


@pytest.mark.parametrize("own", [False, True])
def test_messages_say_what_to_give(own):
    X, labels = [[0.1], [0.2], [0.8], [0.9]], ["a", "a", "b", "b"]
    winners = [[0, -1], [1, 0], [2, 1], [3, 2]]
    t = icvi.Tracker(["CH", "Conn"], bounds=(0, 1) if own else None)
    t.update_many(X, labels, winners=None if own else winners)
    before = content(t)
    with pytest.raises(ValueError, match=r"expected winners=\(winner, runner_up\), those that"):
        t.remove(X[0], "a")
    with pytest.raises(ValueError, match=r"expected winners, an \(n, 2\) array of those"):
        t.remove_many(X[:1], ["a"])
    with pytest.raises(ValueError, match=r"sample 1: prototype 1 has weight 0\.0 with"):
        t.remove_many([X[1], X[1]], ["a", "a"], winners=[[1, 0], [1, 0]])
    if not own:
        with pytest.raises(ValueError, match=r"new_winners=\(winner, runner_up\).* cluster 'b'"):
            t.relabel(X[1], "a", "b", winners=(1, 0))
        with pytest.raises(ValueError, match=r"expected new_winners, an \(n, 2\) array"):
            t.relabel_many(X[1:2], ["a"], ["b"], winners=[[1, 0]])
    else:
        with pytest.raises(ValueError, match="found the winners itself"):
            t.relabel(X[1], "a", "b", winners=(1, 0), new_winners=(2, 1))
    with pytest.raises(ValueError, match="got 2 for 1 samples"):
        t.remove_many(X[:1], ["a"], winners=[[0, -1], [1, 0]])
    assert content(t) == before
    plain = icvi.Tracker(["CH"])
    plain.update([0.0], "a")
    for change in (
        lambda: plain.remove([0.0], "a", winners=(0, 1)),
        lambda: plain.relabel([0.0], "a", "b", new_winners=(0, 1)),
        lambda: plain.remove_many([[0.0]], ["a"], winners=[[0, 1]]),
        lambda: plain.relabel_many([[0.0]], ["a"], ["b"], new_winners=[[0, 1]]),
    ):
        with pytest.raises(ValueError, match="track Conn"):
            change()
    assert plain.n_samples == 1.0


@pytest.mark.parametrize("many", [False, True])
def test_a_tracker_that_finds_winners_finds_those_of_a_moved_sample(many):
    X, labels = blobs(60, 2, 3)
    t = icvi.Tracker(["CH", "Conn", RCIP], bounds=(-3.0, 8.0))
    t.update_many(X, labels)
    q = icvi.Quantizer(bounds=(-3.0, 8.0)).fit(X, labels)
    new = [(label + 1) % 3 for label in labels[:5]]
    if many:
        t.relabel_many(X[:5], labels[:5], new, winners=q.winners_[:5])
    else:
        for x, old, to, event in zip(X[:5], labels[:5], new, q.winners_[:5], strict=True):
            t.relabel(x, old, to, winners=event)
    q.partial_fit(X[:5], new)
    told = icvi.Tracker(["CH", "Conn", RCIP], bounds=(-3.0, 8.0))
    told.declare_prototypes(np.arange(q.n_prototypes_), q.cluster_of_prototype_)
    moved = np.r_[5:60, 0:5]
    events = np.concatenate([q_winners(X, labels)[5:], q.winners_])
    told.update_many(X[moved], [*labels[5:], *new], winners=events)
    for name, value in told.values.items():
        assert t[name] == pytest.approx(value, rel=1e-9)


def q_winners(X, labels):
    return icvi.Quantizer(bounds=(-3.0, 8.0)).fit(X, labels).winners_


@pytest.mark.parametrize("many", [False, True])
def test_what_a_window_holds_may_have_decayed_to_nothing(many):
    X, labels = blobs(30, 2, 3)
    t = icvi.Tracker(["CH", "Conn"], window=6, bounds=(-3.0, 8.0))
    t.update_many(X[:6], labels[:6])
    for _ in range(600):
        t.decay(0.5)
    if many:
        t.update_many(X[6:], labels[6:])
    else:
        for x, label in zip(X[6:], labels[6:], strict=True):
            t.update(x, label)
    whole = icvi.Tracker(["CH", "Conn"], window=6, bounds=(-3.0, 8.0))
    whole.update_many(X, labels)
    for name, value in whole.values.items():
        assert t[name] == pytest.approx(value, rel=1e-9)


def assert_reads(t, model, rows):
    for index, form in (("Conn", ("paper", "CONN")), (TOOLBOX, ("toolbox", "CONN"))):
        expected = model.read(*form).value
        assert t[index] == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert set(t.labels) == {label for _, label, _, _ in rows}
    if not rows:
        assert math.isnan(t["CH"])
        assert math.isnan(t[RCIP])
        return
    X, labels, weights, winners = zip(*rows, strict=True)
    ch = icvi.score(np.array(X), labels, "CH", weights=weights)
    assert t["CH"] == pytest.approx(ch, rel=1e-9, nan_ok=True)
    held = {
        p: math.fsum(w for w, q in zip(weights, winners, strict=True) if q == p) for p in winners
    }
    if min(held.values()) < 1.0:
        assert math.isnan(t[RCIP])
    else:
        expected = test_mixtures.naive(X, labels, winners, weights)["rcip"]
        assert t[RCIP] == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True)


def assert_traced(t, trace):
    """The last row of a trace is what the tracker reads."""
    for name, value in t.values.items():
        np.testing.assert_allclose(trace[name][-1], value, rtol=1e-9, equal_nan=True)


Changes.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, phases=[Phase.generate], deadline=None
)
TestChanges = Changes.TestCase
