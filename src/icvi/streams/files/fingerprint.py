"""How a file is recognised: by its first bytes, and by those before a position.

Positions store checksums of both. When reading resumes, a file whose bytes differ is refused.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence
from typing import Any

from icvi.streams.source import refuse_position

#: Bytes at the beginning of a file, and before a position, that are compared.
HEAD = TAIL = 16384


def head_position(head: bytes) -> dict[str, Any]:
    """What a position stores of the first bytes of a stream."""
    return {"head": zlib.crc32(head[:HEAD]), "head_length": len(head[:HEAD])}


def tail_position(tail: bytes) -> dict[str, Any]:
    """What a position stores of the bytes before it."""
    return {"tail": _digest(tail), "tail_length": len(tail)}


def head_of(path: str | os.PathLike[str]) -> bytes:
    """The first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(HEAD)


def check_name(files: Sequence[str], name: str, number: int) -> None:
    """Refuse a position in a file that is not at its place among the files."""
    # Folders may be moved or named from elsewhere: the head decides whether it is the same file.
    if number >= len(files) or os.path.basename(files[number]) != os.path.basename(name):
        now = files[number] if number < len(files) else "nothing"
        raise refuse_position(files[0], f"file {number + 1} was {name} and is {now}")


def check_passed(files: Sequence[str], number: int, position: dict[str, Any]) -> list[str]:
    """Refuse files that were read to their end and changed since; their stamps otherwise."""
    stamps = position.get("passed")
    if stamps is None:  # of an earlier version
        return [stamp_of(path) for path in files[:number]]
    for path, stamped in zip(files, stamps):
        why = why_changed(path, stamped)
        if why is not None:
            raise refuse_position(path, why)
    return list(stamps)


def why_another(path: str, position: dict[str, Any]) -> str | None:
    """Why a file is not the one a position was taken in; None if it is. It may have grown."""
    size, before = os.stat(path).st_size, int(position["size"])
    if size < before:
        return f"the file has {size} bytes now and had {before}"
    return why_other_head(head_of(path), position)


def why_other_head(head: bytes, position: dict[str, Any]) -> str | None:
    """Why a stream begins with other bytes than it did; None if it does not."""
    length = int(position["head_length"])
    if zlib.crc32(head[:length]) == position["head"] and len(head) >= length:
        return None
    return f"it begins with other bytes than it did (among the first {length})"


def why_other_tail(tail: bytes, position: dict[str, Any]) -> str | None:
    """Why the bytes before a position are others; earlier versions stored nothing to compare."""
    if "tail" not in position or _digest(tail) == position["tail"]:
        return None
    return edited(int(position["offset"]))


def edited(offset: int) -> str:
    """The reason for a file that begins as it did but was changed before an offset."""
    return f"it was edited: the bytes before byte {offset} are not those that were read"


def stamp_of(path: str) -> str:
    """By which a file that was read to its end is recognised: its name, size and both ends."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEAD)
        file.seek(max(0, size - TAIL))
        return stamp(path, size, head, file.read(TAIL))


def stamp(path: str, size: int, head: bytes, tail: bytes) -> str:
    """The same out of its parts."""
    return f"{size}-{_digest(os.path.basename(path).encode() + head + tail)}"


def why_changed(path: str, before: str) -> str | None:
    """Why a file that was read to its end is not the same any more; None if it is."""
    size, now = int(before.partition("-")[0]), os.stat(path).st_size
    if now != size:
        return f"it had {size} bytes when it was read to its end, and has {now}"
    return None if stamp_of(path) == before else "it was edited after it was read"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
