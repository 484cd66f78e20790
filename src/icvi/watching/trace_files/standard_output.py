"""Standard output in the place of a file: what is written is gone."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from typing import Any

from icvi.watching.trace_files.growing_file import Mark, with_advice
from icvi.wording import for_terminal

_NAME = "standard output"


class StandardOutput:
    """Rows for whoever reads at the other end; `BrokenPipeError` if nobody does any more."""

    path = _NAME

    def __init__(self) -> None:
        self.mark = Mark()
        self.is_open = False

    def create(self, overwrite: bool, header: bytes = b"") -> None:  # noqa: ARG002  of a file
        """Write the header."""
        self.is_open = True
        self.append([header], 0)

    def append(self, parts: Iterable[Any], rows: int) -> None:
        """Write bytes that hold so many rows, and have them seen."""
        if not self.is_open:
            raise RuntimeError("standard output is not begun: call begin() first")
        buffered = sys.stdout.buffer
        # Past the buffer: what could not be written would be tried again when Python exits.
        out: Any = getattr(buffered, "raw", buffered)
        length = self.mark.length
        try:
            sys.stdout.flush()
            for part in map(_for_terminal, parts) if sys.stdout.isatty() else parts:
                left = memoryview(part)
                length += left.nbytes
                while left.nbytes:
                    left = left[_written(out.write(left)) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            what = f"{self.mark.rows:,} readings were written before"
            raise with_advice(error, what, _NAME) from error
        self.mark = Mark(length, self.mark.rows + rows)

    def sync(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Python opened it, and Python closes it."""


def _for_terminal(part: Any) -> bytes:
    # Labels of others may hold escape sequences: a file gets them, a terminal would obey them.
    return for_terminal(bytes(part).decode()).encode()


def _written(count: int | None) -> int:
    if count is None:
        raise BlockingIOError(errno.EAGAIN, "the other end is not ready, and it does not wait")
    return count
