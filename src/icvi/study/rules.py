"""The statements of the paper about curves, as rules that a curve satisfies or not.

Changes are in units of a curve's usual range (5th to 95th percentile), with up always better;
curves that span more than three decades are replaced by their logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from icvi.study.batch_conn import Comparison
from icvi.study.curves import Stream
from icvi.study.experiment import INDICES

ABRUPT = 5.0  # times the usual step
LITTLE = 0.05  # of the range
TINY = 0.01  # of the range; less is no change
MOST = 0.75  # of the events
TRACKS = 0.9  # Pearson's correlation
_BEFORE = 20  # samples that define a usual step
_SHORTEST = 10  # samples of a stretch that can show a trend

Check = Callable[[Stream, Comparison | None], bool | None]


@dataclass(frozen=True)
class Rule:
    """A statement, how it is measured, and whether the paper makes it or denies it."""

    id: str
    statement: str
    index: str
    kinds: tuple[str, ...]
    threshold: str
    expected: bool
    check: Check


def most(events: Iterable[bool | None]) -> bool | None:
    """Whether most of the events that can be judged are true; None where there are none."""
    judged = [event for event in events if event is not None]
    return None if not judged else bool(np.mean(judged) >= MOST)


# -- what is measured --------------------------------------------------------------------------


def jumps(stream: Stream, index: str) -> Iterator[bool | None]:
    """Per emerging cluster, whether the curve jumps."""
    v = stream.curves[index].values
    for t in stream.emergences:
        steps = np.abs(np.diff(v[max(0, t - _BEFORE) : t]))
        steps = steps[~np.isnan(steps)]
        jump = abs(v[t] - v[t - 1])
        if np.isnan(jump) or steps.size == 0:
            yield None
        else:
            yield bool(jump > max(ABRUPT * float(np.median(steps)), TINY))


def trends(stream: Stream, index: str) -> Iterator[float]:
    """Per stretch, by how much the curve gets better after its first tenth."""
    for start, end in stream.stretches():
        if end - start >= _SHORTEST:
            yield _change(stream, index, _after_start(start, end), end)


def fluctuations(stream: Stream, index: str) -> Iterator[float]:
    """Per stretch, how far the curve moves up and down after its first tenth."""
    v = stream.curves[index].values
    for start, end in stream.stretches():
        if end - start >= _SHORTEST:
            late = v[_after_start(start, end) : end]
            late = late[~np.isnan(late)]
            yield float(np.subtract(*np.percentile(late, [95, 5]))) if late.size else np.nan


def after_unnoticed(stream: Stream, index: str) -> Iterator[float]:
    """Per stretch of unnoticed true clusters, by how much the curve gets better."""
    for start, end in stream.unnoticed():
        if end - start >= _SHORTEST:
            yield _change(stream, index, start - 1, end)


def after_splits(stream: Stream, index: str) -> Iterator[float]:
    """Per cluster that emerges inside a true one, by how much the curve gets better."""
    for start, end in stream.splits():
        if end - start >= _SHORTEST:
            yield _change(stream, index, start - 1, end)


def _after_start(start: int, end: int) -> int:
    """Where the new cluster has had some samples: after a tenth of the stretch."""
    return start + max(5, (end - start) // 10)


def _change(stream: Stream, index: str, first: int, end: int) -> float:
    v = stream.curves[index].values
    return float(v[end - 1] - v[first])


def _judged(changes: Iterable[float], fine: Callable[[float], bool]) -> bool | None:
    return most(None if np.isnan(change) else fine(change) for change in changes)


# -- the rules ---------------------------------------------------------------------------------


def _rules() -> Iterator[Rule]:
    for index in INDICES:
        yield Rule(
            f"abrupt_{index}",
            f"{index} changes abruptly when a cluster emerges",
            index,
            ("correct", "under", "over"),
            f"in {MOST:.0%} of the emergences the step exceeds {ABRUPT:g} times the median step "
            f"of the {_BEFORE} samples before, and {TINY:.0%} of the range",
            index not in ("XB", "rCIP"),
            _abrupt(index),
        )
    yield _within(
        "CH", "improves or fluctuates little", lambda c: c >= -LITTLE, f">= -{LITTLE:.0%}"
    )
    for index in ("SIL", "DB"):
        yield _within(
            index, "worsens or fluctuates little", lambda c: c <= LITTLE, f"<= {LITTLE:.0%}"
        )
    for index in ("Conn", "PS"):
        yield _within(index, "improves", lambda c: c > 0.0, "> 0")
    yield Rule(
        "within_rH",
        "rH fluctuates little while samples of one cluster arrive",
        "rH",
        ("correct",),
        f"in {MOST:.0%} of the stretches it moves within {2 * LITTLE:.0%} of the range",
        True,
        lambda s, _: _judged(fluctuations(s, "rH"), lambda f: f <= 2 * LITTLE),
    )
    for index in INDICES:
        yield Rule(
            f"under_{index}",
            f"{index} worsens while true clusters go unnoticed",
            index,
            ("under",),
            f"in {MOST:.0%} of the stretches from an unnoticed cluster to the next that emerges it "
            f"loses more than {TINY:.0%} of the range",
            index not in ("Conn", "rCIP", "PS"),
            _loses(after_unnoticed, index, TINY),
        )
    for index in INDICES:
        yield Rule(
            f"over_{index}",
            f"{index} worsens when a true cluster is split",
            index,
            ("over",),
            f"in {MOST:.0%} of the splits it loses more than {LITTLE:.0%} of the range",
            index == "Conn",
            _loses(after_splits, index, LITTLE),
        )
    yield Rule(
        "tracks_batch",
        "Conn, kept incrementally, follows its batch form",
        "Conn",
        ("correct", "under", "over"),
        f"Pearson's correlation of the two curves is at least {TRACKS:g}",
        True,
        lambda _, c: None if c is None or np.isnan(c.correlation) else c.correlation >= TRACKS,
    )
    yield Rule(
        "error_after_emergence",
        "Conn is farthest from its batch form just after a cluster has emerged",
        "Conn",
        ("correct", "under", "over"),
        "the mean error in the first fifth of the stretches exceeds that in the rest",
        True,
        lambda s, c: None if c is None else _worse_after_emergence(s, c),
    )


def _abrupt(index: str) -> Check:
    return lambda stream, _: most(jumps(stream, index))


def _loses(
    changes: Callable[[Stream, str], Iterator[float]], index: str, more_than: float
) -> Check:
    return lambda stream, _: _judged(changes(stream, index), lambda c: c < -more_than)


def _within(index: str, does: str, fine: Callable[[float], bool], limit: str) -> Rule:
    return Rule(
        f"within_{index}",
        f"{index} {does} while samples of one cluster arrive",
        index,
        ("correct",),
        f"in {MOST:.0%} of the stretches its gain is {limit} of the range",
        True,
        lambda s, _: _judged(trends(s, index), fine),
    )


def _worse_after_emergence(stream: Stream, comparison: Comparison) -> bool | None:
    """Whether errors are larger in the first fifth of the stretches than in the rest."""
    fresh = np.zeros(len(stream.k), dtype=bool)
    for start, end in stream.stretches():
        if start in stream.emergences:
            fresh[start : start + max(1, (end - start) // 5)] = True
    at = comparison.samples - 1
    error, known = np.abs(comparison.error), stream.k[at] >= 2
    early, late = error[known & fresh[at]], error[known & ~fresh[at]]
    return None if early.size == 0 or late.size == 0 else bool(early.mean() > late.mean())


RULES = {rule.id: rule for rule in _rules()}
