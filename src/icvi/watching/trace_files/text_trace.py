"""Trace files of text: rows go to the file at once, so that it can be read while it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.watching.step import Kept, Step
from icvi.watching.trace_files.growing_file import GrowingFile, refuse_existing
from icvi.watching.trace_files.standard_output import StandardOutput
from icvi.watching.trace_files.trace_file import TimeKind, TraceFile
from icvi.watching.trace_files.trace_rows import TraceRows

#: Rows that are encoded at once: the text of a large step is never in memory as a whole.
_PIECE = 8192

_NO_CHECKPOINT = (
    "standard output cannot be checkpointed: what is written cannot be taken back; write the trace "
    "to a file"
)


class TextTrace(TraceFile):
    """A trace file of text, or the same on standard output."""

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        time: TimeKind,
        overwrite: bool,
        compared: bool = False,
    ) -> None:
        super().__init__(path, names, time, overwrite, compared)
        self._file = StandardOutput() if path == "-" else GrowingFile(path)

    @property
    def rows(self) -> int:
        """How many readings were taken."""
        return self._file.mark.rows

    def check_new(self) -> None:
        """Refuse to overwrite an existing file, as `begin` would."""
        if isinstance(self._file, GrowingFile) and not self._may_replace:
            refuse_existing(self.path)

    def begin(self, again: bool = False) -> None:
        """Create the file with its header."""
        self._file.create(self._may_replace or again, self._header())

    def take(self, step: Step) -> None:
        """Append the readings of the next step; none of them if that fails."""
        if not len(step.labels):
            return
        rows = self._rows_of(step)
        self._file.append((self._encoded(part) for part in rows.pieces(_PIECE)), len(rows))

    def flush(self) -> None:
        """Write everything to the disk."""
        self._file.sync()

    def keep(self) -> Kept:
        """Where the file ends now."""
        if isinstance(self._file, StandardOutput):
            raise ValueError(_NO_CHECKPOINT)
        return {**self._facts(), **self._file.mark._asdict()}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Truncate the file to where it ended at the checkpoint, and resume."""
        if isinstance(self._file, StandardOutput):
            raise ValueError(_NO_CHECKPOINT)
        self._check_facts(facts)
        self._file.resume(facts, self._header())

    def finish(self) -> None:
        """Write everything to the disk; the file is complete as it is."""
        self._file.sync()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _is_empty_trace(self) -> bool:
        header = self._header()
        with open(self.path, "rb") as file:
            return file.read(len(header) + 1) in (b"", header)

    # -- what formats differ in ------------------------------------------------------------

    def _header(self) -> bytes:
        raise NotImplementedError

    def _encoded(self, rows: TraceRows) -> bytes:
        raise NotImplementedError


def time_texts(times: NDArray[Any]) -> list[str | None]:
    """Timestamps in ISO 8601 with as many decimals as each needs; None for NaT.

    >>> time_texts(np.array(["2024-05-01T12:00", "2024-05-01T12:00:00.25"], "datetime64[ns]"))
    ['2024-05-01T12:00:00', '2024-05-01T12:00:00.25']
    """
    texts = np.datetime_as_string(times, unit="ns").tolist()
    return [None if text == "NaT" else text.rstrip("0").rstrip(".") for text in texts]


def numbers(columns: NDArray[np.float64], infinities: Mapping[float, Any]) -> list[list[Any]]:
    """Columns of numbers, with substitutes for infinities, which JSON does not have."""
    values: list[list[Any]] = columns.tolist()
    for column, place in np.argwhere(np.isinf(columns)).tolist():
        values[column][place] = infinities[values[column][place]]
    return values
