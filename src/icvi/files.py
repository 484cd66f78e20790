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
def replacing(path: str | os.PathLike[str], *, without: int = 0) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of a path when all went well.

    A file that is there keeps its permissions; a new one has those that the umask leaves. Links
    are followed.

    Parameters
    ----------
    path : str or path-like
        Where the file is to be.
    without : int
        Permissions that the file must not have, whatever the umask leaves: 0o022 for one that only
        its owner may write.

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
    with contextlib.ExitStack() as lock:
        # Never more open than what it replaces, not even for a moment.
        file, unfinished = _create_beside(place, (0o666 if mode is None else mode) & ~without, lock)
        try:
            with file:
                if mode is not None:  # the umask took its part when it was created
                    _change_mode(file, mode & ~without)
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise
    flush_directory(place.parent)


def unfinished_files(path: str | os.PathLike[str]) -> list[Path]:
    """What calls of `replacing` left beside a path because their process was killed.

    They are of no use, but those that a process is writing just now are among them:
    `remove_unfinished` knows which.
    """
    place = Path(os.path.realpath(path))
    names = re.compile(re.escape(_beginning(place)) + _ENDING)
    return [beside for beside in place.parent.iterdir() if names.fullmatch(beside.name)]


def remove_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove what killed processes left beside a path, but not what another one is writing now."""
    with contextlib.suppress(OSError):  # there is no such folder, or it cannot be listed
        for left in unfinished_files(path):
            with contextlib.suppress(OSError):
                _remove_unlocked(left)


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


def _create_beside(place: Path, mode: int, lock: contextlib.ExitStack) -> tuple[IO[bytes], Path]:
    """A new file beside a place, and its name; it is locked for others until `lock` is closed."""
    while True:
        name = place.with_name(f"{_beginning(place)}{secrets.token_hex(4)}.tmp")
        file = open(name, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
        locked = _lock(file)
        if locked is None:
            return file, name
        if locked and name.exists():
            lock.callback(os.close, os.dup(file.fileno()))
            return file, name
        file.close()  # removed before it was locked: another process cleans up just now


def _remove_unlocked(left: Path) -> None:
    if os.name == "nt":
        os.unlink(left)  # refused while it is open
        return
    with open(left, "rb+", opener=_open_no_link) as file:
        if _lock(file):
            os.unlink(left)


def _lock(file: IO[bytes]) -> bool | None:
    """Hold a file until it is closed: True, False if another process does, None if unknown."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # not on this system, or not in this file system
        return None
    return True


def _open_no_link(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _change_mode(file: IO[bytes], mode: int) -> None:
    # Not by name where that can be avoided: in a shared folder it could be made a link.
    os.chmod(file.fileno() if os.chmod in os.supports_fd else file.name, mode)


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
