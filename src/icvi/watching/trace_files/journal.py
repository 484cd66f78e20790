"""Where readings are stored until a Parquet file, which cannot grow, can be written.

A journal is a stream of Arrow's record batches (its "IPC streaming format") without an end: batches
can be appended, and the file can be truncated to the end of any batch. It has one column more than
the trace: whole numbers as labels are in one, texts in the next, because the type of the column in
the Parquet file is known only at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.files import replacing
from icvi.optional import load
from icvi.watching.trace_files.growing_file import refuse_existing
from icvi.watching.trace_files.trace_file import TimeKind
from icvi.watching.trace_files.trace_rows import TraceRows

#: Rows of a row group, whatever the batches were, so that equal readings give equal files.
ROW_GROUP = 65_536

_TEXT = "label as text"


def journal_schema(names: Sequence[str], time: TimeKind, compared: bool = False) -> Any:
    """The columns of a journal."""
    pa = load("pyarrow", "stream")
    fields = [("sample", pa.int64())]
    if time is not None:
        fields.append(("time", pa.float64() if time == "seconds" else pa.timestamp("ns")))
    fields += [("candidate", pa.string())] if compared else []
    fields += [("label", pa.int64()), (_TEXT, pa.string()), ("k", pa.int64())]
    return pa.schema(fields + [(name, pa.float64()) for name in names])


def as_batch(rows: TraceRows, schema: Any) -> Any:
    """Rows as a record batch of a journal."""
    pa = load("pyarrow", "stream")
    if isinstance(rows.label, list):
        whole = [label if isinstance(label, int) else None for label in rows.label]
        texts = [label if isinstance(label, str) else None for label in rows.label]
        label, text = pa.array(whole, pa.int64()), pa.array(texts, pa.string())
    else:
        label, text = _as_array(rows.label, pa.int64()), pa.nulls(len(rows), pa.string())
    time = [] if rows.time is None else [_as_array(rows.time, schema.field("time").type)]
    candidate = [] if rows.candidate is None else [pa.array(rows.candidate, pa.string())]
    values = [_as_array(column, pa.float64()) for column in rows.values]
    sample, k = (_as_array(column, pa.int64()) for column in (rows.sample, rows.k))
    return pa.RecordBatch.from_arrays(
        [sample, *time, *candidate, label, text, k, *values], schema=schema
    )


def _as_array(column: NDArray[Any], type: Any) -> Any:
    """A column as it is in memory; nan is null.

    pyarrow.array would do the same, but imports pandas, which takes longer than most streams.
    """
    pa = load("pyarrow", "stream")
    column, missing, valid = np.ascontiguousarray(column), None, None
    if column.dtype.kind in "fM":
        missing = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
    if missing is not None and missing.any():
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(type, len(column), [valid, pa.py_buffer(column.view(np.uint8))])


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal holds."""

    schema: Any
    batches: int
    rows: int
    texts: bool


def survey(path: str, length: int) -> Contents:
    """What the first bytes of a journal hold: all batches up to one that is incomplete."""
    pa = load("pyarrow", "stream")
    batches = rows = 0
    sample, texts = np.int64(0), False
    with _reading(path, length) as reader:
        schema, text = reader.schema, _text_place(reader.schema)
        if schema.names[0] != "sample" or schema.names[text : text + 2] != [_TEXT, "k"]:
            raise ValueError(f"{path} is not a journal of a trace: it has columns {schema.names}")
        compared = _compared(schema)  # then several rows have the same sample
        try:
            for batch in reader:
                samples = np.frombuffer(batch.column(0).buffers()[1], np.int64, batch.num_rows)
                # After a power cut, a file may have zeros where the last batches should be.
                rises = np.diff(samples, prepend=sample)
                if (rises < 0).any() or (not compared and (rises == 0).any()) or not samples[0]:
                    break
                sample = samples[-1]
                batches, rows = batches + 1, rows + batch.num_rows
                texts = texts or batch.column(text).null_count < batch.num_rows
        except pa.ArrowInvalid:
            pass
        except OSError as error:
            if error.errno is not None:  # otherwise the file ends within a batch
                raise
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
    # Readings hardly compress, and regular columns are small by their encoding already.
    steady = [f.name for f in schema if f.name == "sample" or str(f.type) == "timestamp[ns]"]
    with replacing(path) as file:
        writer = parquet.ParquetWriter(
            file,
            schema,
            compression="none",
            use_dictionary=["label", "k", *(["candidate"] if _compared(schema) else [])],
            column_encoding=dict.fromkeys(steady, "DELTA_BINARY_PACKED"),
        )
        try:
            for table in tables:
                writer.write_table(table, row_group_size=ROW_GROUP)
        except BaseException:
            # Left open, it would close itself later, and fail where no caller can catch that.
            with suppress(Exception):
                writer.close()
            raise
        writer.close()


def recover(journal: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Write a Parquet file from the journal that a run left behind.

    Parameters
    ----------
    journal : path-like
        A file that ends in ``.arrows``: ``.trace.parquet.arrows`` beside a trace that would be
        ``trace.parquet``, or ``trace.arrows`` in the checkpoint directory. It is not removed.
    path : path-like
        The Parquet file to write; it must not exist.

    Returns
    -------
    int
        The number of readings. A batch that was being written when the run ended is left out.
    """
    journal, path = os.fspath(journal), os.fspath(path)
    refuse_existing(path)
    length = os.stat(journal).st_size
    contents = survey(journal, length) if length else None
    if contents is None or contents.rows == 0:
        raise ValueError(f"{journal} holds no readings")
    write_parquet(path, journal, length, contents)
    return contents.rows


@contextmanager
def open_journal(path: str | os.PathLike[str]) -> Iterator[tuple[list[str], Iterator[Any]]]:
    """The columns of a journal, which may be growing, and the batches that are complete."""
    text, length = os.fspath(path), os.stat(path).st_size
    if not length:
        yield [], iter(())
        return
    contents = survey(text, length)
    with _reading(text, length) as reader:
        schema = _parquet_schema(contents)
        batches = islice(reader, contents.batches)
        yield schema.names, (_table([batch], contents).to_batches()[0] for batch in batches)


def row_groups(batches: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Record batches in lists of ``size`` rows, sliced where necessary; the last has fewer."""
    gathered: list[Any] = []
    missing = size
    for whole in batches:
        batch = whole
        while batch.num_rows >= missing:
            yield [*gathered, batch.slice(0, missing)]
            batch, gathered, missing = batch.slice(missing), [], size
        if batch.num_rows:
            gathered.append(batch)
            missing -= batch.num_rows
    if gathered:
        yield gathered


@contextmanager
def _reading(path: str, length: int) -> Iterator[Any]:
    """The batches within the first bytes of a file."""
    pa = load("pyarrow", "stream")
    # Read, not memory-mapped: a failing disk is then an error, and does not kill the process.
    with pa.OSFile(path, "rb") as file:
        try:
            reader = load("pyarrow.ipc", "stream").open_stream(file.get_stream(0, length))
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a journal of a trace: {error}") from error
        yield reader


def _text_place(schema: Any) -> int:
    # By its place: an index may have any name but "label".
    return int(schema.get_field_index("label")) + 1


def _compared(schema: Any) -> bool:
    """Whether a column says whose readings these are; an index may be called like it."""
    place = schema.get_field_index("candidate")
    return place >= 0 and str(schema.field(place).type) == "string"


def _parquet_schema(contents: Contents) -> Any:
    pa = load("pyarrow", "stream")
    text = _text_place(contents.schema)
    schema = contents.schema.remove(text)
    return schema.set(text - 1, pa.field("label", pa.string())) if contents.texts else schema


def _table(batches: list[Any], contents: Contents) -> Any:
    """Batches of a journal as they are in the Parquet file, each column in one piece."""
    pa, compute = load("pyarrow", "stream"), load("pyarrow.compute", "stream")
    # In one piece, because the pages of the file depend on the pieces that are written.
    table = pa.Table.from_batches(batches, contents.schema).combine_chunks()
    text, columns = _text_place(contents.schema), table.columns
    if contents.texts:
        columns[text - 1] = compute.coalesce(columns[text], columns[text - 1].cast(pa.string()))
    del columns[text]
    return pa.Table.from_arrays(columns, schema=_parquet_schema(contents))
