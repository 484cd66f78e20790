"""Files that a log file was rotated to: which they are, and in which order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from icvi.streams.files.file_bytes import FileBytes
from icvi.streams.files.fingerprint import TAIL, why_other_head, why_other_tail

#: What rotation adds to a name: a number (small ones count, large ones are dates), or "old".
_ADDED = r"[._-](?P<when>\d[\dT:._-]*|old)"


def rotated(path: str) -> list[str]:
    """Files that a file was rotated to, the newest first; of a.csv, for instance a.csv.1.

    Of a file that exists both compressed and uncompressed, the uncompressed one is given.
    """
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    shapes = [
        re.compile(re.escape(name) + _ADDED + r"(?:\.gz)?"),
        re.compile(re.escape(stem) + _ADDED + re.escape(ending) + r"(?:\.gz)?"),
    ]
    found: dict[str, tuple[tuple[int, str], str]] = {}
    try:
        names = sorted(os.listdir(folder or "."))
    except OSError:
        return []
    for other in names:
        match = next((match for shape in shapes if (match := shape.fullmatch(other))), None)
        if match is not None and other != name:
            when = match["when"].strip("._-")
            found.setdefault(other.removesuffix(".gz"), (_age(when), os.path.join(folder, other)))
    return [place for _, place in sorted(found.values(), key=lambda each: each[0])]


def _age(when: str) -> tuple[int, str]:
    """A sort key: numbers that count grow as files get older, dates as they get newer."""
    if when.isdigit() and len(when) < 6:
        return int(when), ""
    digits = "".join(char for char in when if char.isdigit())
    return 0, "".join(chr(ord("9") - ord(char) + ord("0")) for char in digits)


def later(path: str, inode: tuple[int, int] | None, mark: dict[str, Any]) -> list[str]:
    """Files that were rotated after the one being read, the oldest of them first."""
    files = rotated(path)
    for number, file in enumerate(files):
        if inode is not None and inode_of(file) == inode:
            return files[:number][::-1]
    for number, file in enumerate(files):
        if holds(file, mark):
            return files[:number][::-1]
    return []


def locate(path: str, mark: dict[str, Any]) -> str | None:
    """The file that holds what was read up to a position: the same one, renamed, or a copy."""
    inode = (mark.get("device"), mark.get("inode"))
    files = list(_existing(path))
    same = [file for file in files if inode_of(file) == inode]
    return next((file for file in [*same, *files] if holds(file, mark)), None)


def _existing(path: str) -> Iterator[str]:
    if os.path.exists(path):
        yield path
    yield from rotated(path)


def holds(path: str, mark: dict[str, Any]) -> bool:
    """Whether a file holds what was read: its first bytes, and those before the position."""
    try:
        file = FileBytes(path)
    except OSError:
        return False
    try:
        if why_other_head(file.exactly(int(mark["head_length"])), mark) is not None:
            return False
        offset = int(mark["offset"])
        length = int(mark.get("tail_length", min(TAIL, offset)))
        file.seek(offset - length)
        tail = file.exactly(length)
        return len(tail) == length and why_other_tail(tail, mark) is None
    except OSError:  # damaged, or being compressed at this moment
        return False
    finally:
        file.close()


def inode_of(path: str) -> tuple[int, int] | None:
    """Device and inode of a file; None if it does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
