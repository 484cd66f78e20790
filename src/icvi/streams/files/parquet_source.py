"""Samples in Parquet files, one row per sample."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from icvi.optional import load
from icvi.streams.arrow_rows import ArrowRows, check_types, numeric_columns
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted, difference
from icvi.streams.files.file_bytes import naming
from icvi.streams.files.fingerprint import HEAD, changed, differs, head_of, head_position, stamp_of
from icvi.streams.files.text_source import check_file, check_passed
from icvi.streams.source import Source, as_rows, refuse_position
from icvi.streams.times import Times


class ParquetSource(Source):
    """Reads Parquet files one after the other, some rows of a row group at a time.

    Parameters
    ----------
    files : list of str
        Files in the order they are read; all have the same columns.
    wanted : Wanted
        Which columns to read.
    rows : int
        Rows of a batch, at most.
    bad_rows : {"error", "skip"}
        What to do with a row that has nulls or numbers that are not finite.
    """

    def __init__(
        self, files: Sequence[str], wanted: Wanted, *, rows: int = 8192, bad_rows: str = "error"
    ) -> None:
        super().__init__(bad_rows)
        self._files, self._wanted, self._rows = list(files), wanted, as_rows(rows)
        self._times = Times()
        self._number, self._offset = 0, 0  # of the file, and of the next row in it
        self._part: Iterator[Any] | None = None
        self._passed: list[str] = []  # by which files that were read are known again
        self._stamp = ""  # the same of the file that is read
        self._opened: Any = None
        self._chosen, self._lengths = self._look()
        self.length = sum(self._lengths)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._chosen.features

    def seek(self, position: Position) -> None:
        """Go on after the batch that had this position."""
        if self._row or self._part is not None:
            raise ValueError("seek before reading; open the source again")
        number = int(position["number"])
        check_file(self._files, position["file"], number)
        path = self._files[number]
        passed = check_passed(self._files, number, position)
        # Written as a whole, a Parquet file does not grow: any change makes it another one.
        stamp = position.get("stamp")
        if stamp is None:  # of an older version
            why = differs(path, os.stat(path).st_size, position)
        else:
            why = changed(path, stamp)
        chosen = Chosen(tuple(position["columns"]), position["label"], position["time"])
        if why is None and chosen != self._chosen:
            why = f"its columns were {chosen.names}"
        if why is None and int(position["offset"]) > self._lengths[number]:
            why = f"it is at row {position['offset']}, and the file has {self._lengths[number]}"
        if why is not None:
            raise refuse_position(path, why)
        self._number, self._offset = number, int(position["offset"])
        self._row, self._bad.count = int(position["row"]), int(position["skipped"])
        self._times, self._passed = Times(position["time_kind"]), passed

    def _release(self) -> None:
        self._part = None
        if self._opened is not None:
            self._opened.close()

    def _look(self) -> tuple[Chosen, list[int]]:
        chosen, first, lengths = None, None, []
        for path in self._files:
            with naming(path), _open(path) as file:
                schema = file.schema_arrow
                lengths.append(file.metadata.num_rows)
            if first is None:
                chosen = self._wanted.choose(schema.names, numeric_columns(schema), path)
                first = schema
            how = difference(first.names, schema.names)
            if how is not None:
                raise ValueError(f"{path}: expected the columns of {self._files[0]}, got it {how}")
            assert chosen is not None
            check_types(schema, chosen, path)
        assert chosen is not None
        return chosen, lengths

    def _read(self) -> Batch | None:
        while self._number < len(self._files):
            if self._part is None:
                self._part = self._batches(self._files[self._number], self._offset)
                self._stamp = stamp_of(self._files[self._number])
            with naming(self._files[self._number]):
                part = next(self._part, None)
            if part is None:
                self._passed.append(self._stamp)
                self._number, self._offset, self._part = self._number + 1, 0, None
                continue
            path = self._files[self._number]
            reader = ArrowRows(path, self._chosen, self._times, self._bad)
            rows = reader.read(part, self._offset)
            self._offset += part.num_rows
            if rows.number:
                first = self._row
                self._row += rows.number
                return Batch(rows.X, rows.labels, rows.time, first, self._position(path))
        return None

    def _batches(self, path: str, skip: int) -> Iterator[Any]:
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
            names = list(self._chosen.names)
            for batch in file.iter_batches(self._rows, row_groups=groups, columns=names):
                passed = min(skip, batch.num_rows)
                skip -= passed
                if passed < batch.num_rows:
                    yield batch.slice(passed)

    def _position(self, path: str) -> Position:
        return {
            "file": path,
            "number": self._number,
            "offset": self._offset,
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self._chosen.features),
            "label": self._chosen.label,
            "time": self._chosen.time,
            "time_kind": self._times.kind,
            "stamp": self._stamp,
            "passed": list(self._passed),
            "size": os.stat(path).st_size,
            **head_position(head_of(path, HEAD)),
        }


def _open(path: str) -> Any:
    pa, parquet = load("pyarrow", "stream"), load("pyarrow.parquet", "stream")
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"{path} is a folder; give its files, for instance {os.path.join(path, '*.parquet')!r}"
        )
    os.stat(path)  # an error of the system names the file
    try:
        return parquet.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file, or a damaged one: {error}") from error
