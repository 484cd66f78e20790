"""Standard output in place of a trace file: what is written cannot be taken back."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from typing import Any

from icvi.watching.trace_files.growing_file import Mark, with_advice
from icvi.wording import for_terminal

_NAME = "standard output"


class StandardOutput:
    """Rows for the reader of the pipe; `BrokenPipeError` if it closed the pipe."""

    path = _NAME

    def __init__(self) -> None:
        self.mark = Mark()
        self.is_open = False

    def create(self, overwrite: bool, header: bytes = b"") -> None:  # noqa: ARG002  of a file
        """Write the header."""
        self.is_open = True
        self.append([header], 0)

    def append(self, parts: Iterable[Any], rows: int) -> None:
        """Write bytes that hold so many rows, unbuffered."""
        if not self.is_open:
            raise RuntimeError("standard output is not open: call begin() first")
        buffered = sys.stdout.buffer
        # Unbuffered: Python would try again at exit to write what is left in a buffer.
        out: Any = getattr(buffered, "raw", buffered)
        length = self.mark.length
        try:
            sys.stdout.flush()
            for part in map(_for_terminal, parts) if sys.stdout.isatty() else parts:
                left = memoryview(part)
                length += left.nbytes
                while left.nbytes:
                    left = left[_count(out.write(left)) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            what = f"{self.mark.rows:,} readings were written before"
            raise with_advice(error, what, _NAME) from error
        self.mark = Mark(length, self.mark.rows + rows)

    def sync(self) -> None:
        """Nothing to do: nothing is buffered."""

    def close(self) -> None:
        """Left to Python, which opened it."""


def _for_terminal(part: Any) -> bytes:
    # Labels may hold escape sequences: a file may have them, a terminal would execute them.
    return for_terminal(bytes(part).decode()).encode()


def _count(count: int | None) -> int:
    if count is None:
        raise BlockingIOError(errno.EAGAIN, "the reader is not ready, and the pipe does not block")
    return count
