"""The trace file: every reading of a stream in a CSV, NDJSON or Parquet file.

The file only grows and can be truncated to where it ended at a checkpoint. It holds the same bytes
however the stream arrives: in large steps or small ones, in one run or in several.

>>> import icvi, numpy as np, pathlib, tempfile
>>> from icvi.watching.step import Step
>>> X, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
>>> tracker = icvi.Tracker(["CH"])
>>> step = Step(X, labels, None, 0, tracker.update_many(X, labels), tracker)
>>> path = pathlib.Path(tempfile.mkdtemp()) / "trace.csv"
>>> trace = open_trace(path, names=["CH"])
>>> trace.begin(); trace.take(step); trace.finish(); trace.close()
>>> print(path.read_text())
sample,label,k,CH
1,0,1,
2,0,1,
3,1,2,75.0
4,1,2,128.0
<BLANKLINE>
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta

from icvi.watching.trace_files.journal import recover
from icvi.watching.trace_files.trace_file import TimeKind, TraceFile, is_folder
from icvi.wording import short

__all__ = ["TraceFile", "is_folder", "open_trace", "recover"]

_ENDINGS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet"}
_FORMATS = tuple(dict.fromkeys(_ENDINGS.values()))


def open_trace(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str],
    time: TimeKind = None,
    format: str | None = None,
    journal: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    roll: int | timedelta | None = None,
    keep: timedelta | None = None,
    compared: bool = False,
) -> TraceFile:
    """A file for the readings of a stream; nothing is created until `TraceFile.begin`.

    Columns are ``sample`` (1 for the first), ``time`` if the stream has times, ``label``, ``k``,
    and one per index. Numbers are written so that they read back exactly. An undefined reading is
    an empty field in CSV and null in NDJSON and Parquet; an infinite one is ``inf`` or ``-inf`` in
    CSV and ``"Infinity"`` or ``"-Infinity"`` in NDJSON. Labels are whole numbers and strings;
    anything else is written as ``str(label)``. In a Parquet file, where a column has one type, the
    labels are whole numbers if all are, and strings otherwise.

    Parameters
    ----------
    path : str or path-like
        A file that ends in ``.csv``, ``.ndjson``, ``.jsonl`` or ``.parquet``, or ``"-"`` for
        standard output. CSV and NDJSON files can be read while they grow; a Parquet file appears
        when the stream ends. A path that ends in ``/`` is a folder of Parquet files; see
        `RollingTrace`.
    names : sequence of str
        The indices.
    time : {None, "datetime", "seconds", True}
        What times the samples have: none, timestamps, numbers of seconds, or whatever the first
        step has.
    format : {"csv", "ndjson", "parquet"}, optional
        The format of a file with another ending, and of standard output.
    journal : path-like, optional
        For Parquet: the folder in which readings are stored until the file can be written, and
        afterwards, so that another run can resume. By default they are in a hidden file beside
        ``path``, which is removed at the end.
    overwrite : bool
        Whether `TraceFile.begin` may replace an existing file.
    roll, keep
        Of a folder; see `RollingTrace`.
    compared : bool
        Whether steps have readings of several candidates: a column ``candidate`` says whose, and
        the rows of all candidates after the same sample follow each other.
    """
    path = os.fspath(path)
    if is_folder(path):
        from icvi.watching.trace_files.rolling_trace import RollingTrace

        if format not in (None, "parquet"):
            raise ValueError(f"{path}: a folder is of Parquet files, got format {short(format)}")
        if compared:
            raise ValueError(f"{path}: the trace of a comparison is one file, not a folder")
        return RollingTrace(path, names, time, overwrite, journal, roll=roll, keep=keep)
    if roll is not None or keep is not None:
        raise ValueError(
            f"trace_roll and trace_keep (--trace-roll, --trace-keep) are for a folder: give a "
            f"trace that ends in /, got {short(path)}"
        )
    found = _format_of(path, format)
    if found == "parquet":
        from icvi.watching.trace_files.parquet_trace import ParquetTrace

        return ParquetTrace(path, names, time, overwrite, journal, compared=compared)
    if found == "csv":
        from icvi.watching.trace_files.csv_trace import CsvTrace

        return CsvTrace(path, names, time, overwrite, compared)
    from icvi.watching.trace_files.ndjson_trace import NdjsonTrace

    return NdjsonTrace(path, names, time, overwrite, compared)


def _format_of(path: str, given: str | None) -> str:
    if given is not None and given not in _FORMATS:
        raise ValueError(f"expected format 'csv', 'ndjson' or 'parquet', got {short(given)}")
    if path == "-":
        if given in ("csv", "ndjson"):
            return given
        raise ValueError(
            f"expected format='csv' or format='ndjson' for standard output, got {short(given)}"
        )
    by_ending = _ENDINGS.get(os.path.splitext(path)[1].lower())
    if given is None and by_ending is None:
        raise ValueError(
            f"cannot tell the format of the trace {path} by its ending: expected one of "
            f"{', '.join(_ENDINGS)} (not compressed), or format='csv', 'ndjson' or 'parquet'"
        )
    return given or str(by_ending)
