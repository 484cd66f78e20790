"""What CSV and NDJSON share: blocks of rows out of files, and positions in them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.files.blocks import Block, Blocks, Ends
from icvi.streams.files.file_bytes import Bytes, FileBytes, NamedPipeBytes, PipeBytes, is_pipe
from icvi.streams.files.fingerprint import (
    changed,
    differs,
    edited,
    head_of,
    other_head,
    other_tail,
    stamp_of,
    tail_position,
)
from icvi.streams.files.follow import POLL, FollowedBytes
from icvi.streams.files.rotation import locate
from icvi.streams.rows import Rows
from icvi.streams.source import Source, as_rows, refuse_position
from icvi.streams.times import Times

#: Rows of the first block that tell which columns are numeric.
LOOKED_AT = 100


class TextSource(Source):
    """Samples in the lines of files, one file after the other, or of a pipe.

    Parameters
    ----------
    files : list of str, or a readable object
        Files in the order they are read; or an open pipe.
    wanted : Wanted
        Which columns to read.
    rows : int
        Rows of a batch, at most.
    bad_rows : {"error", "skip"}
        What to do with a row that is no sample.
    follow : bool
        Wait for more at the end of the file. When it is rotated, read it to its end, then the next.
    on_data_loss : {"stop", "continue"}
        What to do when a followed file is gone before all of it was read.
    """

    _row_ends: Callable[[bytes], tuple[Ends, bool]]

    def __init__(
        self,
        files: Sequence[str] | Any,
        wanted: Wanted,
        *,
        rows: int = 8192,
        bad_rows: str = "error",
        follow: bool = False,
        on_data_loss: str = "stop",
    ) -> None:
        super().__init__(bad_rows, on_data_loss)
        self._pipe = None if isinstance(files, (list, tuple)) else files
        self._files = list(files) if self._pipe is None else [_pipe_name(files)]
        if follow and len(self._files) > 1:
            raise ValueError(f"expected one file to follow, got {len(self._files)}")
        if follow and self._files[0].endswith(".gz"):
            raise ValueError(f"{self._files[0]}: a compressed file cannot be followed")
        self._wanted, self._rows, self._follow = wanted, as_rows(rows), follow
        self._chosen: Chosen | None = None
        self._times = Times()
        self._number = 0  # of the file that is read
        self._bytes: Bytes | None = None
        self._blocks: Blocks | None = None
        self._pending: Block | None = None  # read to know the columns, not handed on yet
        self._passed: list[str] = []  # by which files that were read to their end are known again
        self._next: str | None = None  # the file that a followed one continues in
        known = [] if follow or self._pipe is not None else self._files
        self._sizes = [os.stat(file).st_size for file in known]

    @property
    def size(self) -> int | None:  # type: ignore[override]
        """Bytes of all files."""
        if self._follow or self._pipe is not None:
            return None
        return sum(self._sizes)

    @property
    def done(self) -> int | None:  # type: ignore[override]
        """Bytes read so far."""
        here = 0 if self._bytes is None else self._bytes.done() or 0
        return sum(self._sizes[: self._number]) + here

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; reads the first rows if it must."""
        if self._chosen is None and self._pending is None:
            self._pending = self._next_block()
        return self._chosen.features if self._chosen is not None else self._without_rows()

    def start(self) -> Position:
        """The file that is followed, as it is now."""
        path = self._files[0]
        begun = self._row or self._bytes is not None
        if begun or not self._follow or is_pipe(path) or not os.path.exists(path):
            return {}
        self._bytes = opened = FollowedBytes(path, self._stopped, self._loss)
        place = {"file": path, "number": 0, "offset": 0, "line": 1, "unfinished": False}
        return {**place, "row": 0, "skipped": 0, **opened.begins()}

    def seek(self, position: Position) -> None:
        """Resume after the batch that had this position."""
        if self._row or self._bytes is not None:
            raise ValueError("seek before reading; open the source again")
        number = int(position["number"])
        check_file(self._files, position["file"], number)
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
        self._chosen, self._times = chosen, Times(position.get("time_kind"))
        self._row, self._bad.count = int(position["row"]), int(position["skipped"])

    def _release(self) -> None:
        if self._bytes is not None:
            self._bytes.close()

    @abstractmethod
    def _begin(self, blocks: Blocks, name: str) -> None:
        """Read what comes before the rows of a file."""

    def _resume_header(self, position: Position) -> None:
        """Know the header of a position before its file is opened."""

    @abstractmethod
    def _look(self, block: Block) -> Chosen | None:
        """Choose columns by the first rows; None if there are none among them."""

    @abstractmethod
    def _decode(self, block: Block) -> Rows:
        """The usable rows of a block."""

    @abstractmethod
    def _without_rows(self) -> tuple[str, ...]:
        """The features of a source that has no rows."""

    def _read(self) -> Batch | None:
        while (block := self._next_block()) is not None:
            rows = self._decode(block)
            if rows.number:
                first = self._row
                self._row += rows.number
                return Batch(rows.X, rows.labels, rows.time, first, self._position(block))
        return None

    def _next_block(self) -> Block | None:
        if self._pending is not None:
            block, self._pending = self._pending, None
            return block
        while not self.closed and self._number < len(self._files):
            if self._blocks is None:
                self._open(None)
                continue  # opening waits in a followed file, which may be closed meanwhile
            block_read = self._blocks.next(self._rows)
            if block_read is None:
                self._leave()
            elif self._chosen is not None or self._choose(block_read):
                return block_read
        return None

    def _choose(self, block: Block) -> bool:
        self._chosen = self._look(block)
        return self._chosen is not None

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
        blocks = Blocks(self._bytes, self._row_ends)
        self._begin(blocks, self._bytes.name)
        if position is not None and position["offset"]:
            blocks.move(
                int(position["offset"]), int(position["line"]), bool(position["unfinished"])
            )
            self._check_before(self._bytes, blocks.tail, position)
        self._blocks = blocks

    def _wait_for(self, path: str) -> bool:
        """Wait until a file is there: between two rotations there may be none."""
        while not self.closed and not os.path.exists(path):
            self._stopped.wait(POLL)
        return not self.closed

    def _check_before(self, opened: Bytes, tail: bytes, position: Position) -> None:
        """Refuse a file whose bytes before the position are others than those that were read."""
        why = other_tail(tail, position)
        if isinstance(opened, PipeBytes):  # shows its first bytes only after they are read
            why = other_head(opened.head, position) or why
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

    def _position(self, block: Block) -> Position:
        assert self._bytes is not None
        assert self._blocks is not None
        assert self._chosen is not None
        return {
            "file": self._files[self._number],
            "number": self._number,
            "offset": self._blocks.offset,
            "line": self._blocks.line,
            "unfinished": block.last,
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self._chosen.features),
            "label": self._chosen.label,
            "time": self._chosen.time,
            "time_kind": self._times.kind,
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
            why = differs(path, os.stat(path).st_size, position)
            if why is not None:
                raise refuse_position(path, why)

    def _locate(self, position: Position) -> bool:
        """Find the followed file, which may have been rotated; False to begin the next one."""
        path = self._files[0]
        if is_pipe(path):
            return True
        found = locate(path, position)
        if found is not None:
            self._next = None if found == path else found
            return True
        there = os.path.exists(path)
        if there and other_head(head_of(path), position) is None:
            raise refuse_position(path, edited(int(position["offset"])))
        self._loss.report(
            f"{path} {'is another file' if there else 'is gone'}, and no rotated copy of it "
            f"({os.path.basename(path)}.1 or the like) has what was read before: what came after "
            f"byte {position['offset']} is lost"
        )
        return False


def check_passed(files: Sequence[str], number: int, position: Position) -> list[str]:
    """Refuse files that were read to their end and changed since; how they are known again."""
    stamps = position.get("passed")
    if stamps is None:  # of an older version
        return [stamp_of(path) for path in files[:number]]
    for path, stamp in zip(files, stamps):
        why = changed(path, stamp)
        if why is not None:
            raise refuse_position(path, why)
    return list(stamps)


def check_file(files: Sequence[str], name: str, number: int) -> None:
    """Refuse a position in a file that is not there, or not where it was."""
    # Folders may be moved or named from elsewhere; the head tells whether it is the same file.
    if number >= len(files) or os.path.basename(files[number]) != os.path.basename(name):
        now = files[number] if number < len(files) else "nothing"
        raise refuse_position(files[0], f"file {number + 1} was {name} and is {now}")


def _pipe_name(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and not name.isdigit() else "the stream"
