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
        kinds = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
        data = text.encode()
        digest = hashlib.sha256(data).hexdigest()[:16]
        return cls(f"{stem}-{digest}.{ending}", f"{kinds[ending]}; charset=utf-8", data)

    @functools.cached_property
    def zipped(self) -> bytes:
        """The file, compressed once."""
        return gzip.compress(self.plain, 9, mtime=0)
