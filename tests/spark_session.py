"""Spark for tests: real, on this machine alone, and gone when the tests are."""

from __future__ import annotations

import sys

import pytest

import processes
from system_packages import find_program

#: Settings of every session: no pages, few tasks, loopback only, and a compiler for short programs.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "ERROR",
}
_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")


def need_java():
    """Skip without Java, which is installed where that is possible."""
    find_program("java", *_PACKAGES)


def set_environment(environment):
    """Have Spark's processes use this Python, and no address but that of loopback."""
    environment["PYSPARK_PYTHON"] = environment["PYSPARK_DRIVER_PYTHON"] = sys.executable
    environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    environment.pop("SPARK_HOME", None)


def start(folder, master="local[2]", **settings):
    """A session whose files are in a folder."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("icvi tests")
    folders = {"spark.local.dir": folder / "local", "spark.sql.warehouse.dir": folder / "warehouse"}
    for name, value in {**SETTINGS, **folders, **settings}.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def running(folder, monkeypatch, master="local[2]", **settings):
    """A session, for a fixture; its processes end with it."""
    prepare(monkeypatch)
    session = start(folder, master, **settings)
    try:
        yield session
    finally:
        end()


def prepare(monkeypatch):
    """Skip where there is no Spark, and set what its processes need."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'icvi[spark]'")
    need_java()
    set_environment(_Environment(monkeypatch))
    processes.known_signals()


def builder_in_words(folder):
    """Code that stands for ``SparkSession.builder``."""
    settings = {**SETTINGS, "spark.local.dir": f"{folder}"}
    return "SparkSession.builder" + "".join(
        f".config({name!r}, {value!r})"
        for name, value in {**settings, "spark.master": "local[2]"}.items()
    )


def end():
    """Stop the session, and end the Java that Spark has started for this process."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        SparkSession.builder.getOrCreate().stop()
    java = SparkContext._gateway.proc
    SparkContext._gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    processes.end(java)


class _Environment:
    """Variables that a fixture of any scope sets, and pytest resets."""

    def __init__(self, monkeypatch):
        self._monkeypatch = monkeypatch

    def __setitem__(self, name, value):
        self._monkeypatch.setenv(name, value)

    def pop(self, name, default=None):
        self._monkeypatch.delenv(name, raising=False)
