"""The next entries of a Redis stream: our own position decides, the group helps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from icvi.streams.data_loss import DataLoss
from icvi.streams.redis.connection import Connection
from icvi.streams.redis.facts import START, Entry, Facts, following, order, text
from icvi.streams.redis.memory import Gap, Memory

_BLOCK = 200  # milliseconds the server waits for entries, so that close is noticed
_NO_KEY, _NO_GROUP, _THERE = "no such key", "NOGROUP", "BUSYGROUP"


class _NoStreamError(Exception):
    """There is nothing under the key."""


class _NoGroupError(Exception):
    """The stream has no such group."""


class _Seen(NamedTuple):
    """What one transaction found."""

    facts: Facts
    group: dict[str, Any]
    mine: Entry | None  # the entry read last, if it is still there
    upcoming: str | None  # the one that comes after it
    entries: list[Entry]


class RedisReader:
    """Reads a stream as one consumer of a group.

    Parameters
    ----------
    connection : Connection
        To the server.
    group, consumer : str
        The consumer group and the name in it.
    rows : int
        Entries at a time, at most.
    follow : bool
        Whether to wait for more at the end.
    loss : DataLoss
        Where gaps are reported.
    stopped : threading.Event
        Ends the wait.
    """

    def __init__(
        self,
        connection: Connection,
        group: str,
        consumer: str,
        *,
        rows: int,
        follow: bool,
        loss: DataLoss,
        stopped: threading.Event,
    ) -> None:
        self._connection, self._client, self._key = connection, connection.client, connection.key
        self._group, self._consumer, self._rows, self._follow = group, consumer, rows, follow
        self._loss, self._stopped = loss, stopped
        self._memory = Memory()
        self._placed = False  # whether our own position decides; before there is one, the group
        self._behind = True  # the group may have delivered what we have not read
        self._shared = False  # whether other consumers read from the group
        self._newest = START
        self._taken: list[str] = []  # not acknowledged yet
        self._failures = 0
        if connection.ask(self._look) is None and not follow:
            raise self._no_stream()

    def position(self) -> dict[str, Any]:
        """Where the reader is, as plain JSON."""
        mine = {"key": self._key, "group": self._group, "consumer": self._consumer}
        return {**mine, "shared": self._shared, **self._memory.position()}

    def start(self) -> dict[str, Any]:
        """A position before the first entry that the group would give now."""
        memory = Memory()
        memory.restart(*self._connection.ask(self._beginning))
        return {**self.position(), **memory.position()}

    def _beginning(self) -> tuple[str, int | None]:
        try:
            group = self._ask(None).group
        except (_NoStreamError, _NoGroupError):
            return START, None
        pending = self._client.xpending_range(
            self._key, self._group, min="-", max="+", count=1, consumername=self._consumer
        )
        if not pending:
            return self._delivered(group)
        first = text(pending[0]["message_id"])
        before = self._client.xrevrange(self._key, first, "-", count=2)
        return next((n for n, _ in _entries(before) if order(n) < order(first)), START), None

    def _delivered(self, group: dict[str, Any]) -> tuple[str, int | None]:
        """Up to where the group has delivered; its number only where the entry is trimmed."""
        last = text(group["last-delivered-id"])
        return last, None if last == START or self._find([last]) else group.get("entries-read")

    def resume(self, position: dict[str, Any]) -> None:
        """Continue after a position; what is gone since then is reported now."""
        self._memory.resume(position)
        self._placed, self._behind = True, True
        self._shared = bool(position.get("shared", False))
        self._connection.ask(self._verify)

    def commit(self, last: str) -> None:
        """Acknowledge the entries up to one."""
        done = [entry for entry in self._taken if order(entry) <= order(last)]
        for start in range(0, len(done), 1000):
            part = done[start : start + 1000]
            self._connection.ask(partial(self._client.xack, self._key, self._group, *part))
        self._taken = [entry for entry in self._taken if order(entry) > order(last)]

    def next(self) -> list[Entry]:
        """The next entries; none at the end or when closed."""
        while not self._stopped.is_set():
            entries = self._connection.ask(self._fetch)
            if entries:
                return entries
            if entries is not None:
                if not self._follow:
                    break
                self._connection.ask(self._wait)
        return []

    # -- one look at the server: entries, [] where there are none, None to look again ----------

    def _fetch(self) -> list[Entry] | None:
        if self._failures != self._connection.failures:  # an answer was lost, its entries were not
            self._failures, self._behind = self._connection.failures, True
        try:
            if not self._placed:
                return self._fetch_pending()
            return self._catch_up() if self._behind else self._fetch_new()
        except _NoStreamError:
            return self._without_stream()
        except _NoGroupError:
            self._without_group()
            return None

    def _fetch_new(self) -> list[Entry] | None:
        """What the group delivers next, which should be what comes next."""
        seen = self._ask(self._deliver(">"))
        if not self._shared and not self._check(seen):
            return None
        entries = self._after_last(seen.entries)
        if not self._shared and seen.upcoming != (entries[0][0] if entries else None):
            # Others share the group, or it was set back or forward.
            self._shared = bool(self._others())
            if not self._shared:
                self._behind = True
                return None
        elif self._shared and len(entries) < len(seen.entries):
            self._report(self._set_back())
        return self._take(entries, seen.facts)

    def _catch_up(self) -> list[Entry] | None:
        """What the group has delivered, or believes it has, and we have not read."""
        seen = self._ask(None)
        if not self._check_group(seen):
            return None
        if self._shared:
            entries = self._after_last(self._present(self._ask(self._deliver(self._memory.last))))
            if entries:
                return self._take(entries, seen.facts)
        else:
            delivered = text(seen.group["last-delivered-id"])
            if order(delivered) < order(self._memory.last):
                self._client.xgroup_setid(self._key, self._group, self._memory.last)
            else:
                seen = self._ask(self._range(delivered))
                if not self._check(seen):
                    return None
                if seen.entries:
                    return self._take(seen.entries, seen.facts)
        self._behind = False
        return None

    def _fetch_pending(self) -> list[Entry] | None:
        """Without a position: what this consumer has not acknowledged, then what the group says."""
        seen = self._ask(self._deliver(self._memory.last))
        if seen.entries:
            entries = self._present(seen)
            self._taken += [name for name, _ in seen.entries]
            if entries:
                self._memory.took(entries, seen.facts)
            # Some may have been acknowledged before: only the group knows how many there were.
            self._memory.last, self._memory.number = seen.entries[-1][0], None
            return entries or None
        delivered, number = self._delivered(seen.group)
        if order(delivered) > order(self._memory.last):
            self._memory.restart(delivered, number)
        self._placed, self._behind = True, False
        self._shared = bool(self._others())
        return None

    def _take(self, entries: list[Entry], facts: Facts) -> list[Entry]:
        if entries:
            self._taken += [name for name, _ in entries]
            self._memory.took(entries, facts)
            if self._shared:
                self._memory.number = None  # not all that there were
        return entries

    def _after_last(self, entries: list[Entry]) -> list[Entry]:
        """Those after our position; the others are acknowledged with what we have read."""
        last = order(self._memory.last)
        self._taken += [name for name, _ in entries if order(name) <= last]
        return [entry for entry in entries if order(entry[0]) > last]

    def _present(self, seen: _Seen) -> list[Entry]:
        """Entries that were delivered, without those that are gone since."""
        entries = [entry for entry in seen.entries if entry[1]]
        lost = len(seen.entries) - len(entries)
        if lost:
            one = "1 entry was" if lost == 1 else f"{lost:,} entries were"
            first = next(name for name, fields in seen.entries if not fields)
            what = (
                f"{one} deleted from the stream before being processed, the first of them {first}"
            )
            self._report(Gap(what, lost))
        return entries

    # -- what changed ------------------------------------------------------------------------

    def _verify(self) -> None:
        """Report what changed since the position, and acknowledge what was read before it."""
        try:
            seen = self._ask(None)
        except _NoStreamError:
            self._without_stream()
        except _NoGroupError:
            self._without_group()
            self._verify()
        else:
            self._check_group(seen)
            self._acknowledge_up_to(self._memory.last)

    def _check_group(self, seen: _Seen) -> bool:
        """Find out who decides what we read next; whether that can be read now."""
        names, delivered = self._consumers(), text(seen.group["last-delivered-id"])
        # Once shared, always shared: what another read is not ours because it has left.
        self._shared = self._shared or any(name != self._consumer for name in names)
        if self._shared:
            if self._consumer not in names or order(delivered) < order(self._memory.last):
                self._report(self._set_back())
            return True
        if self._memory.number is None and delivered == self._memory.last and seen.mine is None:
            self._memory.number = seen.group.get("entries-read")
        return self._check(seen)

    def _check(self, seen: _Seen) -> bool:
        """Report entries that are gone; False where the position has changed by that."""
        facts, mine = seen.facts, seen.mine
        why = self._memory.replaced(mine, facts)
        if why is not None:
            self._replaced(why)
            return False
        self._report(self._memory.trimmed(mine, facts))
        if seen.upcoming is None:
            self._report(self._memory.deleted(facts))
        return True

    def _replaced(self, why: str) -> None:
        unread = self._memory.unread
        lost = f"{unread:,} entries that were there and had not been read are lost"
        self._behind = True
        if self._memory.same_stream(self._find):
            what = f"the server has returned to an earlier state of the stream: {why}"
            if unread:
                self._report(Gap(f"{what}; at least {lost}", unread))
            else:
                what += "; entries that it lost before they were read are not counted"
                self._report(Gap(what, 0))
            self._memory.went_back()
            return
        what = f"another stream is under this key: {why}"
        what += f"; {lost}" if unread else ""
        self._report(Gap(f"{what}; it would be read from its beginning", unread or None))
        self._memory.restart()

    def _without_stream(self) -> list[Entry]:
        memory = self._memory
        if self._placed and memory.last != START:
            unread = memory.unread
            lost = f"; {unread:,} entries that had not been read are lost" if unread else ""
            self._report(
                Gap(f"the stream is gone, deleted or expired{lost}; {memory.last} was the last "
                    f"entry read", unread or None)
            )  # fmt: skip
            memory.restart()
        elif not self._follow:
            raise self._no_stream()
        self._newest = START
        return []

    def _without_group(self) -> None:
        """Create the group, where our position is."""
        if self._placed and self._shared:
            self._report(self._set_back())
        self._shared = False
        try:
            # Not MKSTREAM: reading must not create what is read.
            last = self._memory.last if self._placed else START
            self._client.xgroup_create(self._key, self._group, id=last)
        except Exception as error:
            gone = self._connection.refused(error, "requires the key to exist")
            if not gone and not self._connection.refused(error, _THERE):
                raise

    def _set_back(self) -> Gap:
        return Gap(
            f"the group {self._group!r} was deleted or set back, and other consumers share it: "
            f"only the group knew who had read what, so entries may be lost or counted twice"
        )

    def _report(self, gap: Gap | None) -> None:
        if gap is None:
            return
        what = f"{self._connection.where}: {gap.text}"
        if gap.samples == 0:
            self._loss.note(what)
        else:
            self._loss.report(what, gap.samples)

    def _no_stream(self) -> ValueError:
        return ValueError(
            f"{self._connection.where}: there is no stream under this key; is it spelt right? "
            f"follow=True waits for its first entry"
        )

    # -- the server ----------------------------------------------------------------------------

    def _ask(self, read: Callable[[Any], Any] | None) -> _Seen:
        """Facts and entries of one moment."""
        last = self._memory.last
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
                if self._connection.refused(answer, _NO_KEY):
                    raise _NoStreamError
                if self._connection.refused(answer, _NO_GROUP):
                    raise _NoGroupError
                raise answer
        facts = Facts.of(answers[0])
        self._newest = facts.newest
        groups = [group for group in answers[1] if text(group["name"]) == self._group]
        if not groups:
            raise _NoGroupError
        mine, upcoming = _entries(answers[2]), _entries(answers[3])
        return _Seen(
            facts,
            groups[0],
            mine[0] if mine else None,
            upcoming[0][0] if upcoming else None,
            _entries(answers[4]) if read is not None else [],
        )

    def _deliver(self, since: str) -> Callable[[Any], Any]:
        """New entries (``>``), or those delivered to this consumer and not acknowledged."""
        streams = {self._key: since}
        return lambda pipe: pipe.xreadgroup(self._group, self._consumer, streams, count=self._rows)

    def _range(self, until: str) -> Callable[[Any], Any]:
        since = following(self._memory.last)
        return lambda pipe: pipe.xrange(self._key, since, until, count=self._rows)

    def _look(self) -> Facts | None:
        try:
            return Facts.of(self._client.xinfo_stream(self._key))
        except Exception as error:
            if self._connection.refused(error, _NO_KEY):
                return None
            raise

    def _wait(self) -> None:
        """Until there are entries newer than the newest one seen, or for a moment."""
        self._client.xread({self._key: self._newest}, count=1, block=_BLOCK)

    def _find(self, names: Sequence[str]) -> list[Entry]:
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.xrange(self._key, name, name)
            return [entry for answer in pipe.execute() for entry in _entries(answer)]

    def _consumers(self) -> list[str]:
        return [text(each["name"]) for each in self._client.xinfo_consumers(self._key, self._group)]

    def _others(self) -> list[str]:
        return [name for name in self._consumers() if name != self._consumer]

    def _acknowledge_up_to(self, last: str) -> None:
        while True:
            pending = self._client.xpending_range(
                self._key, self._group, min="-", max=last, count=1000, consumername=self._consumer
            )
            if not pending:
                return
            self._client.xack(self._key, self._group, *(part["message_id"] for part in pending))


def _entries(answer: Any) -> list[Entry]:
    """Entries out of the answer to XRANGE or XREADGROUP, in either protocol."""
    if isinstance(answer, dict):
        answer = [entry for found in answer.values() for part in found for entry in part]
    elif answer and isinstance(answer[0], list):
        answer = answer[0][1]
    return [(text(name), fields) for name, fields in answer or ()]
