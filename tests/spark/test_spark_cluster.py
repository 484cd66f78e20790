"""A real cluster: a master, two workers, and an executor that is killed in the middle."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import icvi.spark
import processes
import spark_session
from icvi.spark.columns import Columns
from icvi.spark.evaluating import readings
from icvi.spark.partials import Summary
from redis_server import free_port

pytestmark = pytest.mark.slow

PARTITIONS = 6


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a master that two workers have joined."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'icvi[spark]'")
    spark_session.need_java()
    folder = tmp_path_factory.mktemp("cluster")
    started = []
    try:
        port = free_port()
        address = f"spark://127.0.0.1:{port}"
        master = ["master.Master", "--port", str(port)]
        started.append(begin(folder / "master", *master))
        wait_for(folder / "master", "I have been elected leader", started[0])
        worker = ["worker.Worker", "--cores", "1", "--memory", "1g"]
        for name in ("one", "two"):
            place = ["--work-dir", str(folder / name)]
            started += [begin(folder / name, *worker, *place, address)]
        for name, process in zip(("one", "two"), started[1:]):
            wait_for(folder / name, "Successfully registered with master", process)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()  # workers end their executors
            process.wait(processes.PATIENCE)
            processes.end(process)


def begin(log, kind, *arguments):
    import pyspark

    environment = dict(os.environ)
    spark_session.set_environment(environment)
    environment["SPARK_DAEMON_JAVA_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    log.mkdir()
    with (log / "log").open("wb") as file:
        return processes.begin(
            ["bash", str(program), f"org.apache.spark.deploy.{kind}", *own, *arguments],
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def wait_for(log, words, process):
    processes.wait_until(lambda: words in (log / "log").read_text(errors="replace"), process)


@pytest.fixture
def spark(cluster, tmp_path, monkeypatch):
    settings = {
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    }
    yield from spark_session.running(tmp_path, monkeypatch, cluster, **settings)


def killing(marker):
    """A step of Spark that kills its executor, once: the parent of its worker's parent."""

    def step(batches):
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            if number == 1 and TaskContext.get().partitionId() == 3:
                try:
                    descriptor = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                except FileExistsError:
                    pass
                else:
                    status = Path(f"/proc/{os.getppid()}/status").read_text()
                    executor = int(re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)[1])
                    os.write(descriptor, f"{executor}".encode())
                    os.close(descriptor)
                    os.kill(executor, 9)
            yield batch

    return step


def test_scores_have_the_same_bits_when_an_executor_is_killed(spark, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=30_000)
    X = rng.normal(size=(30_000, 3)) + 4.0 * rng.normal(size=(5, 3))[labels]
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "label": labels})
    frame = spark.createDataFrame(table).repartition(PARTITIONS, "x")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000)
    marker = tmp_path / "killed"
    wounded = frame.mapInArrow(killing(str(marker)), frame.schema)
    found = icvi.spark.scores(wounded, features=["x", "y", "z"], label="label")

    killed = int(marker.read_text())
    assert not Path(f"/proc/{killed}").exists()
    summary = Summary(Columns(("x", "y", "z"), "label"), scatter=True)
    state = summary.reduce(table.to_batches(), 0).state
    state.sort_labels()
    assert found == readings(state, icvi.Tracker("paper").indices)
