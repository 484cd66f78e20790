"""What workers do with batches of rows, without Spark."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
from icvi.spark.bad_rows import BadRows, Fault, handle
from icvi.spark.columns import Columns
from icvi.spark.evaluating import readings
from icvi.spark.group_work import GroupWork
from icvi.spark.partials import (
    AtOnce,
    Partial,
    Summary,
    combine_batches,
    combined,
    from_table,
    is_missing,
)
from icvi.spark.rows import Decoder
from icvi.spark.samples import Samples

NUMBERS = Columns(("x", "y"), "label", "weight")
ARRAYS = Columns(("v",), "label")
PAPER = icvi.Tracker("paper").indices


def batch(*columns, names=None):
    arrays = [column if isinstance(column, pa.Array) else pa.array(column) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])


def blobs(n, d=3, k=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.normal(size=(n, d)) + 6.0 * rng.normal(size=(k, d))[labels], labels


def as_batch(X, labels):
    return batch(*X.T, labels)


class TestDecoding:
    def test_numbers_of_columns_become_samples(self):
        rows = Decoder(NUMBERS, 0).decode(batch([1.0, 2.0], [3.0, 4.0], [7, 8], [0.5, 1.0]))
        assert rows.X.tolist() == [[1.0, 3.0], [2.0, 4.0]]
        assert rows.labels.tolist() == [7, 8]
        assert rows.weights.tolist() == [0.5, 1.0]
        assert rows.kept is None

    def test_arrays_become_samples_also_in_a_slice(self):
        whole = batch([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]], ["a", "b", "b"])
        rows = Decoder(ARRAYS, 0).decode(whole.slice(1))
        assert rows.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert rows.labels.tolist() == ["b", "b"]

    def test_columns_of_numbers_and_arrays_go_together(self):
        decoder = Decoder(Columns(("x", "v"), "label"), 0)
        assert decoder.decode(batch([9.0], [[1.0, 2.0]], [0])).X.tolist() == [[9.0, 1.0, 2.0]]

    @pytest.mark.parametrize(
        "labels", [[1, 2], ["a", "b"], [True, False], [b"x", b"y"], [decimal.Decimal(1)] * 2]
    )
    def test_labels_are_what_python_makes_of_them(self, labels):
        rows = Decoder(ARRAYS, 0).decode(batch([[0.0], [1.0]], labels))
        assert rows.labels.tolist() == labels

    def test_every_fault_is_counted_with_its_first_row(self):
        decoder = Decoder(NUMBERS, partition=5)
        nan, inf = float("nan"), float("inf")
        decoder.decode(batch([1.0] * 10, [1.0] * 10, [0] * 10, [1.0] * 10))
        rows = decoder.decode(
            batch(
                [1.0, None, 3.0, nan, 1e200, None, 7.0],
                [1.0, 2.0, inf, -inf, 5.0, 6.0, 7.0],
                [0, 0, 0, 0, 0, None, 0],
                [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -2.0],
            )
        )
        assert rows.X.tolist() == [[1.0, 1.0]]
        assert rows.kept.tolist() == [True, *[False] * 6]
        assert decoder.rows == 17
        assert decoder.bad.rows == 6
        assert decoder.bad.faults == {
            ("x", "is null"): Fault(2, 5, 11),
            ("x", "is nan"): Fault(1, 5, 13),
            ("x", "is beyond 1e+140"): Fault(1, 5, 14),
            ("y", "is infinite"): Fault(2, 5, 12),
            ("label", "is null"): Fault(1, 5, 15),
            ("weight", "is negative"): Fault(1, 5, 16),
        }

    def test_faults_of_arrays_are_counted(self):
        decoder = Decoder(ARRAYS, 0)
        values = [[1.0, 2.0], None, [1.0], [1.0, None], [float("nan"), 0.0], [3.0, 4.0], [1.0] * 3]
        rows = decoder.decode(batch(pa.array(values, pa.list_(pa.float64())), [0] * 7))
        assert rows.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert decoder.bad.faults == {
            ("v", "is null"): Fault(1, 0, 1),
            ("v", "has another number of entries than 2"): Fault(2, 0, 2),
            ("v", "has a null entry"): Fault(1, 0, 3),
            ("v", "is nan"): Fault(1, 0, 4),
        }

    def test_arrays_without_entries_are_no_samples(self):
        decoder = Decoder(ARRAYS, 0)
        nothing = pa.array([[], []], pa.list_(pa.float64()))
        assert len(decoder.decode(batch(nothing, [0, 0])).X) == 0
        assert decoder.decode(batch([[], [1.0, 2.0]], [0, 1])).X.tolist() == [[1.0, 2.0]]
        assert decoder.bad.faults == {("v", "is empty"): Fault(3, 0, 0)}

    def test_the_length_of_arrays_is_that_of_the_first_batch(self):
        decoder = Decoder(ARRAYS, 0)
        decoder.decode(batch([[1.0, 2.0]], [0]))
        assert len(decoder.decode(batch([[1.0], [2.0]], [0, 0])).X) == 0
        assert decoder.bad.rows == 2

    def test_a_nan_is_no_label(self):
        decoder = Decoder(ARRAYS, 0)
        rows = decoder.decode(batch([[1.0], [2.0]], [float("nan"), 2.0]))
        assert rows.labels.tolist() == [2.0]
        assert decoder.bad.faults == {("label", "is nan"): Fault(1, 0, 0)}

    def test_places_of_rows_name_the_partition_that_they_come_from(self):
        decoder = Decoder(ARRAYS, 0)
        decoder.decode(
            batch([[1.0], None, None], [0, 0, 0]), pa.array([0, 3 * 2**33 + 8, 2**33 + 9])
        )
        assert decoder.bad.faults == {("v", "is null"): Fault(2, 1, 9)}


class TestBadRows:
    def bad(self):
        bad = BadRows()
        bad.rows = 1203
        bad.add("x", "is null", Fault(1200, 3, 17))
        bad.add("x", "is null", Fault(2, 1, 40))
        bad.add("y", "is nan", Fault(1, 0, 0))
        return bad

    def test_they_are_named_in_words_those_of_most_rows_first(self):
        assert str(self.bad()) == (
            "column 'x' is null in 1,202 rows (the first is row 40 of partition 1) and "
            "column 'y' is nan in 1 row (row 0 of partition 0)"
        )

    def test_they_survive_json(self):
        again = BadRows.from_json(self.bad().to_json())
        assert again.faults == self.bad().faults
        assert again.rows == 1203

    def test_they_raise_an_error_that_says_what_to_do(self):
        with pytest.raises(
            ValueError,
            match=r"1,203 of 2,000 rows cannot be scored: column 'x' is null.*"
            r"remove them, or skip them with handle_invalid='skip'",
        ):
            handle(self.bad(), 2000, "error", "scores")

    def test_skipping_them_is_a_warning(self):
        with pytest.warns(UserWarning, match=r"scores skipped 1,203 of 2,000 rows: column 'x'"):
            handle(self.bad(), 2000, "skip", "scores")


class TestPartials:
    def scores(self, partial, indices=PAPER):
        partial.state.sort_labels()
        return readings(partial.state, indices)

    @given(cuts=st.lists(st.integers(0, 400), max_size=8), seed=st.integers(0, 5))
    def test_readings_have_the_same_bits_however_rows_are_split(self, cuts, seed):
        X, labels = blobs(400, seed=seed)
        summary = Summary(Columns(("a", "b", "c"), "label"), scatter=True)
        whole = self.scores(summary.reduce([as_batch(X, labels)], 0))
        order = np.random.default_rng(seed).permutation(400)
        parts = np.split(order, sorted(cuts))
        partials = [summary.reduce([as_batch(X[part], labels[part])], 0) for part in parts]
        split = self.scores(combined(partials))
        assert split == whole
        expected = icvi.scores(X, labels)
        assert split == pytest.approx(expected, rel=1e-12)

    def test_a_partial_result_survives_being_a_row(self):
        X, labels = blobs(300)
        summary = Summary(Columns(("a", "b", "c"), "label"), scatter=True, samples=20)
        partial = summary.reduce([as_batch(X, labels)], partition=3)
        (again,) = from_table(partial.to_batch())
        assert isinstance(again, Partial)
        assert (again.rows, again.at, again.features) == (300, 3, 3)
        assert again.state.to_bytes() == partial.state.to_bytes()
        assert [again.samples.of(i).tolist() for i in range(4)] == [
            partial.samples.of(i).tolist() for i in range(4)
        ]

    def test_workers_combine_rows_of_partial_results(self):
        X, labels = blobs(300)
        summary = Summary(Columns(("a", "b", "c"), "label"), scatter=False)
        parts = [summary.reduce([as_batch(X[i::3], labels[i::3])], i) for i in range(3)]
        (row,) = combine_batches(iter([part.to_batch() for part in parts]))
        (total,) = from_table(row)
        assert total.rows == 300
        assert total.state.n_samples == 300

    def test_noise_and_weights_of_0_are_left_out(self):
        columns = Columns(("x",), "label", "weight")
        summary = Summary(columns, scatter=False, noise_label=-1, samples=5)
        rows = batch([1.0, 2.0, 3.0, 4.0], [0, -1, 1, 0], [1.0, 1.0, 0.0, 2.0])
        partial = summary.reduce([rows], 0)
        assert partial.state.labels == [0]
        assert partial.state.noise_share == pytest.approx(0.25)
        assert sorted(partial.samples.of(0).ravel().tolist()) == [1.0, 4.0]
        assert partial.samples.of(1).tolist() == []
        assert partial.samples.of(-1).tolist() == []

    def test_nothing_is_compiled(self):
        import subprocess
        import sys

        import processes

        code = (
            "import sys, numpy as np, pyarrow as pa\n"
            "from icvi.spark.columns import Columns\n"
            "from icvi.spark.partials import Summary, combined, from_table\n"
            "X = np.random.default_rng(0).normal(size=(500, 3))\n"
            "rows = pa.RecordBatch.from_arrays([*map(pa.array, X.T), pa.array([0, 1] * 250)],"
            " names=list('abcl'))\n"
            "work = Summary(Columns(('a', 'b', 'c'), 'l'), scatter=True)\n"
            "parts = [work.reduce([rows], i).to_batch() for i in range(2)]\n"
            "total = combined(partial for part in parts for partial in from_table(part))\n"
            "total.state.sort_labels()\n"
            "print(total.rows, 'numba' in sys.modules, 'pyspark.ml' in sys.modules)\n"
        )
        done = processes.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
        )
        assert done.stdout.split() == ["1000", "False", "False"]


class TestSamples:
    @given(most=st.integers(1, 30), parts=st.integers(1, 5))
    def test_a_cluster_keeps_as_many_as_it_may_and_only_its_own(self, most, parts):
        X, labels = blobs(120, d=2, k=3)
        X[:, 0] = labels
        total = Samples(most, None, (0, 0))
        for i in range(parts):
            some = Samples(most, None, (0, i + 1))
            some.add(X[i::parts], labels[i::parts])
            total.combine(Samples.from_bytes(some.to_bytes()))
        for label in range(3):
            found = total.of(label)
            assert len(found) == min(most, (labels == label).sum())
            assert (found[:, 0] == label).all()
            assert len({*map(tuple, found)}) == len(found)

    def test_every_sample_is_as_likely_as_another(self):
        X = np.arange(40.0)[:, None]
        counts = np.zeros(40)
        for seed in range(400):
            halves = [Samples(10, None, (seed, part)) for part in range(2)]
            for half, part in zip(halves, (slice(0, 10), slice(10, 40))):
                half.add(X[part], np.zeros(len(X[part]), dtype=int))
            halves[0].combine(halves[1])
            counts[halves[0].of(0).ravel().astype(int)] += 1
        assert counts.sum() == 4000
        # 400 draws with p = 1/4: 100 plus or minus 8.7; 5 standard deviations.
        assert abs(counts - 100).max() < 45


class TestStatesAtOnce:
    def found(self, most, scatter=True, n=300):
        X, labels = blobs(n)
        summary = Summary(Columns(("a", "b", "c"), "label"), scatter=scatter)
        work, rows = AtOnce(summary, 32.0 * most), as_batch(X, labels)
        assert work.most(0) == most
        # Batches without rows come, too.
        batches = iter([rows.slice(0, 0), rows.slice(0, 100), rows.slice(100)])
        found = list(work(batches))
        assert not list(batches)  # everything was read
        return pa.Table.from_batches(found), summary.reduce([rows], 0), work.least(rows)

    def test_a_small_state_is_that_of_all_rows(self):
        table, expected, _ = self.found(10**5)
        assert not is_missing(table)
        (partial,) = from_table(table)
        assert partial.rows == 300
        assert partial.state.to_bytes() == expected.state.to_bytes()

    @pytest.mark.parametrize("scatter", [False, True])
    def test_a_large_state_is_left_out_before_and_after_it_is_known(self, scatter):
        _, expected, least = self.found(10**5, scatter=scatter)
        size = len(expected.state.to_bytes())
        assert 0 < least < size
        for most in (least - 1, size - 1):
            assert is_missing(self.found(most, scatter=scatter)[0])
        assert not is_missing(self.found(size, scatter=scatter)[0])

    def test_the_states_of_all_partitions_are_within_the_budget(self):
        work = AtOnce(Summary(ARRAYS, scatter=False), 1000.0)
        each = [work.most(partition) for partition in range(3000)]
        assert sum(each) == pytest.approx(1000.0)
        assert each == sorted(each, reverse=True)

    def test_partitions_beyond_the_last_that_may_send_a_state_leave_it_out(self, monkeypatch):
        for partition, missing in ((1023, False), (1024, True)):
            monkeypatch.setattr("icvi.spark.partials._partition", lambda at=partition: at)
            assert is_missing(self.found(10**7)[0]) is missing

    def test_arrays_count_as_wide_as_they_are(self):
        work = AtOnce(Summary(ARRAYS, scatter=False), 10**5)
        rows = batch([[1.0, 2.0], None], ["a", "b"])
        assert work.least(rows) == 3 * 8 * 2 * 4

    def test_without_rows_there_is_no_state(self):
        assert list(AtOnce(Summary(ARRAYS, scatter=False), 10**5)(iter([]))) == []


class TestGroups:
    def work(self, keys=1, in_order=True, **options):
        given = {"noise_label": None, "undefined": "nan", "handle_invalid": "error", **options}
        return GroupWork(Columns(("a", "b", "c"), "label"), keys, in_order, PAPER, **given)

    def rows(self, X, labels, keys):
        order = np.argsort(keys, kind="stable")
        place = pa.array(np.arange(len(X)))
        whole = batch(*X[order].T, labels[order], place, keys[order])
        return [whole.slice(i, 97) for i in range(0, len(X), 97)]

    def test_a_group_has_the_scores_of_its_rows_wherever_batches_end(self, monkeypatch):
        monkeypatch.setattr("icvi.spark.group_work._ROWS", 150)
        X, labels = blobs(1000)
        keys = np.sort(np.random.default_rng(1).integers(12, size=1000))
        keys[400:] = keys[400]  # one that is larger than several batches
        found = {}
        for table in self.work()(iter(self.rows(X, labels, keys))):
            for row in table.to_pylist():
                assert row["k0"] not in found
                found[row["k0"]] = row
        assert {*found} == {*keys.tolist()}
        for key, row in found.items():
            mine = keys == key
            assert row["n_samples"] == mine.sum()
            assert row["n_clusters"] == len({*labels[mine].tolist()})
            expected = icvi.scores(X[mine], labels[mine])
            got = {name: row[name] for name in expected}
            assert got == pytest.approx(expected, rel=1e-12, nan_ok=True)

    def test_rows_in_any_order_have_the_scores_of_sorted_ones(self):
        X, labels = blobs(600)
        rng = np.random.default_rng(4)
        part, number = rng.integers(5, size=600), rng.integers(3, size=600)
        name = [None if each == 4 else "abcd"[each] for each in part.tolist()]
        whole = batch(*X.T, labels, np.arange(600), pa.array(name), number)
        order = np.lexsort((number, part))
        tables = [
            self.work(keys=2, in_order=in_order)(iter([rows.slice(0, 250), rows.slice(250)]))
            for in_order, rows in ((True, whole.take(pa.array(order))), (False, whole))
        ]
        sorted_ones, found = (
            {(row.pop("k0"), row.pop("k1")): row for t in table for row in t.to_pylist()}
            for table in tables
        )
        assert len(found) == 15
        assert {*found} == {*sorted_ones}
        for key, row in found.items():
            assert row == pytest.approx(sorted_ones[key], rel=1e-12)

    @pytest.mark.parametrize("in_order", [False, True])
    def test_without_rows_there_are_no_groups(self, in_order):
        assert list(self.work(in_order=in_order)(iter([]))) == []

    def test_a_bad_row_is_an_error_with_its_place(self):
        X, labels = blobs(10)
        X[4, 1] = np.nan
        with pytest.raises(
            ValueError, match=r"column 'b' is nan in 1 row \(row 4 of partition 0\)"
        ):
            list(self.work()(iter(self.rows(X, labels, np.zeros(10, dtype=int)))))

    def test_a_group_of_bad_rows_only_has_no_scores_where_they_are_skipped(self):
        X, labels = blobs(10)
        X[5:] = np.nan
        keys = np.repeat(["a", "b"], 5)
        (table,) = self.work(handle_invalid="skip")(iter(self.rows(X, labels, keys)))
        a, b = table.to_pylist()
        assert a["n_samples"] == 5
        assert (b["k0"], b["n_samples"], b["n_clusters"]) == ("b", 0.0, 0)
        assert np.isnan(b["CH"])


class TestSparkConnect:
    """Without a server: those of `pyspark.sql.connect` are known by their modules."""

    def given(self, name):
        return type(name, (), {"__module__": f"pyspark.sql.connect.{name.lower()}"})()

    def test_what_needs_the_java_of_the_driver_is_refused(self):
        pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'icvi[spark]'")
        import icvi.spark

        message = r"cannot be called through Spark Connect; run the program .* spark-submit"
        with pytest.raises(ValueError, match=r"icvi\.spark\.watch .*" + message):
            icvi.spark.watch(
                self.given("DataFrame"), features="x", label="y", checkpoint="c", to="t"
            )
        with pytest.raises(ValueError, match=r"icvi\.spark\.restored .*" + message):
            icvi.spark.restored(self.given("SparkSession"), "c")

    def test_how_large_a_frame_is_remains_unknown(self):
        pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'icvi[spark]'")
        from icvi.spark.selecting import estimated_size

        assert estimated_size(self.given("DataFrame")) == float("inf")
