"""All or nothing, and one call at a time: how a state survives interrupts and threads.

Python runs signal handlers between two instructions, and a handler may raise: Ctrl-C does. A call
that changes several arrays must therefore be able to roll back. It stores an undo record *before*
its first change, in one assignment, and clears it after its last, in another. If anything is raised
in between, the record is there to roll back with. If a second interrupt stops the rollback, the
record stays, and the next call completes the rollback before it does anything else.

CPython runs handlers, and lets other threads run, only when a function is entered, after a call
of compiled code and when a loop jumps back; never between plain loads, tests and stores. So the
test of ``_busy`` with the assignment after it is atomic, and so are the last lines of a call that
clear the record, reset the flag and return: an interrupt comes either before them, and everything
is undone, or in the caller. A lock would need calls, and an interrupt after its release would be
raised by a call whose changes stay.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Transactional")
F = TypeVar("F", bound=Callable[..., Any])


class Transactional:
    """Base of states whose calls `changes` and `exclusive` guard.

    A method that changes the state assigns what `_restore` needs to ``_undo`` before its first
    change.
    """

    # Not part of the state: not in `vars`, copies and pickles.
    __slots__ = ("_busy", "_undo")

    _busy: bool
    _undo: Any

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A state that is not in use."""
        self = super().__new__(cls)
        self._busy, self._undo = False, None
        return self

    def _restore(self, saved: Any) -> None:
        """Undo all changes since ``saved`` was taken; twice is the same as once."""
        raise NotImplementedError

    def _roll_back(self) -> None:
        if self._undo is not None:
            self._restore(self._undo)
            self._undo = None

    def __getstate__(self) -> dict[str, Any]:
        if self._busy:
            raise in_use(self)
        self._roll_back()
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    def __copy__(self) -> Self:
        # Kernels keep the addresses of arrays, so two objects must not share any.
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return borrowed(self, lambda: self._duplicate(memo))

    def _duplicate(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = type(self).__new__(type(self))
        twin.__setstate__(deepcopy(vars(self), memo))
        return twin


class Shareable(Transactional):
    """Base of states that many callers may read at the same time, with `shares`.

    A method that changes the state calls `_note` before its first change.
    """

    __slots__ = ("_version",)

    _version: int

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A state that is not in use."""
        self = super().__new__(cls)
        self._version = 0
        return self

    def _note(self, undo: Any) -> None:
        """Begin a change; ``undo`` is what `_restore` needs."""
        self._version += 1
        self._undo = undo


def changes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method change all or nothing, whatever is raised, and refuse a second caller."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            result = method(self, *args, **kwargs)
        except BaseException:
            # Not in a helper function: an interrupt could come before its first instruction.
            try:
                self._roll_back()
            finally:
                self._busy = False
            raise
        self._undo = None
        self._busy = False
        return result

    return call


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Refuse a method while another call runs, so that it sees a consistent state.

    For methods that read, and for changes inside a call that can undo them.
    """

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            result = method(self, *args, **kwargs)
        finally:
            self._busy = False
        return result

    return call


def shares(method: F) -> F:
    """Let a method run beside other readers; refuse it during a change.

    Readers set no flag, so an interrupted one leaves nothing behind. Instead they check at the end
    whether a change has begun in the meantime. So whatever the method passes to a kernel must be
    safe to read during a change.
    """

    @wraps(method)
    def call(self: Shareable, /, *args: Any, **kwargs: Any) -> Any:
        version = self._version
        if self._busy:
            raise in_use(self)
        if self._undo is not None:
            borrowed(self, lambda: None)
        try:
            result = method(self, *args, **kwargs)
        except Exception:
            if self._version != version:
                raise in_use(self) from None
            raise
        if self._version != version:
            raise in_use(self)
        return result

    return cast(F, call)  # it has overloads


def borrowed(state: Transactional, call: Callable[[], R]) -> R:
    """The result of a call that reads a state, during which other calls are refused."""
    return exclusive(lambda _: call())(state)


def own_arrays(state: Any) -> Any:
    """The same variables, with copies of arrays that do not own their memory.

    Pickle's protocol 5 can pass arrays separately, as read-only buffers that several processes
    share; joblib maps them from a file. A state writes to its arrays, and kernels keep their
    addresses, so it needs copies.
    """
    if isinstance(state, np.ndarray):
        return state if state.flags.owndata and state.flags.writeable else np.array(state)
    if type(state) is dict:
        return {name: own_arrays(value) for name, value in state.items()}
    if type(state) in (list, tuple):
        return type(state)(own_arrays(value) for value in state)
    return state


def in_use(state: object) -> RuntimeError:
    """The error for a call during another one."""
    return RuntimeError(
        f"this {type(state).__name__} is in use by another thread, or by the call that a signal "
        "handler has interrupted; use one per thread and combine them, or a lock around the calls"
    )
