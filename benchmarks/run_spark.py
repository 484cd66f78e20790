"""Measure icvi.spark on this machine, against Spark's own evaluator and against bare Spark.

    .venv/bin/python benchmarks/run_spark.py            # about three minutes on two idle cores
    .venv/bin/python benchmarks/run_spark.py --quick    # a tenth of the rows
    .venv/bin/python benchmarks/run_spark.py --only indices --times 5

Everything is timed in one run, in alternation, on two cores (``local[2]``): wall time, and the CPU
time of all processes, which means more where others use the machine. A missed target is printed,
not an error: this is a benchmark, not a test. A full run writes ``results/spark.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.ml.evaluation import ClusteringEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import vector_to_array
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

import icvi
import processes
from icvi.batch.scoring import moments
from icvi.spark import scores as spark_scores
from icvi.spark import scores_by as spark_scores_by
from icvi.spark import tracker as spark_tracker
from icvi.state.partition import Partition

PARTS = ["indices", "keys", "covariances", "clusters"]
MOMENTS = ["CH", "SIL", "XB", "DB", "NI"]


class Cost(NamedTuple):
    """Seconds on the clock, and of all processors."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Row:
    """What ours and another cost, and how many times the other ours may take."""

    what: str
    ours: Cost
    against: str
    other: Cost
    most: float | None = None

    @property
    def met(self) -> str:
        """Whether the target is met, if there is one."""
        if self.most is None:
            return ""
        return "yes" if self.ours.wall <= self.most * self.other.wall else "NO"


def session() -> SparkSession:
    """Spark with its default settings but for its size, and on loopback only."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def samples(spark: SparkSession, rows: int, d: int, k: int, partitions: int = 8) -> DataFrame:
    """Clusters around random centres, as vectors, cached."""
    number = F.col("id") % k
    centres = [F.lit(20.0) * F.sin((number + 1) * (i + 1.7)) for i in range(d)]
    columns = [(F.randn(i) + centre).alias(f"x{i}") for i, centre in enumerate(centres)]
    plain = spark.range(0, rows, 1, partitions).select(*columns, number.cast("int").alias("label"))
    assembler = VectorAssembler(inputCols=[f"x{i}" for i in range(d)], outputCol="features")
    frame = assembler.transform(plain).select("features", "label").cache()
    frame.count()
    return frame


def count_rows(frame: DataFrame) -> None:
    """Bring every row to a Python worker, which counts it."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_pydict({"rows": [rows]})

    frame.mapInArrow(count, "rows long").toArrow()


def bare(frame: DataFrame) -> None:
    """The same with vectors as arrays, which Arrow knows."""
    count_rows(frame.select(vector_to_array(F.col("features")).alias("features"), "label"))


def fastest(*tasks: Callable[[], Any], times: int) -> list[Cost]:
    """The cost of each task, the least of several times, in alternation."""
    least = [Cost(float("inf"), float("inf"))] * len(tasks)
    for _ in range(times):
        for number, task in enumerate(tasks):
            begun, cpu = time.perf_counter(), cpu_time()
            task()
            took = time.perf_counter() - begun, cpu_time() - cpu
            least[number] = Cost(*map(min, least[number], took))
    return least


def cpu_time() -> float:
    """CPU seconds of this process, of Java and of its workers so far; 0 where Linux is not."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            facts = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        process = int(path.parent.name)
        parents[process], ticks[process] = int(facts[1]), sum(map(int, facts[11:15]))
    total = 0
    for process, used in ticks.items():
        ancestor = process
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        total += used if ancestor == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


def nine_indices(spark: SparkSession, rows: int, times: int) -> list[Row]:
    """Nine indices of k = 50 clusters in 10 dimensions."""
    evaluator = ClusteringEvaluator(predictionCol="label")

    def measure(frame: DataFrame, times: int) -> list[Cost]:
        least = fastest(
            lambda: spark_scores(frame, features="features", label="label"),
            lambda: evaluator.evaluate(frame),
            lambda: bare(frame),
            times=times,
        )
        frame.unpersist()
        return least

    measure(samples(spark, 20_000, 10, 50), 1)  # has Spark compile, and start workers
    ours, silhouette, nothing = measure(samples(spark, rows, 10, 50), times)
    what = f"nine indices, {rows:,} x 10, k = 50"
    return [
        Row(what, ours, "Spark's ClusteringEvaluator, silhouette alone", silhouette, 1 / 3),
        Row(what, ours, "mapInArrow that only counts rows", nothing, 1.5),
    ]


def many_keys(spark: SparkSession, keys: int, times: int) -> list[Row]:
    """Nine indices of groups of 100 rows."""
    rng = np.random.default_rng(0)
    n, k = 100 * keys, 4
    label, key = rng.integers(k, size=n), rng.permutation(np.arange(n) % keys)
    X = rng.normal(size=(n, 4)) + 6.0 * rng.normal(size=(k, 4))[label]
    names = [f"x{i}" for i in range(4)]
    table = pa.table({**dict(zip(names, X.T)), "label": label, "key": key})
    frame = spark.createDataFrame(table).repartition(8).cache()
    frame.count()
    ours, alone, shuffled = fastest(
        lambda: spark_scores_by(frame, key="key", features=names, label="label").toArrow(),
        lambda: icvi.scores_by(key, X, label),
        lambda: count_rows(frame.repartition("key")),
        times=times,
    )
    frame.unpersist()
    what = f"nine indices by key, {keys:,} keys of 100 rows"
    return [
        Row(what, ours, "icvi.scores_by in one process", alone, 2.0),
        Row(what, ours, "the same shuffle, and mapInArrow that only counts rows", shuffled),
    ]


def covariances(spark: SparkSession, rows: int, times: int) -> list[Row]:
    """Moments with covariances in 300 dimensions; nothing is read from them."""
    rng = np.random.default_rng(0)
    label = rng.integers(5, size=rows)
    X = rng.normal(size=(rows, 300)) + 3.0 * rng.normal(size=(5, 300))[label]
    values = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 300)
    table = pa.table({"features": values.cast(pa.list_(pa.float64())), "label": label})
    frame = spark.createDataFrame(table).repartition(8).cache()
    frame.count()
    part = slice(0, min(rows, 5000))
    ours, alone, block, gathered = fastest(
        lambda: spark_tracker(frame, features="features", label="label", indices=["NI"]),
        lambda: moments(X, label, None, None, scatter=True),
        lambda: Partition.of(X[part], label[part], scatter=True),
        lambda: moments(X[part], label[part], None, None, scatter=True),
        times=times,
    )
    frame.unpersist()
    what = f"covariances, {rows:,} x 300"
    return [
        Row(what, ours, "batch moments in one process", alone, 3.0),
        Row(f"what workers do with {part.stop:,} of the rows", block, "the same", gathered),
    ]


def many_clusters(spark: SparkSession, k: int) -> list[Row]:
    """So many clusters that all states together would be too much for the driver."""
    frame = samples(spark, 20 * k, 10, k, partitions=48)
    (ours,) = fastest(
        lambda: spark_scores(frame, features="features", label="label", indices=MOMENTS),
        times=1,
    )
    frame.unpersist()
    return [Row(f"{', '.join(MOMENTS)}, k = {k:,}, 48 partitions", ours, "passes", ours)]


def show(rows: list[Row], load: tuple[float, ...]) -> None:
    """Print all rows as a table."""
    table = Table("what", "s", "CPU s", "against", "s", "CPU s", "ratio", "of CPU", "target", "met")
    for row in rows:
        ours, other = ([f"{seconds:.2f}" for seconds in cost] for cost in (row.ours, row.other))
        ratios = [f"{a / b:.2f}" if b else "" for a, b in zip(row.ours, row.other)]
        target = "" if row.most is None else f"{row.most:.2f}"
        table.add_row(row.what, *ours, row.against, *other, *ratios, target, row.met)
    console = Console(width=180)
    console.print(table)
    console.print(f"load before and after: {load[0]:.1f}, {load[1]:.1f} on {os.cpu_count()} cores")


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--times", type=int, default=3, help="repetitions; the fastest counts")
    parser.add_argument("--only", choices=PARTS, help="one part alone")
    given = parser.parse_args()
    quick, times = given.quick, given.times
    part = 10 if quick else 1
    before = os.getloadavg()[0]
    spark = session()
    parts: dict[str, Callable[[], list[Row]]] = {
        "indices": lambda: nine_indices(spark, 2_000_000 // part, times),
        "keys": lambda: many_keys(spark, 10_000 // part, max(2, times)),
        "covariances": lambda: covariances(spark, 50_000 // part, times),
        "clusters": lambda: many_clusters(spark, 20_000 // part),
    }
    rows: list[Row] = []
    for name in [given.only] if given.only else PARTS:
        rows += parts[name]()
        for row in rows[-2:]:
            seconds = f"{row.ours.wall:.2f} s; {row.against}: {row.other.wall:.2f} s"
            print(f"{row.what}: {seconds}", flush=True)
    load = before, os.getloadavg()[0]
    spark.stop()
    show(rows, load)
    if not quick and not given.only:
        results = processes.HERE / "results"
        results.mkdir(exist_ok=True)
        written = {"load": load, "rows": [asdict(row) for row in rows]}
        (results / "spark.json").write_text(json.dumps(written, indent=2))


if __name__ == "__main__":
    main()
