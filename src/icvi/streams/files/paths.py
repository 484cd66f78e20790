"""Which files a path, a pattern or a list of them means, and of which format they are."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterable, Sequence
from typing import Any

from icvi.wording import shown_address

FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".ndjson.gz": "ndjson",
    ".jsonl.gz": "ndjson",
    ".parquet": "parquet",
}


def is_path(what: Any) -> bool:
    """Whether something is a path."""
    return isinstance(what, (str, os.PathLike))


def find(what: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Files in the order they are read: as listed, those of a pattern in order of their names."""
    if isinstance(what, (str, os.PathLike)):
        return _matching(os.fspath(what))
    found = [path for part in what for path in _matching(os.fspath(part))]
    if not found:
        raise ValueError("expected at least one file, got an empty list")
    twice = sorted({path for path in found if found.count(path) > 1})
    if twice:
        raise ValueError(f"{twice[0]} is given twice")
    return found


def _matching(pattern: str) -> list[str]:
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        if os.path.exists(pattern):
            return [pattern]
        if "://" in pattern:
            raise ValueError(
                f"expected a path, or an address such as redis://localhost:6379/0/key, got "
                f"{shown_address(pattern)}"
            )
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), pattern)
    found = sorted(glob.glob(pattern, recursive=True))
    if not found:
        raise FileNotFoundError(f"no file matches {shown_address(pattern)!r}")
    return found


def refuse_folder(path: str, ending: str = "csv") -> None:
    """Refuse a folder in the place of a file."""
    if os.path.isdir(path):
        example = os.path.join(path, f"*.{ending}")
        raise IsADirectoryError(f"{path} is a folder; give its files, for instance {example!r}")


def format_of(paths: Sequence[str], given: str | None = None) -> str:
    """The format of all files: as given, or by their endings."""
    if given is not None:
        return given
    formats = {path: _by_ending(path) for path in paths}
    first = formats[paths[0]]
    for path, found in formats.items():
        if found != first:
            raise ValueError(
                f"expected files of one format, got {first} ({paths[0]}) and {found} ({path})"
            )
    return first


def _by_ending(path: str) -> str:
    for ending, name in FORMATS.items():
        if path.lower().endswith(ending):
            return name
    refuse_folder(path)
    raise ValueError(
        f"cannot tell the format of {path} by its ending (known are {', '.join(FORMATS)}); "
        f"give format='csv', 'ndjson' or 'parquet'"
    )
