"""`open_source`: finds out what kind of source a path, an object or an address is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from icvi.inputs import as_flag, refuse_unknown
from icvi.streams.columns import Column, Wanted
from icvi.streams.data_loss import DataLoss
from icvi.streams.dialects.dialect import Given
from icvi.streams.files import paths
from icvi.streams.files.rotation import rotated
from icvi.streams.source import Source
from icvi.wording import short, shown_address

_TEXT = ("csv", "ndjson")

#: Options of Redis streams, and of topics of Kafka.
REDIS, KAFKA = ("group", "consumer", "patience"), ("group", "patience", "wait")
SERVERS = (*REDIS, "wait")


def open_source(
    what: Any,
    *,
    columns: Iterable[Column] | Column | None = None,
    exclude: Iterable[Column] | Column | None = None,
    label: Column | None = None,
    time: Column | None = None,
    truth: Column | None = None,
    bad_rows: str = "error",
    follow: bool = False,
    rows: int = 8192,
    format: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    on_data_loss: str = "stop",
    **source_options: Any,
) -> Source:
    r"""Open a stream of samples.

    Parameters
    ----------
    what : path, pattern, list of paths, "-", open file, URL, array, table or iterable
        Where the samples are:

        - files (``.csv``, ``.ndjson``, ``.jsonl``, these also with ``.gz``, and ``.parquet``), by a
          path, a pattern such as ``"day-*.csv"`` (in order of the names) or a list of paths;
        - ``"-"`` or ``sys.stdin.buffer`` for standard input, or any file open for reading bytes;
        - ``"redis://host:port/db/key"``, a Redis stream, or ``"kafka://broker:port/topic"``;
        - an array of shape (n, d), or a pair of it and n labels;
        - a table of pandas, polars or pyarrow;
        - an iterable of samples (also as dictionaries), of (sample, label) pairs, of arrays, of
          (array, labels) pairs, or of tables.
    columns : names, patterns or positions, optional
        The features. A pattern such as ``"pixel_*"`` takes all numeric columns that match. By
        default all numeric columns but label and time, and but those that look like labels by their
        names (target, label, class, cluster).
    exclude : names, patterns or positions, optional
        Columns that are not features.
    label, time : name or position, optional
        The column of the cluster labels, and that of the times (ISO timestamps or seconds).
    truth : name or position, optional
        The column of known classes, to compare clusters with.
    bad_rows : {"error", "skip"}
        Rows that are not valid samples (missing or infinite values, text for a number, too few
        fields) are an error, or they are left out, counted in ``skipped`` and explained in
        ``reasons``.
    follow : bool
        Wait for more at the end: of a file that grows, a Redis stream, or a topic of Kafka.
    rows : int
        Samples of a batch, at most. A batch is smaller at the end of a file, and where more samples
        have not arrived yet.
    format : {"csv", "ndjson", "parquet"}, optional
        The format of a stream without a name, or of files with another ending.
    sep, decimal : str, optional
        CSV: what separates fields (``","``, ``";"``, ``"tab"``, ``"|"``, or ``"space"`` for any
        number of spaces and tabs), and the decimal mark (``"."`` or ``","``). Found out from the
        first lines by default; ``notes`` has the result.
    header : bool, optional
        CSV: whether the first line has the names of the columns; otherwise they are x1, x2, ...
        Found out by default.
    on_data_loss : {"stop", "continue"}
        What to do when samples are lost before they were read: entries of a Redis stream that were
        trimmed, another stream under its key, messages of Kafka that were removed, a followed file
        that was rotated away. Stop with an
        error, or continue, count them in ``lost`` and explain them in ``losses``.
    **source_options
        For a Redis stream ``group``, ``consumer`` and ``patience``, see `RedisSource`; for a topic
        of Kafka ``group``, ``patience`` and ``wait``, see `KafkaSource`.

    Returns
    -------
    Source
        Iterate it to get each `Batch`.

    Examples
    --------
    >>> import io
    >>> text = io.BytesIO(b"x,y,cluster\n1,2,a\n3,4,b\n")
    >>> with open_source(text, label="cluster", format="csv") as source:
    ...     source.columns, [batch.X.tolist() for batch in source]
    (('x', 'y'), [[[1.0, 2.0], [3.0, 4.0]]])
    """
    refuse_unknown(open_source, source_options, SERVERS)
    wanted, follow = Wanted.of(columns, label, time, exclude, truth), as_flag(follow, "follow")
    dialect = Given.of(sep, decimal, header)
    options: dict[str, Any] = {"rows": rows, "bad_rows": bad_rows}
    if format not in (None, *_TEXT, "parquet"):
        raise ValueError(f"expected format 'csv', 'ndjson' or 'parquet', got {short(format)}")
    following: dict[str, Any] = {"follow": follow, "on_data_loss": DataLoss(on_data_loss).mode}
    if isinstance(what, str) and what.startswith(("redis://", "rediss://")):
        # Each kind of source is imported when it is needed, so that commands start faster.
        from icvi.streams.redis.source import RedisSource

        _refuse_dialect(dialect, "a Redis stream")
        _refuse_options(source_options, REDIS, what)
        return RedisSource(what, wanted, **following, **options, **source_options)
    if isinstance(what, str) and what.startswith("kafka://"):
        from icvi.streams.kafka.source import KafkaSource

        if header:
            raise ValueError("messages of Kafka have no header: their fields are x1, x2, ...")
        _refuse_options(source_options, KAFKA, what)
        spelling: dict[str, Any] = {
            "format": format,
            "sep": dialect.separator,
            "decimal": dialect.decimal,
        }
        return KafkaSource(what, wanted, **spelling, **following, **options, **source_options)
    if source_options:
        _refuse_options(source_options, (), what)
    if isinstance(what, str) and what == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed: there is nothing to read")
        what = sys.stdin.buffer
    if paths.is_path(what) or _are_paths(what):
        return _open_files(what, wanted, format, dialect, following, options)
    if hasattr(what, "read"):
        if format not in _TEXT:
            raise ValueError(
                f"expected format='csv' or format='ndjson' for a stream without a name, got "
                f"{short(format)}"
            )
        return _text_source(format, what, wanted, dialect, **options)
    if follow:
        raise ValueError(
            f"expected a file, a Redis stream or a topic to follow, got {type(what).__name__}"
        )
    _refuse_dialect(dialect, f"a {type(what).__name__}")
    from icvi.streams.memory_source import MemorySource

    what = np.asarray(what) if isinstance(what, memoryview) else what
    return MemorySource(what, wanted, **options)


def _open_files(
    what: Any,
    wanted: Wanted,
    format: str | None,
    given: Given,
    following: dict[str, Any],
    options: dict[str, Any],
) -> Source:
    follow = following["follow"]
    # A followed file may be missing for a moment while it is rotated; otherwise that is an error.
    away = follow and paths.is_path(what) and not os.path.exists(what) and rotated(os.fspath(what))
    files = [os.fspath(what)] if away else paths.find(what)
    found = paths.format_of(files, format)
    if found in _TEXT:
        return _text_source(found, files, wanted, given, **following, **options)
    if follow:
        raise ValueError(
            f"{files[0]}: a Parquet file is complete when it can be read; follow=False"
        )
    _refuse_dialect(given, "a Parquet file")
    from icvi.streams.files.parquet_source import ParquetSource

    return ParquetSource(files, wanted, **options)


def _text_source(format: str, files: Any, wanted: Wanted, given: Given, **options: Any) -> Source:
    if format == "csv":
        from icvi.streams.files.csv_source import CsvSource

        return CsvSource(files, wanted, given=given, **options)
    _refuse_dialect(given, "NDJSON")
    from icvi.streams.files.ndjson_source import NdjsonSource

    return NdjsonSource(files, wanted, **options)


def _refuse_options(given: dict[str, Any], known: Sequence[str], what: Any) -> None:
    """Refuse options of another kind of source."""
    if others := [name for name in given if name not in known]:
        shown = repr(shown_address(what)) if isinstance(what, str) else f"a {type(what).__name__}"
        kind = "a topic of Kafka" if "wait" in others else "a Redis stream"
        raise TypeError(f"expected {', '.join(others)} with {kind} only, got {shown}")


def _refuse_dialect(given: Given, what: str) -> None:
    """Refuse what only CSV can have."""
    if given != Given():
        raise ValueError(f"sep, decimal and header are for CSV, got {what}")


def _are_paths(what: Any) -> bool:
    return (
        isinstance(what, Sequence)
        and not isinstance(what, (str, bytes))
        and len(what) > 0
        and all(isinstance(part, (str, os.PathLike)) for part in what)
    )
