"""The trace as Parquet: readings go to a journal, and from there to the file at the end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from icvi.files import remove_unfinished
from icvi.optional import load
from icvi.watching.step import Kept, Step
from icvi.watching.trace_files.growing_file import GrowingFile, refuse_existing, with_advice
from icvi.watching.trace_files.journal import (
    ROW_GROUP,
    Contents,
    as_batch,
    journal_schema,
    survey,
    write_parquet,
)
from icvi.watching.trace_files.trace_file import TimeKind, TraceFile
from icvi.watching.trace_files.trace_rows import TraceRows, concatenate

#: Rows that are gathered for a batch of the journal, if no flush comes before.
_GATHERED = 4096


class ParquetTrace(TraceFile):
    """A Parquet file, and its journal until it is complete.

    Parameters
    ----------
    path, names, time, overwrite
        As in `TraceFile`.
    journal : path-like, optional
        A folder for the journal, which is then not removed.
    journal_name : str
        What it is called there.
    """

    format = "parquet"

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        time: TimeKind,
        overwrite: bool,
        journal: str | os.PathLike[str] | None = None,
        journal_name: str = "trace.arrows",
        compared: bool = False,
    ) -> None:
        super().__init__(path, names, time, overwrite, compared)
        load("pyarrow.parquet", "stream")
        self._keep_journal = journal is not None
        folder, name = os.path.split(path)
        self.journal = (
            os.path.join(folder, f".{name}.arrows")
            if journal is None
            else os.path.join(journal, journal_name)
        )
        self._recovery = f"icvi.watching.trace_files.recover({self.journal!r}, {path!r})"
        advice = f"{self._recovery} writes the Parquet file from them, unless it exists"
        # No links: in a shared folder, another user could guess the name and put a link there.
        self._file = GrowingFile(self.journal, advice, links=False)
        self._pending: list[TraceRows] = []
        self._waiting = 0  # rows that are pending
        self._failed = self._finished = False
        self._rows_in_file = 0

    @property
    def rows(self) -> int:
        """How many readings were taken."""
        return self._file.mark.rows + self._waiting

    @property
    def rows_in_file(self) -> int:
        """How many readings the Parquet file holds: none until it is finished."""
        return self._rows_in_file

    def check_new(self) -> None:
        """Refuse to overwrite an existing file or journal, as `begin` would."""
        if self._overwrite:
            return
        if not self._may_replace:
            refuse_existing(self.path)
        if os.path.exists(self.journal) and os.path.getsize(self.journal):
            raise FileExistsError(
                f"{self.journal} has readings of a run that did not end: {self._recovery} writes "
                "the Parquet file from them, overwrite=True discards them"
            )

    def begin(self, again: bool = False) -> None:
        """Create the journal."""
        if not again:
            self.check_new()
        self._file.create(True)
        remove_unfinished(self.path)

    def take(self, step: Step) -> None:
        """Take the readings of the next step; none of them if that fails."""
        self._check_open()
        if len(step.labels):
            self.take_rows(self._rows_of(step))

    def take_rows(self, rows: TraceRows) -> None:
        """Take some rows; none of them if that fails."""
        mark = self._file.mark
        if not len(rows):
            return
        self._pending.append(rows)
        self._waiting += len(rows)
        if self._waiting < _GATHERED:
            return
        try:
            self._write_pending()
        except BaseException:
            if self._file.mark == mark:
                self._waiting -= len(self._pending.pop())
            raise

    def flush(self) -> None:
        """Write everything to the journal, and the journal to the disk."""
        self._write_pending()
        self._file.sync()

    def keep(self) -> Kept:
        """Where the journal ends now."""
        self._write_pending()
        path = os.path.abspath(self.path)
        return {**self._facts(), **self._file.mark._asdict(), "path": path}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Truncate the journal to where it ended at the checkpoint, and resume."""
        self._check_facts(facts)
        path = os.path.abspath(self.path)
        if facts.get("path", path) != path and not self._may_replace:
            refuse_existing(self.path)  # a file of another run
        self._file.resume(facts)
        remove_unfinished(self.path)

    def finish(self) -> None:
        """Write the Parquet file; the journal is removed, unless it has a folder of its own."""
        if self._finished:
            return
        self._check_open()
        self._write_pending()
        try:
            write_parquet(self.path, self.journal, self._file.mark.length, self._contents())
        except OSError as error:
            what = (
                f"its {self.rows:,} readings are safe in the journal: when there is room, "
                f"{self._recovery}"
            )
            raise with_advice(error, what, self.path) from error
        self._rows_in_file = self.rows
        if not self._keep_journal:
            self._leave(remove=True)
            self._finished = True

    def close(self) -> None:
        """Close the journal, with everything that was taken in it."""
        try:
            # An error that was raised once is not raised again.
            with contextlib.suppress(OSError) if self._failed else contextlib.nullcontext():
                self._write_pending()
        finally:
            self._pending, self._waiting = [], 0
            self._leave(remove=not self._file.mark.rows)

    # -- inside ----------------------------------------------------------------------------

    def _is_empty_trace(self) -> bool:
        pa, parquet = load("pyarrow", "stream"), load("pyarrow.parquet", "stream")
        try:
            metadata = parquet.read_metadata(self.path)
        except pa.ArrowInvalid:
            return False
        return bool(metadata.num_rows == 0 and metadata.schema.names[0] == self._columns[0])

    def _leave(self, remove: bool) -> None:
        """Close the journal, and remove it if it is not needed any more."""
        was_open = self._file.is_open
        self._file.close()
        if remove and was_open:
            os.unlink(self.journal)

    def _check_open(self) -> None:
        if not self._file.is_open:
            raise RuntimeError(f"{self.path} is not open: call begin() or resume() first")

    def _write_pending(self) -> None:
        """Append the pending rows to the journal."""
        if not self._pending:
            return
        mark = self._file.mark
        try:
            self._file.append(self._messages(concatenate(self._pending)), self._waiting)
        except OSError:
            self._failed = True
            raise
        finally:
            # Also after an interrupt: what is in the journal is not pending any more.
            if self._file.mark != mark:
                self._pending, self._waiting, self._failed = [], 0, False

    def _messages(self, rows: TraceRows) -> Iterator[Any]:
        schema = journal_schema(self.names, self._time, self.compared)
        if not self._file.mark.length:
            yield schema.serialize()
        for piece in rows.pieces(ROW_GROUP):
            yield as_batch(piece, schema).serialize()

    def _contents(self) -> Contents:
        length, rows, _ = self._file.mark
        if not length:
            schema = journal_schema(self.names, self._time, self.compared)
            return Contents(schema, 0, 0, False)
        contents = survey(self.journal, length)
        if contents.rows != rows:
            raise ValueError(
                f"{self.journal} holds {contents.rows:,} of {rows:,} readings: it was changed "
                f"meanwhile; {self._recovery} writes what is left"
            )
        return contents
