"""Files that users keep are written as a whole or not at all.

New content goes to an unfinished file beside the path, which replaces the file there when it is
complete and on the disk. What a killed process leaves behind is recognised by its name and by its
lock. No other module replaces or locks files, except checkpoint directories (`filelock`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import IO

_LONGEST = 100  # bytes of a name that the name of its unfinished file repeats
_ENDING = r"[a-z0-9_]{8}\.tmp"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, without: int = 0) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces the one at a path when the block ends without an error.

    An existing file keeps its permissions; a new one has those that the umask leaves. Links are
    followed.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    without : int
        Permissions that the file must not have, whatever the umask leaves: 0o022 for one that no
        one but its owner may write.

    Raises
    ------
    OSError
        An error of the system, or a path that is a device or a pipe, which would be replaced.

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
    with contextlib.ExitStack() as locks:
        # Never with more permissions than what it replaces, not even for a moment.
        permissions = (0o666 if mode is None else mode) & ~without
        file, unfinished = _create_beside(place, permissions, locks)
        try:
            with file:
                if mode is not None:  # the umask was applied when it was created
                    _change_mode(file, permissions)
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
    """Unfinished files of a path: of killed processes, and of those writing at this moment.

    `remove_unfinished` knows which are which.
    """
    place = Path(os.path.realpath(path))
    names = re.compile(re.escape(_beginning(place)) + _ENDING)
    return [beside for beside in place.parent.iterdir() if names.fullmatch(beside.name)]


def remove_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove what killed processes left beside a path, but not what another one is writing."""
    with contextlib.suppress(OSError):  # the folder does not exist, or cannot be listed
        for left in unfinished_files(path):
            with contextlib.suppress(OSError):
                _remove_unlocked(left)


def is_unfinished(path: Path) -> bool:
    """Whether a file has the name of an unfinished one."""
    return re.fullmatch(rf"\..*\.{_ENDING}", path.name, re.DOTALL) is not None


def flush_directory(path: str | os.PathLike[str]) -> None:
    """Write a new name to the disk, so that it survives a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(file: IO[bytes] | FileIO) -> bool | None:
    """Lock an open file until all of its descriptors are closed, also by a kill.

    Returns True, False if another process has locked it, or None where locks are not supported.

    This is not `filelock.FileLock`, which locks a file of its own: one would stay beside every
    file that users write, and where a file system has no locks, that of a killed process would
    have to be removed by hand. (``filelock.lock_descriptor``, since version 3.30, does what is
    done here; saving must work without optional packages.)
    """
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _create_beside(place: Path, mode: int, locks: contextlib.ExitStack) -> tuple[IO[bytes], Path]:
    """A new file beside a place, and its name; others see it locked until `locks` is closed."""
    while True:
        name = place.with_name(f"{_beginning(place)}{secrets.token_hex(4)}.tmp")
        file = open(name, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
        locked = lock(file)
        if locked is None:
            return file, name
        if locked and name.exists():
            # The file is closed before it is moved; a second descriptor keeps the lock until then.
            locks.callback(os.close, os.dup(file.fileno()))
            return file, name
        file.close()  # another process removed it before it was locked


def _remove_unlocked(left: Path) -> None:
    if os.name == "nt":
        os.unlink(left)  # refused while it is open
        return
    with open(left, "rb+", opener=_open_no_link) as file:
        if lock(file):
            os.unlink(left)


def _open_no_link(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _change_mode(file: IO[bytes], mode: int) -> None:
    # Not by name where possible: in a shared folder, another user could put a link there.
    os.chmod(file.fileno() if os.chmod in os.supports_fd else file.name, mode)


def _beginning(place: Path) -> str:
    # The system limits the length of names, in bytes.
    return f".{os.fsdecode(os.fsencode(place.name)[:_LONGEST])}."


def _mode(place: Path) -> int | None:
    """Permissions of an existing file; None where there is none."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "expected a path for a file, got a device or pipe", str(place))
    return stat.S_IMODE(mode) & 0o777
