"""Which entries of a Redis stream come next: our own position decides, the group helps."""

from __future__ import annotations

from functools import partial
from typing import Any

from icvi.streams.data_loss import DataLoss
from icvi.streams.redis.bookmark import Bookmark, Gap, were
from icvi.streams.redis.connection import Connection
from icvi.streams.redis.consumer import AT_ONCE, Consumer, NoGroupError, NoStreamError, Snapshot
from icvi.streams.redis.stream_info import START, Entry, StreamInfo, order, text
from icvi.streams.stopping import Stopped


class RedisReader:
    """Reads a stream as one consumer of a group.

    A group may be deleted, moved back or moved forward by others, so it is not trusted: entries at
    or before our position are dropped, and entries that the group has passed over are read by
    their identifiers (`_catch_up`). Only where other consumers share the group must it decide,
    since only the group knows who has read what.

    Parameters
    ----------
    connection : Connection
        To the server.
    consumer : Consumer
        Of the group.
    follow : bool
        Whether to wait for more at the end.
    loss : DataLoss
        Where gaps are reported.
    stopped : Stopped
        Ends the wait.
    """

    def __init__(
        self,
        connection: Connection,
        consumer: Consumer,
        *,
        follow: bool,
        loss: DataLoss,
        stopped: Stopped,
    ) -> None:
        self._connection, self._consumer, self._follow = connection, consumer, follow
        self._loss, self._stopped = loss, stopped
        self._bookmark = Bookmark()
        self._placed = False  # whether our own position decides; before there is one, the group
        self._behind = True  # whether the group may have delivered what we have not read
        self._shared = False  # whether other consumers read from the group
        self._unacknowledged: list[str] = []
        self._failures = 0
        if connection.call(self._consumer.info) is None and not follow:
            raise self._no_stream()

    def position(self) -> dict[str, Any]:
        """Where the reader is, as plain JSON."""
        return {"shared": self._shared, **self._bookmark.position()}

    def start(self) -> dict[str, Any]:
        """A position before the first entry that the group would deliver now."""
        bookmark = Bookmark()
        bookmark.restart(*self._connection.call(self._beginning))
        return {**self.position(), **bookmark.position()}

    def resume(self, position: dict[str, Any]) -> None:
        """Resume after a position; what was lost since then is reported now."""
        self._bookmark.resume(position)
        self._placed, self._behind = True, True
        self._shared = bool(position.get("shared", False))
        self._connection.call(self._verify)

    def commit(self, last: str) -> None:
        """Acknowledge the entries up to one."""
        done = [entry for entry in self._unacknowledged if order(entry) <= order(last)]
        for start in range(0, len(done), AT_ONCE):
            some = done[start : start + AT_ONCE]
            self._connection.call(partial(self._consumer.acknowledge, some))
        self._unacknowledged = [e for e in self._unacknowledged if order(e) > order(last)]

    def next(self) -> list[Entry]:
        """The next entries; none at the end or when closed."""
        while not self._stopped.is_set():
            entries = self._connection.call(self._fetch)
            if entries:
                return entries
            if entries is not None:
                if not self._follow:
                    break
                self._connection.call(self._consumer.wait)
                self._stopped.look()
        return []

    # -- where to begin --------------------------------------------------------------------

    def _beginning(self) -> tuple[str, int | None]:
        try:
            group = self._snapshot().group
        except (NoStreamError, NoGroupError):
            return START, None
        before = self._consumer.before_pending()
        return self._delivered(group) if before is None else (before, None)

    def _delivered(self, group: dict[str, Any]) -> tuple[str, int | None]:
        """Up to where the group has delivered; its number only where the entry is trimmed."""
        last = text(group["last-delivered-id"])
        known = last == START or self._consumer.find([last])
        return last, None if known else group.get("entries-read")

    # -- one request: entries, [] where there are none, None to ask again ----------------------

    def _fetch(self) -> list[Entry] | None:
        if self._failures != self._connection.failures:  # an answer was lost, its entries were not
            self._failures, self._behind = self._connection.failures, True
        try:
            if not self._placed:
                return self._fetch_pending()
            return self._catch_up() if self._behind else self._fetch_new()
        except NoStreamError:
            return self._without_stream()
        except NoGroupError:
            self._without_group()
            return None

    def _fetch_new(self) -> list[Entry] | None:
        """What the group delivers next, which should be what comes next."""
        found = self._snapshot(">")
        if not self._shared and not self._check(found):
            return None
        entries = self._after_last(found.entries)
        if not self._shared and found.upcoming != (entries[0][0] if entries else None):
            # Others share the group, or it was moved back or forward.
            self._shared = self._is_shared(self._consumer.names())
            if not self._shared:
                self._behind = True
                return None
        elif self._shared and len(entries) < len(found.entries):
            self._report(self._moved_back())
        return self._take(entries, found.info)

    def _catch_up(self) -> list[Entry] | None:
        """What the group has delivered, or believes it has, and we have not read."""
        found = self._snapshot()
        if not self._check_group(found):
            return None
        last = self._bookmark.last
        if self._shared:
            entries = self._after_last(self._present(self._snapshot(last)))
            if entries:
                return self._take(entries, found.info)
        else:
            delivered = text(found.group["last-delivered-id"])
            if order(delivered) < order(last):
                self._consumer.move_group(last)
            else:
                found = self._consumer.snapshot(last, self._consumer.range(last, delivered))
                if not self._check(found):
                    return None
                if found.entries:
                    return self._take(found.entries, found.info)
        self._behind = False
        return None

    def _fetch_pending(self) -> list[Entry] | None:
        """Without a position: what is not acknowledged yet, then what the group delivers."""
        found = self._snapshot(self._bookmark.last)
        if found.entries:
            entries = self._present(found)
            self._unacknowledged += [name for name, _ in found.entries]
            if entries:
                self._bookmark.advance(entries, found.info)
            # Some may have been acknowledged before: only the group knows how many there were.
            self._bookmark.last, self._bookmark.number = found.entries[-1][0], None
            return entries or None
        delivered, number = self._delivered(found.group)
        if order(delivered) > order(self._bookmark.last):
            self._bookmark.restart(delivered, number)
        self._placed, self._behind = True, False
        self._shared = self._is_shared(self._consumer.names())
        return None

    def _snapshot(self, deliver: str | None = None) -> Snapshot:
        """The stream, the group and, where asked for, what it delivers to this consumer."""
        read = None if deliver is None else self._consumer.delivery(deliver)
        return self._consumer.snapshot(self._bookmark.last, read)

    def _take(self, entries: list[Entry], info: StreamInfo) -> list[Entry]:
        if entries:
            self._unacknowledged += [name for name, _ in entries]
            self._bookmark.advance(entries, info)
            if self._shared:
                self._bookmark.number = None  # not all that there were
        return entries

    def _after_last(self, entries: list[Entry]) -> list[Entry]:
        """Those after our position; the others are acknowledged with what we have read."""
        last = order(self._bookmark.last)
        self._unacknowledged += [name for name, _ in entries if order(name) <= last]
        return [entry for entry in entries if order(entry[0]) > last]

    def _present(self, found: Snapshot) -> list[Entry]:
        """Entries that were delivered, without those that were deleted since."""
        entries = [entry for entry in found.entries if entry[1]]
        lost = len(found.entries) - len(entries)
        if lost:
            first = next(name for name, fields in found.entries if not fields)
            what = (
                f"{were(lost)} deleted from the stream before being processed, the first of them "
                f"{first}"
            )
            self._report(Gap(what, lost))
        return entries

    # -- what changed ------------------------------------------------------------------------

    def _verify(self) -> None:
        """Report what changed since the position, and acknowledge what was read before it."""
        try:
            found = self._snapshot()
        except NoStreamError:
            self._without_stream()
        except NoGroupError:
            self._without_group()
            self._verify()
        else:
            self._check_group(found)
            self._consumer.acknowledge_up_to(self._bookmark.last)

    def _is_shared(self, names: list[str]) -> bool:
        return any(name != self._consumer.name for name in names)

    def _check_group(self, found: Snapshot) -> bool:
        """Find out who decides what we read next; whether that can be read now."""
        bookmark, names = self._bookmark, self._consumer.names()
        delivered = text(found.group["last-delivered-id"])
        # Once shared, always shared: what another consumer read is not ours, even if it has left.
        self._shared = self._shared or self._is_shared(names)
        if self._shared:
            if self._consumer.name not in names or order(delivered) < order(bookmark.last):
                self._report(self._moved_back())
            return True
        if bookmark.number is None and delivered == bookmark.last and found.mine is None:
            bookmark.number = found.group.get("entries-read")
        return self._check(found)

    def _check(self, found: Snapshot) -> bool:
        """Report entries that are lost; False where the position has changed by that."""
        why = self._bookmark.why_replaced(found.mine, found.info)
        if why is not None:
            self._replaced(why)
            return False
        self._report(self._bookmark.trimmed(found.mine, found.info))
        if found.upcoming is None:
            self._report(self._bookmark.deleted(found.info))
        return True

    def _replaced(self, why: str) -> None:
        bookmark, unread = self._bookmark, self._bookmark.unread
        lost = f"{unread:,} entries that were there and had not been read are lost"
        self._behind = True
        if bookmark.is_same_stream(self._consumer.find):
            what = f"the server has returned to an earlier state of the stream: {why}"
            if unread:
                self._report(Gap(f"{what}; at least {lost}", unread))
            else:
                what += "; entries that it lost before they were read are not counted"
                self._report(Gap(what, 0))
            bookmark.server_went_back()
            return
        what = f"another stream is under this key: {why}"
        what += f"; {lost}" if unread else ""
        self._report(Gap(f"{what}; it would be read from its beginning", unread or None))
        bookmark.restart()

    def _without_stream(self) -> list[Entry]:
        """The key has no stream: it was deleted, or does not exist yet."""
        bookmark = self._bookmark
        if self._placed and bookmark.last != START:
            unread = bookmark.unread
            lost = f"; {unread:,} entries that had not been read are lost" if unread else ""
            what = f"the stream is gone, deleted or expired{lost}"
            self._report(Gap(f"{what}; {bookmark.last} was the last entry read", unread or None))
            bookmark.restart()
        elif not self._follow:
            raise self._no_stream()
        self._consumer.newest = START
        return []

    def _without_group(self) -> None:
        """Create the group, at our position."""
        if self._placed and self._shared:
            self._report(self._moved_back())
        self._shared = False
        self._consumer.create_group(self._bookmark.last if self._placed else START)

    def _moved_back(self) -> Gap:
        return Gap(
            f"the group {self._consumer.group!r} was deleted or set back, and other consumers "
            f"share it: only the group knew who had read what, so entries may be lost or counted "
            f"twice"
        )

    def _report(self, gap: Gap | None) -> None:
        if gap is None:
            return
        what = f"{self._connection.where}: {gap.text}"
        if gap.samples == 0:
            self._loss.warn(what)
        else:
            self._loss.report(what, gap.samples)

    def _no_stream(self) -> ValueError:
        return ValueError(
            f"{self._connection.where}: there is no stream under this key; is it spelt right? "
            f"follow=True waits for its first entry"
        )
