"""How a file is known again: its name, the bytes it begins with, and that it has not shrunk."""

from __future__ import annotations

import os
import zlib
from typing import Any

#: Bytes at the beginning of a file that are compared.
HEAD = 4096


def head_position(head: bytes) -> dict[str, Any]:
    """What a position stores of the first bytes of a stream."""
    return {"head": zlib.crc32(head[:HEAD]), "head_length": len(head[:HEAD])}


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
