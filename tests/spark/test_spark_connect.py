"""Scores through Spark Connect: the same functions, where its packages are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import icvi
import processes
import spark_session

pytestmark = pytest.mark.slow

_CLIENT = """
import json, sys
import numpy as np, pyarrow as pa
from pyspark.sql import SparkSession
import icvi.spark

spark = SparkSession.builder.remote("local[2]").config(map=json.loads(sys.argv[1])).getOrCreate()
X, labels = (np.load(sys.argv[2])[name] for name in ("X", "labels"))
table = pa.table({"x": X[:, 0], "y": X[:, 1], "cluster": labels, "key": labels % 2})
df = spark.createDataFrame(table).repartition(3)
options = {"features": ["x", "y"], "label": "cluster"}
by = icvi.spark.scores_by(df, key="key", indices=["SIL"], **options).orderBy("key").collect()
print(json.dumps([icvi.spark.scores(df, **options), [row["SIL"] for row in by]]))
spark.stop()
"""


def test_scores_through_spark_connect_are_those_of_the_rows(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'icvi[spark]'")
    for package in ("grpc", "grpc_status", "zstandard"):
        pytest.importorskip(
            package, reason="Spark Connect is not installed: pip install 'pyspark[connect]'"
        )
    spark_session.need_java()
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=400)
    X = 8.0 * rng.normal(size=(4, 2))[labels] + rng.normal(size=(400, 2))
    np.savez(tmp_path / "samples.npz", X=X, labels=labels)
    environment = {**os.environ}
    spark_session.set_environment(environment)
    settings = json.dumps(spark_session.SETTINGS)
    done = processes.run(
        [sys.executable, "-c", _CLIENT, settings, str(tmp_path / "samples.npz")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    scores, by_key = json.loads(done.stdout.splitlines()[-1])
    assert scores == pytest.approx(icvi.scores(X, labels), rel=1e-12)
    odd = labels % 2 == 1
    expected = [icvi.score(X[~odd], labels[~odd], "SIL"), icvi.score(X[odd], labels[odd], "SIL")]
    assert by_key == pytest.approx(expected, rel=1e-12)
