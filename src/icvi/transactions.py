"""All or nothing, and one call at a time: how a state survives interrupts and threads.

Python runs signal handlers between any two instructions, and a handler may raise: Ctrl-C does.
A call that changes several arrays must therefore be able to return to where it began. It notes
what that takes *before* its first change, in one assignment, and forgets the note after its last,
in another. Whatever is raised in between finds the note; a second interrupt during the way back
leaves the note for the next call, which completes it before it does anything else.

The lock is taken by a ``with`` statement on the lock itself, never by a function around it:
CPython runs no handler between acquiring a lock that is written in C and entering the block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Transactional")
F = TypeVar("F", bound=Callable[..., Any])


class Transactional:
    """Base of states whose calls `changes` and `reads` guard.

    A changing method assigns what `_restore` needs to ``self._undo`` before its first change.
    """

    # No part of the state: not among its variables, copies and pickles.
    __slots__ = ("_lock", "_undo")

    _lock: Any
    _undo: Any

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A state that nobody uses."""
        self = super().__new__(cls)
        self._lock, self._undo = Lock(), None
        return self

    def _restore(self, saved: Any) -> None:
        """Undo all changes since ``saved`` was taken; twice is the same as once."""
        raise NotImplementedError

    def _roll_back(self) -> None:
        if self._undo is not None:
            self._restore(self._undo)
            self._undo = None

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


class Shareable(Transactional):
    """Base of states that many callers may read at the same time, with `shares`.

    A changing method calls `_note` before its first change.
    """

    __slots__ = ("_version",)

    _version: int

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A state that nobody uses."""
        self = super().__new__(cls)
        self._version = 0
        return self

    def _note(self, undo: Any) -> None:
        """A change begins; ``undo`` is what `_restore` needs."""
        self._version += 1
        self._undo = undo


def changes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Have a method change all or nothing, whatever is raised, and refuse a second caller."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        lock = self._lock
        if lock.locked():
            raise in_use(self)
        with lock:
            if self._undo is not None:
                self._roll_back()
            try:
                result = method(self, *args, **kwargs)
            except BaseException:
                self._roll_back()
                raise
            self._undo = None
            return result

    return call


def reads(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Have a method see a whole state: refuse it while another call is under way."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        lock = self._lock
        if lock.locked():
            raise in_use(self)
        with lock:
            if self._undo is not None:
                self._roll_back()
            return method(self, *args, **kwargs)

    return call


def shares(method: F) -> F:
    """Have a method see a whole state, and others at the same time; refuse it beside a change.

    Readers take no lock, so nothing is left behind by one that is interrupted: they look whether a
    change has begun meanwhile. What a method gives to a kernel must be safe to read even then.
    """

    @wraps(method)
    def call(self: Shareable, /, *args: Any, **kwargs: Any) -> Any:
        version = self._version  # before the look at the lock: a change takes it first
        lock = self._lock
        if lock.locked():
            raise in_use(self)
        if self._undo is not None:
            with lock:
                self._roll_back()
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


def in_use(state: object) -> RuntimeError:
    """The error for a caller that meets another one."""
    return RuntimeError(
        f"this {type(state).__name__} is in use by another thread (or by the call that a signal "
        "handler has interrupted); use one per thread and combine them, or a lock of your own"
    )
