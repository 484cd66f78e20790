"""Where reading is in a Redis stream, and which entries were lost before they were read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from icvi.streams.redis.stream_info import START, Entry, StreamInfo, digest_of, order

#: So many older entries are remembered, ever further apart.
_LANDMARKS = 16

#: Entries by their identifiers; those that are not in the stream are left out.
Find = Callable[[Sequence[str]], list[Entry]]


class Gap(NamedTuple):
    """Entries lost before they were read: how many, None if unknown, 0 if perhaps none."""

    text: str
    samples: int | None = None


class Bookmark:
    """The entry read last, how many came before it, and some older ones.

    Redis counts the entries that were ever added. So every entry has a number, and the numbers of
    two entries that are read one after the other give how many are missing between them. The older
    entries ("landmarks") decide, when the entry read last is not there any more, whether the server
    has returned to an earlier state of the stream or the key holds another stream.

    Attributes
    ----------
    last : str
        Identifier of the entry read last.
    number : int or None
        Which one it is of all that were ever added, where that is known.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self, last: str = START, number: int | None = None) -> None:
        """Forget everything but a place in the stream."""
        self.last, self.number = last, number
        self._digest: str | None = None  # of the last one
        self._added: int | None = None  # entries ever added, when the server was last asked
        self._newest: str | None = None  # the newest of them
        self._landmarks: list[list[str]] = []  # identifiers and digests, oldest first
        self._back = False  # the server has returned to an earlier state, and that was reported
        self._vanished: str | None = None  # an entry that was seen in the stream and never came

    def position(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "id": self.last,
            "number": self.number,
            "digest": self._digest,
            "added": self._added,
            "newest": self._newest,
            "landmarks": [list(mark) for mark in self._landmarks],
        }

    def resume(self, position: dict[str, Any]) -> None:
        """Restore a position; one of an earlier version has the identifier alone."""
        self.restart(str(position["id"]), position.get("number"))
        self._digest, self._added = position.get("digest"), position.get("added")
        self._newest = position.get("newest")
        self._landmarks = [list(mark) for mark in position.get("landmarks", ())]

    @property
    def unread(self) -> int:
        """Entries that had been added and were not read when the server was last asked."""
        if self._added is None or self.number is None:
            return 0
        return max(0, self._added - self.number)

    def advance(self, entries: Sequence[Entry], info: StreamInfo) -> None:
        """Move behind entries that were read, all that there were from the first to the last."""
        if self.number is None and info.whole and entries[0][0] == info.first:
            self.number = info.gone
        if self.number is not None:
            self.number += len(entries)
        if self._passes_newest(entries):
            self._vanished = self._newest
        self.last, self._digest = entries[-1][0], digest_of(entries[-1])
        self._added, self._newest, self._back = info.added, info.newest, False
        self._mark(entries)

    def _passes_newest(self, entries: Sequence[Entry]) -> bool:
        """Whether the newest entry that had been seen should be among these, and is not."""
        newest = self._newest
        if newest is None or not order(self.last) < order(newest) <= order(entries[-1][0]):
            return False
        return all(name != newest for name, _ in entries)

    def _mark(self, entries: Sequence[Entry]) -> None:
        """Remember the first entry and the last: distances grow as they get older."""
        for entry in (entries[0], entries[-1]):
            if not self._landmarks or self._landmarks[-1][0] != entry[0]:
                self._landmarks.append([entry[0], digest_of(entry)])
        while len(self._landmarks) > _LANDMARKS:
            # Remove the one whose gap is smallest for its age: gaps stay proportional to age.
            ages = [order(self.last)[0] - order(name)[0] for name, _ in self._landmarks]
            spread = [
                (ages[i - 1] - ages[i + 1]) / (1 + ages[i + 1]) for i in range(1, len(ages) - 1)
            ]
            del self._landmarks[1 + spread.index(min(spread))]

    # -- what is lost ----------------------------------------------------------------------

    def why_replaced(self, mine: Entry | None, info: StreamInfo) -> str | None:
        """Why this is another stream, or an earlier state of this one; None if it is neither.

        Parameters
        ----------
        mine : entry or None
            What the stream has under the identifier of the entry read last.
        info : StreamInfo
            The stream at the same moment.
        """
        if self.last == START or self._back:
            return None
        if mine is not None:
            if self._digest is not None and digest_of(mine) != self._digest:
                return f"entry {self.last} has other fields than when it was read"
            return None
        if order(info.newest) < order(self.last):
            return f"its newest entry is {info.newest}, and entry {self.last} had been read"
        if self.number is None or info.added is None or info.gone is None:
            return None
        trimmed = info.first is None or order(info.first) > order(self.last)
        if not trimmed and order(info.deleted) < order(self.last):
            return f"entry {self.last}, read last, is not there and was not deleted"
        if info.added < self.number or (trimmed and info.gone < self.number):
            return (
                f"it counts {info.added:,} entries, and {self.number:,} had been read up to "
                f"{self.last}"
            )
        return None

    def is_same_stream(self, find: Find) -> bool:
        """Whether entries that were read earlier are still there, unchanged."""
        found = find([name for name, _ in self._landmarks])
        known = dict(self._landmarks)
        return bool(found) and all(digest_of(entry) == known[entry[0]] for entry in found)

    def server_went_back(self) -> None:
        """The server has returned to an earlier state: its counts are not comparable any more."""
        self.number = self._added = self._newest = self._vanished = None
        self._back = True

    def trimmed(self, mine: Entry | None, info: StreamInfo) -> Gap | None:
        """What was trimmed after the entry read last and before the oldest left, if anything."""
        if self.last == START and self.number is None:  # this is where the stream begins
            return None
        if mine is not None or (info.first is not None and order(info.first) < order(self.last)):
            return None  # trimming takes the oldest first
        if info.newest == self.last or (self._back and info.first is None):
            return None
        left = "nothing is left" if info.first is None else f"the oldest one left is {info.first}"
        where = f"the last one read was {self.last}, {left}"
        if self.number is None or info.gone is None:
            return Gap(
                f"an unknown number of entries, perhaps none, were trimmed before they were read: "
                f"{where}"
            )
        lost = info.gone - self.number
        if lost <= 0 or not info.whole:
            return None  # where some were deleted, they are counted when the newest has been read
        self.number = info.gone
        if self._newest and (info.first is None or order(self._newest) < order(info.first)):
            self._newest = None  # it is among them
        return Gap(f"{were(lost)} trimmed before being read: {where}", lost)

    def deleted(self, info: StreamInfo) -> Gap | None:
        """What is missing of all that was added, once the newest entry has been read."""
        if self._back or info.added is None:
            return None
        number, self.number = self.number, info.added
        vanished, self._vanished = self._vanished, None
        if number is None or (number == info.added and vanished is None):
            return None
        if info.added > number:
            lost = info.added - number
            return Gap(
                f"{were(lost)} deleted or trimmed before being read, up to {info.newest}", lost
            )
        text = "the server has returned to an earlier state of the stream"
        if vanished is None:
            return Gap(f"{text}; entries that it lost before they were read are not counted", 0)
        return Gap(f"{text}: at least entry {vanished} was lost before it was read", 1)


def were(number: int) -> str:
    """How many entries, as the subject of a sentence."""
    return "1 entry was" if number == 1 else f"{number:,} entries were"
