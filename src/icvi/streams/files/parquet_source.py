"""Samples in Parquet files, one row per sample."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from icvi.optional import load
from icvi.streams.arrow_decoder import ArrowDecoder, check_types, numeric_columns
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted, differing_columns
from icvi.streams.files.file_bytes import naming
from icvi.streams.files.fingerprint import (
    check_name,
    check_passed,
    head_of,
    head_position,
    stamp_of,
    why_another,
    why_changed,
)
from icvi.streams.files.paths import refuse_folder
from icvi.streams.source import Source, refuse_position


class ParquetSource(Source):
    """Reads Parquet files one after the other, some rows of a row group at a time.

    Parameters
    ----------
    files : list of str
        Files in the order they are read; all have the same columns.
    wanted, rows, bad_rows
        As in `Source`; rows with nulls or numbers that are not finite are invalid.
    """

    def __init__(
        self, files: Sequence[str], wanted: Wanted, *, rows: int = 8192, bad_rows: str = "error"
    ) -> None:
        super().__init__(wanted, rows=rows, bad_rows=bad_rows)
        self._files = list(files)
        self._number, self._offset = 0, 0  # of the file, and of the next row in it
        self._batches: Iterator[Any] | None = None
        self._passed: list[str] = []  # fingerprints of the files that were read to their end
        self._stamp = ""  # that of the file that is read
        self._opened: Any = None
        self._columns, self._lengths = self._inspect()
        self._chosen = self._columns
        self.length = sum(self._lengths)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._columns.features

    def seek(self, position: Position) -> None:
        """Resume after the batch that had this position."""
        if self._row or self._batches is not None:
            raise ValueError("seek before reading; open the source again")
        number = int(position["number"])
        check_name(self._files, position["file"], number)
        path = self._files[number]
        passed = check_passed(self._files, number, position)
        # Written as a whole, a Parquet file does not grow: any change makes it another one.
        stamp = position.get("stamp")  # earlier versions stored none
        why = why_another(path, position) if stamp is None else why_changed(path, stamp)
        chosen = Chosen.of(position)
        assert chosen is not None
        if why is None and chosen != self._columns:
            why = f"its columns were {chosen.names}"
        if why is None and int(position["offset"]) > self._lengths[number]:
            why = f"it is at row {position['offset']}, and the file has {self._lengths[number]}"
        if why is not None:
            raise refuse_position(path, why)
        self._number, self._offset, self._passed = number, int(position["offset"]), passed
        self._resume(position)

    def _release(self) -> None:
        self._batches = None
        if self._opened is not None:
            self._opened.close()

    def _inspect(self) -> tuple[Chosen, list[int]]:
        chosen, first, lengths = None, None, []
        for path in self._files:
            with naming(path), _open(path) as file:
                schema = file.schema_arrow
                lengths.append(file.metadata.num_rows)
            if first is None:
                chosen = self._wanted.choose(schema.names, numeric_columns(schema), path)
                first = schema
            how = differing_columns(first.names, schema.names)
            if how is not None:
                raise ValueError(f"{path}: expected the columns of {self._files[0]}, got it {how}")
            assert chosen is not None
            check_types(schema, chosen, path)
        assert chosen is not None
        return chosen, lengths

    def _read_rows(self) -> Batch | None:
        while self._number < len(self._files):
            path = self._files[self._number]
            if self._batches is None:
                self._batches = self._open_at(path, self._offset)
                self._stamp = stamp_of(path)
            with naming(path):
                batch = next(self._batches, None)
            if batch is None:
                self._passed.append(self._stamp)
                self._number, self._offset, self._batches = self._number + 1, 0, None
                continue
            decoder = ArrowDecoder(path, self._columns, self._times, self._bad)
            rows = decoder.read(batch, self._offset)
            self._offset += batch.num_rows
            return rows
        return None

    def _open_at(self, path: str, skip: int) -> Iterator[Any]:
        """Record batches from a row on; row groups before it are not read."""
        with _open(path) as file:
            self._opened = file
            sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
            group = 0
            while group < len(sizes) and skip >= sizes[group]:
                skip -= sizes[group]
                group += 1
            groups = list(range(group, len(sizes)))
            if not groups:
                return
            names = list(self._columns.names)
            for batch in file.iter_batches(self._rows, row_groups=groups, columns=names):
                passed = min(skip, batch.num_rows)
                skip -= passed
                if passed < batch.num_rows:
                    yield batch.slice(passed)

    def _position(self) -> Position:
        path = self._files[self._number]
        return {
            "file": path,
            "number": self._number,
            "offset": self._offset,
            **self._common_position(),
            "stamp": self._stamp,
            "passed": list(self._passed),
            "size": os.stat(path).st_size,
            **head_position(head_of(path)),
        }


def _open(path: str) -> Any:
    pa, parquet = load("pyarrow", "stream"), load("pyarrow.parquet", "stream")
    refuse_folder(path, "parquet")
    os.stat(path)  # an error of the system names the file
    try:
        return parquet.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file, or a damaged one: {error}") from error
