"""icvi.watch in Python: any source, any clusterer, readings, files, checkpoints."""

from __future__ import annotations

import gc
from datetime import timedelta

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans, MiniBatchKMeans

import icvi
from icvi.indices import select
from icvi.streams import open_source
from streams import blobs

PAPER = [index.name for index in select("paper")]


@pytest.fixture(scope="module")
def data():
    X, labels = blobs(3000, d=3, k=5)
    return X, labels


def same(readings, trace):
    assert [reading.sample for reading in readings] == trace.samples.tolist()
    assert [reading.k for reading in readings] == trace.k.tolist()
    for name in trace.names:
        np.testing.assert_array_equal([reading[name] for reading in readings], trace[name])


def test_every_sample_has_a_reading_that_is_the_trackers(data):
    X, labels = data
    trace = icvi.Tracker("paper").update_many(X, labels)
    readings = list(icvi.watch((X, labels)))
    same(readings, trace)
    assert [reading.label for reading in readings] == labels.tolist()
    assert readings[-1].values == {name: trace[name][-1] for name in PAPER}
    assert readings[0].why("CH") == "k<2"
    assert readings[-1].why("CH") is None


def sources(X, labels):
    names = ["x1", "x2", "x3"]
    table = {name: X[:, i] for i, name in enumerate(names)} | {"c": labels}
    yield (X, labels), {}
    yield pandas.DataFrame(table), {"label": "c"}
    yield polars.DataFrame(table), {"label": "c"}
    yield pa.table(table), {"label": "c"}
    yield zip(X, labels.tolist()), {}
    yield ((X[i : i + 700], labels[i : i + 700]) for i in range(0, len(X), 700)), {}
    yield pandas.DataFrame(table).to_dict("records"), {"label": "c"}
    yield open_source((X, labels), rows=100), {}


@pytest.mark.parametrize("which", range(8))
def test_all_sources_give_the_same_readings(data, which):
    X, labels = data[0][:1500], data[1][:1500]
    source, options = list(sources(X, labels))[which]
    trace = icvi.Tracker(["CH", "XB"]).update_many(X, labels)
    same(list(icvi.watch(source, indices=["CH", "XB"], **options)), trace)


def test_fuzzy_smart_gives_labels_and_the_winners_of_conn(data):
    X, _ = data
    s = icvi.FuzzySMART(rho_a=0.9, rho_b=0.6)
    readings = list(icvi.watch(X, clusterer=s, indices=["SIL", "Conn"], batch=500))
    other = icvi.FuzzySMART(rho_a=0.9, rho_b=0.6)
    t, found = icvi.Tracker(["SIL", "Conn"]), []
    for part in (slice(0, 500), slice(500, None)):
        other.partial_fit(X[part])
        found.append(t.update_many(X[part], other.labels_, winners=other.winners_))
    same(readings[:500], found[0])
    same(readings[500:], found[1])


def test_an_estimator_learns_chunks_of_one_size_however_samples_come(data):
    X, _ = data
    model = MiniBatchKMeans(4, random_state=0, n_init=3)
    labels = []
    for first in range(0, len(X), 400):
        labels += model.partial_fit(X[first : first + 400]).predict(X[first : first + 400]).tolist()
    for rows in (8192, 37):
        again = MiniBatchKMeans(4, random_state=0, n_init=3)
        watched = icvi.watch(X, clusterer=again, indices=["CH"], batch=400, rows=rows)
        assert [reading.label for reading in watched] == labels


def test_a_fitted_estimator_predicts(data):
    X, _ = data
    model = KMeans(5, random_state=0, n_init=1).fit(X)
    watched = icvi.watch(X, clusterer=model, indices=["CH"]).run()
    assert watched.tracker["CH"] == icvi.Tracker(["CH"]).update_many(X, model.predict(X))["CH"][-1]


def test_a_clusterer_of_river_and_its_unassigned_samples(data):
    from river import cluster

    X, _ = data
    model = cluster.DBSTREAM(clustering_threshold=2.0)
    watched = icvi.watch(X[:300], clusterer=model, indices=["CH"]).run()
    assert watched.clusterer is model
    assert watched.tracker.n_samples + 300 * watched.tracker.noise_share == pytest.approx(300)
    assert "DBSTREAM renumbered its clusters" in watched.warnings[0]


def test_a_function_labels(data):
    X, _ = data
    readings = list(icvi.watch(X, clusterer=lambda X: np.sign(X[:, 0]), indices=["CH"]))
    assert {reading.label for reading in readings} == {-1.0, 1.0}


def test_samples_that_are_clipped_are_remarked():
    X = np.linspace(0, 1, 100)[:, None]
    watched = icvi.watch(X, clusterer=icvi.FuzzyART(rho=0.8), indices=["CH"], batch=50).run()
    assert watched.warnings[0].startswith("50 of 100 samples lay outside the bounds")
    bounded = icvi.FuzzyART(rho=0.8, bounds=(0, 1))
    assert icvi.watch(X, clusterer=bounded, indices=["CH"], batch=50).run().warnings == []


def test_a_window_by_time_reads_the_time_column(data):
    X, labels = data
    frame = pandas.DataFrame(X[:200], columns=["a", "b", "c"]).assign(
        c=labels[:200], t=np.arange(200.0)
    )
    watched = icvi.watch(
        frame, indices=["CH"], label="c", time="t", window=timedelta(seconds=20), columns=["a", "b"]
    )
    readings = list(watched)
    assert readings[-1].time == 199.0
    assert watched.tracker.n_samples == 20
    other = icvi.Tracker(["CH"], window=timedelta(seconds=20))
    same(readings, other.update_many(X[:200, :2], labels[:200], time=np.arange(200.0)))


def test_a_window_by_time_wants_times(data):
    with pytest.raises(ValueError, match="time"):
        icvi.watch(data, window=timedelta(seconds=1)).run()


@pytest.mark.parametrize("rows", [1, 64, 8192])
def test_readings_after_every_mth_sample_do_not_depend_on_the_batches(data, rows):
    X, labels = data
    readings = list(icvi.watch((X, labels), indices=["CH"], every=7, rows=rows))
    same(readings, icvi.Tracker(["CH"]).update_many(X, labels, every=7))


def test_conn_of_other_peoples_labels_learns_its_scaling_from_the_first_batch(data):
    X, labels = data
    t = icvi.Tracker(["Conn"])
    first = t.update_many(X[:600], labels[:600])
    rest = t.update_many(X[600:], labels[600:])
    for rows in (50, 8192):
        readings = list(icvi.watch((X, labels), indices=["Conn"], batch=600, rows=rows))
        same(readings[:600], first)
        same(readings[600:], rest)


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
def test_the_trace_holds_all_readings(data, tmp_path, ending):
    X, labels = data
    path = tmp_path / f"trace.{ending}"
    icvi.watch((X, labels), indices=["CH", "NI"], trace=path).run()
    # What pandas takes for a number may differ in the last digit, depending on its version.
    exactly = {name: lambda text: float(text or "nan") for name in ("CH", "NI")}
    read = {
        "csv": lambda: pandas.read_csv(path, converters=exactly),
        "ndjson": lambda: pandas.read_json(path, lines=True, precise_float=True),
        "parquet": lambda: pandas.read_parquet(path),
    }[ending]()
    trace = icvi.Tracker(["CH", "NI"]).update_many(X, labels)
    assert list(read) == ["sample", "label", "k", "CH", "NI"]
    assert read["label"].tolist() == labels.tolist()
    for name in ("CH", "NI"):
        np.testing.assert_allclose(read[name], trace[name], rtol=1e-15)


def test_breaking_off_leaves_a_complete_trace(data, tmp_path):
    X, labels = data
    path = tmp_path / "trace.parquet"
    for reading in icvi.watch((X, labels), indices=["CH"], trace=path, rows=100):
        if reading.sample == 250:
            break
    gc.collect()
    assert 250 <= len(pandas.read_parquet(path)) <= 300  # whole steps


def test_an_error_of_the_consumer_leaves_a_complete_trace(data, tmp_path):
    path = tmp_path / "trace.csv"
    with icvi.watch(data, indices=["CH"], trace=path, rows=100) as watched:
        steps = watched.steps()
        next(steps)
        with pytest.raises(RuntimeError, match="mine"):
            steps.throw(RuntimeError("mine"))
    assert len(pandas.read_csv(path)) == watched.seen > 0


def test_a_bad_sample_ends_it_and_what_came_before_is_kept(data, tmp_path):
    X, labels = data
    X = X.copy()
    X[350, 1] = np.nan
    path = tmp_path / "trace.csv"
    watched = icvi.watch((X, labels), indices=["CH"], trace=path, rows=100)
    with pytest.raises(ValueError, match="row 350"):
        watched.run()
    assert len(pandas.read_csv(path)) == 300
    assert watched.seen == 300


def test_existing_files_are_not_overwritten_unless_asked_to(data, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match="overwrite"):
        icvi.watch(data, trace=path).run()
    assert path.read_text() == "precious"
    icvi.watch(data, indices=["CH"], trace=path, overwrite=True).run()
    assert len(pandas.read_csv(path)) == len(data[0])


def test_the_page_says_what_was_watched_and_how(data, tmp_path):
    X, _ = data
    path = tmp_path / "page.html"
    clusterer = icvi.FuzzyART(rho=0.7625)
    icvi.watch(
        pandas.DataFrame(X, columns=["ab", "cd", "ef"]), clusterer, report=path, every=3
    ).run()
    page = path.read_text()
    for words in ("FuzzyART", "0.7625", "cd", "DataFrame", "3,000 samples"):
        assert words in page
    assert "stopped before the end" not in page


def test_the_page_of_a_watch_that_was_stopped_says_so_and_is_replaced_when_it_goes_on(
    data, tmp_path
):
    path = tmp_path / "page.html"
    options = {"indices": ["CH"], "rows": 100, "report": path, "checkpoint": tmp_path / "kept"}
    next(steps := icvi.watch(data, **options).steps())
    steps.close()
    assert "stopped before the end of the stream" in path.read_text()
    icvi.watch(data, **options).run()
    page = path.read_text()
    assert "stopped before" not in page
    assert "3,000 samples" in page
    icvi.watch(data, **options).run()  # nothing is left, and the page still tells all
    assert "3,000 samples" in path.read_text()


# -- checkpoints -------------------------------------------------------------------------------


def clusterers():
    from river import cluster

    return {
        "labels": lambda: None,
        "smart": lambda: icvi.FuzzySMART(rho_a=0.9, rho_b=0.6),
        "minibatch": lambda: MiniBatchKMeans(4, random_state=0, n_init=1),
        "river": lambda: cluster.STREAMKMeans(chunk_size=50, n_clusters=3, seed=1),
    }


@pytest.mark.parametrize("name", ["labels", "smart", "minibatch", "river"])
@pytest.mark.parametrize("options", [{}, {"window": 300}], ids=["all", "window"])
def test_a_watch_goes_on_from_its_checkpoint(data, tmp_path, name, options):
    X, labels = data[0][:1200], data[1][:1200]
    source = (X, labels) if name == "labels" else X
    options = {"indices": ["CH", "XB"], "batch": 128, "rows": 50, **options}

    def watched(folder, **more):
        return icvi.watch(
            source,
            clusterers()[name](),
            **options,
            **more,
            trace=folder / "trace.csv",
            checkpoint=folder / "kept",
            checkpoint_every=0,
        )

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = watched(tmp_path / "a").run()
    seen = 0
    while seen < 1200:
        part = watched(tmp_path / "b")
        steps = part.steps()
        for _ in range(4):
            if next(steps, None) is None:
                break
        steps.close()
        assert part.resumed == seen
        seen = part.seen
    assert (tmp_path / "b/trace.csv").read_bytes() == (tmp_path / "a/trace.csv").read_bytes()
    assert part.tracker.values == whole.tracker.values
    np.testing.assert_array_equal(part.history.last, whole.history.last)


def test_a_finished_watch_goes_on_when_there_is_more(tmp_path):
    X, labels = blobs(500, d=2, k=3)
    path = tmp_path / "samples.csv"
    rows = [f"{x!r},{y!r},{c}\n" for (x, y), c in zip(X.tolist(), labels.tolist())]
    path.write_text("x,y,c\n" + "".join(rows[:300]))
    kept = {"label": "c", "indices": ["CH"], "checkpoint": tmp_path / "kept"}
    kept["trace"] = tmp_path / "trace.parquet"
    icvi.watch(path, **kept).run()
    again = icvi.watch(path, **kept).run()
    assert (again.resumed, again.seen) == (300, 300)
    with path.open("a") as file:
        file.write("".join(rows[300:]))
    more = icvi.watch(path, **kept).run()
    assert (more.resumed, more.seen) == (300, 500)
    trace = icvi.Tracker(["CH"]).update_many(X, labels)
    np.testing.assert_array_equal(
        pandas.read_parquet(tmp_path / "trace.parquet")["CH"], trace["CH"]
    )


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"indices": ["CH", "SIL"]}, "indices"),
        ({"every": 2}, "every"),
        ({"window": 10}, "window"),
        ({"clusterer": icvi.FuzzyART(rho=0.5)}, "clusterer"),
        ({"noise_label": 0}, "noise_label"),
    ],
)
def test_a_checkpoint_of_another_watch_is_refused(data, tmp_path, changed, named):
    options = {"indices": ["CH"], "checkpoint": tmp_path}
    icvi.watch(data, **options).run()
    before = (tmp_path / "watch.icvi").read_bytes()
    with pytest.raises(ValueError, match=f"other settings: {named} was"):
        icvi.watch(data, **{**options, **changed}).run()
    assert (tmp_path / "watch.icvi").read_bytes() == before
    icvi.watch(data, **{**options, **changed}, overwrite=True).run()


def test_the_same_parameters_are_the_same_clusterer(data, tmp_path):
    X, _ = data
    for _ in range(2):
        icvi.watch(X, icvi.FuzzyART(rho=0.7), ["CH"], checkpoint=tmp_path).run()
    with pytest.raises(ValueError, match="clusterer was"):
        icvi.watch(X, icvi.FuzzyART(rho=0.8), ["CH"], checkpoint=tmp_path).run()


def test_a_text_is_the_clusterer_that_it_stands_for(data, tmp_path):
    X, _ = data
    text, state = "art rho=0.7 bounds='[-3, 8]'", tmp_path / "state"
    watch = icvi.watch(X, text, ["CH"], checkpoint=state).run()
    same = icvi.FuzzyART(0.7, bounds=[-3, 8])
    assert watch.clusterer.get_params() == same.get_params()
    assert icvi.watch(X, same, ["CH"], checkpoint=state).run().resumed == len(X)
    with pytest.raises(ValueError, match=r"stands for 2 clusterers.*icvi\.compare"):
        icvi.watch(X, "art rho=0.6..0.7/0.1")


def test_a_folder_serves_one_watch_at_a_time(data, tmp_path):
    with (
        icvi.watch(data, indices=["CH"], checkpoint=tmp_path),
        pytest.raises(RuntimeError, match="in use"),
    ):
        icvi.watch(data, indices=["CH"], checkpoint=tmp_path)
    icvi.watch(data, indices=["CH"], checkpoint=tmp_path).run()


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b[:-9] + b"x" * 9])
def test_a_damaged_checkpoint_is_refused(data, tmp_path, damage):
    icvi.watch(data, indices=["CH"], checkpoint=tmp_path).run()
    path = tmp_path / "watch.icvi"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"truncated|damaged"):
        icvi.watch(data, indices=["CH"], checkpoint=tmp_path).run()


def test_a_checkpoint_is_not_something_to_load(data, tmp_path):
    icvi.watch(data, indices=["CH"], checkpoint=tmp_path).run()
    with pytest.raises(ValueError, match=r"icvi\.watch"):
        icvi.load(tmp_path / "watch.icvi")


def test_an_index_of_ones_own_goes_on(data, tmp_path):
    @icvi.index(direction="min")
    def spread(s):
        "Mean scatter."
        return s.W / s.N

    for rows in (100, 8192):
        watched = icvi.watch(data, indices=["CH", spread], checkpoint=tmp_path, rows=rows)
        if rows == 100:
            next(steps := watched.steps())
            steps.close()
        else:
            assert 0 < watched.run().resumed <= 100
    trace = icvi.Tracker([spread]).update_many(*data)
    assert watched.tracker["spread"] == trace["spread"][-1]


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"undefined": "raise"}, ValueError, "undefined"),
        ({"indices": "nonsense"}, ValueError, "nonsense"),
        ({"every": 0}, ValueError, "every"),
        ({"batch": 0}, ValueError, "batch"),
        ({"clusterer": object()}, TypeError, "expected a clusterer"),
        ({"trace": "trace.txt"}, ValueError, "ending"),
        ({"window": 5, "half_life": 5}, ValueError, "both"),
        ({"group": "g"}, TypeError, "Redis"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(data, options, error, words):
    with pytest.raises(error, match=words):
        icvi.watch(data, **options)


def test_a_source_without_labels_and_no_clusterer_is_refused(data):
    with pytest.raises(ValueError, match="give label="):
        icvi.watch(data[0]).run()


def test_a_watch_runs_once(data):
    watched = icvi.watch(data, indices=["CH"]).run()
    with pytest.raises(ValueError, match="runs only once"):
        watched.run()


def test_an_empty_source_gives_no_reading(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("x,c\n")
    trace = tmp_path / "trace.csv"
    assert list(icvi.watch(path, label="c", indices=["CH"], trace=trace)) == []
    assert trace.read_text() == "sample,label,k,CH\n"


def test_a_reading_shows_itself_and_knows_its_indices(data):
    reading = next(iter(icvi.watch(data, indices=["CH"])))
    assert repr(reading).startswith("Reading(sample=1, label=")
    with pytest.raises(KeyError, match="not watched"):
        reading["XB"]
