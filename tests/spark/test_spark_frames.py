"""Scores, trackers, verdicts and model selection of DataFrames, in a real Spark."""

from __future__ import annotations

import decimal
import math

import numpy as np
import pyarrow as pa
import pytest

import icvi
import icvi.spark

K, N = 6, 1200
RNG = np.random.default_rng(3)
LABELS = RNG.choice(K, size=N, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
X = RNG.normal(size=(N, 3)) + 7.0 * RNG.normal(size=(K, 3))[LABELS]
WEIGHTS = RNG.random(N)
NAMES = np.array(["sea", "air", "", "näh", "0", "fire"])[LABELS]
KEYS = RNG.integers(40, size=N)
FEATURES = ["x", "y", "z.z"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def table():
    columns = dict(zip(FEATURES, X.T))
    return pa.table({**columns, "label": LABELS, "name": NAMES.tolist(), "w": WEIGHTS, "key": KEYS})


@pytest.fixture(scope="module")
def frame(spark, table):
    return spark.createDataFrame(table).repartition(3).cache()


@pytest.fixture(scope="module")
def expected():
    return icvi.scores(X, LABELS)


def close(found, expected):
    return found == pytest.approx(expected, rel=1e-12)


class TestPartitions:
    def test_the_same_rows_have_the_same_bits_in_20_partitionings(self, spark, frame, expected):
        from pyspark.sql import functions as F

        found = []
        for seed in range(20):
            parts = frame.repartition(1 + seed % 5, F.xxhash64("w", F.lit(seed)))
            found.append(icvi.spark.scores(parts, features=FEATURES, label="label"))
        assert all(each == found[0] for each in found)
        assert close(found[0], expected)

    def test_sorted_skewed_and_empty_partitions_make_no_difference(self, frame, expected):
        one_cluster_each = frame.repartition(8, "label")  # 6 labels: some partitions are empty
        in_order = frame.repartitionByRange(4, "x").sortWithinPartitions("x")
        mostly_one = frame.repartition(5, frame["label"] == 1)
        for parts in (one_cluster_each, in_order, mostly_one):
            assert close(icvi.spark.scores(parts, features=FEATURES, label="label"), expected)

    def test_workers_combine_states_that_the_driver_could_not_receive(
        self, frame, expected, monkeypatch
    ):
        monkeypatch.setattr("icvi.spark.combining._SHARE", 2e-6)  # of a gigabyte
        parts = frame.repartition(20)
        assert close(icvi.spark.scores(parts, features=FEATURES, label="label"), expected)


class TestColumns:
    def test_weights_count(self, frame):
        found = icvi.spark.scores(frame, features=FEATURES, label="label", weight="w")
        assert close(found, icvi.scores(X, LABELS, weights=WEIGHTS))

    def test_labels_may_be_strings_and_one_of_them_noise(self, frame):
        found = icvi.spark.scores(frame, features=FEATURES, label="name", noise_label="sea")
        assert close(found, icvi.scores(X, NAMES, noise_label="sea"))

    def test_features_may_be_arrays_vectors_decimals_and_floats(self, spark, frame, expected):
        from pyspark.ml.feature import VectorAssembler
        from pyspark.sql import functions as F

        whole = frame.withColumn("v", F.array("x", "y", "`z.z`")).withColumnRenamed("z.z", "z")
        assembler = VectorAssembler(inputCols=["x", "y", "z"], outputCol="vector")
        whole = assembler.transform(whole)
        for features in ("v", "vector"):
            assert close(icvi.spark.scores(whole, features=features, label="label"), expected)
        short = whole.select(
            F.col("x").cast("decimal(20, 6)").alias("d"),
            F.col("y").cast("float").alias("f"),
            F.col("z").cast("int").alias("i"),
            F.col("label").cast("short").alias("label"),
        )
        rounded = [float(round(decimal.Decimal(x), 6)) for x in X[:, 0].tolist()]
        Y = np.column_stack([rounded, X[:, 1].astype(np.float32), np.trunc(X[:, 2])])
        found = icvi.spark.scores(short, features=["d", "f", "i"], label="label")
        assert found == pytest.approx(icvi.scores(Y, LABELS), rel=1e-6)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"features": ["q"]}, ValueError, "expected features to be among the columns"),
            ({"features": ["X"]}, ValueError, "did you mean 'x'"),
            ({"features": []}, ValueError, "at least one feature column"),
            ({"features": ["x", "x"]}, ValueError, "each feature column once"),
            ({"features": "name"}, TypeError, "'name' to hold numbers, arrays .*, got string"),
            ({"features": [3]}, TypeError, "features as names of columns, got 3"),
            ({"weight": "name"}, TypeError, "'name' to hold numbers, got string"),
            ({"label": "d"}, TypeError, "'d' to hold integers, .*, got decimal"),
            ({"label": None}, TypeError, "label as names of columns, got None"),
            ({"indices": ["Conn"]}, ValueError, "Conn, which depends on the order"),
            ({"handle_invalid": "drop"}, ValueError, "handle_invalid to be one of"),
            ({"undefined": "no"}, ValueError, "undefined"),
        ],
    )
    def test_what_cannot_be_scored_is_refused_before_anything_runs(
        self, frame, options, error, message
    ):
        frame = frame.withColumn("d", frame["x"].cast("decimal(10,2)"))
        with pytest.raises(error, match=message):
            icvi.spark.scores(frame, **{"features": FEATURES, "label": "label", **options})

    def test_data_in_memory_are_refused(self, table):
        with pytest.raises(TypeError, match=r"got Table; for data in memory use icvi\.scores"):
            icvi.spark.scores(table, features=FEATURES, label="label")

    def test_a_frame_without_rows_is_refused(self, frame):
        with pytest.raises(ValueError, match="expected at least one row, got none"):
            icvi.spark.scores(frame.limit(0), features=FEATURES, label="label")

    def test_a_frame_of_noise_has_no_scores(self, frame):
        noise = frame.where("label = 1")
        found = icvi.spark.scores(noise, features=FEATURES, label="label", noise_label=1)
        assert all(map(math.isnan, found.values()))

    def test_arrays_of_several_lengths_are_refused(self, spark):
        rows = [([0.0, 1.0], 0), ([2.0], 1)]
        frame = spark.createDataFrame(rows, "v array<double>, label int").repartition(2)
        with pytest.raises(ValueError, match=r"number of entries|as many features in every row"):
            icvi.spark.scores(frame, features="v", label="label")


@pytest.fixture(scope="module")
def bad(spark):
    def rows(partition):
        for row in range(10):
            x = None if (partition, row) in {(1, 4), (2, 7)} else float(row)
            y = float("nan") if (partition, row) == (3, 2) else float(partition)
            yield x, y, row % 2

    parts = spark.sparkContext.parallelize(range(4), 4).flatMap(rows)
    return spark.createDataFrame(parts, "x double, y double, label int")


class TestBadRows:
    def test_the_error_names_column_partition_and_row(self, bad):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            icvi.spark.scores(bad, features=["x", "y"], label="label")
        assert str(error.value) == (
            "3 of 40 rows cannot be scored: column 'x' is null in 2 rows (the first is row 4 of "
            "partition 1) and column 'y' is nan in 1 row (row 2 of partition 3); remove them, or "
            "skip them with handle_invalid='skip'"
        )

    def test_they_are_skipped_with_a_warning(self, bad):
        rows = [row for row in bad.collect() if row.x is not None and row.y == row.y]
        expected = icvi.scores([(row.x, row.y) for row in rows], [row.label for row in rows])
        with pytest.warns(UserWarning, match=r"icvi\.spark\.scores skipped 3 of 40 rows: column"):
            found = icvi.spark.scores(
                bad, features=["x", "y"], label="label", handle_invalid="skip"
            )
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)

    def test_they_are_named_after_a_shuffle_too(self, bad):
        table = icvi.spark.scores_by(bad, key="label", features=["x", "y"], label="label")
        with pytest.raises(
            Exception, match=r"column '.' is (null|nan) in .*row \d of partition \d"
        ):
            table.toArrow()


class TestSizes:
    def test_the_size_of_a_frame_is_what_spark_estimates(self, spark):
        from icvi.spark.selecting import estimated_size

        few, many = (estimated_size(spark.range(n)) for n in (100, 10**9))
        assert (few, many) == (800.0, 8e9)


class TestOtherResults:
    def test_a_tracker_has_seen_every_row(self, frame, expected):
        t = icvi.spark.tracker(frame, features=FEATURES, label="name", weight=None)
        assert t.labels == sorted({*NAMES.tolist()})
        assert t.n_samples == N
        assert t.values == pytest.approx(expected, rel=1e-9)
        assert t.diagnose_clusters()["count"].sum() == N

    @pytest.mark.parametrize("small", [0, math.inf])
    def test_scores_by_key_are_those_of_the_rows_with_the_key(self, frame, small, monkeypatch):
        monkeypatch.setattr("icvi.spark.by_key._SMALL", small)  # bytes; more are sorted
        table = icvi.spark.scores_by(
            frame, key="key", features=FEATURES, label="name", weight="w", noise_label="air"
        )
        found = {row["key"]: row.asDict() for row in table.collect()}
        assert {*found} == {*KEYS.tolist()}
        for key, row in found.items():
            mine = key == KEYS
            given = {"weights": WEIGHTS[mine], "noise_label": "air"}
            expected = icvi.scores(X[mine], NAMES[mine], **given)
            got = {name: row[name] for name in expected}
            assert got == pytest.approx(expected, rel=1e-12, nan_ok=True)
            counted = mine & (NAMES != "air")
            assert row["n_samples"] == pytest.approx(WEIGHTS[counted].sum())
            assert row["n_clusters"] == len({*NAMES[counted].tolist()})

    def test_a_key_of_several_columns_may_have_nulls(self, frame):
        from pyspark.sql import functions as F

        named = frame.withColumn("part", F.when(F.col("key") < 20, F.col("name")))
        options = {"features": FEATURES, "label": "label", "indices": ["CH"]}
        table = icvi.spark.scores_by(named, key=["part", "w"], **options)
        assert table.columns == ["part", "w", "n_samples", "n_clusters", "CH"]
        rows = table.groupBy(F.col("part").isNull().alias("none")).agg(F.sum("n_samples")).collect()
        assert {row[0]: row[1] for row in rows} == {
            True: (KEYS >= 20).sum(),
            False: (KEYS < 20).sum(),
        }

    @pytest.mark.parametrize(
        ("key", "message"),
        [("CH", "key to be among"), ([], "at least one key"), ("n_samples", "two columns called")],
    )
    def test_a_key_that_cannot_be_one_is_refused(self, frame, key, message):
        renamed = frame.withColumnRenamed("w", "n_samples")
        with pytest.raises(ValueError, match=message):
            icvi.spark.scores_by(renamed, key=key, features=FEATURES, label="label")

    def test_a_verdict_is_that_on_data_at_hand(self, frame):
        options = {"features": FEATURES, "label": "name"}
        found = icvi.spark.verdict(frame, **options, indices=["SIL", "DB"])
        at_hand = icvi.verdict(X, NAMES, ["SIL", "DB"], feature_names=FEATURES)
        assert found.grade == at_hand.grade
        assert found.readings == pytest.approx(at_hand.readings, rel=1e-12)
        assert found.features == FEATURES
        assert str(found)

    def test_a_verdict_finds_a_cluster_that_is_two(self, frame):
        from pyspark.sql import functions as F

        one = frame.withColumn("both", F.when(F.col("label") < 2, 0).otherwise(F.col("label")))
        advice = icvi.spark.verdict(one, features=FEATURES, label="both", indices=["SIL"]).advice
        assert [(each.action, each.clusters) for each in advice] == [("split", (0,))]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"seed": -1}, "seed"),
            ({"distinct": 0.0}, "distinct"),
            ({"feature_names": ["a"]}, "3 names"),
        ],
    )
    def test_a_verdict_refuses_bad_options(self, frame, options, message):
        with pytest.raises(ValueError, match=message):
            icvi.spark.verdict(frame, features=FEATURES, label="label", **options)


@pytest.fixture(scope="module")
def vectors(spark):
    from pyspark.ml.linalg import Vectors

    rng = np.random.default_rng(0)
    truth = np.arange(240) % 4
    points = rng.normal(size=(240, 2)) + 9.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[truth]
    rows = [(Vectors.dense(point), int(label)) for point, label in zip(points, truth)]
    return spark.createDataFrame(rows, ["features", "prediction"]).repartition(2).cache()


class TestEvaluator:
    def points(self, frame):
        rows = frame.collect()
        return np.array([row.features.toArray() for row in rows]), [row.prediction for row in rows]

    def test_its_value_is_that_of_the_index(self, vectors):
        for name, larger in (("SIL", True), ("DB", False), ("CH", True)):
            evaluator = icvi.spark.ClusterValidityEvaluator(indexName=name)
            found = evaluator.evaluate(vectors)
            assert found == pytest.approx(icvi.score(*self.points(vectors), name), rel=1e-12)
            assert evaluator.isLargerBetter() is larger

    def test_an_undefined_index_is_the_worst_there_is(self, vectors):
        from pyspark.sql import functions as F

        one = vectors.withColumn("prediction", F.lit(0))
        for name, worst in (("SIL", -math.inf), ("DB", math.inf)):
            assert icvi.spark.ClusterValidityEvaluator(indexName=name).evaluate(one) == worst

    def test_model_selection_finds_the_number_of_clusters(self, vectors, tmp_path):
        from pyspark.ml.clustering import KMeans
        from pyspark.ml.tuning import CrossValidator, ParamGridBuilder, TrainValidationSplit

        kmeans = KMeans(seed=1, maxIter=5)
        grid = ParamGridBuilder().addGrid(kmeans.k, [2, 4, 7]).build()
        data = vectors.select("features")
        common = {"estimator": kmeans, "estimatorParamMaps": grid, "seed": 2}
        by_db = icvi.spark.ClusterValidityEvaluator(indexName="DB")
        split = TrainValidationSplit(**common, evaluator=by_db, trainRatio=0.6).fit(data)
        assert len(split.bestModel.clusterCenters()) == 4
        assert np.argmin(split.validationMetrics) == 1
        by_sil = icvi.spark.ClusterValidityEvaluator(indexName="SIL")
        validator = CrossValidator(**common, evaluator=by_sil, numFolds=2)
        assert len(validator.fit(data).bestModel.clusterCenters()) == 4
        validator.write().overwrite().save(str(tmp_path / "validator"))
        again = CrossValidator.load(str(tmp_path / "validator"))
        assert again.getEvaluator().getIndexName() == "SIL"

    def test_parameters_are_copied_saved_and_overridden(self, vectors, tmp_path):
        Evaluator = icvi.spark.ClusterValidityEvaluator
        evaluator = Evaluator(indexName="XB", predictionCol="p", noiseLabel=-1, weightCol="w")
        evaluator.save(str(tmp_path / "evaluator"))
        for again in (Evaluator.load(str(tmp_path / "evaluator")), evaluator.copy()):
            assert again.getIndexName() == "XB"
            assert again.getPredictionCol() == "p"
            assert again.getWeightCol() == "w"
            assert again.getOrDefault("noiseLabel") == -1
            assert again.getOrDefault("handleInvalid") == "error"
        changed = evaluator.copy({evaluator.predictionCol: "prediction"})
        assert (changed.getPredictionCol(), evaluator.getPredictionCol()) == ("prediction", "p")
        plain = Evaluator()
        value = plain.evaluate(vectors, {plain.indexName: "CH"})
        assert value == pytest.approx(icvi.score(*self.points(vectors), "CH"), rel=1e-12)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"indexName": "SLI"}, "did you mean 'SIL'"),
            ({"indexName": "Conn"}, "an index on clusters, got Conn"),
            ({"handleInvalid": "keep"}, "handleInvalid to be one of"),
        ],
    )
    def test_parameters_that_cannot_be_are_refused(self, spark, options, message):
        with pytest.raises(ValueError, match=message):
            icvi.spark.ClusterValidityEvaluator(**options)
