"""Partitions that change: any sequence of changes leaves what the surviving samples say."""

from __future__ import annotations

import math
import pickle
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import exact
import icvi
from own_indices import mean_radius
from streams import GAUSSIAN, NAMES, assert_same

INDICES = ["all", mean_radius]
LABELS = st.sampled_from(["a", "b", "c", 4, (5, "five")])
# Quarters: duplicates, ties and coincident centroids are many, and true ones.
SAMPLES = st.tuples(*[st.integers(-6, 6).map(lambda n: n / 4.0)] * 2)
WEIGHTS = st.sampled_from([1.0, 1.0, 1.0, 2.0, 0.5])


class ChangedTracker(RuleBasedStateMachine):
    """A tracker, and a list of the samples that it should hold."""

    def __init__(self):
        super().__init__()
        self.tracker = self.new()
        self.samples = []

    def new(self):
        return icvi.Tracker(INDICES)

    # -- changes ---------------------------------------------------------------------------

    @rule(x=SAMPLES, label=LABELS, weight=WEIGHTS)
    def add(self, x, label, weight):
        self.tracker.update(x, label, weight)
        self.samples.append((x, label, weight))

    @rule(chunk=st.lists(st.tuples(SAMPLES, LABELS, WEIGHTS), min_size=1, max_size=8))
    def add_many(self, chunk):
        X, labels, weights = zip(*chunk, strict=True)
        self.tracker.update_many(X, objects(labels), weights)
        self.samples += chunk

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove(self, data):
        at = data.draw(st.integers(0, len(self.samples) - 1))
        x, label, weight = self.samples.pop(at)
        part = data.draw(st.sampled_from([weight, weight, weight / 2]))
        self.tracker.remove(x, label, part)
        if part < weight:
            self.samples.append((x, label, weight - part))

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove_many(self, data):
        gone = data.draw(st.lists(st.integers(0, len(self.samples) - 1), min_size=1, unique=True))
        X, labels, weights = zip(*[self.samples[i] for i in gone], strict=True)
        self.tracker.remove_many(X, objects(labels), weights)
        self.samples = [s for i, s in enumerate(self.samples) if i not in gone]

    @precondition(lambda self: self.samples)
    @rule(data=st.data(), new=LABELS)
    def relabel(self, data, new):
        at = data.draw(st.integers(0, len(self.samples) - 1))
        x, old, weight = self.samples[at]
        self.tracker.relabel(x, old, new, weight)
        self.samples[at] = (x, new, weight)

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def relabel_many(self, data):
        chosen = data.draw(st.lists(st.integers(0, len(self.samples) - 1), min_size=1, unique=True))
        new = data.draw(st.lists(LABELS, min_size=len(chosen), max_size=len(chosen)))
        X, old, weights = zip(*[self.samples[i] for i in chosen], strict=True)
        self.tracker.relabel_many(X, objects(old), objects(new), weights)
        for i, label in zip(chosen, new, strict=True):
            self.samples[i] = (self.samples[i][0], label, self.samples[i][2])

    @precondition(lambda self: self.tracker.n_clusters > 1)
    @rule(data=st.data())
    def merge_clusters(self, data):
        into, source = data.draw(st.permutations(self.tracker.labels))[:2]
        self.tracker.merge_clusters(into, source)
        self.samples = [(x, into if y == source else y, w) for x, y, w in self.samples]

    @rule()
    def decay(self):
        self.tracker.decay(0.5)
        self.samples = [(x, label, 0.5 * weight) for x, label, weight in self.samples]

    @rule(chunk=st.lists(st.tuples(SAMPLES, LABELS, WEIGHTS), max_size=8), other_way=st.booleans())
    def combine(self, chunk, other_way):
        other = self.new()
        for sample in chunk:
            other.update(*sample)
        if other_way:
            other.combine(self.tracker)
            self.tracker = other
        else:
            self.tracker = sum([self.tracker, other])
        self.samples += chunk

    # -- nothing changes -------------------------------------------------------------------

    @rule()
    def copy(self):
        self.tracker = self.tracker.copy()

    @rule()
    def pickle(self):
        self.tracker = pickle.loads(pickle.dumps(self.tracker))

    @rule()
    def save_and_load(self):
        before = self.bits()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state"
            self.tracker.save(path)
            self.tracker = icvi.load(path, indices=[mean_radius])
        assert self.bits() == before

    @rule(x=SAMPLES, label=LABELS, weight=st.sampled_from([1e6, 1e9]))
    def remove_what_was_never_there(self, x, label, weight):
        before = self.bits()
        with pytest.raises(ValueError, match=r"no cluster has|cannot remove weight"):
            self.tracker.remove(x, label, weight)
        with pytest.raises(ValueError, match=r"sample [01]: |no cluster has"):
            self.tracker.relabel_many([x, x], objects([label] * 2), ["new", "new"], [1e-9, weight])
        assert self.bits() == before

    # -- what must be true -----------------------------------------------------------------

    def bits(self):
        return {name: np.float64(value).tobytes() for name, value in self.tracker.values.items()}

    @invariant()
    def readings_are_those_of_the_surviving_samples(self):
        t = self.tracker
        assert t.n_clusters == len(t.labels) == len({label for _, label, _ in self.samples})
        if not self.samples:
            assert t.n_samples == 0.0
            assert all(math.isnan(value) for value in t.values.values())
            return
        X, labels, weights = zip(*self.samples, strict=True)
        assert t.n_samples == pytest.approx(sum(weights), rel=1e-12)
        numbers = [t.labels.index(label) for label in labels]
        expected = exact.exact_all(np.array(X), numbers, weights)
        assert_same(t.values, {n: expected[n] for n in NAMES if n not in GAUSSIAN}, rtol=1e-9)
        assert_same(t.values, {n: expected[n] for n in GAUSSIAN}, rtol=1e-6, atol=1e-7)
        radii = icvi.score(np.array(X), numbers, mean_radius, weights=weights)
        assert t["mean_radius"] == pytest.approx(radii, rel=1e-9, abs=1e-15)


def objects(labels):
    """Labels as they are; numpy would make text of a mixture of numbers and strings."""
    array = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):
        array[i] = label
    return array


class ChangedTrackerWithInsight(ChangedTracker):
    """The same, and the tracker keeps samples of clusters."""

    def new(self):
        return icvi.Tracker(INDICES, insight=True)

    @invariant()
    def kept_samples_are_surviving_ones_of_their_cluster(self):
        t = self.tracker
        for label, serial in zip(t.labels, t._clusters.serials, strict=True):
            kept = Counter(map(tuple, t._looks.reservoir.samples(serial, 2).tolist()))
            there = Counter(x for x, its, _ in self.samples if its == label)
            assert kept <= there
            assert kept or any(w < 1.0 for _, its, w in self.samples if its == label)


ChangedTracker.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, phases=[Phase.generate]
)
TestAnySequenceOfChanges = ChangedTracker.TestCase
ChangedTrackerWithInsight.TestCase.settings = settings(
    max_examples=15, stateful_step_count=25, phases=[Phase.generate]
)
TestAnySequenceOfChangesWithInsight = ChangedTrackerWithInsight.TestCase
