"""Batches cut where a clusterer wants them, whatever the source gives at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from icvi.streams import Batch, Position

#: Given how many samples have been seen: how many must come at once, or None for any number.
Wish = Callable[[int], int | None]


def cut(
    batches: Iterable[Batch], wish: Wish, *, start: int = 0, position: Position | None = None
) -> Iterator[Batch]:
    """Batches of the sizes wished for; the last one may be smaller.

    Parameters
    ----------
    batches : iterable of Batch
        From a source that has been sent to `position`.
    wish : callable
        How many samples must come at once.
    start : int
        Samples that have been dealt with; what the source gives of them again is left out.
    position : dict, optional
        Where the source was sent to.

    Yields
    ------
    Batch
        Its position may lie before its last sample: somewhere within a batch of the source there is
        none. To go on after it, send a source there and give ``start=batch.stop``.
    """
    held: list[Batch] = []
    for batch in batches:
        if batch.stop <= start:
            position = batch.position
            continue
        held.append(_since(batch, start))
        while held and _enough(held, wish(start)):
            piece, held = _take(held, wish(start), position)
            start, position = piece.stop, piece.position
            yield piece
    if held:
        yield _take(held, None, position)[0]


def _since(batch: Batch, start: int) -> Batch:
    """What a batch has from a sample on."""
    return batch if batch.first >= start else _part(batch, start - batch.first, len(batch))


def _enough(held: list[Batch], wanted: int | None) -> bool:
    return wanted is None or sum(map(len, held)) >= wanted


def _take(
    held: list[Batch], wanted: int | None, position: Position | None
) -> tuple[Batch, list[Batch]]:
    """The first samples of batches as one, and what is left."""
    taken: list[Batch] = []
    rest = list(held)
    missing = sum(map(len, held)) if wanted is None else wanted
    while missing:
        batch = rest.pop(0)
        if len(batch) > missing:
            rest.insert(0, _part(batch, missing, len(batch)))
            batch = _part(batch, 0, missing)
        else:
            position = batch.position
        taken.append(batch)
        missing -= len(batch)
    return _joined(taken, position), rest


def _part(batch: Batch, start: int, stop: int) -> Batch:
    part = slice(start, stop)
    return replace(
        batch,
        X=batch.X[part],
        labels=None if batch.labels is None else batch.labels[part],
        time=None if batch.time is None else batch.time[part],
        first=batch.first + start,
    )


def _joined(batches: list[Batch], position: Position | None) -> Batch:
    first = batches[0]
    if len(batches) == 1:
        return replace(first, position=position or {})
    return Batch(
        np.concatenate([batch.X for batch in batches]),
        _column([batch.labels for batch in batches]),
        _column([batch.time for batch in batches]),
        first.first,
        position or {},
    )


def _column(parts: list[Any]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)
