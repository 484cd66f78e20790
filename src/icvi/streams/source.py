"""What every source of samples can do."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Self

from icvi.streams.bad_rows import BadRows
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted, described_columns
from icvi.streams.data_loss import DataLoss
from icvi.streams.stopping import NothingNewError, Stopped
from icvi.streams.times import Times
from icvi.wording import short


class Source(ABC):
    """A stream of samples, read once, batch by batch.

    Iterating gives each `Batch` once; iterating again resumes after the last one. A source is a
    context manager that closes itself. An error closes it, too: rows after an invalid one are
    never read as if nothing had happened.

    Parameters
    ----------
    wanted : Wanted
        Which columns to read.
    rows : int
        Rows of a batch, at most.
    bad_rows : {"error", "skip"}
        What to do with a row that is not a valid sample.
    on_data_loss : {"stop", "continue"}
        What to do when samples are lost before they were read.

    Attributes
    ----------
    length : int or None
        Samples in all (skipped rows included), where that is known beforehand.
    size, done : int or None
        Bytes in all and bytes read, for a progress bar where the length is not known.
    pause : float
        Seconds after which single samples that were gathered for a batch are handed on.
    """

    length: int | None = None
    size: int | None = None
    done: int | None = None
    pause: float = math.inf

    def __init__(
        self,
        wanted: Wanted,
        *,
        rows: int = 8192,
        bad_rows: str = "error",
        on_data_loss: str = "stop",
    ) -> None:
        self._wanted, self._rows = wanted, as_rows(rows)
        self._bad, self._loss = BadRows(bad_rows), DataLoss(on_data_loss)
        self._chosen: Chosen | None = None  # until the columns are known
        self._times = Times()
        self._row = 0  # number of the next sample
        self._stopped = Stopped()
        self._reading = threading.RLock()  # locked while a batch is read

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the features; reads the first rows if necessary."""

    @property
    def skipped(self) -> int:
        """Rows skipped so far."""
        return self._bad.count

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the first of them were skipped."""
        return tuple(self._bad.reasons)

    @property
    def lost(self) -> int:
        """Samples that are known to be lost: gone before they were read."""
        return self._loss.count

    @property
    def losses(self) -> tuple[str, ...]:
        """What was lost, or changed in a way that may have lost samples."""
        return tuple(self._loss.reasons)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the source is read, where that is not the ordinary way: its dialect, its columns.

        Known as soon as the first rows were read; empty after `seek`, where it was reported before.
        """
        columns = () if self._chosen is None else described_columns(self._chosen)
        return (*self._dialect_notes(), *columns)

    @property
    def chosen(self) -> Chosen | None:
        """Features, label and time, and why other columns are left out; None before any row."""
        return self._chosen

    def while_waiting(self, call: Callable[[], object]) -> None:
        """Have a function called now and then while the source waits for samples."""
        self._stopped.alive = call

    def start(self) -> Position:
        """Where reading would begin now; empty where that is always the same place.

        A source that can change by itself needs this position: a followed file may be rotated, and
        a consumer group be deleted, before the first checkpoint stores the position of a batch.
        """
        return {}

    @abstractmethod
    def seek(self, position: Position) -> None:
        """Resume after the batch that had this position; refuses one of another source."""

    def commit(self, position: Position) -> None:  # noqa: B027  most sources have nothing to do
        """Everything up to this position is processed; only queues need to know."""

    def close(self) -> None:
        """Release files and connections; ends an iteration that waits in another thread."""
        self._stopped.set()
        # A thread that is reading releases them itself as soon as it is done.
        if self._reading.acquire(blocking=False):
            try:
                self._release()
            finally:
                self._reading.release()

    @property
    def closed(self) -> bool:
        """Whether it was closed, by the caller or by an error."""
        return self._stopped.is_set()

    def __iter__(self) -> Iterator[Batch]:
        return (batch for batch in self.batches() if batch is not None)

    def batches(self, pause: float = math.inf) -> Iterator[Batch | None]:
        """The same batches, and None whenever nothing has come for so many seconds.

        Files that are followed, pipes and servers can tell; an iterable cannot.
        """
        if self.closed:
            raise ValueError("this source is closed; open it again to read from it")
        return self._iterate(pause)

    def _iterate(self, pause: float) -> Iterator[Batch | None]:
        while not self.closed:
            self._stopped.begin(pause)
            try:
                with self._reading:
                    batch = self._read()
            except NothingNewError:
                yield None
                continue
            except Exception:
                self.close()
                raise
            finally:
                self._stopped.begin(math.inf)
            if self._stopped.is_set():  # meanwhile, by another thread
                self.close()
            if batch is None:
                return
            yield batch

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- for subclasses --------------------------------------------------------------------

    @abstractmethod
    def _read_rows(self) -> Batch | None:
        """The valid ones of the next rows, perhaps none; None at the end or when closed."""

    @abstractmethod
    def _position(self) -> Position:
        """Where to resume after the rows read last."""

    def _dialect_notes(self) -> tuple[str, ...]:
        """How the file is spelt; empty where it is an ordinary one."""
        return ()

    def _release(self) -> None:  # noqa: B027  arrays need no closing
        """Close files and connections; may be called again."""

    def _read(self) -> Batch | None:
        """The next batch, numbered; None at the end or when closed."""
        while (rows := self._read_rows()) is not None:
            if len(rows):
                first = self._row
                self._row += len(rows)
                position = self._position()
                return Batch(rows.X, rows.labels, rows.time, first, position, rows.truth)
        return None

    def _common_position(self) -> Position:
        """What positions of files and servers have in common."""
        assert self._chosen is not None
        truth = self._chosen.truth
        return {
            **({} if truth is None else {"truth": truth}),
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self._chosen.features),
            "label": self._chosen.label,
            "time": self._chosen.time,
            "time_kind": self._times.kind,
        }

    def _resume(self, position: Position) -> None:
        """Restore the counts, and the kind of times; a position before all rows has none."""
        self._row, self._bad.count = int(position["row"]), int(position["skipped"])
        self._times = Times(position.get("time_kind"))


def refuse_position(where: str, why: str) -> ValueError:
    """The error for a position that belongs to another source."""
    return ValueError(
        f"{where}: this position is of another stream: {why}; start from the beginning"
    )


def as_rows(rows: int) -> int:
    """How many rows a batch has at most."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ValueError(f"expected rows to be a whole number from 1 on, got {short(rows)}")
    return rows
