"""Batches of the sizes that a clusterer needs, whatever sizes the source gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from icvi.streams import Batch, Position
from icvi.streams.batch import concatenate

#: Given how many samples have been processed: how many must come at once, or None for any number.
SizeOf = Callable[[int], int | None]


class Rebatched(Iterator[Batch | None]):
    """Batches of the sizes asked for; the last one may be smaller. None where nothing has come.

    Attributes
    ----------
    gathered : int
        Samples that wait until there are enough of them.
    needed : int or None
        How many that is; None where any number will do.
    """

    def __init__(
        self,
        batches: Iterable[Batch | None],
        size_of: SizeOf,
        *,
        start: int = 0,
        position: Position | None = None,
        fewer: Callable[[], bool] = lambda: False,
    ) -> None:
        self.gathered, self.needed = 0, size_of(start)
        self._size_of, self._fewer = size_of, fewer
        self._pieces = self._iterate(batches, start, position)

    def __next__(self) -> Batch | None:
        return next(self._pieces)

    def _iterate(
        self, batches: Iterable[Batch | None], start: int, position: Position | None
    ) -> Iterator[Batch | None]:
        waiting: list[Batch] = []
        for batch in batches:
            if batch is not None:
                if batch.stop <= start:
                    position = batch.position
                    continue
                new = batch if batch.first >= start else batch.slice(start - batch.first)
                waiting.append(new)
                self.gathered += len(new)
            while self.gathered and self._enough():
                whole = self.needed is None or self.gathered < self.needed
                first, waiting = _split(waiting, None if whole else self.needed, position)
                start, position = first.stop, first.position
                self.gathered -= len(first)
                yield first
                self.needed = self._size_of(start)
            if batch is None:
                yield None
        if waiting:
            self.gathered = 0
            yield _split(waiting, None, position)[0]

    def _enough(self) -> bool:
        return self.needed is None or self.gathered >= self.needed or self._fewer()


def rebatch(
    batches: Iterable[Batch | None],
    size_of: SizeOf,
    *,
    start: int = 0,
    position: Position | None = None,
    fewer: Callable[[], bool] = lambda: False,
) -> Rebatched:
    """Batches of the sizes asked for; the last one may be smaller.

    Parameters
    ----------
    batches : iterable of Batch or None
        From a source that has been sent to `position`; None where it has nothing new at present.
    size_of : callable
        How many samples must come at once.
    start : int
        Samples that have been processed; what the source gives of them again is left out.
    position : dict, optional
        Where the source was sent to.
    fewer : callable
        Whether fewer samples will do by now; asked whenever the source has given something.

    Returns
    -------
    Rebatched
        Iterate it to get each batch, and None where there is nothing new. A position may lie before
        the last sample: inside a batch of the source there is none. To resume after it, send a
        source there and give ``start=batch.stop``.
    """
    return Rebatched(batches, size_of, start=start, position=position, fewer=fewer)


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
