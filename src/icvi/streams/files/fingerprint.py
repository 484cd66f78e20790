"""How a file is known again: by what it begins with, and by the bytes before the position."""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import Any

#: Bytes at the beginning of a file, and before a position, that are compared.
HEAD = TAIL = 16384


def head_position(head: bytes) -> dict[str, Any]:
    """What a position stores of the first bytes of a stream."""
    return {"head": zlib.crc32(head[:HEAD]), "head_length": len(head[:HEAD])}


def tail_position(tail: bytes) -> dict[str, Any]:
    """What a position stores of the bytes before it."""
    return {"tail": _digest(tail), "tail_length": len(tail)}


def head_of(path: str | os.PathLike[str], length: int = HEAD) -> bytes:
    """The first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(min(length, HEAD))


def differs(path: str, size: int, position: dict[str, Any]) -> str | None:
    """Why a file is not the one a position was taken in; None if it is."""
    before = int(position["size"])
    if size < before:
        return f"the file has {size} bytes now and had {before}"
    return other_head(head_of(path), position)


def other_head(head: bytes, position: dict[str, Any]) -> str | None:
    """Whether a stream begins with other bytes than it did."""
    length = int(position["head_length"])
    if zlib.crc32(head[:length]) == position["head"] and len(head) >= length:
        return None
    return f"it begins with other bytes than it did (among the first {length})"


def other_tail(tail: bytes, position: dict[str, Any]) -> str | None:
    """Whether the bytes before a position are others; positions of old versions do not say."""
    if "tail" not in position or _digest(tail) == position["tail"]:
        return None
    return edited(int(position["offset"]))


def edited(offset: int) -> str:
    """What to say of a file that still begins as it did."""
    return f"it was edited: the bytes before byte {offset} are not those that were read"


def stamp_of(path: str) -> str:
    """By which a file that was read to its end is known again: its name, size and both ends."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEAD)
        file.seek(max(0, size - TAIL))
        return stamp(path, size, head, file.read(TAIL))


def stamp(path: str, size: int, head: bytes, tail: bytes) -> str:
    """The same out of its parts."""
    return f"{size}-{_digest(os.path.basename(path).encode() + head + tail)}"


def changed(path: str, before: str) -> str | None:
    """Why a file that was read to its end is not the same any more; None if it is."""
    size, now = int(before.partition("-")[0]), os.stat(path).st_size
    if now != size:
        return f"it had {size} bytes when it was read to its end, and has {now}"
    return None if stamp_of(path) == before else "it was edited after it was read"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
