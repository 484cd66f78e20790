"""Where readings are until they can be a Parquet file, which cannot grow.

A journal is a stream of Arrow's record batches (its "IPC streaming format") without an end: it
can be appended to, and cut back to the end of any batch. It has a column more than the trace:
labels that are whole numbers stand in one, and those that are texts in the next, because only the
end tells of which type the column in the Parquet file is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from icvi.container import _replacing
from icvi.streams.extras import load
from icvi.watching.trace_files.growing_file import refuse_existing
from icvi.watching.trace_files.rows import Rows
from icvi.watching.trace_files.trace_file import TimeKind

#: Rows of a row group, whatever the batches were: equal readings are to be equal files.
ROW_GROUP = 65_536


def journal_schema(names: Sequence[str], time: TimeKind) -> Any:
    """The columns of a journal."""
    pa = load("pyarrow", "stream")
    fields = [("sample", pa.int64())]
    if time is not None:
        fields.append(("time", pa.float64() if time == "seconds" else pa.timestamp("ns")))
    fields += [("label", pa.int64()), ("label as text", pa.string()), ("k", pa.int64())]
    return pa.schema(fields + [(name, pa.float64()) for name in names])


def as_batch(rows: Rows, schema: Any) -> Any:
    """Rows as a record batch of a journal."""
    pa = load("pyarrow", "stream")
    if isinstance(rows.label, list):
        whole = [label if isinstance(label, int) else None for label in rows.label]
        texts = [label if isinstance(label, str) else None for label in rows.label]
        label, text = pa.array(whole, pa.int64()), pa.array(texts, pa.string())
    else:
        label, text = pa.array(rows.label), pa.nulls(len(rows), pa.string())
    time = [] if rows.time is None else [pa.array(rows.time, from_pandas=True)]
    # from_pandas: nan is null.
    values = [pa.array(column, from_pandas=True) for column in rows.values]
    columns = [pa.array(rows.sample), *time, label, text, pa.array(rows.k), *values]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal holds."""

    schema: Any
    batches: int
    rows: int
    texts: bool


def survey(path: str, length: int) -> Contents:
    """What the first bytes of a journal hold: all batches up to one that is not whole."""
    pa = load("pyarrow", "stream")
    batches = rows = sample = 0
    texts = False
    with _reading(path, length) as reader:
        schema, text = reader.schema, _text_place(reader.schema)
        try:
            for batch in reader:
                samples = batch.column(0).to_numpy()
                # After a power cut, a file may have zeros where the last batches should be.
                if batch.num_rows and (samples[0] <= sample or (np.diff(samples) <= 0).any()):
                    break
                sample = int(samples[-1]) if batch.num_rows else sample
                batches, rows = batches + 1, rows + batch.num_rows
                texts = texts or batch.column(text).null_count < batch.num_rows
        except (pa.ArrowInvalid, OSError):
            pass
    return Contents(schema, batches, rows, texts)


def write_parquet(path: str, journal: str, length: int, contents: Contents) -> None:
    """Write the batches of a journal as a Parquet file, which appears when it is complete."""
    if not contents.batches:
        _write_tables(path, _parquet_schema(contents), ())
        return
    with _reading(journal, length) as reader:
        batches = islice(reader, contents.batches)
        tables = (_table(group, contents) for group in row_groups(batches, ROW_GROUP))
        _write_tables(path, _parquet_schema(contents), tables)


def _write_tables(path: str, schema: Any, tables: Iterable[Any]) -> None:
    """Write a Parquet file with one row group per table."""
    parquet = load("pyarrow.parquet", "stream")
    with _replacing(Path(os.path.realpath(path))) as file:
        writer = parquet.ParquetWriter(
            file, schema, compression="snappy", use_dictionary=["label", "k"]
        )
        try:
            for table in tables:
                writer.write_table(table, row_group_size=ROW_GROUP)
        except BaseException:
            with suppress(Exception):  # it would try to close itself when nobody can catch that
                writer.close()
            raise
        writer.close()


def recover(journal: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Write a Parquet file from the journal that a run left behind.

    Parameters
    ----------
    journal : path-like
        A file that ends in ``.arrows``: ``.trace.parquet.arrows`` beside a trace that would be
        ``trace.parquet``, or ``trace.arrows`` in the folder of checkpoints. It stays.
    path : path-like
        The Parquet file to write; it must not exist.

    Returns
    -------
    int
        The number of readings. What was being written when the run ended is left out.
    """
    journal, path = os.fspath(journal), os.fspath(path)
    refuse_existing(path)
    length = os.stat(journal).st_size
    contents = survey(journal, length) if length else None
    if contents is None or contents.rows == 0:
        raise ValueError(f"{journal} holds no readings")
    write_parquet(path, journal, length, contents)
    return contents.rows


def row_groups(batches: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Record batches cut and gathered so that each list has ``size`` rows, the last one fewer."""
    held: list[Any] = []
    missing = size
    for whole in batches:
        batch = whole
        while batch.num_rows >= missing:
            yield [*held, batch.slice(0, missing)]
            batch, held, missing = batch.slice(missing), [], size
        if batch.num_rows:
            held.append(batch)
            missing -= batch.num_rows
    if held:
        yield held


@contextmanager
def _reading(path: str, length: int) -> Iterator[Any]:
    """The batches within the first bytes of a file."""
    pa = load("pyarrow", "stream")
    # Read, not mapped: a disk that fails is to be an error, not the end of the process.
    with pa.OSFile(path, "rb") as file:
        try:
            reader = load("pyarrow.ipc", "stream").open_stream(file.get_stream(0, length))
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a journal of a trace: {error}") from error
        yield reader


def _text_place(schema: Any) -> int:
    # By its place: an index may have any name but "label".
    return int(schema.get_field_index("label")) + 1


def _parquet_schema(contents: Contents) -> Any:
    pa = load("pyarrow", "stream")
    text = _text_place(contents.schema)
    schema = contents.schema.remove(text)
    return schema.set(text - 1, pa.field("label", pa.string())) if contents.texts else schema


def _table(batches: list[Any], contents: Contents) -> Any:
    """A part of a journal as it is in the Parquet file, each column in one piece."""
    pa, compute = load("pyarrow", "stream"), load("pyarrow.compute", "stream")
    table = pa.Table.from_batches(batches, contents.schema).combine_chunks()
    text, columns = _text_place(contents.schema), table.columns
    if contents.texts:
        columns[text - 1] = compute.coalesce(columns[text], columns[text - 1].cast(pa.string()))
    del columns[text]
    return pa.Table.from_arrays(columns, schema=_parquet_schema(contents))
