"""Files that users keep are written whole or not at all.

What a file held stays until the new content is complete and on the disk; then one move takes its
place. This is the only place that does that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_LONGEST = 100  # bytes of a name that are repeated in the name of the unfinished file
_ENDING = r"[a-z0-9_]{8}\.tmp"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of a path when all went well.

    A file that is there keeps its permissions; a new one has those that the umask leaves. Links
    are followed.

    Parameters
    ----------
    path : str or path-like
        Where the file is to be.

    Raises
    ------
    OSError
        Whatever the system refuses, and a path that is there and is no file: moving a file to
        where a device or a pipe is would remove that.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"42")
    >>> path.read_text()
    '42'
    """
    place = Path(os.path.realpath(path))
    mode = _mode(place)
    unfinished = place.with_name(f"{_beginning(place)}{secrets.token_hex(4)}.tmp")

    # Never more open than what it replaces, not even for a moment.
    def created(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else mode)

    try:
        with open(unfinished, "xb", opener=created) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(unfinished, mode)  # the umask took its part when it was created
        os.replace(unfinished, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
    flush_directory(place.parent)


def unfinished_files(path: str | os.PathLike[str]) -> list[Path]:
    """What calls of `replacing` left beside a path because their process was killed.

    They are of no use, and may be removed when it is certain that nothing is writing this path.
    """
    place = Path(os.path.realpath(path))
    names = re.compile(re.escape(_beginning(place)) + _ENDING)
    return [beside for beside in place.parent.iterdir() if names.fullmatch(beside.name)]


def is_unfinished(path: Path) -> bool:
    """Whether a file is what a call of `replacing` left when its process was killed."""
    return re.fullmatch(rf"\..*\.{_ENDING}", path.name, re.DOTALL) is not None


def flush_directory(path: str | os.PathLike[str]) -> None:
    """Have a new name survive a power cut, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _beginning(place: Path) -> str:
    # Names have a longest length, in bytes.
    return f".{os.fsdecode(os.fsencode(place.name)[:_LONGEST])}."


def _mode(place: Path) -> int | None:
    """Permissions of the file that is there, None where there is none."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "expected a path for a file, got a device or pipe", str(place))
    return stat.S_IMODE(mode) & 0o777
