"""Interrupt a call at every moment at which Python would run a signal handler.

CPython looks for signals when a function is entered, after a call, and when a loop jumps back; at
no other instruction. `interrupt_everywhere` runs a call once per such moment inside the package,
raises there, and compares the state with the one before.
"""

from __future__ import annotations

import dis
import itertools
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import icvi
from icvi import transactions

#: Files that are interrupted begin so.
PLACES = (str(Path(icvi.__file__).parent),)
#: Instructions after which CPython looks for signals. The first one of a function is no event. In
#: Python 3.11 a traced PRECALL only prepares the CALL: an interrupt between the two, which cannot
#: be, would leave a lock behind that is about to be released.
LOOKS = ("CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")
NO_LOOKS = ("CALL_INTRINSIC",)  # nothing is called there
PLAIN_CALLS = ("CALL", "CALL_KW", "PRECALL")


class Interrupt(KeyboardInterrupt):
    """Raised like Ctrl-C, and by nothing else."""


class Injector:
    """A trace function that raises at the n-th moment, and again so many moments later."""

    def __init__(self, first, second=None):
        self.left, self.second = first, second
        self.raised = 0  # how often
        self.committed = False  # whether the outermost change was complete before the first
        self.place = None
        self._last = {}  # per frame, the instruction before
        self._complete = False

    def run(self, call, subject):
        """Run a call; whether it came to its end without having been interrupted."""
        tracing = sys.gettrace()
        sys.settrace(self._enter)
        try:
            call(subject)
        except Interrupt:
            pass
        finally:
            sys.settrace(tracing)
            sys.setprofile(None)
            self._last.clear()
        return self.raised == 0

    def _enter(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(PLACES):
            return None
        self._watch(frame)
        self._last[frame] = None
        if self._last.get(frame.f_back) in PLAIN_CALLS:
            # Functions of Python's own run in the same loop: nothing is looked at on return.
            self._last[frame.f_back] = ""
        return self._step

    def _watch(self, frame):
        frame.f_trace, frame.f_trace_lines, frame.f_trace_opcodes = self._step, False, True

    def _step(self, frame, event, _):
        if event == "exception":
            self._last[frame] = ""  # what handles it begins without a look
        if event != "opcode":
            return self._step
        name = operation(frame)
        before, self._last[frame] = self._last.get(frame), name
        if before is None or (before.startswith(LOOKS) and not before.startswith(NO_LOOKS)):
            self._moment(frame)
        if name == "STORE_ATTR" and is_commit(frame):
            self._complete = True
        return self._step

    def _moment(self, frame):
        self.left -= 1
        if self.left != 0:
            return
        if self.raised == 0:
            self.committed = self._complete
        self.raised += 1
        self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if self.second is not None and self.raised == 1:
            # Raising ends tracing; a profiler gets the next event, and begins it again.
            self.left = self.second
            sys.setprofile(self._resume)
        raise Interrupt

    def _resume(self, frame, *_):
        sys.setprofile(None)
        sys.settrace(self._enter)
        while frame is not None:
            if frame.f_code.co_filename.startswith(PLACES):
                self._watch(frame)
                # It stands at this instruction, or where it will handle the exception.
                self._last[frame] = ""
            frame = frame.f_back


def operation(frame):
    """Name of the instruction that a frame is about to run."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def is_commit(frame):
    """Whether this assignment is the one by which the outermost change becomes final."""
    code = frame.f_code
    if not is_guard(frame) or frame.f_lasti != commit_of(code):
        return False
    outer = frame.f_back
    while outer is not None:
        if is_guard(outer) and commit_of(outer.f_code) is not None:
            return False
        outer = outer.f_back
    return True


def is_guard(frame):
    code = frame.f_code
    return code.co_filename == transactions.__file__ and code.co_name == "call"


def commit_of(code):
    """Where a guard forgets the way back; None for one that only reads."""
    stores = [
        step.offset
        for step in dis.get_instructions(code)
        if step.opname == "STORE_ATTR" and step.argval == "_undo"
    ]
    return stores[-1] if stores else None


def interrupt_everywhere(make, call, state, *, most=None):
    """Interrupt ``call(make())`` at every moment; the state is the one before, and it still works.

    ``state`` gives something that compares equal for states that are the same to the bit. With
    ``most`` only so many moments are tried, evenly spread, the first and the last among them.
    Returns the number of moments.
    """
    before, after = state(make()), result(make, call, state)
    counting = Injector(-1)
    assert counting.run(call, make())
    moments = -1 - counting.left
    tried = range(1, moments + 1)
    if most is not None and moments > most:
        tried = np.unique(np.linspace(1, moments, most).round().astype(int)).tolist()
    for moment in tried:
        subject, injector = make(), Injector(moment)
        assert not injector.run(call, subject), f"moment {moment} of {moments} did not come"
        check(injector, subject, call, state, before, after)
    return moments


def interrupt_twice(make, call, state, *, most=12):
    """Interrupt the way back from interrupts as well; the next call is what completes it.

    The first of the interrupts hits so many moments at most, evenly spread and the last among them;
    the second every moment that follows. ``state`` must be a call that completes the way back.
    """
    if sys.version_info >= (3, 13):
        pytest.skip("from Python 3.13 on, tracing that an exception has ended does not begin again")
    before, after = state(make()), result(make, call, state)
    moments = interrupt_everywhere(make, call, state, most=most)
    firsts = {max(1, moments - i * moments // most) for i in range(most)}
    number = 0
    for first in sorted(firsts):
        for second in itertools.count(1):
            subject = make()
            injector = Injector(first, second)
            injector.run(call, subject)
            check(injector, subject, call, state, before, after)
            number += injector.raised == 2
            if injector.raised < 2:
                break
    return number


def check(injector, subject, call, state, before, after):
    now = state(subject)
    if injector.committed and now == after:
        return
    assert now == before, f"the state has changed: interrupted at {injector.place}"
    call(subject)
    assert state(subject) == after, f"it works differently: interrupted at {injector.place}"


def result(make, call, state):
    subject = make()
    call(subject)
    return state(subject)


def interrupt_by_signals(call, state, *, interrupts=200, seconds=20.0, longest=0.01, seed=0):
    """Interrupt calls by a real timer, at random moments; each changes all or nothing.

    Ends after so many interrupts, or seconds. ``call`` is given the number of calls completed so
    far. Returns how often a call was interrupted, and how often it completed.
    """
    chance = random.Random(seed)
    counts = Counter()
    end = time.monotonic() + seconds
    previous = signal.signal(signal.SIGALRM, _raise)
    try:
        while counts["interrupted"] < interrupts and time.monotonic() < end:
            before = state()
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, longest))
                call(counts["completed"])
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                counts["completed"] += 1
            except Interrupt:
                # After the last change is final, it may still hit the way out.
                counts["interrupted"] += 1
                if state() != before:
                    counts["late"] += 1
                    counts["completed"] += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    return counts


def _raise(*_):
    raise Interrupt


def _begin_tracing():
    """Have opcodes be traced: from Python 3.12 on the first function that asks for it is not."""
    Injector(-1).run(lambda _: transactions.in_use(None), None)


_begin_tracing()
