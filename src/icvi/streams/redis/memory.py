"""What is remembered of a Redis stream, and what it says about entries that are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from icvi.streams.redis.facts import START, Entry, Facts, digest_of, order

#: So many older entries are remembered, ever further apart.
_LANDMARKS = 16

#: Entries by their identifiers; those that are not in the stream are left out.
Find = Callable[[Sequence[str]], list[Entry]]


class Gap(NamedTuple):
    """Entries that were never read and are gone: so many; None if unknown, 0 if none is known."""

    text: str
    samples: int | None = None


class Memory:
    """The entry read last, how many came before it, and some older ones.

    Redis counts the entries that were ever added. So every entry has a number, and the numbers of
    two entries that are read one after the other say how many are missing between them.

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
        self._back = False  # the server has gone back, and that was reported
        self._vanished: str | None = None  # had been seen in the stream, and did not come

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
        """Remember what a position says; one of an earlier version has the identifier alone."""
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

    def took(self, entries: Sequence[Entry], facts: Facts) -> None:
        """Remember entries that were read, all that there were from the first to the last."""
        if self.number is None and facts.whole and entries[0][0] == facts.first:
            self.number = facts.gone
        if self.number is not None:
            self.number += len(entries)
        if self._passes_newest(entries):
            self._vanished = self._newest
        self.last, self._digest = entries[-1][0], digest_of(entries[-1])
        self._added, self._newest, self._back = facts.added, facts.newest, False
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
            # Of each two neighbours, from the old end: which removal widens the gaps evenly.
            ages = [order(self.last)[0] - order(name)[0] for name, _ in self._landmarks]
            spread = [
                (ages[i - 1] - ages[i + 1]) / (1 + ages[i + 1]) for i in range(1, len(ages) - 1)
            ]
            del self._landmarks[1 + spread.index(min(spread))]

    # -- what is gone ----------------------------------------------------------------------

    def replaced(self, mine: Entry | None, facts: Facts) -> str | None:
        """Why this is another stream, or an earlier state of this one; None if it is neither.

        Parameters
        ----------
        mine : entry or None
            What the stream has under the identifier of the entry read last.
        facts : Facts
            The stream at the same moment.
        """
        if self.last == START or self._back:
            return None
        if mine is not None:
            if self._digest is not None and digest_of(mine) != self._digest:
                return f"entry {self.last} has other fields than when it was read"
            return None
        if order(facts.newest) < order(self.last):
            return f"its newest entry is {facts.newest}, and entry {self.last} had been read"
        if self.number is None or facts.added is None or facts.gone is None:
            return None
        trimmed = facts.first is None or order(facts.first) > order(self.last)
        if not trimmed and order(facts.deleted) < order(self.last):
            return f"entry {self.last}, read last, is not there and was not deleted"
        if facts.added < self.number or (trimmed and facts.gone < self.number):
            return (
                f"it counts {facts.added:,} entries, and {self.number:,} had been read up to "
                f"{self.last}"
            )
        return None

    def same_stream(self, find: Find) -> bool:
        """Whether entries that were read earlier are still there, and the same."""
        found = find([name for name, _ in self._landmarks])
        known = dict(self._landmarks)
        return bool(found) and all(digest_of(entry) == known[entry[0]] for entry in found)

    def went_back(self) -> None:
        """The server has returned to an earlier state; what it counts has begun again."""
        self.number = self._added = self._newest = self._vanished = None
        self._back = True

    def trimmed(self, mine: Entry | None, facts: Facts) -> Gap | None:
        """What was trimmed after the entry read last and before the oldest left, if anything."""
        if self.last == START and self.number is None:  # this is where the stream begins
            return None
        if mine is not None or (facts.first is not None and order(facts.first) < order(self.last)):
            return None  # trimming takes the oldest first
        if facts.newest == self.last or (self._back and facts.first is None):
            return None
        left = "nothing is left" if facts.first is None else f"the oldest one left is {facts.first}"
        where = f"the last one read was {self.last}, {left}"
        if self.number is None or facts.gone is None:
            return Gap(
                f"an unknown number of entries, perhaps none, were trimmed before they were read: "
                f"{where}"
            )
        lost = facts.gone - self.number
        if lost <= 0 or not facts.whole:
            return None  # where some were deleted, they are counted when the newest has been read
        self.number = facts.gone
        if self._newest and (facts.first is None or order(self._newest) < order(facts.first)):
            self._newest = None  # it is among them
        return Gap(f"{_entries(lost)} trimmed before being read: {where}", lost)

    def deleted(self, facts: Facts) -> Gap | None:
        """What is missing of all that was added, once the newest entry has been read."""
        if self._back or facts.added is None:
            return None
        number, self.number = self.number, facts.added
        vanished, self._vanished = self._vanished, None
        if number is None or (number == facts.added and vanished is None):
            return None
        if facts.added > number:
            lost = facts.added - number
            return Gap(
                f"{_entries(lost)} deleted or trimmed before being read, up to {facts.newest}", lost
            )
        text = "the server has returned to an earlier state of the stream"
        if vanished is None:
            return Gap(f"{text}; entries that it lost before they were read are not counted", 0)
        return Gap(f"{text}: at least entry {vanished} was lost before it was read", 1)


def _entries(number: int) -> str:
    return "1 entry was" if number == 1 else f"{number:,} entries were"
