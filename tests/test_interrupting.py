"""The interrupts of other tests find what they are there to find."""

from __future__ import annotations

import pytest

import interrupting
from icvi.transactions import Transactional, changes
from interrupting import interrupt_by_signals, interrupt_everywhere, interrupt_twice


@pytest.fixture(autouse=True)
def hit_this_file(monkeypatch):
    monkeypatch.setattr(interrupting, "PLACES", (*interrupting.PLACES, __file__))


class Pair(Transactional):
    """Two numbers that are changed one after the other."""

    def __init__(self):
        self.one, self.two = [1], [1]

    @changes
    def double(self):
        self._undo = (self.one[0], self.two[0])
        for number in (self.one, self.two):
            number.append(2 * number.pop())

    def _restore(self, saved):
        for number, value in zip((self.one, self.two), saved, strict=True):
            number.clear()
            number.append(value)


class Forgetful(Pair):
    """It begins before it notes where it was."""

    @changes
    def double(self):
        self.one.append(2 * self.one.pop())
        self._undo = (self.one[0], self.two[0])
        self.two.append(2 * self.two.pop())


class Swallowing(Pair):
    """It takes an interrupt for an error, and goes on."""

    @changes
    def double(self):
        try:
            self.one.append(2 * self.one.pop())
        except BaseException:
            self.one.append(2)
        self.two.append(2 * self.two.pop())


class Halving(Pair):
    """Its way back is right once."""

    def _restore(self, saved):
        if self.one[0:] != [saved[0]] or self.two[0:] != [saved[1]]:
            for number in (self.one, self.two):
                number.append(number.pop() / 2 if number else 1)


def state(pair):
    if pair._undo is not None:
        pair._roll_back()
    return pair.one[:], pair.two[:]


def test_a_change_that_is_all_or_nothing_passes():
    assert interrupt_everywhere(Pair, Pair.double, state) > 5
    assert interrupt_twice(Pair, Pair.double, state) > 20


@pytest.mark.parametrize("kind", [Forgetful, Swallowing])
def test_a_change_that_is_torn_is_found(kind):
    with pytest.raises(AssertionError, match=r"interrupted at .*test_interrupting.py:\d+"):
        interrupt_everywhere(kind, kind.double, state)


def test_a_way_back_that_cannot_be_interrupted_is_found():
    with pytest.raises(AssertionError, match="the state has changed"):
        interrupt_twice(Halving, Halving.double, state)


def test_signals_interrupt_at_random_moments():
    pair = Pair()

    def call(_):
        for _ in range(200):
            pair.double()
            pair.one[0], pair.two[0] = 1, 1

    counts = interrupt_by_signals(call, lambda: state(pair)[:0], interrupts=20, longest=0.001)
    assert counts["interrupted"] == 20
    assert state(pair) in [([1], [1]), ([2], [2])]
