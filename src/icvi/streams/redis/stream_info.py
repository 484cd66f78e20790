"""A Redis stream as the server describes it at one moment."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, Self

#: The identifier before all others.
START = "0-0"

Fields = dict[bytes, bytes] | None
Entry = tuple[str, Fields]


class StreamInfo(NamedTuple):
    """A stream as ``XINFO STREAM`` describes it.

    ``added`` counts all entries that were ever added, and is None before Redis 7.
    """

    length: int
    first: str | None  # the oldest entry that is left
    newest: str  # the entry added last, left or not
    added: int | None
    deleted: str  # the newest entry that was deleted from the middle

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Self:
        """From the answer of the server."""
        first = answer.get("first-entry")
        return cls(
            int(answer["length"]),
            None if not first else text(first[0]),
            text(answer["last-generated-id"]),
            answer.get("entries-added"),
            text(answer.get("max-deleted-entry-id", START)),
        )

    @property
    def gone(self) -> int | None:
        """Entries before the oldest one left; at most so many where some were deleted after it."""
        return None if self.added is None else self.added - self.length

    @property
    def whole(self) -> bool:
        """Whether nothing is missing between the oldest entry left and the newest."""
        return self.first is None or order(self.deleted) < order(self.first)


def order(entry: str) -> tuple[int, int]:
    """Identifiers in the order of the stream."""
    milliseconds, _, number = entry.partition("-")
    return int(milliseconds), int(number or 0)


def following(entry: str) -> str:
    """The smallest identifier after one."""
    milliseconds, number = order(entry)
    return f"{milliseconds}-{number + 1}"


def text(value: bytes | str) -> str:
    """An identifier or a name as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def digest_of(entry: Entry) -> str:
    """By which an entry is recognised: its identifier and all of its fields."""
    name, fields = entry
    found = hashlib.blake2b(name.encode(), digest_size=8)
    for part in (part for pair in (fields or {}).items() for part in pair):
        found.update(b"%d:" % len(part) + part)
    return found.hexdigest()
