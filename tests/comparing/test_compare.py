"""A comparison reads for every candidate what a watch of it alone reads, and votes."""

from __future__ import annotations

import json
import math
import shutil
import signal
import sys

import numpy as np
import pandas
import pyarrow.parquet
import pytest
from river import cluster
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import icvi
import processes
from icvi.comparing.compare import comparing
from icvi.streams import open_source
from streams import blobs


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


X, Y = blobs(500, d=2, k=4, seed=3)
APART = np.random.default_rng(0).normal(size=(500, 2)) + 9.0 * np.stack([Y // 2, Y % 2], axis=1)


def smart(rho_b=0.7, **options):
    return icvi.FuzzySMART(rho_a=0.9, rho_b=rho_b, **options)


def several():
    """Clusterers of all kinds that learn from a stream."""
    return {
        "art": icvi.FuzzyART(rho=0.8),
        "smart": smart(),
        "means": MiniBatchKMeans(3, random_state=0),
        "birch": Birch(n_clusters=4),
        "river": cluster.DBSTREAM(clustering_threshold=2.0),
        "function": sides,
    }


def sides(X):
    return np.where(X[:, 0] < 0.0, "left", "right")


def alone(clusterer, indices="paper", **options):
    """The trace of a watch of one clusterer."""
    icvi.watch(X, clusterer, indices, trace="alone.csv", overwrite=True, **options).run()
    return pandas.read_csv("alone.csv", dtype={"label": str})


def assert_each_is_as_alone(indices="paper", **options):
    c = icvi.compare(X, several(), indices, trace="all.csv", overwrite=True, **options)
    trace = pandas.read_csv("all.csv", dtype={"label": str})
    assert len(trace) == len(c.names) * (trace["candidate"] == "art").sum()
    for name, clusterer in several().items():
        found = trace[trace["candidate"] == name].drop(columns="candidate").reset_index(drop=True)
        pandas.testing.assert_frame_equal(found, alone(clusterer, indices, **options))
    return c


def test_a_clusterer_that_merges_its_clusters_reads_what_it_reads_alone():
    rng = np.random.default_rng(1)
    place = np.repeat([0.0, 6.0, 200.0], [150, 150, 700])  # beside the last, the others are one
    place[:300] = place[rng.permutation(300)]
    moving = np.column_stack([place, np.zeros(1000)]) + rng.normal(size=(1000, 2))
    both = {"auto": "auto by=DB scale=none", "art": icvi.FuzzyART(0.6, bounds=(-9.0, 209.0))}
    c = icvi.compare(moving, both, ["CH", "DB"], batch=100, truth=place, trace="all.csv")
    alone = icvi.watch(moving, both["auto"], ["CH", "DB"], batch=100, truth=place, trace="one.csv")
    alone.run()
    assert "merged clusters" in alone.warnings[0]
    trace = pandas.read_csv("all.csv")
    found = trace[trace["candidate"] == "auto"].drop(columns="candidate").reset_index(drop=True)
    pandas.testing.assert_frame_equal(found, pandas.read_csv("one.csv"))
    assert c.agreement["auto"] == alone.agreement


def test_every_candidate_reads_what_a_watch_of_it_alone_reads():
    c = assert_each_is_as_alone(["paper", "Conn"], batch=128, truth=Y)
    assert c.table["ARI"].shape == (6,)
    assert c.best in c.names


def test_the_same_with_scaling_and_a_window():
    assert_each_is_as_alone(batch=100, scale="standard", window=200, every=7, insight=False)


def test_the_rows_of_all_candidates_after_a_sample_stand_together():
    icvi.compare(X, several(), ["CH"], batch=128, trace="all.csv", insight=False)
    trace = pandas.read_csv("all.csv")
    assert trace["candidate"].tolist() == [*several()] * len(X)
    assert trace["sample"].tolist() == np.repeat(np.arange(1, 501), 6).tolist()


@pytest.mark.parametrize("ending", ["ndjson", "parquet"])
def test_traces_of_other_formats_have_the_same_readings(ending):
    icvi.compare(X, several(), ["CH"], trace="all.csv", insight=False)
    icvi.compare(X, several(), ["CH"], trace=f"all.{ending}", insight=False)
    if ending == "parquet":
        found = pyarrow.parquet.read_table("all.parquet").to_pandas()
    else:
        with open("all.ndjson", encoding="utf-8") as file:
            found = pandas.DataFrame([*map(json.loads, file)])
    expected = pandas.read_csv("all.csv", dtype={"CH": str})  # older versions round numbers
    assert found.columns.tolist() == expected.columns.tolist()
    assert found["candidate"].tolist() == expected["candidate"].tolist()
    np.testing.assert_array_equal(found["CH"].astype(float), expected["CH"].astype(float))


# -- the answer ----------------------------------------------------------------------------


def test_the_true_number_of_clusters_is_chosen_and_said():
    c = icvi.compare(APART, [KMeans(k, random_state=0) for k in range(2, 7)], truth=Y)
    assert c.best == "KMeans n_clusters=4"
    assert c.votes[c.best] == max(c.votes.values())
    assert c.sweep.values == (2.0, 3.0, 4.0, 5.0, 6.0)
    first, sure, truth, silent, verdict, *_ = str(c).split("\n")
    assert first.startswith("KMeans n_clusters=4 (4 clusters) is the best of 5 candidates: ")
    assert sure.startswith("The choice is ")
    assert truth == "Its agreement with the known classes is ARI 1, the highest of all."
    assert silent.startswith("rCIP and rH do not vote: they are sums over pairs of clusters")
    assert verdict.startswith("The verdict on KMeans n_clusters=4: The 4 clusters are distinct")
    assert c.verdict.grade == "distinct"


@pytest.mark.parametrize(
    ("indices", "sure", "why"),
    [
        ("DB", "open", ": no voting index weighs all clusters"),
        ("CH, DB", "likely", ": CH, the only voting index that weighs all clusters, prefers it"),
        ("CH, PBM, DB", "clear", ": of CH and PBM, which weigh all clusters, all prefer it"),
    ],
)
def test_how_sure_it_is_depends_on_the_indices_that_weigh_all_clusters(indices, sure, why):
    c = icvi.compare(APART, [KMeans(k, random_state=0) for k in (3, 4, 5)], indices, insight=False)
    assert (c.best, c.sure) == ("KMeans n_clusters=4", sure)
    word = "likely, not clear" if sure == "likely" else sure
    assert f"The choice is {word}{why}; no other has a vote" in str(c)


def test_readings_of_estimators_that_need_all_samples_are_those_of_their_labels():
    given = {
        "kmeans": KMeans(4, random_state=0),
        "ward": AgglomerativeClustering(3),
        "density": DBSCAN(eps=0.8, min_samples=20),
        "pipeline": make_pipeline(StandardScaler(), KMeans(2, random_state=0)),
        "fitted": KMeans(5, random_state=0).fit(X),
    }
    c = icvi.compare(X, given, insight=False)
    for name, clusterer in given.items():
        labels = clusterer.predict(X) if name == "fitted" else clusterer.fit_predict(X)
        noise = -1 if name == "density" else None
        expected = icvi.scores(X, labels, "paper", noise_label=noise)
        for index, value in expected.items():
            np.testing.assert_allclose(c.trackers[name][index], value, rtol=1e-9, err_msg=name)
    noise = c.table["noise"][c.names.index("density")]
    assert noise == pytest.approx((given["density"].labels_ == -1).mean())
    assert noise > 0.0


def test_estimators_that_need_all_samples_see_them_scaled_as_the_stream_is():
    wide = X * [1.0, 1000.0]
    c = icvi.compare(wide, [KMeans(4, random_state=0)], ["CH"], scale="minmax", batch=100)
    low, high = wide[:100].min(axis=0), wide[:100].max(axis=0)
    scaled = (wide - low) / (high - low)
    labels = KMeans(4, random_state=0).fit_predict(scaled)
    assert c.readings[0, 0] == pytest.approx(icvi.score(scaled, labels, "CH"))


def test_a_single_cluster_has_no_vote_and_is_said():
    c = icvi.compare(X, {"one": lambda X: np.zeros(len(X), int)}, ["CH"])
    assert (c.best, c.votes, c.verdict) == (None, {"one": 0}, None)
    assert "has found two clusters" in str(c)


def test_candidates_with_the_same_clusters_are_said_to_read_the_same():
    c = icvi.compare(X, {"a": lambda X: X[:, 0] > 0, "b": lambda X: X[:, 0] > 0}, ["CH", "SIL"])
    assert (c.best, c.votes) == ("a", {"a": 2, "b": 2})
    assert "b reads the same." in str(c)


def test_the_sample_since_which_a_candidate_leads_is_the_last_change():
    """Two labellings of which the second is right from the 301st sample on."""
    line = np.arange(600.0)[:, None] % 7
    line[300:] += 100.0
    given = {"odd": lambda X: X[:, 0] % 7 > 3, "right": lambda X: X[:, 0] >= 100.0}
    c = icvi.compare(line, given, ["CH"], insight=False)
    curves = [c.curves[name].last[:, 0] for name in given]
    behind = np.flatnonzero(~(curves[1] > curves[0]))  # before, the second is undefined
    assert (c.best, c.since) == ("right", behind[-1] + 2)
    assert f"It has led since sample {c.since} of 600" in str(c)


def test_the_table_and_the_plots_have_every_candidate():
    c = icvi.compare(X, "minibatch-kmeans n_clusters=2..4", ["CH", "SIL"], truth=Y)
    assert c.table.names == ["candidate", "n_clusters", "k", "CH", "SIL", "ARI", "AMI", "votes"]
    assert c.table["votes"].tolist() == [*c.votes.values()]
    assert "minibatch-kmeans n_clusters=2" in repr(c.table)
    elbow, stream = c.plot(["CH"]), c.plot(over="stream")
    assert len(elbow.axes) == 2
    assert elbow.axes[0].lines[1].get_xdata().tolist() == [2.0, 3.0, 4.0]
    assert len(stream.axes) == 3
    assert len(stream.axes[0].lines) == 3
    with pytest.raises(KeyError, match="XB"):
        c.plot(["XB"])
    with pytest.raises(ValueError, match="do not differ in one parameter alone"):
        icvi.compare(X, several(), ["CH"]).plot(over="parameter")


def test_a_resumed_comparison_can_be_looked_at_before_it_has_new_samples():
    options = {"checkpoint": "kept", "insight": False}
    first = icvi.compare(X, [smart()], ["CH"], **options)
    again = icvi.compare(X, [smart()], ["CH"], **options)
    assert again.readings.tolist() == first.readings.tolist()
    assert again.seen == len(X)


# -- refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clusterers", "options", "error", "message"),
    [
        ([None], {}, TypeError, "got None among them"),
        ([KMeans], {}, TypeError, "expected a clusterer, got the class KMeans; create one"),
        (["kmeans"], {"truth": Y, "window": 9}, ValueError, "leave out the window"),
        (["kmeans"], {"cluster": 3}, TypeError, "cluster"),
        (["kmeans"], {"bounds": (0, 9)}, ValueError, "are for FuzzyART and FuzzySMART"),
        (["kmeans"], {"bounds": {"x1": (0, 9)}}, ValueError, "are for FuzzyART and FuzzySMART"),
        (["art"], {"bounds": {"z": (0, 9)}}, ValueError, "there are bounds for 'z'"),
        (["kmeans"], {"checkpoint_every": -1}, ValueError, "checkpoint_every"),
        (["kmeans"], {"every": 0}, ValueError, "every"),
        ([MiniBatchKMeans(600)], {}, ValueError, "at least as many samples"),
        ([smart()], {"trace": "t.txt"}, ValueError, "cannot tell the format"),
        ([smart()], {"report": "t.txt"}, ValueError, "ends in .html"),
    ],
)
def test_what_cannot_be_compared_is_refused(clusterers, options, error, message):
    with pytest.raises(error) as refused:
        icvi.compare(X, clusterers, ["CH"], **options)
    assert message in str(refused.value)


def test_an_error_names_its_candidate():
    def broken(X):
        raise KeyError("lost")

    with pytest.raises(RuntimeError, match="broken failed") as refused:
        icvi.compare(X, {"good": sides, "bad": broken}, ["CH"])
    assert refused.value.__notes__ == ["in the candidate bad"]


@pytest.mark.parametrize("source", ["iterator", "source", "follow"])
def test_samples_that_come_once_are_refused_for_estimators_that_need_them_all(source):
    np.savetxt("s.csv", X, delimiter=",", header="x,y", comments="")
    given = {"iterator": iter(X), "source": open_source(X), "follow": "s.csv"}[source]
    with pytest.raises(ValueError, match="KMeans has no partial_fit, so it needs all samples"):
        icvi.compare(given, [KMeans(2)], ["CH"], follow=source == "follow")


def test_an_existing_trace_is_kept():
    with open("t.csv", "w") as file:
        file.write("mine")
    with pytest.raises(FileExistsError):
        icvi.compare(X, [smart()], ["CH"], trace="t.csv")
    with open("t.csv") as file:
        assert file.read() == "mine"


# -- stops ---------------------------------------------------------------------------------


def outputs(ending, **options):
    return {
        "batch": 50,
        "rows": 40,
        "insight": False,
        "truth": Y,
        "trace": f"t.{ending}",
        "checkpoint": "kept",
        "checkpoint_every": 0.0,
        **options,
    }


def mixed():
    return {"smart": smart(), "means": MiniBatchKMeans(3, random_state=0), "ward": ward()}


def ward():
    return AgglomerativeClustering(4)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_comparison_that_was_killed_resumes_with_the_same_bytes(ending, folder, monkeypatch):
    """What is in the folder after a step is what a kill at that moment leaves."""
    copies = []
    (folder / "whole").mkdir()
    monkeypatch.chdir(folder / "whole")
    with comparing(X, mixed(), ["CH"], **outputs(ending)) as run:
        for number, _ in enumerate(run.steps()):
            if number in (0, 4, 7):
                copies.append(folder / f"killed{number}")
                shutil.copytree(folder / "whole", copies[-1])
        expected = run.result()
    assert len(copies) == 3
    whole = (folder / "whole" / f"t.{ending}").read_bytes()
    for copy in copies:
        monkeypatch.chdir(copy)
        found = icvi.compare(X, mixed(), ["CH"], **outputs(ending))
        assert (copy / f"t.{ending}").read_bytes() == whole
        assert found.readings.tolist() == expected.readings.tolist()
        assert found.votes == expected.votes
        for name in found.names:
            np.testing.assert_array_equal(found.curves[name].last, expected.curves[name].last)


def test_a_process_that_is_killed_resumes_with_the_same_bytes():
    np.savetxt("s.csv", X, delimiter=",", header="x,y", comments="")
    code = """
import os, signal, sys
import numpy as np
import icvi

def sides(X):
    if sys.argv[1] == "kill" and (seen := seen_so_far()) >= 200:
        os.kill(os.getpid(), signal.SIGKILL)
    return (X[:, 0] < 0).astype(int)

def seen_so_far():
    try:
        with open("t.csv") as file:
            return sum(1 for _ in file) // 3
    except FileNotFoundError:
        return 0

smart = icvi.FuzzySMART(rho_a=0.9, rho_b=0.7, bounds=(-20, 20))
art = icvi.FuzzyART(rho=0.8, bounds=(-20, 20))
icvi.compare("s.csv", {"smart": smart, "art": art, "sides": sides}, ["CH"], rows=50,
             trace="t.csv", checkpoint="kept", checkpoint_every=0.0)
"""
    command = [sys.executable, "-c", code]
    killed = processes.run([*command, "kill"], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = processes.run([*command, "resume"], capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    bounds = {"bounds": (-20, 20)}
    icvi.compare(
        "s.csv",
        {
            "smart": smart(**bounds),
            "art": icvi.FuzzyART(rho=0.8, **bounds),
            "sides": lambda X: (X[:, 0] < 0).astype(int),
        },
        ["CH"],
        trace="whole.csv",
    )
    with open("t.csv", "rb") as found, open("whole.csv", "rb") as expected:
        assert found.read() == expected.read()


def test_another_comparison_does_not_resume():
    icvi.compare(X, [smart()], ["CH"], checkpoint="kept")
    with pytest.raises(ValueError, match="with other settings: candidates was"):
        icvi.compare(X, [smart(rho_b=0.6)], ["CH"], checkpoint="kept")
    with pytest.raises(ValueError, match="with other settings"):
        icvi.watch(X, smart(), ["CH"], checkpoint="kept").run()


def test_an_interrupt_leaves_complete_files():
    def impatient(X):
        impatient.seen += len(X)
        if impatient.seen > 200:
            raise KeyboardInterrupt
        return (X[:, 0] > 0).astype(int)

    impatient.seen = 0
    given = {"smart": smart(bounds=(-20, 20)), "function": impatient}
    with pytest.raises(KeyboardInterrupt):
        icvi.compare(X, given, ["CH"], rows=50, trace="t.parquet", report="p.html")
    trace = pyarrow.parquet.read_table("t.parquet").to_pandas()
    assert 2 <= len(trace) <= 400
    assert trace["candidate"].tolist() == ["smart", "function"] * (len(trace) // 2)
    with open("p.html", encoding="utf-8") as page:
        assert "stopped before the end of the stream" in page.read()


def test_the_trace_does_not_depend_on_how_samples_come():
    icvi.compare(X, mixed(), ["CH"], batch=50, trace="a.csv", rows=500)
    icvi.compare(X, mixed(), ["CH"], batch=50, trace="b.csv", rows=7)
    with open("a.csv", "rb") as a, open("b.csv", "rb") as b:
        assert a.read() == b.read()


def test_undefined_readings_are_empty_in_the_trace():
    icvi.compare(X, {"one": lambda X: np.zeros(len(X), int)}, ["CH"], trace="t.csv")
    assert math.isnan(pandas.read_csv("t.csv")["CH"].iloc[-1])


def test_a_report_of_such_a_trace_is_refused_by_name():
    from icvi.watching.report.trace_reader import TraceReader

    for ending in ("csv", "ndjson", "parquet"):
        icvi.compare(X, [smart()], ["CH"], trace=f"t.{ending}")
        with pytest.raises(ValueError, match="readings of several candidates"):
            TraceReader(f"t.{ending}")
