"""A stream whose driver is killed, again and again: every batch counts once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import icvi
import processes
import spark_session
from icvi.spark.columns import Columns
from icvi.spark.evaluating import readings
from icvi.spark.partials import Summary

pytestmark = pytest.mark.slow

BATCHES, KILLS = 14, 10
COLUMNS = Columns(("x", "y"), "label")
NAMES = ["CH", "NI", "DB"]

#: A driver that kills itself, and its Java, at a step of a batch or after some time.
DRIVER = """
import os, pathlib, signal, sys, threading
sys.path.insert(0, sys.argv[1])
import spark_session
import icvi.spark
from icvi.spark.streaming import checkpoint, one_stream, sinks

folder, moment = pathlib.Path(sys.argv[2]), sys.argv[3]
spark_session.set_environment(os.environ)
spark = spark_session.start(folder, "local[1]")

def die(*_):
    os.killpg(0, signal.SIGKILL)

def around(owner, name):
    whole = getattr(owner, name)
    def step(*arguments, **options):
        die() if moment == "before " + name else None
        result = whole(*arguments, **options)
        die() if moment == "after " + name else None
        return result
    setattr(owner, name, step)

around(one_stream, "summarize")
around(sinks._Table, "__call__")
around(checkpoint.Checkpoint, "save")
around(checkpoint.Checkpoint, "batches")
if moment.isdecimal():
    threading.Timer(int(moment) / 1000, die).start()
rows = spark.readStream.schema("x double, y double, label long").option("maxFilesPerTrigger", 1)
query = icvi.spark.watch(
    rows.parquet(str(folder / "rows")), features=["x", "y"], label="label",
    indices=["CH", "NI", "DB"], checkpoint=str(folder / "checkpoint"),
    to=str(folder / "readings"), trigger={"availableNow": True},
)
query.awaitTermination()
print("done")
spark.stop()
"""


def table(batch):
    rng = np.random.default_rng(batch)
    label = rng.integers(3 + batch // 5, size=50)
    X = rng.normal(size=(50, 2)) + 4.0 * label[:, None]
    return pa.table({"x": X[:, 0], "y": X[:, 1], "label": label})


def run(folder, moment):
    """Run the driver; it has a process group of its own, which Java is in, too."""
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, os.path.dirname(__file__) + "/.."]
    process = processes.begin(
        [*command, str(folder), moment],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        return process.communicate(timeout=processes.PATIENCE)[0], process.returncode
    finally:
        processes.end(process)


def test_readings_are_those_of_a_driver_that_was_never_killed(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'icvi[spark]'")
    spark_session.need_java()
    (tmp_path / "rows").mkdir()
    for batch in range(BATCHES):
        path = tmp_path / "rows" / f"{batch:03}.parquet"
        pq.write_table(table(batch), path)
        os.utime(path, (batch, batch))  # Spark reads files in this order

    chance = random.Random(os.environ.get("ICVI_TEST_ORDER", "0"))
    steps = [f"{when} {name}" for when in ("before", "after") for name in ("__call__", "save")]
    steps += ["after summarize", "after batches"]
    chance.shuffle(steps)  # each ends within one batch: there are enough of them
    for step in steps:
        assert run(tmp_path, step) == ("", -signal.SIGKILL), step
    for _ in range(KILLS - len(steps)):
        # On a fast machine the stream may end first.
        moment = f"{chance.randrange(0, 2500)}"
        assert run(tmp_path, moment) in (("", -signal.SIGKILL), ("done\n", 0)), moment
    assert run(tmp_path, "never") == ("done\n", 0)

    found = {}
    for part in (tmp_path / "readings").iterdir():
        (row,) = pq.read_table(part, partitioning=None).to_pylist()
        found[int(part.name.removeprefix("batch="))] = row
    assert sorted(found) == [*range(BATCHES)]
    state, indices = None, icvi.Tracker(NAMES).indices
    for batch in range(BATCHES):
        new = Summary(COLUMNS, scatter=True).reduce(table(batch).to_batches(), 0).state
        if state is None:
            state = new
        else:
            state.combine(new)
        state.sort_labels()
        expected = {"n_samples": 50.0 * (batch + 1), "n_clusters": state.n_clusters}
        assert found[batch] == {**expected, **readings(state, indices)}
