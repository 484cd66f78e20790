"""Files that hold pickles, and so run code when they are read, must belong to the user.

The check is that of ssh for keys: a file that another user owns or can write is refused. It looks
at the open file, not at its name, which could refer to another file a moment later.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
from typing import IO, NoReturn

#: Write permission for group and others.
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

_ROOT = 0
_HAS_OWNERS = hasattr(os, "geteuid")
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file for reading; a pipe is refused, because opening it could block."""
    # O_NONBLOCK changes nothing for a regular file, and opens a pipe without a writer at once.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAITING))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError(f"{os.fspath(path)}: expected a file, got a device or a pipe")
    return file


def check_trusted_file(file: IO[bytes], path: str | os.PathLike[str], otherwise: str) -> None:
    """Refuse an open file with a pickle in it that another user may have written.

    Parameters
    ----------
    file : file
        Open for reading.
    path : str or path-like
        Its name, for the message.
    otherwise : str
        What to do if the file cannot be trusted, for the message.

    Raises
    ------
    PermissionError
        If another user, who is not root, owns the file or can write it.
    """
    if _HAS_OWNERS:
        _check(os.fstat(file.fileno()), "this file", os.fspath(path), otherwise)


def check_trusted_folder(path: str | os.PathLike[str], otherwise: str) -> None:
    """Refuse a directory for pickles in which another user can replace files.

    Parameters
    ----------
    path : str or path-like
        The directory. One that does not exist will be created private.
    otherwise : str
        What to do otherwise, for the message.

    Raises
    ------
    PermissionError
        If another user, who is not root, owns the directory, or can write to it and it is not
        sticky: in a sticky one, such as /tmp, only their owners can replace files.
    """
    with contextlib.suppress(FileNotFoundError):
        if _HAS_OWNERS:
            _check(os.stat(path), "this directory", os.fspath(path), otherwise)


def _check(found: os.stat_result, what: str, path: str, otherwise: str) -> None:
    if found.st_uid not in (os.geteuid(), _ROOT):
        _refuse(f"{what} belongs to {_user(found.st_uid)}", "make your own copy", path, otherwise)
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    if found.st_mode & OTHERS_WRITE and not sticky:
        cure = f"chmod go-w {shlex.quote(path)}"
        _refuse(f"other users can write to {what}", cure, path, otherwise)


def _refuse(problem: str, cure: str, path: str, otherwise: str) -> NoReturn:
    raise PermissionError(
        errno.EACCES,
        f"a clusterer is read from a pickle, which can run any code, and {problem}; if you trust "
        f"what is in it: {cure}; otherwise {otherwise}",
        path,
    )


def _user(number: int) -> str:
    import pwd

    try:
        return f"user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"
