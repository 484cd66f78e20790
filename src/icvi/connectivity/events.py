"""Winners and runners-up as callers pass them: checks, and messages where they are refused."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import refuse_masked
from icvi.kernels.graph import layout as L
from icvi.wording import short

#: Prototypes are numbered up to here; their array has a record for every number.
LARGEST_NUMBER = 10_000_000

#: Runner-up while there is only one prototype.
NO_RUNNER_UP = -1


def as_winners(winners: Any) -> NDArray[np.int64]:
    """Winners and runners-up as a C-contiguous (n, 2) array of int64, n at least 1."""
    refuse_masked(winners, "winners")
    try:
        array = np.asarray(winners)
    except ValueError as error:
        raise ValueError(f"expected winners as an (n, 2) array ({error}); {_HINT}") from None
    if array.size == 0:
        raise ValueError("expected at least one event, got none")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"expected winners as an (n, 2) array (winner, runner-up), got shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"expected winners to hold integers, got dtype {array.dtype}; convert them with "
            f"astype(int) if they are whole numbers, and {_HINT}"
        )
    _check_numbers(array)
    return np.ascontiguousarray(array, dtype=np.int64)


_HINT = f"write {NO_RUNNER_UP} where there is no runner-up"


def _check_numbers(array: NDArray[Any]) -> None:
    """Refuse the first event with a number out of range, or a winner that is its runner-up."""
    winner, runner_up = array[:, 0], array[:, 1]
    bad = (winner < 0) | (winner > LARGEST_NUMBER) | (winner == runner_up)
    bad |= (runner_up < NO_RUNNER_UP) | (runner_up > LARGEST_NUMBER)
    if bad.any():
        event = int(np.argmax(bad))
        _check_event(int(winner[event]), int(runner_up[event]), f"event {event}: ")


def as_event(winner: Any, runner_up: Any) -> tuple[int, int]:
    """Winner and runner-up of one event; None becomes -1."""
    if runner_up is None:
        runner_up = NO_RUNNER_UP
    if (
        (winner.__class__ is int and runner_up.__class__ is int)
        and (0 <= winner <= LARGEST_NUMBER and NO_RUNNER_UP <= runner_up <= LARGEST_NUMBER)
        and winner != runner_up
    ):
        return winner, runner_up
    event = _as_int(winner, "winner"), _as_int(runner_up, "runner_up")
    _check_event(*event)
    return event


def _as_int(value: Any, name: str) -> int:
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(
        f"expected {name} to be a prototype's number, got {type(value).__name__}: {short(value)}"
    )


def _check_event(winner: int, runner_up: int, where: str = "") -> None:
    if winner < 0:
        raise ValueError(
            f"{where}expected a winner of at least 0, got {winner}; every event has a winner"
        )
    if runner_up < NO_RUNNER_UP:
        raise ValueError(
            f"{where}expected a runner-up of at least 0, got {runner_up}; "
            f"{NO_RUNNER_UP} means that there is none"
        )
    if max(winner, runner_up) > LARGEST_NUMBER:
        raise ValueError(
            f"{where}expected prototypes to be numbered up to {LARGEST_NUMBER}, "
            f"got {max(winner, runner_up)}; number them 0, 1, 2, ..."
        )
    if winner == runner_up:
        raise ValueError(
            f"{where}prototype {winner} is given as winner and as runner-up; "
            "the runner-up is the best of the others"
        )


# -- events that a graph refuses -----------------------------------------------------------


class EventRefusedError(ValueError):
    """One event of many cannot be applied: its number, and the reason."""

    def __init__(self, event: int, reason: str) -> None:
        super().__init__(f"event {event}: {reason}")
        self.event, self.reason = event, reason


def refusal(reason: int, p: int, q: int, owner: Hashable, label: Hashable) -> str:
    """Message for an event that cannot be counted; ``owner`` is the cluster of its winner p."""
    if reason == L.OTHER_OWNER:
        return (
            f"prototype {p} belongs to cluster {short(owner)}, got label {short(label)}; "
            "a prototype belongs to one cluster, give the new cluster prototypes of its own"
        )
    if reason == L.RUNNER_UP_MISSING:
        return (
            f"expected a runner-up for prototype {p}, got none, although there are other "
            "prototypes; pass the best of them"
        )
    return (
        f"prototype {q} is given as runner-up to {p}, but has not won yet, so its cluster is "
        "unknown; the runner-up is the best prototype among those that have won (or declare it)"
    )


def refusal_to_take(
    reason: int, p: int, q: int, owner: Hashable, label: Hashable, weight: float, counted: float
) -> str:
    """The same for an event that cannot be removed; with runner-up q, p has weight ``counted``."""
    if reason == L.NOT_KNOWN:
        return f"prototype {p} is unknown; {_ONLY_COUNTED}"
    if reason == L.OTHER_OWNER:
        return (
            f"prototype {p} belongs to cluster {short(owner)}, got label {short(label)}; remove "
            f"its events with label {short(owner)}"
        )
    if reason == L.NEVER_ALONE:
        return (
            f"expected a runner-up for prototype {p}, got none, although none of its events was "
            "counted without one; pass the runner-up that was counted"
        )
    if reason == L.SEVERAL_SECONDS:
        return (
            f"expected a runner-up for prototype {p}, got none: its events without one got "
            "different ones before they were combined; pass the runner-up of this event"
        )
    with_q = f"with runner-up {q}" if q >= 0 else "without a runner-up"
    return (
        f"prototype {p} has weight {counted!r} {with_q}, got {weight!r} to remove; {_ONLY_COUNTED}"
    )


def unknown_label(label: Hashable) -> str:
    """Message for a label that owns no prototype."""
    return f"label {short(label)} is unknown; {_ONLY_COUNTED}"


_ONLY_COUNTED = "only events that were counted can be removed"


# -- prototypes ----------------------------------------------------------------------------


def as_prototype(number: Any) -> int:
    """A prototype's number."""
    return _as_int(number, "prototype")


def as_prototypes(numbers: Any) -> NDArray[np.int64]:
    """Prototypes' numbers as an array of int64, at least one."""
    array = np.asarray(numbers)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"expected a list of prototypes' numbers, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"expected prototypes' numbers as integers, got dtype {array.dtype}")
    bad = (array < 0) | (array > LARGEST_NUMBER)
    if bad.any():
        raise ValueError(
            f"expected prototypes to be numbered from 0 to {LARGEST_NUMBER}, "
            f"got {array[np.argmax(bad)]}"
        )
    return np.ascontiguousarray(array, dtype=np.int64)
