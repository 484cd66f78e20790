"""Batches of the sizes that a clusterer needs, whatever sizes the source gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from icvi.streams import Batch, Position
from icvi.streams.batch import concatenate

#: Given how many samples have been processed: how many must come at once, or None for any number.
SizeOf = Callable[[int], int | None]


def rebatch(
    batches: Iterable[Batch], size_of: SizeOf, *, start: int = 0, position: Position | None = None
) -> Iterator[Batch]:
    """Batches of the sizes asked for; the last one may be smaller.

    Parameters
    ----------
    batches : iterable of Batch
        From a source that has been sent to `position`.
    size_of : callable
        How many samples must come at once.
    start : int
        Samples that have been processed; what the source gives of them again is left out.
    position : dict, optional
        Where the source was sent to.

    Yields
    ------
    Batch
        Its position may lie before its last sample: inside a batch of the source there is none. To
        resume after it, send a source there and give ``start=batch.stop``.
    """
    waiting: list[Batch] = []
    for batch in batches:
        if batch.stop <= start:
            position = batch.position
            continue
        waiting.append(batch if batch.first >= start else batch.slice(start - batch.first))
        while waiting and _enough(waiting, size_of(start)):
            first, waiting = _split(waiting, size_of(start), position)
            start, position = first.stop, first.position
            yield first
    if waiting:
        yield _split(waiting, None, position)[0]


def _enough(waiting: list[Batch], size: int | None) -> bool:
    return size is None or sum(map(len, waiting)) >= size


def _split(
    waiting: list[Batch], size: int | None, position: Position | None
) -> tuple[Batch, list[Batch]]:
    """The first samples of batches as one, and the rest."""
    taken: list[Batch] = []
    rest = list(waiting)
    missing = sum(map(len, waiting)) if size is None else size
    while missing:
        batch = rest.pop(0)
        if len(batch) > missing:
            rest.insert(0, batch.slice(missing))
            batch = batch.slice(0, missing)
        else:
            # The source can only be sent to the end of one of its batches: from there, the samples
            # of the batch that is divided come again.
            position = batch.position
        taken.append(batch)
        missing -= len(batch)
    return replace(concatenate(taken), position=position or {}), rest
