"""Events are removed, moved, multiplied, combined: always the index of what is left."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from test_connectivity import (
    FORMS,
    assert_is,
    columns,
    event_streams,
    fed,
    forms,
    random_events,
    state_of,
)

import icvi
import naive_connectivity as naive
from icvi.connectivity.counts import counts_of, declared_of, rebuild
from icvi.kernels.graph import layout as L

WEIGHTS = st.sampled_from([1.0, 0.1, 0.25, 1 / 3, 7.5])


def arrays_of(c: icvi.Connectivity) -> dict[str, Any]:
    """Everything that is saved, in comparable form; a copy is asked, as asking tidies up."""
    arrays = {name: array.tolist() for name, array in c.copy().to_arrays().items()}
    return arrays | {"labels": c.known_labels}


def rebuilt(c: icvi.Connectivity) -> icvi.Connectivity:
    """All sums computed again from the edges."""
    twin = c.copy()
    graph = twin._state.graph
    rebuild(graph, graph.columns(), declared_of(graph), counts_of(graph))
    return twin


def saved(c: icvi.Connectivity) -> icvi.Connectivity:
    return icvi.Connectivity.from_arrays(c.to_arrays(), c.known_labels, c.convention, c.border)


# -- everything in any order -------------------------------------------------------------------


class PaperCONN(RuleBasedStateMachine):
    """Three graphs and what they should be."""

    form: tuple[Any, Any] = ("paper", "CONN")

    @initialize()
    def begin(self):
        self.pairs = [(icvi.Connectivity(*self.form), naive.Survivors()) for _ in range(3)]

    @rule(data=st.data(), n=st.integers(0, 2), p=st.integers(0, 6), w=WEIGHTS)
    def count(self, data, n, p, w):
        c, model = self.pairs[n]
        owners = model.declared | model.owner
        others = sorted(set(owners) - {p})
        q = data.draw(st.sampled_from(others)) if others else None
        label = owners[p] if p in owners else data.draw(st.sampled_from("abcd"))
        c.update(p, q, label, w)
        model.add(p, q, label, w)

    @rule(data=st.data(), n=st.integers(0, 2), share=st.sampled_from([1.0, 1.0, 1.0, 0.5]))
    def take_back(self, data, n, share):
        c, model = self.pairs[n]
        if model.events:
            number = data.draw(st.integers(0, len(model.events) - 1))
            p, q, w = model.events[number]
            waits = any(event[:2] == [p, naive.NEVER] for event in model.events)
            if q == naive.NEVER or (model.seconds.get(p) == {q} and not waits):
                q = None
            c.remove(p, q, model.owner[p], share * w)
            model.take(number, share)

    @rule(data=st.data(), n=st.integers(0, 2))
    def merge(self, data, n):
        c, model = self.pairs[n]
        known = sorted({*model.owner.values(), *model.declared.values()})
        if len(known) > 1:
            into, source = data.draw(st.permutations(known))[:2]
            c.merge_clusters(into, source)
            model.merge(into, source)

    @rule(data=st.data(), n=st.integers(0, 2), label=st.sampled_from("abcde"))
    def move(self, data, n, label):
        c, model = self.pairs[n]
        if owners := model.declared | model.owner:
            p = data.draw(st.sampled_from(sorted(owners)))
            c.reassign(p, label)
            model.move(p, label)

    @rule(n=st.integers(0, 2), p=st.integers(0, 8), label=st.sampled_from("abcde"))
    def declare(self, n, p, label):
        c, model = self.pairs[n]
        owner = (model.declared | model.owner).get(p, label)
        if owner != label:
            before = arrays_of(c)
            with pytest.raises(ValueError, match=rf"prototype {p} belongs to cluster '{owner}'"):
                c.declare([9, p], ["new", label])
            assert arrays_of(c) == before
        else:
            before = state_of(c)
            c.declare([p], [label])
            model.declared[p] = label
            assert state_of(c) == before

    @rule(n=st.integers(0, 2), factor=st.sampled_from([0.5, 0.9, 1.0, 1 / 3]))
    def decay(self, n, factor):
        c, model = self.pairs[n]
        c.decay(factor)
        model.decay(factor)

    @rule(n=st.integers(0, 2), other=st.integers(0, 2))
    def combine(self, n, other):
        (c, model), (d, theirs) = self.pairs[n], self.pairs[other]
        before, after = arrays_of(c), arrays_of(d)
        mine, others = model.declared | model.owner, theirs.declared | theirs.owner
        if any(mine.get(i, label) != label for i, label in others.items()):
            with pytest.raises(ValueError, match=r"belongs to cluster .* here and to"):
                c.combine(d)
            assert arrays_of(c) == before
        elif len(model.events) + len(theirs.events) < 40:
            c.combine(d)
            model.combine(theirs.clone())
        if n != other:
            assert arrays_of(d) == after

    @rule(n=st.integers(0, 2), to=st.integers(0, 2), how=st.sampled_from([copy.copy, saved]))
    def duplicate(self, n, to, how):
        c, model = self.pairs[n]
        self.pairs[to] = how(c), model.clone()
        assert arrays_of(self.pairs[to][0]) == arrays_of(c)

    @precondition(lambda self: hasattr(self, "pairs"))
    @invariant()
    def it_is_the_index_of_what_is_left(self):
        for c, model in self.pairs:
            expected = model.read(*self.form)
            assert_is(c, expected)
            assert_is(rebuilt(c), expected)
            owners = [model.owner.get(i) for i in range(max(model.owner, default=-1) + 1)]
            assert c.owners == owners
            assert c.n_prototypes == len(model.owner)
            assert c.n_events == pytest.approx(math.fsum(w for *_, w in model.events), rel=1e-12)
            assert set(c.known_labels) == {*model.owner.values(), *model.declared.values()}
            assert c.declared == model.declared
            weights = [sum(w for i, _, w in model.events if i == p) for p in range(len(owners))]
            np.testing.assert_allclose(c.prototype_counts, weights, rtol=1e-12)


class ToolboxCONN(PaperCONN):
    form = ("toolbox", "CONN")


class PaperCADJ(PaperCONN):
    form = ("paper", "CADJ")


class ToolboxCADJ(PaperCONN):
    form = ("toolbox", "CADJ")


few = settings(max_examples=25, stateful_step_count=30, deadline=None, derandomize=True)
TestPaperCONN = PaperCONN.TestCase
TestToolboxCONN, TestPaperCADJ = ToolboxCONN.TestCase, PaperCADJ.TestCase
TestToolboxCADJ = ToolboxCADJ.TestCase
for case in (TestPaperCONN, TestToolboxCONN, TestPaperCADJ, TestToolboxCADJ):
    case.settings = few
del case  # or it would be run as one of them


# -- taking back -------------------------------------------------------------------------------


@forms
@given(events=event_streams(weights=WEIGHTS), data=st.data())
def test_taking_back_gives_the_index_of_the_rest(convention, border, events, data):
    model = naive.Survivors()
    for p, q, label, w in events:
        model.add(p, None if q < 0 else q, label, w)
    order = data.draw(st.permutations(range(len(events))))
    taken = [events[t] for t in order]
    c = fed(events, convention, border)
    many = c.copy()
    values = []
    left = dict(enumerate(model.events))
    for t, (p, q, label, w) in zip(order, taken, strict=True):
        c.remove(p, q, label, w)
        values.append(c.value)
        del left[t]
        model.events = list(left.values())
        model.drop_unused()
        assert_is(c, model.read(convention, border))
    np.testing.assert_array_equal(many.remove_many(*columns(taken)), values)
    assert math.isnan(c.value)
    assert c.why() == "empty"
    assert arrays_of(c) == arrays_of(many)
    assert arrays_of(c) == arrays_of(icvi.Connectivity(convention, border))


@forms
def test_a_window_leaves_no_trace_of_what_has_left_it(convention, border):
    """With fractional weights too, every bit is that of a fresh count."""
    rng = np.random.default_rng(0)
    events = random_events(1500, 12, 4, seed=11)
    events = [(p, q, c, float(w)) for (p, q, c, _), w in zip(events, rng.random(1500), strict=True)]
    events[0] = (events[0][0], next(p for p, *_ in events if p != events[0][0]), *events[0][2:])
    start = [(p, p ^ 1, int(c), 1.0) for p, c in {p: c for p, _, c, _ in events}.items()]
    start = [(p, -1 if t == 0 else start[0][0], c, w) for t, (p, _, c, w) in enumerate(start)]
    c = fed(start + events[:200], convention, border)
    W = 200
    for t in range(W, len(events)):
        c.update(*events[t])
        c.remove(*events[t - W])
        if t % 130 == 0:
            fresh = fed(start + events[t - W + 1 : t + 1], convention, border)
            assert state_of(c) == state_of(fresh)
            assert state_of(rebuilt(c)) == state_of(fresh)


@forms
def test_one_pass_with_signs_is_the_same_as_one_by_one(convention, border):
    events = random_events(600, 40, 9, seed=5, own=0.3)
    W, interleaved, model = 60, [], naive.Survivors()
    one, values = icvi.Connectivity(convention, border), []
    kept: list[Any] = []
    for p, q, label, w in events:
        # A runner-up may have left the window.
        others = sorted(set(model.owner) - {p})
        q = q if q in others else (others[0] if others else -1)
        label = model.owner.get(p, label)
        interleaved.append((p, q, label, w))
        model.add(p, None if q < 0 else q, label, w)
        kept.append((p, q, label, w))
        if len(kept) > W:
            old = kept.pop(0)
            interleaved.append((*old[:3], -old[3]))
            model.take(0)
    for p, q, label, w in interleaved:
        (one.update if w > 0 else one.remove)(p, q, label, abs(w))
        values.append(one.value)
    many = icvi.Connectivity(convention, border)
    ours = np.concatenate(
        [
            many._apply_many(*columns(interleaved[a : a + 97]))
            for a in range(0, len(interleaved), 97)
        ]
    )
    np.testing.assert_array_equal(ours, values)
    assert state_of(one) == state_of(many)
    assert_is(one, model.read(convention, border))


@forms
def test_clusters_vanish_and_reappear_in_one_pass(convention, border):
    there = [(0, -1, "a", 1.0), (1, 0, "a", 1.0)]
    visit = [(2, 1, "b", 0.3), (3, 2, "b", 0.1), (1, 3, "a", 1.0)]
    leave = [(p, q, c, -w) for p, q, c, w in visit]
    c, alone = icvi.Connectivity(convention, border), fed(there, convention, border)
    values = c._apply_many(*columns([*there, *visit, *leave, *visit, *leave[::-1]]))
    assert values[1] == values[7] == values[13]
    assert values[4] == values[10]
    assert state_of(c) == state_of(alone)


def test_a_cluster_that_reappears_is_the_last():
    c = fed([(0, -1, "a", 1.0), (1, 0, "b", 1.0), (2, 1, "c", 1.0)])
    c.remove(1, 0, "b")
    assert c.labels == ["a", "c"]
    assert c.known_labels == ["a", "c", "b"]
    assert c.owners == ["a", "b", "c"]
    assert c.owner_numbers.tolist() == [1, 0, 2]
    assert c.counts.tolist() == [1.0, 1.0]
    c.update(1, 2, "b")
    assert c.labels == ["a", "c", "b"]


def test_a_prototype_stays_as_long_as_an_edge_touches_it():
    c = fed([(0, -1, "a", 1.0), (1, 0, "b", 1.0), (0, 1, "a", 2.0)])
    c.remove(1, 0, "b")
    assert c.owners == ["a", "b"]
    assert c.n_clusters == 1
    c.remove(0, 1, "a", 2.0)
    assert c.n_prototypes == 2
    c.remove(0, None, "a")
    assert arrays_of(c) == arrays_of(icvi.Connectivity())


def test_the_lonely_first_prototype_is_taken_back_before_and_after_the_second():
    c = icvi.Connectivity()
    for w in (1.0, 0.1, 0.2):
        c.update(0, None, "a", w)
    c.remove(0, None, "a", 0.1)
    assert c.n_events == pytest.approx(1.2)
    c.update(1, 0, "b")
    c.remove(0, None, "a", 0.2)
    assert c.cadj.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    c.remove(0, 1, "a")
    assert c.cadj.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    c.update(0, 1, "a")
    assert c.owners == ["a", "b"]


def test_the_rounding_of_parts_leaves_no_edge_behind():
    for parts, whole in (([0.1] * 3, 0.3), ([1 / 3] * 3, 1.0), ([0.7, 0.1], 0.8)):
        for add, take in ((parts, [whole]), ([whole], parts)):
            c = fed([(0, -1, "a", 1.0), (1, 0, "b", 1.0)])
            for w in add:
                c.update(1, 0, "b", w)
            for w in take:
                c.remove(1, 0, "b", w)
            assert c.cadj[1, 0] == pytest.approx(1.0)
            c.remove(1, 0, "b", 1.0)
            assert c.cadj[1, 0] == 0.0


def test_small_weights_survive_large_ones():
    c = fed([(0, -1, "a", 1.0), (1, 0, "b", 1e-9)])
    for _ in range(100):
        c.update(1, 0, "b", 1e6)
    for _ in range(100):
        c.remove(1, 0, "b", 1e6)
    assert c.counts.tolist() == [1.0, 1e-9]


def test_weights_of_decayed_samples_need_not_be_exact():
    c, w = fed([(0, -1, "a", 1.0), (1, 0, "b", 1.0)]), 0.3
    c.update(1, 0, "b", w)
    for _ in range(1000):
        c.decay(0.99)
        w *= 0.99
    c.remove(1, 0, "b", 0.99**1000)
    c.remove(1, 0, "b", w)
    assert c.labels == ["a"]


def test_memory_is_bounded_however_many_prototypes_come():
    """New prototypes, new clusters, all the time; the window holds a hundred."""

    def size(c: icvi.Connectivity) -> tuple[int, int]:
        return sum(array.nbytes for array in c._state.graph.arrays), len(c._state.labels)

    def stretch(first: int, n: int) -> list[naive.Event]:
        events = []
        for t in range(first, first + n):
            events.append((t, t - 1 if t else -1, t // 7, 0.1))
            if t >= 100:
                events.append((t - 100, t - 101 if t > 100 else -1, (t - 100) // 7, -0.1))
        return events

    c, sizes = icvi.Connectivity(), []
    for first in range(0, 40_000, 4000):
        c._apply_many(*columns(stretch(first, 4000)))
        sizes.append(size(c))
    assert c.n_prototypes == 101  # the oldest is a runner-up only
    assert max(sizes[3:]) <= max(sizes[:3])
    for t in range(40_000, 60_000):
        c.update(t, t - 1, t // 7, 0.1)
        c.remove(t - 100, t - 101, (t - 100) // 7, 0.1)
        if t % 1000 == 0:
            assert size(c)[0] < 400_000
            assert size(c)[1] < 200
    left = [(t - 59_899, t - 59_900, t // 7, 0.1) for t in range(59_900, 60_000)]
    expected = naive.conn_index(left, owners={0: 59_899 // 7})
    assert (c.value, c.intra, c.inter) == pytest.approx(expected[:3], rel=1e-12)
    assert c.labels == expected.labels


def test_a_chunk_longer_than_memory_does_not_slow_down():
    events = []
    for t in range(20_000):
        events.append((t, t - 1, t // 5, 1.0))
        if t >= 50:
            events.append((t - 50, t - 51, (t - 50) // 5, -1.0))
    c = icvi.Connectivity()
    c._apply_many(*columns(events))
    assert c._state.graph.meta[L.USED + L.EDGES] < 500
    assert c._state.graph.meta[L.USED + L.PAIRS] < 500


# -- what is refused ---------------------------------------------------------------------------

#: Prototypes 0 and 2 of "a", 1 of "b".
BEGINNING = [(0, -1, "a", 1.0), (1, 0, "b", 0.5), (2, 1, "a", 1.0)]

REFUSED = {
    "unknown label": ((0, 1, "z"), ValueError, "label 'z' is unknown; only events that"),
    "unknown winner": ((7, 1, "a"), ValueError, "prototype 7 is unknown; only events"),
    "far winner": ((9_999_999, 1, "a"), ValueError, "prototype 9999999 is unknown"),
    "other owner": ((1, 0, "a"), ValueError, "prototype 1 belongs to cluster 'b', got label 'a'"),
    "too much": ((1, 0, "b", 0.6), ValueError, "prototype 1 has weight 0.5 with runner-up 0, got"),
    "too much, alone": ((0, -1, "a", 1.5), ValueError, "has weight 1.0 with runner-up 1, got 1.5"),
    "no such edge": ((2, 0, "a"), ValueError, "prototype 2 has weight 0.0 with runner-up 0, got 1"),
    "unknown runner-up": ((2, 99, "a"), ValueError, "has weight 0.0 with runner-up 99, got 1.0"),
    "never alone": (
        (2, -1, "a"),
        ValueError,
        "expected a runner-up for prototype 2, got none",
    ),
    "winner is runner-up": ((1, 1, "b"), ValueError, "prototype 1 is given as winner and as"),
    "negative winner": ((-1, 0, "a"), ValueError, "expected a winner of at least 0, got -1"),
    "negative weight": ((1, 0, "b", -1.0), ValueError, "finite and not negative, got -1"),
    "nan weight": ((1, 0, "b", math.nan), ValueError, "finite and not negative, got nan"),
    "unhashable label": ((1, 0, ["b"]), TypeError, "hashable label"),
    "no weight, other owner": ((1, 0, "a", 0.0), ValueError, "prototype 1 belongs to cluster 'b'"),
}


@forms
@pytest.mark.parametrize("case", REFUSED)
def test_what_was_not_counted_cannot_be_taken_back(convention, border, case):
    arguments, error, message = REFUSED[case]
    c = fed(BEGINNING, convention, border)
    before = arrays_of(c), state_of(c)
    with pytest.raises(error, match=message):
        c.remove(*arguments)
    assert (arrays_of(c), state_of(c)) == before
    p, q, label, w = (*arguments, 1.0)[:4]
    # After events that could be taken back, of which the first empties a cluster.
    chunk = [(1, 0, "b", 0.25), (1, 0, "b", 0.25), (2, 1, "a", 1.0)]
    position = 0 if "too much" in case or "owner" in case or "is runner-up" in case else 3
    chunk = [*chunk[:position], (p, q, label, w)]
    if "never alone" in case or case in ("no such edge", "unknown runner-up"):
        chunk = [(1, 0, "b", 0.25), (p, q, label, w)]
    where = "" if error is TypeError or "weight" in case.split() else f"event {len(chunk) - 1}: "
    if case.startswith("no weight"):
        where = f"event {len(chunk) - 1}: "
    with pytest.raises(error, match=f"^{where}.*{message}"):
        c.remove_many(*columns(chunk))
    assert (arrays_of(c), state_of(c)) == before


@forms
def test_a_mixed_pass_is_refused_as_a_whole(convention, border):
    c = fed(BEGINNING, convention, border)
    before = arrays_of(c), state_of(c)
    new = [(t, 0, f"new {t}", 1.0) for t in range(3, 200)]
    for last, message in (
        ((1, 0, "a", 1.0), "event 197: prototype 1 belongs to cluster 'b', got label 'a'; a proto"),
        ((1, 0, "b", -0.6), "event 197: prototype 1 has weight 0.5 with runner-up 0, got 0.6"),
        ((3, 999, "new 3", 1.0), "event 197: prototype 999 is given as runner-up to 3, but has"),
        ((1, 0, "unheard of", -1.0), "event 197: label 'unheard of' is unknown"),
    ):
        with pytest.raises(ValueError, match=message):
            c._apply_many(*columns([*new, last]))
        assert (arrays_of(c), state_of(c)) == before


def test_the_second_of_several_parts_is_ambiguous():
    a = fed([(0, -1, "a", 1.0), (1, 0, "a", 1.0)])
    b = fed([(0, -1, "a", 1.0), (2, 0, "a", 1.0)])
    c = a + b
    with pytest.raises(ValueError, match="different ones before they were combined"):
        c.remove(0, None, "a")
    c.remove(0, 1, "a")
    c.remove(0, 2, "a")


def test_weight_0_takes_nothing_back():
    c = fed(BEGINNING)
    before = arrays_of(c)
    c.remove(1, 0, "b", 0.0)
    assert c.remove_many([[1, 0]], ["b"], [0.0]).tolist() == [c.value]
    assert arrays_of(c) == before


REFUSED_CALLS = {
    "merge unknown into": (lambda c: c.merge_clusters("z", "a"), "label 'z' is unknown; expected"),
    "merge unknown source": (lambda c: c.merge_clusters("a", "z"), r"expected one of \['a', 'b'\]"),
    "merge with itself": (lambda c: c.merge_clusters("a", "a"), "two clusters to merge, got 'a'"),
    "reassign unknown": (lambda c: c.reassign(5, "a"), "prototype 5 is unknown; expected one"),
    "reassign negative": (lambda c: c.reassign(-1, "a"), "prototype -1 is unknown"),
    "reassign to new, unknown": (lambda c: c.reassign(5, "new"), "prototype 5 is unknown"),
    "reassign float": (lambda c: c.reassign(0.0, "a"), "expected prototype to be a prototype's"),
    "reassign to nan": (lambda c: c.reassign(0, math.nan), "nan"),
    "decay by 0": (lambda c: c.decay(0.0), "a factor greater than 0 and at most 1, got 0.0"),
    "decay by more than 1": (
        lambda c: c.decay(1.5),
        "a factor greater than 0 and at most 1, got 1.5",
    ),
    "decay by less than 0": (
        lambda c: c.decay(-0.5),
        "a factor greater than 0 and at most 1, got -0.5",
    ),
    "decay by nan": (lambda c: c.decay(math.nan), "a factor greater than 0 and at most 1, got nan"),
    "decay by text": (lambda c: c.decay("0.5"), "expected factor to be a real number, got '0.5'"),
    "decay by None": (lambda c: c.decay(None), "expected factor to be a real number, got None"),
    "decay by True": (lambda c: c.decay(True), "expected factor to be a real number, got True"),
    "combine text": (lambda c: c.combine("x"), "expected a Connectivity to combine with, got str"),
    "add text": (lambda c: c + "x", "unsupported operand"),
    "add to 1": (lambda c: 1 + c, "unsupported operand"),
    "combine convention": (
        lambda c: c.combine(icvi.Connectivity("toolbox")),
        "expected convention 'paper' as here, got 'toolbox'",
    ),
    "combine border": (
        lambda c: c.combine(icvi.Connectivity(border="CADJ")),
        "expected border 'CONN' as here, got 'CADJ'",
    ),
    "combine owners": (
        lambda c: c.combine(fed([(1, -1, "new", 1.0), (2, 1, "a", 1.0)])),
        "prototype 1 belongs to cluster 'b' here and to 'new' in the other graph",
    ),
}


@pytest.mark.parametrize("case", REFUSED_CALLS)
def test_what_cannot_be_changes_nothing(case):
    call, message = REFUSED_CALLS[case]
    c = fed(BEGINNING)
    before = arrays_of(c), state_of(c), c._state.labels.known()
    with pytest.raises((ValueError, TypeError), match=message):
        call(c)
    assert (arrays_of(c), state_of(c), c._state.labels.known()) == before


# -- moving, multiplying -----------------------------------------------------------------------


@forms
@given(events=event_streams(weights=WEIGHTS))
def test_merging_is_counting_with_one_label(convention, border, events):
    c = fed(events, convention, border)
    if c.n_clusters > 1:
        into, source = c.labels[0], c.labels[-1]
        c.merge_clusters(into, source)
        renamed = [(p, q, into if label == source else label, w) for p, q, label, w in events]
        fresh = fed(renamed, convention, border)
        assert state_of(c) == state_of(fresh)
        assert c.update_many([[90, c.edges().winner[0]]], ["new"]).tolist() == (
            fresh.update_many([[90, fresh.edges().winner[0]]], ["new"]).tolist()
        )


@forms
@given(events=event_streams(), factor=st.sampled_from([0.5, 0.9, 1e-3, 1.0]))
def test_decay_keeps_the_index_and_lets_the_past_weigh_less(convention, border, events, factor):
    c = fed(events, convention, border)
    before = c.value, c.inter, c.intra
    c.decay(factor)
    np.testing.assert_allclose((c.value, c.inter, c.intra), before, rtol=1e-12, atol=1e-15)
    model = [(p, q, label, w * factor) for p, q, label, w in events]
    assert_is(c, naive.conn_index(model, convention, border))


def test_decay_is_exact_in_two_doubles():
    c, exact = fed([(0, -1, "a", 0.1), (0, -1, "a", 1e-3), (1, 0, "b", 1.0)]), Fraction(0.1)
    exact += Fraction(1e-3)
    for _ in range(500):
        c.decay(0.97)
        exact *= Fraction(0.97)
    arrays = c.to_arrays()
    ours = Fraction(arrays["cadj"][1]) + Fraction(arrays["cadj_rest"][1])
    assert abs(ours / exact - 1) < Fraction(1, 2**90)


@forms
def test_what_has_decayed_to_nothing_is_forgotten(convention, border):
    c = fed(random_events(200, 12, 4, seed=1), convention, border)
    c.update(90, 0, "new")
    for t in range(3000):
        c.decay(0.8)
        c.update(90, 91, "new") if t > 0 else c.update(91, 90, "new")
        assert not math.isnan(c.value)
    assert c.labels == ["new"]
    assert c.n_prototypes == 2


# -- joining -----------------------------------------------------------------------------------


@forms
@given(events=event_streams(weights=WEIGHTS), data=st.data())
def test_parts_over_shared_prototypes_add_up(convention, border, events, data):
    """Each part begins with all prototypes, so that its runners-up are known."""
    owner = {p: label for p, _, label, _ in events}
    first = min(owner)
    start = [(p, -1 if p == first else first, label, 1.0) for p, label in sorted(owner.items())]
    events = [event for event in events if event[1] >= 0]
    parts: list[list[Any]] = [[], [], []]
    for event in events:
        parts[data.draw(st.integers(0, 2))].append(event)
    made = [fed([*start, *part], convention, border) for part in parts]
    before = [arrays_of(part) for part in made]
    model = naive.Survivors()
    for p, q, label, w in [*start, *events]:
        model.add(p, None if q < 0 else q, label, w)
    for _ in range(2):
        beginning = naive.Survivors()
        for p, q, label, w in start:
            beginning.add(p, None if q < 0 else q, label, w)
        model.combine(beginning)
    expected, (a, b, c) = model.read(convention, border), made
    for total in (sum(made), a + b + c, a + (b + c), c + a + b):
        assert_is(total, expected)
    assert [arrays_of(part) for part in made] == before


@forms
def test_disjoint_parts_are_blocks(convention, border):
    a = random_events(100, 6, 2, seed=1)
    b = [(p + 6, q + 6 if q >= 0 else -1, label + 2, w) for p, q, label, w in a]
    c = fed(a, convention, border) + fed(b, convention, border)
    left, right = c.cadj[:6, :6], c.cadj[6:, 6:]
    np.testing.assert_array_equal(left, right)
    assert c.cadj.sum() == left.sum() + right.sum() == c.n_events
    assert c.intra == pytest.approx(fed(a, convention, border).intra)


@forms
def test_lonely_parts_keep_their_samples_without_runner_up_in_any_order(convention, border):
    parts = [
        fed([(p, -1, label, w)], convention, border)
        for p, label, w in ((0, "a", 0.1), (1, "b", 0.2), (0, "a", 0.3), (2, "a", 0.4))
    ]
    a, b, c, d = parts
    totals = [a + b + c + d, d + (c + b) + a, (a + c) + (b + d), sum(parts[::-1])]
    assert len({total.value for total in totals}) == 1
    for total in totals:
        assert not len(total.edges().cadj)
        assert total.counts.tolist() == ([0.8, 0.2] if total.labels == ["a", "b"] else [0.2, 0.8])
        total.remove(0, None, "a", 0.3)
        assert total.prototype_counts.tolist() == pytest.approx([0.1, 0.2, 0.4])
        total.update(0, 1, "a")
        assert total.cadj.sum() == 1.0
    same = a + c
    same.update(5, 0, "b")  # still lonely, so its samples get the second
    assert same.cadj[0, 5] == pytest.approx(0.4)


def test_nothing_adds_nothing():
    c = fed(BEGINNING)
    assert arrays_of(c + icvi.Connectivity()) == arrays_of(c)
    assert arrays_of(icvi.Connectivity() + c) == arrays_of(c)
    c.combine(c)
    assert c.n_events == 5.0


# -- copies and saving -------------------------------------------------------------------------

COPIES = {
    "copy": lambda c: c.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda c: pickle.loads(pickle.dumps(c)),
    "arrays": saved,
}


@forms
@pytest.mark.parametrize("how", COPIES)
def test_a_copy_goes_on_to_the_last_bit(convention, border, how):
    rng = np.random.default_rng(3)
    events = [
        (p, q, f"cluster {label}", float(w))
        for (p, q, label, _), w in zip(
            random_events(900, 40, 8, seed=2), rng.random(900), strict=True
        )
    ]
    c = fed(events[:500], convention, border)
    with_runner_up = [e for e in events[:500] if e[1] >= 0]
    for event in with_runner_up[::3]:
        c.remove(*event)
    c.decay(0.7)
    twin, before = COPIES[how](c), state_of(c)
    assert state_of(twin) == before
    assert arrays_of(twin) == arrays_of(c)
    known = {p for p in range(len(c.owners)) if c.owners[p] is not None}
    rest = [e for e in events[500:] if e[0] in known and e[1] in known]
    mixed = [signed for e in rest for signed in (e, e, (*e[:3], -e[3]))]
    values = twin._apply_many(*columns(mixed))
    assert state_of(c) == before
    np.testing.assert_array_equal(c._apply_many(*columns(mixed)), values)
    assert state_of(c) == state_of(twin)
    assert arrays_of(c) == arrays_of(twin)


def test_labels_are_kept_as_they_are():
    key = object()
    c = fed([(0, -1, key, 1.0)])
    for how in (copy.copy, copy.deepcopy, lambda c: c + icvi.Connectivity()):
        how(c).update(0, None, key)


DAMAGE = {
    "missing array": lambda a: a.pop("cadj"),
    "another array": lambda a: a.update(more=np.zeros(3)),
    "float winners": lambda a: a.update(winner=a["winner"].astype(float)),
    "far winner": lambda a: a["winner"].__setitem__(0, 10**12),
    "short": lambda a: a.update(cadj=a["cadj"][:-1]),
    "nan": lambda a: a["cadj"].__setitem__(0, math.nan),
    "negative": lambda a: a["cadj"].__setitem__(0, -1.0),
    "owner": lambda a: a["owner"].__setitem__(0, 9),
    "no owner": lambda a: a["owner"].__setitem__(0, 0),
    "order": lambda a: a.update(prototype=a["prototype"][::-1].copy()),
    "huge prototype": lambda a: a["prototype"].__setitem__(-1, 2**62),
    "no edges": lambda a: a["cadj"].__setitem__(slice(None), 0.0),
    "contacts": lambda a: a["contact_cluster"].__setitem__(0, 5),
    "sums": lambda a: a.update(X=a["X"][:-1]),
    "clusters": lambda a: a.update({n: a[n][:-1] for n in ("n", "n_rest")}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_arrays_are_refused(damage):
    c = fed(random_events(60, 8, 3, seed=1))
    arrays = c.to_arrays()
    DAMAGE[damage](arrays)
    with pytest.raises(ValueError, match="the state is damaged"):
        icvi.Connectivity.from_arrays(arrays, c.known_labels)


def test_labels_that_do_not_fit_the_arrays_are_refused():
    c = fed(random_events(60, 8, 3, seed=1))
    for labels in (c.labels[:-1], [*c.labels, "more"], [c.labels[0]] * 3):
        with pytest.raises(ValueError, match="the state is damaged"):
            icvi.Connectivity.from_arrays(c.to_arrays(), labels)


def test_the_empty_graph_is_saved_too():
    for form in FORMS:
        c = saved(icvi.Connectivity(*form))
        assert c.update_many([[4, -1], [2, 4]], ["a", "b"]).tolist() == [0.0, 0.0]
