"""Samples in a Redis stream, read as one consumer of a group."""

from __future__ import annotations

from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.redis.connection import Connection
from icvi.streams.redis.consumer import Consumer
from icvi.streams.redis.reader import RedisReader
from icvi.streams.redis.stream_info import Entry, Fields
from icvi.streams.row_by_row import Sample, read_rows, read_sample
from icvi.streams.source import Source, refuse_position
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
        What to do with an entry that is not a valid sample.
    follow : bool
        Wait for more entries at the end of the stream; otherwise that is the end.
    on_data_loss : {"stop", "continue"}
        What to do when entries were lost before they were read, or the stream is another one.
    group, consumer : str
        The consumer group, created if it is not there (from the beginning of the stream), and the
        name in it. A consumer that returns under the same name, without a position, first gets what
        it had not acknowledged.
    patience : float
        Seconds to keep trying when the server cannot be reached.

    Notes
    -----
    The position decides what is read next; the group only helps. Entries at or before the position
    are dropped, and those after it are read, whatever the group delivers: it may have been
    deleted, moved back or moved forward. Only where other consumers share it does it decide who
    reads what.
    Without a position, the group is all there is: entries stay pending until `commit` acknowledges
    them, and are delivered at least once.

    The server numbers its entries (from Redis 7 on), so that entries which were trimmed or deleted
    before they were read are counted. Earlier servers can only report that some may be missing.
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
        super().__init__(wanted, rows=rows, bad_rows=bad_rows, on_data_loss=on_data_loss)
        self._connection = Connection(url, patience, self._stopped)
        self._where = self._connection.where
        self._mine = {"key": self._connection.key, "group": group, "consumer": consumer}
        self._pending: list[Entry] = []  # read to know the columns, not handed on yet
        self._reader = RedisReader(
            self._connection,
            Consumer(self._connection, group, consumer, self._rows),
            follow=follow,
            loss=self._loss,
            stopped=self._stopped,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; reads the first entries if necessary."""
        if self._chosen is None:
            self._pending = self._entries()
        return self._chosen.features if self._chosen is not None else ()

    def start(self) -> Position:
        """The entry after which the group would begin to deliver."""
        return {**self._mine, **self._reader.start(), "row": 0, "skipped": 0}

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
        self._chosen, self._pending = chosen, []
        self._resume(position)

    def commit(self, position: Position) -> None:
        """Acknowledge the entries up to a position: they are not delivered again."""
        self._reader.commit(str(position["id"]))

    def _release(self) -> None:
        # What is not acknowledged stays pending.
        self._connection.client.close()

    def _read_rows(self) -> Batch | None:
        entries = self._entries()
        if not entries:
            return None
        assert self._chosen is not None
        rows = ((f"{self._where}, entry {name}", fields) for name, fields in entries)
        return read_rows(rows, self._sample, self._chosen, self._times, self._bad)

    def _entries(self) -> list[Entry]:
        """The next entries; none at the end or when closed."""
        entries, self._pending = self._pending or self._reader.next(), []
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

    def _sample(self, fields: Fields) -> Sample:
        assert fields is not None
        assert self._chosen is not None

        def value(name: str) -> str:
            found = fields.get(name.encode())
            if found is None:
                raise ValueError("the field is missing")
            try:
                return found.decode()
            except UnicodeDecodeError as error:
                raise ValueError(f"{found[:40]!r} is not UTF-8 ({error})") from None

        return read_sample(
            value, self._chosen, number=read_number, label=read_label, time=self._times.read
        )

    def _position(self) -> Position:
        place = {**self._mine, **self._reader.position()}
        return {**place, **self._loss.position(), **self._common_position()}
