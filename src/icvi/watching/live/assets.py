"""Files that browsers keep: compressed once, under names that change with their content."""

from __future__ import annotations

import functools
import gzip
import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Asset:
    """A file under a name that changes with its content, so that browsers keep it for ever."""

    name: str
    kind: str
    plain: bytes

    @classmethod
    def of(cls, stem: str, ending: str, text: str) -> Asset:
        """Name a file after its content."""
        return cls.named(named_after(stem, ending, text), text)

    @classmethod
    def named(cls, name: str, text: str) -> Asset:
        """A file under a name that it has already."""
        kinds = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
        return cls(name, f"{kinds[name.rpartition('.')[2]]}; charset=utf-8", text.encode())

    @functools.cached_property
    def zipped(self) -> bytes:
        """The file, compressed once."""
        return gzip.compress(self.plain, 9, mtime=0)


def named_after(stem: str, ending: str, text: str) -> str:
    """A name that changes with a text."""
    return f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"
