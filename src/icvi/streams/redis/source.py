"""Samples in a Redis stream, read as one consumer of a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from icvi.labels import label_array
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.redis.connection import Connection
from icvi.streams.redis.facts import Entry, Fields
from icvi.streams.redis.reader import RedisReader
from icvi.streams.rows import Rows
from icvi.streams.source import Source, as_rows, refuse_position
from icvi.streams.times import Times
from icvi.streams.values import is_number, read_label, read_number


class RedisSource(Source):
    """Reads entries of a Redis stream: one field per column, numbers as text.

    Parameters
    ----------
    url : str
        ``redis://host:port/db/key``; a key with special characters is percent-encoded. A key that
        is not there is an error, or waited for where `follow` is given; it is never created.
    wanted : Wanted
        Which fields to read; by default those of the first entries that hold numbers.
    rows : int
        Entries of a batch, at most.
    bad_rows : {"error", "skip"}
        What to do with an entry that is no sample.
    follow : bool
        Wait for more entries at the end of the stream; otherwise that is the end.
    on_data_loss : {"stop", "continue"}
        What to do when entries are gone that were never read, or the stream is another one.
    group, consumer : str
        The consumer group, created if it is not there (from the beginning of the stream), and the
        name in it. One that comes back under the same name, without a position, gets first what it
        had not acknowledged.
    patience : float
        Seconds to keep trying when the server cannot be reached.

    Notes
    -----
    The position decides what is read next; the group only helps. Entries at or before the position
    are dropped, and those after it are read, whatever the group says: it may have been deleted, set
    back or set forward. Only where other consumers share the group does it decide who reads what.
    Without a position, the group is all there is: entries stay pending until `commit` acknowledges
    them, and are delivered at least once.

    The server numbers its entries (from Redis 7 on), so that entries which were trimmed or deleted
    before they were read are counted. Earlier versions can only say that some may be missing.
    """

    def __init__(
        self,
        url: str,
        wanted: Wanted,
        *,
        rows: int = 8192,
        bad_rows: str = "error",
        follow: bool = False,
        on_data_loss: str = "stop",
        group: str = "icvi",
        consumer: str = "icvi",
        patience: float = 30.0,
    ) -> None:
        super().__init__(bad_rows, on_data_loss)
        self._connection = Connection(url, patience, self._stopped)
        self._where, self._wanted = self._connection.where, wanted
        self._mine = {"key": self._connection.key, "group": group, "consumer": consumer}
        self._chosen: Chosen | None = None
        self._times = Times()
        self._waiting: list[Entry] = []  # taken to know the columns, not handed on yet
        self._reader = RedisReader(
            self._connection,
            group,
            consumer,
            rows=as_rows(rows),
            follow=follow,
            loss=self._loss,
            stopped=self._stopped,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; takes the first entries if it must."""
        if self._chosen is None:
            self._waiting = self._entries()
        return self._chosen.features if self._chosen is not None else ()

    def start(self) -> Position:
        """The entry after which the group would begin."""
        return {**self._reader.start(), "row": 0, "skipped": 0}

    def seek(self, position: Position) -> None:
        """Resume after an entry; those of this consumer up to it are acknowledged."""
        theirs = {name: position.get(name) for name in self._mine}
        if theirs != self._mine:
            raise refuse_position(self._where, f"it is of {theirs}, and this is {self._mine}")
        chosen = Chosen.of(position)
        if chosen is not None and not self._wanted.accepts(chosen):
            raise refuse_position(self._where, f"its columns were {chosen.names}")
        self._loss.resume(position)
        self._reader.resume(position)
        self._chosen, self._times, self._waiting = chosen, Times(position.get("time_kind")), []
        self._row, self._bad.count = int(position["row"]), int(position["skipped"])

    def commit(self, position: Position) -> None:
        """Acknowledge the entries up to a position: they are not delivered again."""
        self._reader.commit(str(position["id"]))

    def _release(self) -> None:
        # What is not acknowledged stays pending.
        self._connection.client.close()

    def _read(self) -> Batch | None:
        while entries := self._entries():
            rows = self._decode(entries)
            if rows.number:
                first = self._row
                self._row += rows.number
                return Batch(rows.X, rows.labels, rows.time, first, self._position())
        return None

    def _entries(self) -> list[Entry]:
        """The next entries; none at the end or when closed."""
        entries, self._waiting = self._waiting or self._reader.next(), []
        if entries and self._chosen is None:
            self._chosen = self._choose(entries)
        return entries

    def _choose(self, entries: list[Entry]) -> Chosen:
        numeric: dict[str, bool | None] = {}
        for _, fields in entries:
            for name, value in (fields or {}).items():
                text = value.decode(errors="replace")
                known = numeric.get(name.decode(errors="replace"))
                numeric[name.decode(errors="replace")] = (
                    known if known or not text.strip() else is_number(text)
                )
        return self._wanted.choose(list(numeric), numeric, self._where)

    def _decode(self, entries: list[Entry]) -> Rows:
        assert self._chosen is not None
        numbers: list[list[float]] = []
        labels: list[Any] = []
        times: list[Any] = []
        for entry, fields in entries:
            try:
                sample, label, moment = self._sample(fields, self._chosen)
            except ValueError as error:
                self._bad.report(f"{self._where}, entry {entry}{error}")
                continue
            numbers.append(sample)
            labels.append(label)
            times.append(moment)
        return Rows(
            np.array(numbers, dtype=np.float64).reshape(len(numbers), len(self._chosen.features)),
            None if self._chosen.label is None else label_array(labels),
            None if self._chosen.time is None else self._times.array(times),
        )

    def _sample(self, fields: Fields, chosen: Chosen) -> tuple[list[float], Any, Any]:
        assert fields is not None
        numbers = [_read(fields, name, read_number) for name in chosen.features]
        label = _read(fields, chosen.label, read_label)
        return numbers, label, _read(fields, chosen.time, self._times.read)

    def _position(self) -> Position:
        assert self._chosen is not None
        return {
            **self._reader.position(),
            **self._loss.position(),
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self._chosen.features),
            "label": self._chosen.label,
            "time": self._chosen.time,
            "time_kind": self._times.kind,
        }


def _read(fields: dict[bytes, bytes], name: str | None, read: Callable[[str], Any]) -> Any:
    if name is None:
        return None
    value = fields.get(name.encode())
    if value is None:
        raise ValueError(f", column {name!r}: the field is missing")
    try:
        return read(value.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f", column {name!r}: {value[:40]!r} is not UTF-8 ({error})") from None
    except ValueError as error:
        raise ValueError(f", column {name!r}: {error}") from None
