"""What decoders of CSV and NDJSON share: all rows of a block at once, or one by one on doubt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from icvi.streams.bad_rows import BadRows
from icvi.streams.batch import Batch, concatenate
from icvi.streams.columns import Chosen
from icvi.streams.files.blocks import Block, halves
from icvi.streams.files.row_ends import RowEnds
from icvi.streams.row_by_row import Sample, read_rows
from icvi.streams.times import Times


class BlockDecoder(ABC):
    """Decodes blocks of one file.

    Parameters
    ----------
    name : str
        The file, for errors.
    chosen : Chosen
        The columns to read.
    times : Times
        Of the stream so far.
    bad : BadRows
        Where invalid rows are reported.
    """

    row_ends: RowEnds

    def __init__(self, name: str, chosen: Chosen, times: Times, bad: BadRows) -> None:
        self._name, self._chosen, self._times, self._bad = name, chosen, times, bad

    def read(self, block: Block) -> Batch:
        """The valid rows of a block."""
        rows = self._read_at_once(block.data)
        if rows is not None:
            return rows
        # Invalid rows are few: halving finds them, and what is not near one is read at once.
        parts = halves(block, self.row_ends)
        if len(parts) == 1:
            return self.read_one_by_one(block)
        return concatenate([self.read(part) for part in parts])

    def read_one_by_one(self, block: Block) -> Batch:
        """The same, slowly; reports each row that is not valid."""
        rows = ((f"{self._name}, line {line}", row) for line, row in self._split(block))
        return read_rows(rows, self._sample, self._chosen, self._times, self._bad)

    @abstractmethod
    def _read_at_once(self, data: bytes) -> Batch | None:
        """All rows at once; None if anything is the least bit unusual."""

    @abstractmethod
    def _split(self, block: Block) -> Iterable[tuple[int, Any]]:
        """The rows of a block with their lines."""

    @abstractmethod
    def _sample(self, row: Any) -> Sample:
        """One row; a ValueError says what is wrong with it."""
