"""What every source of samples can do."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from icvi.streams.bad_rows import BadRows
from icvi.streams.batch import Batch, Position
from icvi.streams.data_loss import DataLoss
from icvi.wording import short


class Source(ABC):
    """A stream of samples, read once, batch by batch.

    Iterating gives each `Batch` once; iterating again goes on after the last one. A source is a
    context manager that closes itself. After an error it is closed: what follows an unusable row
    is never read as if nothing had been.

    Attributes
    ----------
    length : int or None
        Samples in all (rows left out included), where that is known beforehand.
    size, done : int or None
        Bytes in all and bytes read, for a progress bar where the length is not known.
    """

    length: int | None = None
    size: int | None = None
    done: int | None = None

    def __init__(self, bad_rows: str = "error", on_data_loss: str = "stop") -> None:
        self._bad = BadRows(bad_rows)
        self._loss = DataLoss(on_data_loss)
        self._stopped = threading.Event()
        self._reading = threading.RLock()  # held while a batch is read
        self._row = 0  # number of the next sample

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the features; reads the first rows if it must."""

    @property
    def skipped(self) -> int:
        """Rows left out so far."""
        return self._bad.count

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the first of them were left out."""
        return tuple(self._bad.reasons)

    @property
    def lost(self) -> int:
        """Samples that are known to be lost: gone before they were read."""
        return self._loss.count

    @property
    def losses(self) -> tuple[str, ...]:
        """What was lost, or changed so that something may be."""
        return tuple(self._loss.reasons)

    def start(self) -> Position:
        """Where reading would begin now; empty where that is always the same place.

        A position of what changes by itself: a followed file may be rotated, and a consumer group
        be deleted, before the first batch has been stored.
        """
        return {}

    @abstractmethod
    def seek(self, position: Position) -> None:
        """Go on after the batch that had this position; refuses one of another source."""

    def commit(self, position: Position) -> None:  # noqa: B027  most sources have nothing to do
        """Everything up to this position is dealt with; only queues need to know."""

    def close(self) -> None:
        """Let go of files and connections; ends an iteration that waits in another thread."""
        self._stopped.set()
        # A thread that is reading lets go itself, when it comes out.
        if self._reading.acquire(blocking=False):
            try:
                self._release()
            finally:
                self._reading.release()

    def _release(self) -> None:  # noqa: B027  arrays hold nothing
        """Let go of files and connections; may be called again."""

    @property
    def closed(self) -> bool:
        """Whether there is nothing more to be had."""
        return self._stopped.is_set()

    @abstractmethod
    def _read(self) -> Batch | None:
        """The next batch; None at the end or when closed."""

    def __iter__(self) -> Iterator[Batch]:
        if self.closed:
            raise ValueError("this source is closed; open it again to read from it")
        return self._iterate()

    def _iterate(self) -> Iterator[Batch]:
        while not self.closed:
            try:
                with self._reading:
                    batch = self._read()
            except Exception:
                self.close()
                raise
            if self._stopped.is_set():  # meanwhile, by another thread
                self.close()
            if batch is None:
                return
            yield batch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def refuse_position(where: str, why: str) -> ValueError:
    """The error for a position that does not belong here."""
    return ValueError(
        f"{where}: this position is of another stream: {why}; start from the beginning"
    )


def as_rows(rows: int) -> int:
    """How many rows a batch has at most."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ValueError(f"expected rows to be a whole number from 1 on, got {short(rows)}")
    return rows
