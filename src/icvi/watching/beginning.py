"""When a watch begins: with a full first batch, or with fewer samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, Full, Queue
from threading import Event, Thread

from icvi.streams import Batch, Source
from icvi.wording import short

_TICK = 0.1  # seconds between looks at the clock


@dataclass(frozen=True, slots=True)
class Gathering:
    """Samples that wait until there are enough of them.

    Parameters
    ----------
    samples, needed : int
        How many there are, and how many it takes.
    first : bool
        Whether it is the first batch.
    left : float, optional
        Seconds after which fewer will do.
    """

    samples: int
    needed: int
    first: bool
    left: float | None = None


class Beginning:
    """How many samples a watch begins with.

    Parameters
    ----------
    full : int or None
        Samples of a full first batch; None where nothing depends on it.
    begin : int or timedelta, optional
        Samples, or time since the first sample, after which fewer will do.

    Attributes
    ----------
    full : int or None
        Samples of a full first batch.
    size : int or None
        Samples to wait for.
    timed : bool
        Whether time decides.

    Examples
    --------
    >>> Beginning(1024, 100).size, Beginning(1024, timedelta(seconds=5)).size
    (100, 1024)
    """

    def __init__(
        self,
        full: int | None,
        begin: int | timedelta | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.full = self.size = full
        self.timed = isinstance(begin, timedelta)
        self._clock, self._asked = clock, begin is not None
        self._patience = begin.total_seconds() if isinstance(begin, timedelta) else 0.0
        self._since: float | None = None
        if begin is None:
            return
        if full is None:
            raise ValueError(
                "nothing waits for a first batch here, so begin (--begin) has no effect; leave it "
                "out"
            )
        if self.timed:
            if self._patience <= 0.0:
                raise ValueError(f"expected begin to be more than no time, got {begin}")
        elif isinstance(begin, bool) or not isinstance(begin, int) or not 1 <= begin <= full:
            raise ValueError(
                f"expected begin (--begin) as a number of samples from 1 to {full:,}, the size of "
                f"the first batch (--batch), or as a time such as 5s, got {short(begin)}"
            )
        else:
            self.size = begin

    def came(self) -> None:
        """There is a sample: from the first on, time counts."""
        if self._since is None:
            self._since = self._clock()

    @property
    def left(self) -> float | None:
        """Seconds until fewer samples will do; None where time does not decide."""
        if not self.timed or self._since is None:
            return None
        return max(self._since + self._patience - self._clock(), 0.0)

    def began(self, samples: int) -> int | None:
        """How many samples it began with, where that was left to `begin`."""
        return samples if self._asked else None

    def over(self) -> bool:
        """Whether the time is over."""
        return self.left == 0.0


def read_ahead(source: Source) -> Iterator[Batch | None]:
    """The batches of a source, and None now and then while it has nothing new.

    Another thread reads, one batch ahead, so that this one can look at the clock. It ends with the
    source, or when the source is closed.
    """
    queue: Queue[tuple[Batch | None, BaseException | None]] = Queue(1)
    stopped = Event()

    def put(batch: Batch | None, error: BaseException | None = None) -> bool:
        while not stopped.is_set():
            try:
                queue.put((batch, error), timeout=_TICK)
            except Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for batch in source:
                if not put(batch):
                    return
            put(None)
        except BaseException as error:  # for the thread that asks
            put(None, error)

    Thread(target=read, name="icvi-source", daemon=True).start()
    try:
        while True:
            try:
                batch, error = queue.get(timeout=_TICK)
            except Empty:
                yield None
                continue
            if error is not None:
                raise error
            if batch is None:
                return
            yield batch
    finally:
        stopped.set()
