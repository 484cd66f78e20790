"""Bytes of a file that is still being written, and may be rotated meanwhile."""

from __future__ import annotations

import os
from typing import Any

from icvi.streams.data_loss import DataLoss
from icvi.streams.files import rotation
from icvi.streams.files.file_bytes import FileBytes
from icvi.streams.files.fingerprint import HEAD, TAIL, edited, head_position, tail_position
from icvi.streams.stopping import Stopped

#: Seconds between two checks of a file that has nothing new.
POLL = 0.2


class FollowedBytes:
    """Waits at the end of a file for more, until the source is closed or the file is rotated.

    Log files are rotated in two ways. A *renamed* file is read to its end, which is certain only
    when the next file has something in it: until then the writer may still add to the old one. A
    file that was *copied and truncated* (logrotate's ``copytruncate``) is continued in the copy.
    Each object reads one file; `next` is the path of the one after it.

    Parameters
    ----------
    path : str
        The file that is followed.
    stopped : Stopped
        Ends the wait.
    loss : DataLoss
        Where bytes that are lost before they were read are reported.
    file : str, optional
        What to read: `path` itself by default, or a file that it was rotated to.

    Attributes
    ----------
    ended : bool
        Whether the file is complete, and all of it was read.
    """

    seekable = True

    def __init__(
        self, path: str, stopped: Stopped, loss: DataLoss, file: str | None = None
    ) -> None:
        self._path, self._stopped, self._loss = path, stopped, loss
        self._file = FileBytes(file or path)
        self.name = self._file.name
        self.complete = False  # what has no line end yet is still being written
        self.ended = False
        self.next = path
        self._offset, self._head, self._recent = 0, b"", b""

    def ready(self) -> bool:
        """Whether there is more to read now."""
        return self._file.left() > 0

    def read(self, most: int) -> bytes:
        """What was added, as soon as there is some; none when it was rotated or is closed."""
        while not self._stopped.is_set() and not self.ended:
            # Checked before reading: once another file is written to, what is read now is all.
            final = self._is_rotated()
            data = self._file.read(most)
            # Checked after reading: after a truncation, the bytes read are those of new rows.
            if not self._is_intact():
                self._recover()
            elif data:
                self._remember(data)
                return data
            elif final:
                self.ended = self.complete = True
            else:
                self._stopped.wait(POLL)
                self._stopped.look()
        return b""

    def seek(self, offset: int) -> None:
        """Resume at an offset."""
        self._file.seek(0)
        self._head, self._recent = self._file.exactly(min(offset, HEAD)), b""
        self._file.seek(offset)
        self._offset = offset

    def identity(self, offset: int) -> dict[str, Any]:
        """Size, inode and head."""
        return {**self._file.identity(0), **head_position(self._head[:offset])}

    def start_position(self) -> dict[str, Any]:
        """Size, inode and head of a file of which nothing was read."""
        return {**self._file.identity(HEAD), **tail_position(b"")}

    def done(self) -> int | None:
        """Bytes read."""
        return self._offset

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _remember(self, data: bytes) -> None:
        self._offset += len(data)
        self._head += data[: HEAD - len(self._head)]
        self._recent = (self._recent + data[-TAIL:])[-TAIL:]

    def _mark(self) -> dict[str, Any]:
        """What was read, in the terms of a position."""
        head, tail = head_position(self._head), tail_position(self._recent)
        return {"offset": self._offset, **head, **tail}

    def _is_rotated(self) -> bool:
        """Whether new rows go to another file."""
        now = rotation.inode_of(self._path)
        if now == self._file.inode:
            return False
        if now is not None and self._file.links == 0 and self._replaced():
            return False
        after = rotation.later(self._path, self._file.inode, self._mark())
        self.next = after[0] if after else self._path
        return bool(after) or (now is not None and os.path.getsize(self._path) > 0)

    def _replaced(self) -> bool:
        """Whether a file with the same content took its place, as after ``mv new file``."""
        if rotation.holds(self._path, self._mark()):
            self._continue_in(self._path)
            return True
        if self._head and rotation.holds(self._path, self._mark_of_head()):
            raise _edited(self._path, self._offset)
        return False

    def _is_intact(self) -> bool:
        """Whether what was read is still there."""
        file, start = self._file, self._offset - len(self._recent)
        return file.zipped or (
            file.peek(start, len(self._recent)) == self._recent
            and file.peek(0, len(self._head)) == self._head
        )

    def _recover(self) -> None:
        """Resume in a copy of the file, such as ``copytruncate`` makes; report a loss otherwise."""
        for copy in rotation.rotated(self._path):
            if rotation.holds(copy, self._mark()):
                self._continue_in(copy)
                return
        size = self._file.size
        if size >= self._offset and self._file.peek(0, len(self._head)) == self._head:
            raise _edited(self._path, self._offset)
        how = "truncated" if size < self._offset else "rewritten"
        self._loss.report(
            f"{self._path} was {how} while it was followed: {self._offset} bytes were read, and no "
            f"rotated copy of it ({os.path.basename(self._path)}.1 or the like) has the rest"
        )
        self.ended, self.next = True, self._path

    def _continue_in(self, path: str) -> None:
        self._file.close()
        self._file = FileBytes(path)
        self._file.seek(self._offset)
        self.name = path

    def _mark_of_head(self) -> dict[str, Any]:
        length = len(self._head)
        return {"offset": length, **head_position(self._head), **tail_position(self._head[-TAIL:])}


def _edited(path: str, offset: int) -> ValueError:
    return ValueError(f"{path}: while it was followed, {edited(offset)}; start from the beginning")
