"""Samples in a Redis stream, read as one consumer of a group."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from icvi.optional import load
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.redis_address import parse_address
from icvi.streams.rows import Rows
from icvi.streams.source import Source, as_rows, refuse_position
from icvi.streams.times import Times
from icvi.streams.values import is_number, label_array, read_label, read_number

_T = TypeVar("_T")
_BLOCK = 200  # milliseconds the server waits for entries, so that close is noticed
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 5.0
_START = "0-0"

Entry = tuple[str, dict[bytes, bytes] | None]


class RedisSource(Source):
    """Reads entries of a Redis stream: one field per column, numbers as text.

    Parameters
    ----------
    url : str
        ``redis://host:port/db/key``; a key with special characters is percent-encoded.
    wanted : Wanted
        Which fields to read; by default those of the first entries that hold numbers.
    rows : int
        Entries of a batch, at most.
    bad_rows : {"error", "skip"}
        What to do with an entry that is no sample.
    follow : bool
        Wait for more entries at the end of the stream; otherwise that is the end.
    group, consumer : str
        The consumer group, made if it is not there (from the beginning of the stream), and the name
        in it. One that comes back under the same name gets first what it had not acknowledged.
    patience : float
        Seconds to keep trying when the server cannot be reached.

    Notes
    -----
    Entries are delivered at least once: they stay pending until `commit` acknowledges them. A loop
    that stores its results together with the position of a batch has them exactly once: after a
    restart, `seek` acknowledges what is stored already and goes on with the next entry.
    """

    def __init__(
        self,
        url: str,
        wanted: Wanted,
        *,
        rows: int = 8192,
        bad_rows: str = "error",
        follow: bool = False,
        group: str = "icvi",
        consumer: str = "icvi",
        patience: float = 30.0,
    ) -> None:
        super().__init__(bad_rows)
        self._redis = load("redis", "redis")
        server, self._key, self._where = parse_address(url)
        self._wanted, self._rows, self._follow = wanted, as_rows(rows), follow
        self._group, self._consumer, self._patience = group, consumer, patience
        self._client = self._connected(server)
        self._chosen: Chosen | None = None
        self._times = Times()
        self._last = _START  # the entry handed on last
        self._pending = True  # entries delivered before, to this consumer, come first
        self._taken: list[str] = []  # not acknowledged yet
        self._waiting: list[Entry] = []  # taken to know the columns, not handed on yet
        self._try(self._make_group)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; takes the first entries if it must."""
        if self._chosen is None:
            self._waiting = self._entries()
        return self._chosen.features if self._chosen is not None else ()

    def seek(self, position: Position) -> None:
        """Go on after an entry; those of this consumer up to it are acknowledged."""
        mine = {"key": self._key, "group": self._group, "consumer": self._consumer}
        theirs = {name: position.get(name) for name in mine}
        if theirs != mine:
            raise refuse_position(self._where, f"it is of {theirs}, and this is {mine}")
        chosen = Chosen(tuple(position["columns"]), position["label"], position["time"])
        if not self._wanted.accepts(chosen):
            raise refuse_position(self._where, f"its columns were {chosen.names}")
        self._chosen, self._times = chosen, Times(position["time_kind"])
        self._row, self._bad.count = int(position["row"]), int(position["skipped"])
        self._last = str(position["id"])
        self._try(lambda: self._acknowledge_up_to(self._last))

    def commit(self, position: Position) -> None:
        """Acknowledge the entries up to a position: they are not delivered again."""
        last = _order(position["id"])
        done = [entry for entry in self._taken if _order(entry) <= last]
        for start in range(0, len(done), 1000):
            part = done[start : start + 1000]
            self._try(partial(self._client.xack, self._key, self._group, *part))
        self._taken = self._taken[len(done) :]

    def _release(self) -> None:
        # What is not acknowledged stays pending.
        self._client.close()

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
        if self._waiting:
            entries, self._waiting = self._waiting, []
            return entries
        while not self.closed:
            entries = self._try(self._fetch)
            if entries:
                self._last = entries[-1][0]
                self._taken += [entry for entry, _ in entries]
                if self._chosen is None:
                    self._chosen = self._choose(entries)
                return entries
            if self._pending:
                self._pending = False
            elif not self._follow:
                break
        return []

    def _fetch(self) -> list[Entry]:
        # After an answer that was lost, its entries are pending: ask for those after the last one.
        since = self._last if self._pending else ">"
        answer = self._client.xreadgroup(
            self._group,
            self._consumer,
            {self._key: since},
            count=self._rows,
            block=_BLOCK if self._follow and not self._pending else None,
        )
        if not answer:
            return []
        found = answer[0][1] if isinstance(answer, list) else next(iter(answer.values()))
        if found and isinstance(found[0], list):  # the newer protocol wraps them once more
            found = found[0]
        return [(entry.decode(), fields) for entry, fields in found]

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

    def _sample(
        self, fields: dict[bytes, bytes] | None, chosen: Chosen
    ) -> tuple[list[float], Any, Any]:
        if not fields:
            raise ValueError(": deleted from the stream before it was dealt with")
        numbers = [_read(fields, name, read_number) for name in chosen.features]
        label = _read(fields, chosen.label, read_label)
        return numbers, label, _read(fields, chosen.time, self._times.read)

    def _position(self) -> Position:
        assert self._chosen is not None
        return {
            "key": self._key,
            "group": self._group,
            "consumer": self._consumer,
            "id": self._last,
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self._chosen.features),
            "label": self._chosen.label,
            "time": self._chosen.time,
            "time_kind": self._times.kind,
        }

    def _make_group(self) -> None:
        try:
            self._client.xgroup_create(self._key, self._group, id=self._last, mkstream=True)
        except self._redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _acknowledge_up_to(self, last: str) -> None:
        while True:
            pending = self._client.xpending_range(
                self._key, self._group, min="-", max=last, count=1000, consumername=self._consumer
            )
            if not pending:
                return
            entries = [part["message_id"] for part in pending]
            self._client.xack(self._key, self._group, *entries)

    def _connected(self, server: str) -> Any:
        retry = load("redis.retry", "redis").Retry(load("redis.backoff", "redis").NoBackoff(), 0)
        # Waiting is done here, where it can say what it waits for and be stopped.
        try:
            client = self._redis.Redis.from_url(
                server, retry=retry, socket_connect_timeout=5.0, socket_timeout=10.0
            )
            client.connection_pool.make_connection()  # has it look at the options
        except (TypeError, ValueError):  # whose message may quote a part of a password
            raise ValueError(
                f"{self._where}: the options after ? are not those of a Redis client, such as "
                f"?protocol=3 (& in a password is written %26)"
            ) from None
        return client

    def _try(self, action: Callable[[], _T]) -> _T:
        """Ask the server, again and again while it cannot be reached."""
        delay, start = _FIRST_DELAY, time.monotonic()
        while True:
            try:
                return action()
            except (self._redis.ConnectionError, self._redis.TimeoutError) as error:
                if isinstance(error, self._redis.AuthenticationError):
                    raise ValueError(f"{self._where}: {error}") from error
                self._pending = True
                waited = time.monotonic() - start
                if self.closed or waited + delay > self._patience:
                    raise ConnectionError(
                        f"{self._where}: no answer for {waited:.1f} s ({error}); is the server "
                        f"running and the address right? What is not acknowledged is delivered "
                        f"again after a restart; patience=... waits longer"
                    ) from error
                self._stopped.wait(delay)
                delay = min(2.0 * delay, _LONGEST_DELAY)
            except self._redis.ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise ValueError(f"{self._where}: {error}") from error
                self._make_group()  # the server came back without it


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


def _order(entry: str) -> tuple[int, int]:
    milliseconds, _, number = entry.partition("-")
    return int(milliseconds), int(number or 0)
