"""What tests of `icvi watch` share."""

from __future__ import annotations

import csv
import gzip
import json
import math
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from click.testing import CliRunner

import processes
from icvi.cli.main import main
from processes import PATIENCE, wait_until
from streams import blobs

__all__ = ["PATIENCE", "wait_until"]  # for those who have the rest from here

OWN = ("sample", "time", "label", "k")


def samples(n=300, k=4, seed=0):
    return blobs(n, d=2, k=k, seed=seed)


def write_samples(path, X, labels, **columns):
    """A file with columns x, y, c and others, of the format that its name tells."""
    path = Path(path)
    table = {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "c": list(labels), **columns}
    if path.suffix == ".parquet":
        pa.parquet.write_table(pa.table(table), path)
        return path
    rows = zip(*table.values())
    if ".ndjson" in path.name:
        lines = [json.dumps(dict(zip(table, row))) for row in rows]
    else:
        lines = [",".join(table)]
        lines += [",".join(v if isinstance(v, str) else repr(v) for v in row) for row in rows]
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def read_trace(path):
    """Columns of a trace file: readings as floats, nan where they are undefined."""
    path = Path(path)
    if path.suffix == ".parquet":
        columns = pa.parquet.read_table(path).to_pydict()
    elif path.suffix == ".ndjson":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    else:
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        columns = dict(zip(rows[0], (list(column) for column in zip(*rows[1:]))))
        columns = {name: columns.get(name, []) for name in rows[0]}
        for name in ("sample", "k"):
            columns[name] = [int(value) for value in columns[name]]
        columns["label"] = [_whole(value) for value in columns["label"]]
    return {
        name: column if name in OWN else [_number(value) for value in column]
        for name, column in columns.items()
    }


def _whole(text):
    return int(text) if text.lstrip("-").isdigit() and str(int(text)) == text else text


def _number(value):
    return math.nan if value in (None, "") else float(value)


def assert_same(found, trace):
    """A trace file, as read, holds exactly what a tracker gave."""
    assert [name for name in found if name not in OWN] == list(trace.names)
    assert found["sample"] == trace.samples.tolist()
    assert found["label"] == trace.labels.tolist()
    assert found["k"] == trace.k.tolist()
    for name in trace.names:
        np.testing.assert_array_equal(np.array(found[name]), trace[name], err_msg=name)


# -- the command ---------------------------------------------------------------------------


def watch(*arguments, input=None):
    """The command in this process; whatever is no proper end is raised."""
    arguments = ["watch", *map(str, arguments)]
    with mock.patch.object(sys, "argv", ["icvi", *arguments]):
        result = CliRunner().invoke(main, arguments, input=input, prog_name="icvi")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "\x1b" not in result.output
    return result


#: Processes of the test that runs.
STARTED = []


def start(*arguments, **options):
    """The command in a process of its own; `end_all` sees to it that it ends."""
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "icvi", "watch", *map(str, arguments)]
    STARTED.append(processes.begin(command, **{**given, **options}, text=True))
    return STARTED[-1]


def end_all():
    """Kill what a test that failed has left running."""
    while STARTED:
        processes.end(STARTED.pop())


def ended(process):
    """Code, output and messages of a process; it has left no traceback."""
    out, messages = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in messages, messages
    assert "Exception ignored" not in messages, messages
    return process.returncode, out, messages


def run(*arguments, **options):
    return ended(start(*arguments, **options))


def lines_of(path):
    """How many lines a file has; 0 if it is not there."""
    path = Path(path)
    return path.read_bytes().count(b"\n") if path.exists() else 0
