"""What CSV and NDJSON share: blocks of rows out of files, and positions in them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.files.block_decoder import BlockDecoder
from icvi.streams.files.blocks import Block, Blocks, Bytes
from icvi.streams.files.file_bytes import FileBytes
from icvi.streams.files.fingerprint import (
    check_name,
    check_passed,
    edited,
    head_of,
    tail_position,
    why_another,
    why_other_head,
    why_other_tail,
)
from icvi.streams.files.followed_bytes import POLL, FollowedBytes
from icvi.streams.files.pipe_bytes import NamedPipeBytes, PipeBytes, is_pipe
from icvi.streams.files.rotation import locate
from icvi.streams.files.row_ends import RowEnds
from icvi.streams.source import Source, refuse_position

#: Rows of the first block by which numeric columns are recognised.
INSPECTED = 100


class TextSource(Source):
    """Samples in the lines of files, one file after the other, or of a pipe.

    Parameters
    ----------
    files : list of str, or a readable object
        Files in the order they are read; or an open pipe.
    wanted, rows, bad_rows, on_data_loss
        As in `Source`; data is lost when a followed file is removed before all of it was read.
    follow : bool
        Wait for more at the end of the file. When it is rotated, read it to its end, then the next.
    """

    _row_ends: RowEnds

    def __init__(
        self, files: Sequence[str] | Any, wanted: Wanted, *, follow: bool = False, **options: Any
    ) -> None:
        super().__init__(wanted, **options)
        self._pipe = None if isinstance(files, (list, tuple)) else files
        self._files = list(files) if self._pipe is None else [_pipe_name(files)]
        if follow and len(self._files) > 1:
            raise ValueError(f"expected one file to follow, got {len(self._files)}")
        if follow and self._files[0].endswith(".gz"):
            raise ValueError(f"{self._files[0]}: a compressed file cannot be followed")
        self._follow = follow
        self._number = 0  # of the file that is read
        self._bytes: Bytes | None = None
        self._blocks: Blocks | None = None
        self._decoder: BlockDecoder | None = None
        self._pending: Block | None = None  # read to know the columns, not handed on yet
        self._unfinished = False  # whether the row read last had no line end
        self._passed: list[str] = []  # fingerprints of the files that were read to their end
        self._next: str | None = None  # the file in which a followed one continues
        known = [] if follow or self._pipe is not None else self._files
        self._sizes = [os.stat(file).st_size for file in known]

    @property
    def size(self) -> int | None:  # type: ignore[override]
        """Bytes of all files."""
        return None if self._follow or self._pipe is not None else sum(self._sizes)

    @property
    def done(self) -> int | None:  # type: ignore[override]
        """Bytes read so far."""
        here = 0 if self._bytes is None else self._bytes.done() or 0
        return sum(self._sizes[: self._number]) + here

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; reads the first rows if necessary."""
        if self._chosen is None and self._pending is None:
            self._pending = self._next_block()
        return self._chosen.features if self._chosen is not None else self._columns_without_rows()

    def start(self) -> Position:
        """The file that is followed, as it is now."""
        path = self._files[0]
        begun = self._row or self._bytes is not None
        if begun or not self._follow or is_pipe(path) or not os.path.exists(path):
            return {}
        self._bytes = opened = FollowedBytes(path, self._stopped, self._loss)
        place = {"file": path, "number": 0, "offset": 0, "line": 1, "unfinished": False}
        return {**place, "row": 0, "skipped": 0, **opened.start_position()}

    def seek(self, position: Position) -> None:
        """Resume after the batch that had this position."""
        if self._row or self._bytes is not None:
            raise ValueError("seek before reading; open the source again")
        number = int(position["number"])
        check_name(self._files, position["file"], number)
        chosen = Chosen.of(position)
        if chosen is not None and not self._wanted.accepts(chosen):
            raise refuse_position(self._files[number], f"its columns were {chosen.names}")
        self._loss.resume(position)
        self._check_files(number, position)
        self._number = number
        try:
            self._resume_header(position)
            if not self._follow or self._locate(position):
                self._open(position)
        except BaseException:
            self._release()
            self._bytes = self._blocks = None
            self._number = 0
            raise
        self._chosen = chosen
        self._resume(position)

    def _release(self) -> None:
        if self._bytes is not None:
            self._bytes.close()

    # -- for the formats -------------------------------------------------------------------

    def _begin(self, blocks: Blocks, name: str) -> None:
        """Read what comes before the rows of a file; by default there is nothing."""

    def _resume_header(self, position: Position) -> None:
        """Restore the header from a position, before its file is opened."""

    @abstractmethod
    def _choose(self, block: Block) -> Chosen | None:
        """Choose columns by the first rows; None if none of them is valid."""

    @abstractmethod
    def _decoder_for(self, chosen: Chosen) -> BlockDecoder:
        """What decodes the rows of the file that is read."""

    def _columns_without_rows(self) -> tuple[str, ...]:
        """The features of a source that has no rows."""
        return ()

    # -- reading ---------------------------------------------------------------------------

    def _read_rows(self) -> Batch | None:
        block = self._next_block()
        if block is None:
            return None
        if self._decoder is None:
            assert self._chosen is not None
            self._decoder = self._decoder_for(self._chosen)
        self._unfinished = block.last
        return self._decoder.read(block)

    def _next_block(self) -> Block | None:
        if self._pending is not None:
            block, self._pending = self._pending, None
            return block
        while not self.closed and self._number < len(self._files):
            if self._blocks is None:
                with self._stopped.undisturbed():
                    self._open(None)
                continue  # opening waits in a followed file, which may be closed meanwhile
            found = self._blocks.next(self._rows)
            if found is None:
                self._leave()
                continue
            if self._chosen is None:
                self._chosen = self._choose(found)
            if self._chosen is not None:
                return found
        return None

    @property
    def _name(self) -> str:
        """What is read now, for errors."""
        return self._files[self._number] if self._bytes is None else self._bytes.name

    def _open(self, position: Position | None) -> None:
        name = self._files[self._number]
        if self._pipe is not None:
            self._bytes = PipeBytes(self._pipe, name, self._stopped)
        elif is_pipe(name):
            self._bytes = NamedPipeBytes(name, self._stopped)
        elif self._follow:
            if self._bytes is None:
                if not self._wait_for(self._next or name):
                    return
                self._bytes = FollowedBytes(name, self._stopped, self._loss, self._next)
        else:
            self._bytes = FileBytes(name)
        self._decoder = None  # it names the file, and knows its header
        blocks = Blocks(self._bytes, self._row_ends)
        self._begin(blocks, self._bytes.name)
        if position is not None and position["offset"]:
            blocks.move(
                int(position["offset"]), int(position["line"]), bool(position["unfinished"])
            )
            self._check_before(self._bytes, blocks.tail, position)
        self._blocks = blocks

    def _wait_for(self, path: str) -> bool:
        """Wait until a file exists: during a rotation it may be missing for a moment."""
        while not self.closed and not os.path.exists(path):
            self._stopped.wait(POLL)
            self._stopped.alive()
        return not self.closed

    def _check_before(self, opened: Bytes, tail: bytes, position: Position) -> None:
        """Refuse a file whose bytes before the position are not those that were read."""
        why = why_other_tail(tail, position)
        if isinstance(opened, PipeBytes):  # its first bytes are known only now
            why = why_other_head(opened.head, position) or why
        if why is not None:
            raise refuse_position(opened.name, why)

    def _leave(self) -> None:
        assert self._bytes is not None
        assert self._blocks is not None
        rotated = isinstance(self._bytes, FollowedBytes) and self._bytes.ended
        if isinstance(self._bytes, FollowedBytes):
            self._next = self._bytes.next
        elif isinstance(self._bytes, FileBytes):
            self._passed.append(self._bytes.stamp(self._blocks.offset))
        self._bytes.close()
        self._bytes = self._blocks = None
        self._number += not rotated

    # -- positions -------------------------------------------------------------------------

    def _position(self) -> Position:
        assert self._bytes is not None
        assert self._blocks is not None
        return {
            "file": self._files[self._number],
            "number": self._number,
            "offset": self._blocks.offset,
            "line": self._blocks.line,
            "unfinished": self._unfinished,
            **self._common_position(),
            **self._bytes.identity(self._blocks.offset),
            **tail_position(self._blocks.tail),
            "passed": list(self._passed),
            **self._loss.position(),
        }

    def _check_files(self, number: int, position: Position) -> None:
        if self._follow or self._pipe is not None:
            return
        path = self._files[number]
        self._passed = check_passed(self._files, number, position)
        if not is_pipe(path):
            why = why_another(path, position)
            if why is not None:
                raise refuse_position(path, why)

    def _locate(self, position: Position) -> bool:
        """Find the followed file, which may have been rotated; False to read the one there now."""
        path = self._files[0]
        if is_pipe(path):
            return True
        found = locate(path, position)
        if found is not None:
            self._next = None if found == path else found
            return True
        there = os.path.exists(path)
        if there and why_other_head(head_of(path), position) is None:
            raise refuse_position(path, edited(int(position["offset"])))
        self._loss.report(
            f"{path} {'is another file' if there else 'is gone'}, and no rotated copy of it "
            f"({os.path.basename(path)}.1 or the like) has what was read before: what came after "
            f"byte {position['offset']} is lost"
        )
        return False


def _pipe_name(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and not name.isdigit() else "the stream"
