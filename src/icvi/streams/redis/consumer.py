"""The commands sent to a Redis server by one consumer of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from icvi.streams.redis.connection import Connection
from icvi.streams.redis.stream_info import START, Entry, StreamInfo, following, order, text

_BLOCK = 200  # milliseconds the server waits for entries, so that close is noticed
AT_ONCE = 1000  # entries acknowledged by one command
_NO_KEY, _NO_GROUP, _GROUP_EXISTS = "no such key", "NOGROUP", "BUSYGROUP"

#: Adds one command, which gives entries, to a transaction.
ReadCommand = Callable[[Any], Any]


class NoStreamError(Exception):
    """There is nothing under the key."""


class NoGroupError(Exception):
    """The stream has no such group."""


class Snapshot(NamedTuple):
    """What one transaction found: everything in it is of one moment."""

    info: StreamInfo
    group: dict[str, Any]
    mine: Entry | None  # the entry read last, if it is still there
    upcoming: str | None  # the one that comes after it
    entries: list[Entry]


class Consumer:
    """Asks the server; nothing is remembered here but the newest entry, and nothing retried.

    Parameters
    ----------
    connection : Connection
        To the server.
    group, name : str
        The consumer group and the name in it.
    rows : int
        Entries at a time, at most.

    Attributes
    ----------
    newest : str
        The newest entry of the stream in the last snapshot.
    """

    def __init__(self, connection: Connection, group: str, name: str, rows: int) -> None:
        self._connection, self._client, self._key = connection, connection.client, connection.key
        self.group, self.name, self._rows = group, name, rows
        self.newest = START

    def info(self) -> StreamInfo | None:
        """The stream now; None if there is none."""
        try:
            return StreamInfo.of(self._client.xinfo_stream(self._key))
        except Exception as error:
            if self._connection.is_answer(error, _NO_KEY):
                return None
            raise

    def snapshot(self, last: str, read: ReadCommand | None = None) -> Snapshot:
        """Stream, group and entries after the one read last, all of one moment."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.xinfo_stream(self._key)
            pipe.xinfo_groups(self._key)
            pipe.xrange(self._key, last, last)
            pipe.xrange(self._key, following(last), "+", count=1)
            if read is not None:
                read(pipe)
            answers = pipe.execute(raise_on_error=False)
        for answer in answers:
            if isinstance(answer, Exception):
                if self._connection.is_answer(answer, _NO_KEY):
                    raise NoStreamError
                if self._connection.is_answer(answer, _NO_GROUP):
                    raise NoGroupError
                raise answer
        info = StreamInfo.of(answers[0])
        self.newest = info.newest
        groups = [group for group in answers[1] if text(group["name"]) == self.group]
        if not groups:
            raise NoGroupError
        mine, upcoming = _entries(answers[2]), _entries(answers[3])
        return Snapshot(
            info,
            groups[0],
            mine[0] if mine else None,
            upcoming[0][0] if upcoming else None,
            _entries(answers[4]) if read is not None else [],
        )

    def delivery(self, since: str) -> ReadCommand:
        """New entries (``>``), or those delivered to this consumer and not acknowledged."""
        streams = {self._key: since}
        return lambda pipe: pipe.xreadgroup(self.group, self.name, streams, count=self._rows)

    def range(self, last: str, until: str) -> ReadCommand:
        """Entries after one and up to another, whatever the group has delivered."""
        since = following(last)
        return lambda pipe: pipe.xrange(self._key, since, until, count=self._rows)

    def wait(self) -> None:
        """Until there are entries newer than the newest one seen, or for a moment."""
        self._client.xread({self._key: self.newest}, count=1, block=_BLOCK)

    def find(self, names: Sequence[str]) -> list[Entry]:
        """Entries by their identifiers; those that are not in the stream are left out."""
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.xrange(self._key, name, name)
            return [entry for answer in pipe.execute() for entry in _entries(answer)]

    def before_pending(self) -> str | None:
        """The entry before those not acknowledged by this consumer; None if there are none."""
        pending = self._pending("+", 1)
        if not pending:
            return None
        first = pending[0]
        before = _entries(self._client.xrevrange(self._key, first, "-", count=2))
        return next((name for name, _ in before if order(name) < order(first)), START)

    def names(self) -> list[str]:
        """All consumers of the group."""
        return [text(each["name"]) for each in self._client.xinfo_consumers(self._key, self.group)]

    def create_group(self, last: str) -> None:
        """Create the group, to deliver what comes after an entry; only where there is a stream."""
        try:
            # Not MKSTREAM: reading must not create what is read.
            self._client.xgroup_create(self._key, self.group, id=last)
        except Exception as error:
            gone = self._connection.is_answer(error, "requires the key to exist")
            if not gone and not self._connection.is_answer(error, _GROUP_EXISTS):
                raise

    def move_group(self, last: str) -> None:
        """Have the group deliver what comes after an entry."""
        self._client.xgroup_setid(self._key, self.group, last)

    def acknowledge(self, names: Iterable[Any]) -> None:
        """Acknowledge entries: the server does not deliver them again."""
        self._client.xack(self._key, self.group, *names)

    def acknowledge_up_to(self, last: str) -> None:
        """Acknowledge all entries of this consumer up to one."""
        while pending := self._pending(last, AT_ONCE):
            self.acknowledge(pending)

    def _pending(self, until: str, count: int) -> list[str]:
        found = self._client.xpending_range(
            self._key, self.group, min="-", max=until, count=count, consumername=self.name
        )
        return [text(each["message_id"]) for each in found]


def _entries(answer: Any) -> list[Entry]:
    """Entries out of the answer to XRANGE or XREADGROUP, in either protocol."""
    if isinstance(answer, dict):
        answer = [entry for found in answer.values() for part in found for entry in part]
    elif answer and isinstance(answer[0], list):
        answer = answer[0][1]
    return [(text(name), fields) for name, fields in answer or ()]
