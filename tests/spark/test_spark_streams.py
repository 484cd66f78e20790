"""Streams of Spark: a reading after every batch, of one stream or of every key."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import icvi
import icvi.spark

SCHEMA = "x double, y double, label string, key long"
OPTIONS = {"features": ["x", "y"], "label": "label", "indices": ["CH", "NI"]}
ONCE = {"availableNow": True}
SECONDS = 300

pytestmark = pytest.mark.slow


def rows(batch, n=60):
    rng = np.random.default_rng(batch)
    label = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + 5.0 * label[:, None]
    return X, np.array(["a", "b", "c"])[label], rng.integers(4, size=n) * 10


def write(folder, batch, X=None):
    made, labels, keys = rows(batch)
    X = made if X is None else X
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "label": labels.tolist(), "key": keys})
    path = folder / f"{batch:03}.parquet"
    pq.write_table(table, path)
    os.utime(path, (batch, batch))  # Spark reads files in this order


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    return folder


def stream(spark, folder):
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def watch(spark, folder, **options):
    given = {"checkpoint": str(folder.parent / "checkpoint"), "trigger": ONCE, **OPTIONS, **options}
    for attempt in range(10):
        query = icvi.spark.watch(stream(spark, folder), **given)
        try:
            assert query.awaitTermination(SECONDS)
        except Exception as error:
            # Spark gives a worker of a stream with keys 10 s to start, however busy the machine is.
            if "failed to connect back" not in str(error) or attempt == 9:
                raise
        else:
            return


def until(batch, key=None):
    """What is expected after a batch."""
    parts = [rows(i) for i in range(batch + 1)]
    X, labels, keys = (np.concatenate(column) for column in zip(*parts))
    mine = slice(None) if key is None else keys == key
    return icvi.scores(X[mine], labels[mine], ["CH", "NI"])


class TestOneStream:
    def test_every_batch_has_a_reading_and_a_second_run_resumes(self, spark, folder):
        to = str(folder.parent / "readings")
        for batch in range(2):
            write(folder, batch)
        watch(spark, folder, to=to)
        write(folder, 2)
        watch(spark, folder, to=to)
        found = {row["batch"]: row for row in spark.read.parquet(to).collect()}
        assert {*found} == {0, 1, 2}
        for batch, row in found.items():
            assert row["n_samples"] == 60.0 * (batch + 1)
            assert row["n_clusters"] == 3
            got = {name: row[name] for name in ("CH", "NI")}
            assert got == pytest.approx(until(batch), rel=1e-12)
        t = icvi.spark.restored(spark, str(folder.parent / "checkpoint"), ["CH", "NI"])
        assert t.n_samples == 180
        assert t.values == pytest.approx(until(2), rel=1e-9)

    def test_a_batch_that_comes_again_is_skipped(self, spark, folder):
        readings = []
        write(folder, 0)
        watch(spark, folder, to=lambda frame, batch: readings.append((batch, frame.collect())))
        # As if the driver had been killed after the state was saved, and before Spark knew.
        for name in ("0", ".0.crc"):
            (folder.parent / "checkpoint" / "spark" / "commits" / name).unlink()
        write(folder, 1)
        watch(spark, folder, to=lambda frame, batch: readings.append((batch, frame.collect())))
        assert [batch for batch, _ in readings] == [0, 1]
        assert readings[1][1][0]["n_samples"] == 120
        assert readings[1][1][0]["CH"] == pytest.approx(until(1)["CH"], rel=1e-12)

    def test_a_query_fails_on_bad_rows_and_names_them(self, spark, folder):
        X = rows(0)[0]
        X[7, 1] = np.nan
        write(folder, 0, X)
        query = icvi.spark.watch(
            stream(spark, folder),
            checkpoint=str(folder.parent / "checkpoint"),
            to=str(folder.parent / "readings"),
            trigger=ONCE,
            **OPTIONS,
        )
        with pytest.raises(Exception, match=r"column 'y' is nan in 1 row \(row 7 of partition 0\)"):
            query.awaitTermination(SECONDS)

    def test_bad_rows_are_skipped_where_that_is_asked_for(self, spark, folder):
        X = rows(0)[0]
        X[7, 1] = np.nan
        write(folder, 0, X)
        seen = []
        with pytest.warns(UserWarning, match="skipped 1 of 60 rows") as warned:
            watch(
                spark,
                folder,
                to=lambda frame, _: seen.extend(frame.collect()),
                handle_invalid="skip",
            )
        assert warned
        assert seen[0]["n_samples"] == 59

    def test_a_checkpoint_is_refused_with_other_options_or_another_query(self, spark, folder):
        import shutil

        write(folder, 0)
        to = str(folder.parent / "readings")
        watch(spark, folder, to=to)
        write(folder, 1)
        with pytest.raises(Exception, match=r"was made with features=\['x', 'y'\], got \['x'\]"):
            watch(spark, folder, to=to, features=["x"])
        shutil.rmtree(folder.parent / "checkpoint" / "spark")
        with pytest.raises(Exception, match="are of another query"):
            watch(spark, folder, to=to)

    def test_missing_states_are_noticed(self, spark, folder):
        import shutil

        write(folder, 0)
        to = str(folder.parent / "readings")
        watch(spark, folder, to=to)
        shutil.rmtree(folder.parent / "checkpoint" / "states")
        write(folder, 1)
        with pytest.raises(Exception, match=r"batch 1 follows batch -1: states in .* are missing"):
            watch(spark, folder, to=to)

    def test_a_damaged_state_is_refused(self, spark, folder):
        write(folder, 0)
        to = str(folder.parent / "readings")
        watch(spark, folder, to=to)
        states = folder.parent / "checkpoint" / "states"
        (states / ".0.state.crc").unlink(missing_ok=True)
        content = (states / "0.state").read_bytes()
        (states / "0.state").write_bytes(content[: len(content) // 2])
        with pytest.raises(ValueError, match=r"0\.state is damaged"):
            watch(spark, folder, to=to)


class TestManyKeys:
    def test_every_key_of_a_batch_has_a_reading_and_a_second_run_resumes(self, spark, folder):
        to = str(folder.parent / "readings")
        write(folder, 0)
        watch(spark, folder, to=to, key="key")
        write(folder, 1)
        watch(spark, folder, to=to, key="key")
        found = {(row["batch"], row["key"]): row for row in spark.read.parquet(to).collect()}
        assert {*found} == {(batch, key) for batch in range(2) for key in (0, 10, 20, 30)}
        for (batch, key), row in found.items():
            got = {name: row[name] for name in ("CH", "NI")}
            assert got == pytest.approx(until(batch, key), rel=1e-12)
        provider = spark.conf.get("spark.sql.streaming.stateStore.providerClass")
        assert "RocksDB" not in provider

    def test_bad_rows_are_named(self, spark, folder):
        X = rows(0)[0]
        X[7, 1] = np.nan
        write(folder, 0, X)
        key = rows(0)[2][7]
        with pytest.raises(Exception, match=rf"with the key {key} .*: column 'y' is nan in 1 row;"):
            watch(spark, folder, to=lambda *_: None, key="key")


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"to": 3}, TypeError, "expected to= as the directory of a table, or a function"),
            ({"checkpoint": None}, TypeError, "expected checkpoint as a str, got None"),
            ({"name": 3}, TypeError, "expected name as a str, got 3"),
            ({"key": "kei"}, ValueError, "did you mean 'key'"),
            ({"indices": ["Conn"]}, ValueError, "Conn, which depends on the order"),
            ({"handle_invalid": "no"}, ValueError, "handle_invalid to be one of"),
            ({"undefined": "no"}, ValueError, "undefined"),
        ],
    )
    def test_options_that_cannot_be_are_refused(self, spark, folder, options, error, message):
        given = {"checkpoint": str(folder.parent / "c"), "to": "readings", **OPTIONS, **options}
        with pytest.raises(error, match=message):
            icvi.spark.watch(stream(spark, folder), **given)
        assert not (folder.parent / "c").exists()

    def test_a_frame_that_is_no_stream_is_refused(self, spark, folder):
        write(folder, 0)
        frame = spark.read.parquet(str(folder))
        with pytest.raises(ValueError, match="expected a stream"):
            icvi.spark.watch(frame, checkpoint=str(folder.parent / "c"), to="readings", **OPTIONS)

    def test_a_stream_is_refused_where_all_rows_must_be_there(self, spark, folder):
        for function, options in (
            (icvi.spark.scores, OPTIONS),
            (icvi.spark.scores_by, {**OPTIONS, "key": "key"}),
        ):
            with pytest.raises(ValueError, match="got a stream; for a stream use"):
                function(stream(spark, folder), **options)

    def test_nothing_is_restored_from_nothing(self, spark, tmp_path):
        with pytest.raises(ValueError, match="there is no state in"):
            icvi.spark.restored(spark, str(tmp_path))
