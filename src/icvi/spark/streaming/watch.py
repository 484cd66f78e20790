"""Watch a stream of Spark: readings after every batch, from a state that survives kills."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from icvi.indices import select
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.optional import check
from icvi.spark.bad_rows import HandleInvalid, check_handle_invalid
from icvi.spark.scoring import Indices
from icvi.spark.selecting import as_columns, check_names, refuse_connect
from icvi.spark.streaming.checkpoint import Checkpoint
from icvi.spark.streaming.many_keys import KeySink, readings_by_key
from icvi.spark.streaming.one_stream import OneStream
from icvi.spark.streaming.settings import Settings
from icvi.spark.streaming.sinks import Callback, as_sink
from icvi.tracking.tracker import Tracker
from icvi.wording import short

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def watch(
    stream: DataFrame,
    *,
    features: str | Sequence[str],
    label: str,
    checkpoint: str,
    to: str | Callback,
    key: str | Sequence[str] | None = None,
    weight: str | None = None,
    noise_label: Hashable = None,
    indices: Indices = "paper",
    undefined: Undefined = "nan",
    handle_invalid: HandleInvalid = "error",
    trigger: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> StreamingQuery:
    """Read validity indices of a labelled stream after every batch of Structured Streaming.

    Every row counts exactly once: the state is saved together with the number of the batch, and a
    batch that Spark delivers again after a kill is skipped. Run the same program again to resume.

    Parameters
    ----------
    stream : pyspark.sql.DataFrame
        A stream, such as ``spark.readStream.format("kafka")...`` gives, with one row per sample.
    features, label, weight, noise_label, indices, undefined
        As in `icvi.spark.scores`.
    checkpoint : str
        Checkpoint directory, on any file system that Spark can write to: one for every watch.
    to : str or function
        Where readings go. A directory becomes a table of Parquet files with a directory per batch
        (``spark.read.parquet(directory)``), which holds each reading once. A function is called
        with a DataFrame of readings and the number of the batch; after a kill it may get the same
        readings of the same batch again.
    key : str or list of str, optional
        Columns that tell streams apart. Without, there is one stream, and one reading per batch
        from a state of the driver. With a key, a batch has a reading for every key in it, and Spark
        distributes the states and keeps them (RocksDB), whatever their number.
    handle_invalid : {"error", "skip"}, default "error"
        What to do about rows that cannot be scored: the query fails, or they are left out.
    trigger : dict, optional
        Arguments of Spark's ``DataStreamWriter.trigger``, such as ``{"availableNow": True}`` or
        ``{"processingTime": "10 seconds"}``; by default the next batch begins when one is done.
    name : str, optional
        Name of the query.

    Returns
    -------
    pyspark.sql.streaming.StreamingQuery
        Spark's own: ``awaitTermination()``, ``stop()``, ``exception()``.

    See Also
    --------
    restored : The state in a checkpoint directory, as a tracker.

    Examples
    --------
    >>> query = icvi.spark.watch(  # doctest: +SKIP
    ...     stream, features=["x", "y"], label="cluster", checkpoint="watch", to="readings"
    ... )
    >>> query.awaitTermination()  # doctest: +SKIP
    """
    refuse_connect(stream, "icvi.spark.watch")
    settings = _settings(
        stream, features, label, weight, noise_label, indices, undefined, handle_invalid
    )
    if not stream.isStreaming:
        raise ValueError("expected a stream, got a DataFrame without one; use icvi.spark.scores")
    for given, what in ((checkpoint, "checkpoint"), *(((name, "name"),) if name else ())):
        if not isinstance(given, str) or not given:
            raise TypeError(f"expected {what} as a str, got {short(given)}")
    sink, spark = as_sink(to), stream.sparkSession
    if key is None:
        states = Checkpoint(spark, f"{checkpoint}/states")
        writer = stream.writeStream.foreachBatch(OneStream(settings, states, sink))
    else:
        check("google.protobuf", "spark", by="icvi.spark.watch with key=")
        keys = [key] if isinstance(key, str) else [*key]
        check_names(stream, keys, "key")
        readings = readings_by_key(stream, keys, settings)
        writer = readings.writeStream.outputMode("append").foreachBatch(KeySink(sink))
    writer = writer.option("checkpointLocation", f"{checkpoint}/spark")
    if trigger is not None:
        writer = writer.trigger(**trigger)
    if name is not None:
        writer = writer.queryName(name)
    with _state_store(spark, key is not None):
        return writer.start()


def restored(
    spark: SparkSession,
    checkpoint: str,
    indices: Indices = "paper",
    *,
    undefined: Undefined = "nan",
) -> Tracker:
    """The state of a watch without key, after its last batch, as a tracker.

    Parameters
    ----------
    spark : SparkSession
        A session that can read the directory.
    checkpoint : str
        Checkpoint directory of the watch, which may be running.
    indices, undefined
        As in `icvi.spark.scores`; no more than the watch had, as far as covariances are concerned.

    Returns
    -------
    Tracker
        For diagnosis, or to go elsewhere with `Tracker.save`.
    """
    refuse_connect(spark, "icvi.spark.restored")
    saved = Checkpoint(spark, f"{checkpoint}/states").load()
    if saved is None:
        raise ValueError(
            f"there is no state in {checkpoint}; has a watch without key= ended a batch?"
        )
    return Tracker.from_partition(saved.state, indices, undefined=undefined)


def _settings(
    stream: DataFrame,
    features: str | Sequence[str],
    label: str,
    weight: str | None,
    noise_label: Hashable,
    indices: Indices,
    undefined: Undefined,
    handle_invalid: HandleInvalid,
) -> Settings:
    chosen = select(indices)
    UndefinedPolicy(chosen, undefined)
    check_handle_invalid(handle_invalid)
    columns = as_columns(stream, features, label, weight)
    settings = Settings(columns, chosen, noise_label, undefined, handle_invalid)
    settings.to_json()  # refuses indices on prototypes, and a noise label that cannot be saved
    return settings


@contextmanager
def _state_store(spark: SparkSession, keyed: bool) -> Iterator[None]:
    """Have a query with keys use RocksDB, the only store that can keep its states."""
    if not keyed:
        yield
        return
    before = spark.conf.get(_PROVIDER, None)
    spark.conf.set(_PROVIDER, _ROCKSDB)
    try:
        yield  # a query takes the session's settings along when it starts
    finally:
        if before is None:
            spark.conf.unset(_PROVIDER)
        else:
            spark.conf.set(_PROVIDER, before)
