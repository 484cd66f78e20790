"""`icvi watch`: every source, every clusterer, every option, and every mistake with them."""

from __future__ import annotations

import gzip
import os
import pickle
import re
import sys
from datetime import timedelta
from pathlib import Path

import joblib
import numpy as np
import pytest
from river import cluster as river_cluster
from sklearn.cluster import Birch, KMeans, MiniBatchKMeans

import icvi
import processes
from icvi.cli.main import main
from icvi.streams import Batch
from icvi.watching.labellers import labeller_for
from watch_inputs import assert_same, lines_of, read_trace, samples, watch, write_samples

CH = ["--indices", "CH"]
BOTH = ["--columns", "x", "--columns", "y"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data():
    X, labels = samples()
    write_samples("s.csv", X, labels.tolist())
    return X, labels


def done(*arguments, **options):
    """A watch that goes to the end."""
    result = watch(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments, code=1, **options):
    """What the command says when it refuses."""
    result = watch(*arguments, **options)
    assert result.exit_code == code, result.output
    return result.stderr


# -- sources -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet", "csv.gz", "ndjson.gz"])
@pytest.mark.parametrize("trace", ["t.csv", "t.ndjson", "t.parquet"])
def test_a_file_gives_exactly_the_trackers_readings(ending, trace):
    X, labels = samples()
    write_samples(f"s.{ending}", X, labels.tolist())
    done(f"s.{ending}", "--labels", "c", "--trace", trace)
    assert_same(read_trace(trace), icvi.Tracker("paper").update_many(X, labels))


@pytest.mark.parametrize("format", ["csv", "ndjson"])
def test_standard_input_is_a_source(format):
    X, labels = samples()
    path = write_samples(f"s.{format}", X, labels.tolist())
    arguments = ("-", "--format", format, "--labels", "c", *CH, "--trace", "t.csv")
    result = done(*arguments, "--no-insight", input=path.read_bytes())  # alarms would come first
    assert result.stdout.startswith("standard input: 300 samples in ")
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(X, labels))


def test_the_files_of_a_pattern_are_one_stream_in_the_order_of_their_names():
    X, labels = samples()
    for name, part in (("day-2.csv", slice(100, 300)), ("day-1.csv", slice(0, 100))):
        write_samples(name, X[part], labels[part].tolist())
    done("day-*.csv", "--labels", "c", *CH, "--trace", "t.parquet")
    assert_same(read_trace("t.parquet"), icvi.Tracker(["CH"]).update_many(X, labels))


def test_a_file_whose_name_tells_nothing_needs_its_format(data):
    os.rename("s.csv", "samples.txt")
    assert "--format csv, ndjson or parquet" in refused("samples.txt", "--labels", "c")
    done("samples.txt", "--format", "csv", "--labels", "c", *CH)


# -- options, compared with the library ----------------------------------------------------

TIMES = np.arange(300) * 0.5
STAMPS = np.datetime64("2024-05-01T12:00:00", "ns") + np.arange(300) * np.timedelta64(500, "ms")

OPTIONS = {
    "groups and names": (["--indices", "paper", "--indices", "WB"], ["paper", "WB"], {}, {}),
    "all": (["--indices", "all"], "all", {}, {}),
    "every": ([*CH, "--every", "7"], ["CH"], {}, {"every": 7}),
    "window": ([*CH, "--window", "50"], ["CH"], {"window": 50}, {}),
    "half-life": ([*CH, "--half-life", "40"], ["CH"], {"half_life": 40}, {}),
    "noise": ([*CH, "--noise", "2"], ["CH"], {"noise_label": 2}, {}),
    "noise that is text": ([*CH, "--noise", '"2"'], ["CH"], {"noise_label": "2"}, {}),
    "window of time": (
        [*CH, "--window", "20s", "--time", "t"],
        ["CH"],
        {"window": timedelta(seconds=20)},
        {"time": TIMES},
    ),
    "half-life of time": (
        [*CH, "--half-life", "0.5min", "--time", "d"],
        ["CH"],
        {"half_life": timedelta(seconds=30)},
        {"time": STAMPS},
    ),
    "prototypes": (
        ["--indices", "Conn", "--bounds", "-2", "6"],
        ["Conn"],
        {"bounds": (-2.0, 6.0)},
        {},
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_an_option_does_what_it_does_in_the_library(case):
    arguments, indices, tracker, update = OPTIONS[case]
    X, labels = samples()
    stamps = [str(stamp) for stamp in STAMPS]
    write_samples("s.csv", X, labels.tolist(), t=TIMES.tolist(), d=stamps)
    done("s.csv", "--labels", "c", *BOTH, *arguments, "--trace", "t.csv")
    expected = icvi.Tracker(indices, **tracker).update_many(X, labels, **update)
    found = read_trace("t.csv")
    assert_same(found, expected)
    if "t" in arguments:
        assert [float(time) for time in found["time"]] == TIMES.tolist()
    if "d" in arguments:
        assert np.array_equal(np.array(found["time"], dtype="datetime64[ns]"), STAMPS)


def test_chosen_columns_are_the_features_and_others_are_told(data):
    X, labels = data
    result = done("s.csv", "--labels", "c", "--columns", "y", *CH, "--trace", "t.csv")
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(X[:, 1:], labels))
    assert "using 1 of 3 columns: y; left out: x (not in columns), c (labels)\n" in result.stderr
    assert "using all 3 columns: x, y, c\n" in done("s.csv", "--clusterer", "art", *CH).stderr


# -- who labels ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [[7, 1, -1, 3], ["a", "b", "c d", "é"], [1, "007", "x", 2], ["1.0", "nan", "None", "1e5"]],
)
@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_labels_of_a_column_are_what_they_are(names, ending):
    X, numbers = samples()
    labels = np.empty(len(X), dtype=object)
    labels[:] = [names[number] for number in numbers]
    write_samples(f"s.{ending}", X, labels.tolist())
    done(f"s.{ending}", "--labels", "c", *CH, "--trace", f"t.{ending}")
    assert_same(read_trace(f"t.{ending}"), icvi.Tracker(["CH"]).update_many(X, labels))


def by_chunks(model, X, batch):
    parts = [X[first : first + batch] for first in range(0, len(X), batch)]
    return np.concatenate([model.partial_fit(part).predict(part) for part in parts])


def one_by_one(model, X):
    labels = []
    for row in X.tolist():
        x = dict(zip("xy", row))
        model.learn_one(x)
        labels.append(model.predict_one(x) if any(model.centers.values()) else -1)
    return np.array(labels)


def matched(model, X):
    """Of a clusterer that renumbers its clusters; see `test_matching`."""
    return labeller_for(model, batch=100, columns=("x", "y")).label(Batch(X)).labels


def learnt_by_art(X):
    first = icvi.FuzzyART(rho=0.8).partial_fit(X[:100])
    before = first.labels_
    return np.concatenate([before, first.partial_fit(X[100:]).labels_])


CLUSTERERS = {
    "art": ("art --rho 0.8 --batch 100", learnt_by_art),
    "art between bounds": (
        "art --rho 0.8 --alpha 0.1 --beta 0.5 --bounds -2 6",
        lambda X: (
            icvi.FuzzyART(rho=0.8, alpha=0.1, beta=0.5, bounds=(-2, 6)).partial_fit(X).labels_
        ),
    ),
    "minibatch-kmeans": (
        "minibatch-kmeans --param n_clusters=3 --param random_state=0 --batch 64",
        lambda X: by_chunks(MiniBatchKMeans(3, random_state=0), X, 64),
    ),
    "birch": (
        "birch --param threshold=0.4 --param n_clusters=null --batch 50",
        lambda X: by_chunks(Birch(threshold=0.4, n_clusters=None), X, 50),
    ),
    "a class": (
        "sklearn.cluster.MiniBatchKMeans --param n_clusters=2 --param random_state=1 --batch 300",
        lambda X: by_chunks(MiniBatchKMeans(2, random_state=1), X, 300),
    ),
    "dbstream": (
        "dbstream --param clustering_threshold=1.0",
        lambda X: matched(river_cluster.DBSTREAM(clustering_threshold=1.0), X),
    ),
    "streamkmeans": (
        "streamkmeans --param chunk_size=20 --param n_clusters=3 --param seed=1",
        lambda X: one_by_one(river_cluster.STREAMKMeans(chunk_size=20, n_clusters=3, seed=1), X),
    ),
    "a class of river": (
        "river.cluster.KMeans --param n_clusters=3 --param seed=2",
        lambda X: one_by_one(river_cluster.KMeans(n_clusters=3, seed=2), X),
    ),
}


@pytest.mark.parametrize("case", CLUSTERERS)
def test_a_clusterer_labels_as_it_does_by_itself(case, data):
    typed, label = CLUSTERERS[case]
    X, _ = data
    done("s.csv", *BOTH, *CH, "--clusterer", *typed.split(), "--trace", "t.parquet")
    labels = label(X)
    assert len(set(labels.tolist())) > 1
    noise = -1 if (labels == -1).any() else None
    expected = icvi.Tracker(["CH"], noise_label=noise).update_many(X, labels)
    assert_same(read_trace("t.parquet"), expected)


def test_parameters_may_follow_the_name_of_a_clusterer(data):
    X, _ = data
    done("s.csv", *BOTH, *CH, "--clusterer", "birch threshold=0.3 n_clusters=3", "--trace", "t.csv")
    options = [*BOTH, *CH, "--param", "threshold=0.3", "--param", "n_clusters=3"]
    done("s.csv", *options, "--clusterer", "birch", "--trace", "u.csv")
    assert Path("t.csv").read_bytes() == Path("u.csv").read_bytes()
    by_db = icvi.MicroWard("DB").fit(X)
    result = done("s.csv", *BOTH, *CH, "--clusterer", "auto by=DB", "--save-model", "m.icvi")
    assert icvi.load("m.icvi").by == "DB"
    assert f"{by_db.n_clusters_} clusters" in result.stdout
    done("s.csv", *BOTH, *CH, "--clusterer", "art rho=0.6", "--bounds", "-2", "6")


ONE_CLUSTERER = {
    "kmeans n_clusters=2..12": (1, "stands for 11 clusterers, and a watch has one; ranges are for"),
    "kmeans n_clusters=2..": (1, "expected a range such as 2..12"),
    "n_clusters=5": (1, "expected a clusterer, such as"),
    "birch treshold=1": (1, "did you mean 'threshold'?"),
    "art rho=0.5|--rho=0.7": (2, "rho is given twice: in --clusterer and by --rho"),
    "art bounds=[0,1]|--bounds=0:2": (2, "bounds is given twice: in --clusterer and by --bounds"),
    "birch threshold=1|--param=threshold=2": (2, "in --clusterer and by --param"),
    "birch threshold=1|--bounds=0:2": (2, "--bounds is for --clusterer art or smart"),
    "birch threshold=1|--seed=2": (2, "--seed: Birch takes no random seed"),
}


@pytest.mark.parametrize("typed", ONE_CLUSTERER)
def test_a_text_that_is_not_one_clusterer_is_refused(typed, data):
    text, *others = typed.split("|")
    code, message = ONE_CLUSTERER[typed]
    said = refused("s.csv", *BOTH, *CH, "--clusterer", text, *others, code=code)
    assert message in " ".join(said.split())


def test_smart_gives_labels_and_prototypes(data):
    X, _ = data
    typed = ["--rho-a", "0.9", "--rho-b", "0.7", "--bounds", "-2", "6"]
    indices = ["--indices", "SIL", "--indices", "Conn"]
    done("s.csv", *BOTH, "--clusterer", "smart", *typed, *indices, "--trace", "t.csv")
    model = icvi.FuzzySMART(rho_a=0.9, rho_b=0.7, bounds=(-2, 6)).partial_fit(X)
    tracker = icvi.Tracker(["SIL", "Conn"])
    assert_same(read_trace("t.csv"), tracker.update_many(X, model.labels_, winners=model.winners_))


def test_a_class_of_ones_own_labels(data, tmp_path, monkeypatch):
    X, _ = data
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "mine_to_watch.py").write_text(
        "class Signs:\n"
        "    def __init__(self, cut=0.0):\n"
        "        self.cut = cut\n"
        "    def predict(self, X):\n"
        "        return ['above' if x > self.cut else 'below' for x in X[:, 0]]\n"
        "class Broken(Signs):\n"
        "    def predict(self, X):\n"
        "        return {}['nothing']\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "lib")
    own = ("--clusterer", "mine_to_watch.Signs", "--param", "cut=1.5")
    done("s.csv", *BOTH, *CH, *own, "--trace", "t.csv")
    labels = np.where(X[:, 0] > 1.5, "above", "below").astype(object)
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(X, labels))
    message = refused("s.csv", *BOTH, *CH, "--clusterer", "mine_to_watch.Broken")
    assert "Broken failed at samples 1 to 1 of the stream: KeyError('nothing')" in message


def unpickled(name):
    with open(name, "rb") as file:
        return pickle.load(file)


@pytest.mark.parametrize(
    ("name", "clusterer"),
    [
        ("m.icvi", "art --rho 0.8"),
        ("m.pkl", "minibatch-kmeans --param n_clusters=3 --param random_state=0"),
        ("m.joblib", "birch --param threshold=0.4"),
    ],
)
def test_a_saved_model_goes_on_or_only_predicts(data, name, clusterer):
    X, _ = data
    write_samples("first.csv", X[:150], [0] * 150)
    write_samples("second.csv", X[150:], [0] * 150)
    result = done("first.csv", *BOTH, *CH, "--clusterer", *clusterer.split(), "--save-model", name)
    assert f"model: {name}\n" in result.stderr

    def saved():
        if name.endswith(".icvi"):
            return icvi.load(name)
        return joblib.load(name) if name.endswith("joblib") else unpickled(name)

    done("second.csv", *BOTH, *CH, "--clusterer", name, "--no-learn", "--trace", "t.csv")
    labels = saved().predict(X[150:])
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(X[150:], labels))
    assert refused("second.csv", *CH, "--clusterer", name, "--save-model", name).startswith(
        f"Error: {name}: the model file exists: choose another, or --overwrite"
    )
    before = os.stat(name).st_ino
    done("second.csv", *BOTH, *CH, "--clusterer", name, "--save-model", name, "--overwrite")
    assert os.stat(name).st_ino != before


def test_a_model_that_was_fitted_elsewhere_labels(data, folder):
    X, _ = data
    model = KMeans(3, random_state=0, n_init=1).fit(X)
    (folder / "kmeans.pkl").write_bytes(pickle.dumps(model))
    done("s.csv", *BOTH, *CH, "--clusterer", "kmeans.pkl", "--trace", "t.csv")
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(X, model.predict(X)))
    message = refused("s.csv", "--columns", "x", *CH, "--clusterer", "kmeans.pkl")
    assert "1 features" in message


# -- rows that cannot be used --------------------------------------------------------------

HEADER, GOOD = "x,y,c\n", "1,2,a\n3,4,b\n5,7,a\n"

BAD = {
    "too few fields": ("1,2\n", "line 5: expected 3 fields like the header, got 2"),
    "too many fields": ("1,2,a,4\n", "line 5: expected 3 fields like the header, got 4"),
    "text": ("oops,2,a\n", "line 5, column 'x': expected a number, got 'oops'"),
    "nan": ("1,nan,a\n", "line 5, column 'y': expected a finite number, got 'nan'"),
    "infinity": ("-inf,2,a\n", "line 5, column 'x': expected a finite number, got '-inf'"),
    "too large": ("1e200,2,a\n", "line 5, column 'x': expected a number up to 1e+140"),
    "nothing": (",2,a\n", "line 5, column 'x': expected a number, got nothing"),
    "no label": ("1,2,\n", "line 5, column 'c': expected a label, got nothing"),
    "junk": (b"\xff\xfe\x00\x01,2,a\n", "line 5, column 'x'"),
    "no UTF-8": (b"1,2,\xe9\n", "line 5, column 'c'"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("trace", ["t.csv", "t.parquet"])
def test_a_row_that_cannot_be_used_is_named_and_can_be_left_out(case, trace, folder):
    row, message = BAD[case]
    row = row if isinstance(row, bytes) else row.encode()
    (folder / "bad.csv").write_bytes((HEADER + GOOD).encode() + row + GOOD.encode())
    arguments = ("bad.csv", "--labels", "c", *CH, "--trace", trace)
    result = watch(*arguments)
    assert result.exit_code == 1
    assert f"Error: bad.csv, {message}" in result.stderr
    assert "--bad-rows skip leaves such rows out" in result.stderr
    assert result.stdout == ""
    assert read_trace(trace)["sample"] == []
    # A trace without readings may be replaced.
    result = done(*arguments, "--bad-rows", "skip")
    assert f"1 row was skipped:\n  bad.csv, {message}" in result.stderr
    assert "1 row skipped\n" in result.stdout
    assert len(read_trace(trace)["sample"]) == 6


NDJSON = {
    "half an object": ('{"x": 1, "c"\n', "line 3: the line ends in the middle of an object"),
    "text": ('{"x": "abc", "c": 1}\n', "line 3, column 'x': expected a number, got text ('abc')"),
    "null": ('{"x": null, "c": 1}\n', "line 3, column 'x': expected a number, got null"),
    "nan": ('{"x": NaN, "c": 1}\n', "line 3: not valid JSON"),
    "a list": ("[1, 2]\n", "line 3: expected an object"),
    "no label": ('{"x": 1}\n', "line 3, column 'c': the key is missing"),
    "junk": ("\xff\n", "line 3: byte 0xff is not UTF-8"),
}


@pytest.mark.parametrize("case", NDJSON)
def test_an_object_that_cannot_be_used_is_named_and_can_be_left_out(case, folder):
    line, message = NDJSON[case]
    good = '{"x": 1, "c": 0}\n{"x": 2, "c": 1}\n'
    (folder / "bad.ndjson").write_bytes((good + line + good).encode("latin-1"))
    assert f"bad.ndjson, {message}" in refused("bad.ndjson", "--labels", "c", *CH)
    result = done("bad.ndjson", "--labels", "c", *CH, "--bad-rows", "skip", "--quiet")
    assert f"1 row was skipped:\n  bad.ndjson, {message}" in result.stderr


def test_what_was_read_before_a_bad_row_is_in_the_trace_and_can_be_gone_on_from(folder):
    X, labels = samples(10_000)
    write_samples("s.csv", X, labels.tolist())
    with open("s.csv", "a") as file:
        file.write("1,oops,2\n4,5,2\n")
    arguments = ("s.csv", "--labels", "c", *CH, "--checkpoint", "kept", "--trace", "t.csv")
    message = refused(*arguments)
    assert "s.csv, line 10002, column 'y': expected a number, got 'oops'" in message
    assert "stopped after sample 8,192; t.csv holds 8,192 readings\nto resume: icvi " in message
    assert lines_of("t.csv") == 1 + 8192
    result = done(*arguments, "--bad-rows", "skip")
    assert "10,001 samples, 1,809 of them in" in result.stdout
    X, labels = np.vstack([X, [4.0, 5.0]]), np.append(labels, 2)
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(X, labels))


def test_many_rows_left_out_are_counted_and_some_are_explained(folder):
    (folder / "bad.csv").write_text(HEADER + "x,1,a\n" * 1200 + GOOD)
    result = done("bad.csv", "--labels", "c", *BOTH, *CH, "--bad-rows", "skip", "--quiet")
    lines = result.stderr.splitlines()
    assert lines[0] == "1,200 rows were skipped:"
    assert lines[1] == "  bad.csv, line 2, column 'x': expected a number, got 'x'"
    assert lines[6] == "  and 1,195 more"
    assert result.stdout == ""


# -- sources that cannot be read -----------------------------------------------------------


def damaged(folder):
    """Names of sources, and what is said about them."""
    X, labels = samples(3000)
    whole = write_samples("whole.parquet", X, labels.tolist()).read_bytes()
    zipped = gzip.compress(write_samples("whole.csv", X, labels.tolist()).read_bytes())
    for name, content, message in (
        ("empty.csv", b"", "empty.csv is empty; expected a header"),
        ("numbers.csv", b"1.5,y\na,5\n", "numbers.csv, line 1: expected a header"),
        ("twice.csv", b"x,x,c\n1,2,a\n", "twice.csv, line 1: column 'x' appears twice"),
        ("other.csv", b"a,b,d\n1,2,3\n", "other.csv has no column 'c'; it has 'a', 'b', 'd'"),
        ("marks.csv", b"x;y;c\n1,234;2;a\n", "marks.csv: cannot tell whether '1,234' has a dec"),
        ("open.csv", (HEADER + GOOD + '1,2,"a\n4,5,b\n').encode(), "line 5: a quote was opened"),
        ("utf16.csv", "x,c\n1,a\n".encode("utf-16"), "this is UTF-16"),
        ("words.csv", b"x,y,c\na,b,c\n", "no column holds numbers"),
        ("cut.parquet", whole[:-1000], "cut.parquet is not a Parquet file, or a damaged one"),
        ("empty.parquet", b"", "empty.parquet is not a Parquet file"),
        ("cut.csv.gz", zipped[:-1000], "cut.csv.gz is damaged or incomplete"),
        ("no.csv.gz", (HEADER + GOOD).encode(), "no.csv.gz is damaged or incomplete: Not a gzip"),
    ):
        (folder / name).write_bytes(content)
        yield name, message
    (folder / "folder.csv").mkdir()
    yield "folder.csv", "folder.csv is a folder; give its files"
    yield ".", ". is a folder; give its files"
    yield "nowhere.csv", "nowhere.csv: No such file or directory"
    yield "nowhere-*.csv", "no file matches 'nowhere-*.csv'"


def test_a_source_that_cannot_be_read_is_named(folder):
    for name, message in damaged(folder):
        for trace in ("t.csv", "t.parquet"):
            told = refused(name, "--labels", "c", *CH, "--trace", trace, "--overwrite")
            assert "Error: " in told
            assert message in told
            assert "Errno" not in told
            if os.path.exists(trace):
                assert len(read_trace(trace)["sample"]) == (3 if name == "open.csv" else 0)


def test_times_that_go_back_are_found_in_the_stream(folder):
    rows = "".join(f"{i},{i},{i % 2}\n" for i in range(9000))
    (folder / "s.csv").write_text("x,t,c\n" + rows + "1,7,0\n")
    message = refused("s.csv", "--labels", "c", *CH, "--time", "t", "--window", "1min")
    assert "expected times that do not decrease, got 7.0 after a later one (sample 808)" in message
    assert "row 0 of this batch is sample 8,193" in message
    assert "stopped after sample 8,192" in message


def test_names_from_files_move_no_cursor(folder):
    name = "bell\x07\x1b[31m.csv"
    (folder / name).write_text("x,\x1b[2Jy,c\n1,2,\x1b[5ma\n3,4,b\n5,7,b\n")
    result = done(name, "--labels", "c", *CH)
    assert "bell??[31m.csv: 3 samples" in result.stdout
    assert "using 2 of 3 columns: x, ?[2Jy; left out: c (labels)" in result.stderr
    (folder / name).write_text("x,c\n\x1b[2J,1\n")
    refused(name, "--labels", "c", "--columns", "x")


def test_a_file_without_rows_is_a_stream_without_samples(folder):
    (folder / "s.csv").write_text(HEADER)
    for trace in ("t.csv", "t.parquet"):
        result = done("s.csv", "--labels", "c", *CH, "--trace", trace)
        assert "s.csv: 0 samples" in result.stdout
        assert list(read_trace(trace)) == ["sample", "label", "k", "CH"]


# -- mistakes in the command ---------------------------------------------------------------

USAGE = {
    "s.csv": "give either --labels COL or --clusterer NAME",
    "s.csv --labels c --clusterer art": "give either --labels COL or --clusterer NAME",
    "": "Missing argument 'SOURCE'",
    "s.csv --labels c --nonsense": "No such option",
    "s.csv --labels c --bad-rows maybe": "'maybe' is not one of 'error', 'skip'",
    "s.csv --labels c --every 0": "must be greater than zero",
    "s.csv --labels c --wait 1": "--wait is for kafka://broker:9092/topic",
    "s.csv --labels c --batch x": "'x' is not a valid integer",
    "s.csv --labels c --rho 0.5": "--rho needs a --clusterer",
    "s.csv --labels c --rho-a 0.5": "--rho-a needs a --clusterer",
    "s.csv --labels c --param a=1": "--param needs a --clusterer",
    "s.csv --labels c --save-model m.pkl": "--save-model needs a --clusterer",
    "s.csv --labels c --no-learn": "--no-learn needs a --clusterer",
    "s.csv --clusterer birch --param threshold": "expected NAME=VALUE, such as n_clusters=5",
    "s.csv --clusterer birch --bounds 0 1": "--bounds is for --clusterer art or smart",
    "s.csv --clusterer birch --bounds x=0:1": "--bounds NAME=LOW:HIGH is for --clusterer art",
    "s.csv --clusterer art --bounds 0": "expected LOW HIGH, such as 0 100, or NAME=LOW:HIGH",
    "s.csv --clusterer art --bounds x=0": "or NAME=LOW:HIGH, such as temp=0:40, got 'x=0'",
    "s.csv --clusterer art --bounds 5 1": "expected the lower bound first, got '5:1'",
    "s.csv --clusterer art --bounds 0 1 --bounds x=0:1": "--bounds LOW HIGH for all features, or",
    "s.csv --clusterer art --bounds x=0:1 --bounds x=0:2": "--bounds is given twice",
    "s.csv --clusterer art --bounds 0 1 --scale robust": "give either --bounds or --scale",
    "s.csv --labels c --scale nothing": "'nothing' is not one of 'none', 'standard'",
    "s.csv --labels c --scale none --scale-from s.csv": "--scale-from needs --scale standard",
    "s.csv --labels c --sep ab": "expected ',', ';', '|', 'tab' or 'space', got 'ab'",
    "s.csv --labels c --decimal x": "expected '.' or ',', got 'x'",
    "s.csv --labels c --columns x,,y": "expected names of columns, such as a,b,c, got 'x,,y'",
    "s.csv --labels c --report p.pdf": "a file that ends with .html, got p.pdf",
    "s.csv --labels c --seed 1": "--seed needs a --clusterer",
    "s.csv --clusterer birch --seed 1": "--seed: Birch takes no random seed",
    "s.csv --labels c --window x": "expected a number of samples, or a time such as 90s",
    "s.csv --labels c --window 0": "must be greater than zero",
    "s.csv --labels c --window 5s": "--window is a time: it needs --time COL",
    "s.csv --labels c --half-life 5s": "--half-life is a time: it needs --time COL",
    "s.csv --labels c --window 5 --half-life 5": "give either --window or --half-life",
    "s.csv --labels c --report-every 10min": "--report-every needs a --report",
    "s.csv --labels c --report p.html --report-every 10": "--report-every is a time, such as 30s",
    "s.csv --labels c --group g": "--group is for redis://",
    "- --labels c": "standard input needs --format csv or --format ndjson",
    "- --labels c --format parquet": "standard input needs --format csv or --format ndjson",
    "s.csv --labels c --trace -": "--trace - needs --trace-format csv or --trace-format ndjson",
    "s.csv --labels c --trace - --trace-format csv --checkpoint k": "a --trace that is a file",
}


@pytest.mark.parametrize("typed", USAGE)
def test_options_that_make_no_sense_end_with_2(typed, data, folder):
    message = refused(*typed.split(), code=2)
    assert USAGE[typed] in message
    assert re.search(r"'icvi watch (-h|--help)' for help", message)
    assert sorted(os.listdir()) == ["s.csv"]


NAMES = {
    "--labels c --indices CHH": "unknown index 'CHH', did you mean 'CH'?",
    "--labels c --indices silh": "did you mean 'SIL'?",
    "--labels d": "s.csv has no column 'd'; it has 'x', 'y', 'c'",
    "--labels c --columns z": "s.csv has no column 'z'",
    "--labels c --columns c": "column 'c' cannot be both a feature and the label",
    "--labels c --trace t.txt": "by its ending: expected one of .csv, .ndjson, .jsonl, .parquet",
    "--labels c --trace nowhere/t.csv": "nowhere: there is no such folder; create it first",
    "--labels c --follow --format parquet": "leave out --follow",
    "--labels c --checkpoint s.csv": "s.csv: the checkpoint must be a directory, got a file",
    "--clusterer minibatch-kmean": "did you mean 'minibatch-kmeans'?",
    "--clusterer sklearn.cluster.MiniBatchKMean": "did you mean 'MiniBatchKMeans'?",
    "--clusterer nowhere.Class": "there is no module 'nowhere'",
    "--clusterer ../birch": "../birch is not a model file",
    "--clusterer .birch": "unknown clusterer '.birch', did you mean 'birch'?",
    "--clusterer birch --param treshold=1": "did you mean 'threshold'?",
    "--clusterer birch --rho 0.5": "Birch has no parameter 'rho'",
    "--clusterer art --rho 1.5": "expected rho to be a number from 0 to 1, got 1.5",
    "--clusterer nowhere.icvi": "nowhere.icvi: No such file or directory",
    "--clusterer s.pkl": "s.pkl: No such file or directory",
    "--clusterer sklearn.cluster.DBSCAN": "DBSCAN has no predict",
    "--clusterer sklearn.cluster.KMeans": "KMeans has no partial_fit",
    "--clusterer minibatch-kmeans --no-learn": "let it learn (no --no-learn)",
    "--clusterer minibatch-kmeans --param n_clusters=500": "raise --batch",
    "--clusterer art --save-model m.txt": "with the suffix .icvi, .pkl, .pickle, .joblib",
    "--clusterer birch --save-model m.icvi": "save a Birch as .pkl or .joblib",
    "--clusterer art --save-model nowhere/m.icvi": "nowhere for the model does not exist",
}


@pytest.mark.parametrize("typed", NAMES)
def test_what_is_not_there_is_named_with_what_is(typed, data):
    message = refused("s.csv", *typed.split())
    assert re.search("^Error: ", message, re.MULTILINE)
    assert NAMES[typed] in message
    assert "Errno" not in message


def test_files_that_are_there_are_not_written_over(data, folder):
    arguments = ("s.csv", "--labels", "c", *CH, "--trace")
    for name in ("t.csv", "t.ndjson", "t.parquet"):
        (folder / name).write_text("precious\n")
        message = refused(*arguments, name)
        assert message == (
            f"Error: {name}: the trace file exists: choose another, or --overwrite replaces it\n"
        )
        assert (folder / name).read_text() == "precious\n"
        done(*arguments, name, "--overwrite")
        assert len(read_trace(name)["sample"]) == 300
        assert "exists" in refused(*arguments, name)


@pytest.mark.parametrize("trace", ["t.csv", "t.ndjson", "t.parquet"])
def test_a_trace_that_another_watch_is_writing_is_left_alone(data, trace):
    X, labels = data
    with icvi.watch("s.csv", label="c", indices=["CH"], trace=trace) as first:
        first.begin()
        for more in ((), ("--overwrite",)):
            message = refused("s.csv", "--labels", "c", *CH, "--trace", trace, *more)
            assert "exists" in message or "another process is writing this file" in message
        first.run()
    assert_same(read_trace(trace), icvi.Tracker(["CH"]).update_many(X, labels))


def test_the_source_is_never_written_over(data, folder):
    before = (folder / "s.csv").read_bytes()
    os.link("s.csv", "link.csv")
    for name in ("s.csv", "link.csv", "./s.csv"):
        message = refused("s.csv", "--labels", "c", *CH, "--trace", name, "--overwrite")
        assert "s.csv is the source; write to another file" in message
    assert "csv is the source; write to another" in refused(
        "*.csv", "--labels", "c", "--trace", "s.csv"
    )
    assert (folder / "s.csv").read_bytes() == before


# -- checkpoints ---------------------------------------------------------------------------

KEPT = ("s.csv", "--labels", "c", *CH, "--trace", "t.csv", "--checkpoint", "kept")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("--labels c --indices SIL", "indices was CH and is SIL"),
        ("--labels c --indices CH --every 2", "every was 1 and is 2"),
        ("--labels c --indices CH --window 5", "window was not set and is 5"),
        ("--labels c --indices CH --noise 2", "noise_label was not set and is 2"),
        ("--labels c --indices CH --columns x", "columns was not set and is x"),
        ("--clusterer art --indices CH", "clusterer was not set and is icvi.art.fuzzy_art.Fuzz"),
    ],
)
def test_a_checkpoint_of_another_watch_is_left_alone(data, folder, typed, message):
    done(*KEPT)
    before = (folder / "kept/watch.icvi").read_bytes(), (folder / "t.csv").read_bytes()
    other = ("s.csv", *typed.split(), "--trace", "t.csv", "--checkpoint", "kept")
    told = refused(*other)
    assert f"kept is the checkpoint of a watch with other settings: {message}" in told
    assert "give another directory, or --overwrite to start from scratch" in told
    assert before == ((folder / "kept/watch.icvi").read_bytes(), (folder / "t.csv").read_bytes())
    done(*other, "--overwrite")


def test_other_parameters_are_another_clusterer(data):
    typed = ("s.csv", "--clusterer", "birch", *CH, "--checkpoint", "kept", "--param")
    done(*typed, "threshold=0.5")
    message = refused(*typed, "threshold=0.4")
    assert "Birch(threshold=0.4)" in message
    done(*typed, "threshold=0.5")


def shorten(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))


def alter(path):
    content = path.read_bytes()
    path.write_bytes(content[:-9] + b"#" * 8 + content[-1:])


def rewrite(path):
    path.write_bytes(b"x,y,c\n" + b"7,8,9\n" * 5000)


LOST = [
    ("kept/watch.icvi", shorten, "kept/watch.icvi is truncated"),
    ("kept/watch.icvi", alter, "kept/watch.icvi is damaged: its content is not what was written"),
    ("kept/watch.icvi", lambda path: path.write_bytes(b""), "kept/watch.icvi is empty"),
    ("t.csv", shorten, "t.csv is shorter than it was"),
    ("t.csv", alter, "t.csv is not the file it was: its content was changed"),
    ("t.csv", os.unlink, "t.csv: the file to resume is missing"),
    ("s.csv", shorten, "s.csv: this position is of another stream: the file has"),
    ("s.csv", rewrite, "s.csv: this position is of another stream: it begins with other bytes"),
    ("s.csv", lambda path: path.rename("s2.csv"), "s.csv: No such file or directory"),
]


@pytest.mark.parametrize(("name", "damage", "message"), LOST)
def test_what_was_changed_between_two_runs_is_named(data, folder, name, damage, message):
    done(*KEPT)
    damage(folder / name)
    left = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    told = refused(*KEPT)
    assert message in told
    assert "to resume:" not in told
    assert {path: path.read_bytes() for path in left} == left
    if (folder / "s.csv").exists():
        assert "--overwrite" in told
        done(*KEPT, "--overwrite")


def test_a_stream_under_another_name_is_another_stream(data):
    done(*KEPT)
    os.link("s.csv", "other.csv")
    assert "file 1 was s.csv and is other.csv" in refused("other.csv", *KEPT[1:])


def test_a_parquet_trace_that_was_deleted_is_written_again(data):
    typed = ("s.csv", "--labels", "c", *CH, "--trace", "t.parquet", "--checkpoint", "kept")
    done(*typed)
    os.unlink("t.parquet")
    done(*typed)
    X, labels = data
    assert_same(read_trace("t.parquet"), icvi.Tracker(["CH"]).update_many(X, labels))


def test_a_folder_in_use_is_refused(data):
    with icvi.watch("s.csv", label="c", indices=["CH"], checkpoint="kept"):
        assert "kept is in use by another process; wait until it ends" in refused(*KEPT)
    done(*KEPT)


# -- what is shown -------------------------------------------------------------------------


def test_the_table_is_on_standard_output_and_the_rest_on_standard_error(data):
    X, labels = data
    tracker = icvi.Tracker("paper")
    tracker.update_many(X, labels)
    result = done("s.csv", "--labels", "c", "--trace", "t.csv")
    lines = result.stdout.splitlines()
    ends = [re.fullmatch(r"s\.csv: 300 samples in .* per second\), 4 clusters", x) for x in lines]
    assert sum(map(bool, ends)) == 1
    (heading,) = [y for y, line in enumerate(lines) if line.startswith("index ")]
    assert lines[heading].split()[:3] == ["index", "value", "better"]
    shown = {line.split()[0]: float(line.split()[1]) for line in lines[heading + 1 :]}
    assert shown == pytest.approx(tracker.values, rel=1e-5)
    assert result.stderr == (
        "using 2 of 3 columns: x, y; left out: c (labels)\ntrace: t.csv\nalarms: t.alarms.ndjson\n"
    )


def test_quiet_is_quiet(data):
    result = done("s.csv", "--labels", "c", *CH, "--trace", "t.csv", "--quiet")
    assert result.output == ""


@pytest.mark.parametrize("format", ["csv", "ndjson"])
def test_the_trace_on_standard_output_is_nothing_but_the_trace(data, format, folder):
    X, labels = data
    result = done("s.csv", "--labels", "c", *CH, "--trace", "-", "--trace-format", format)
    (folder / f"t.{format}").write_bytes(result.stdout_bytes)
    assert_same(read_trace(f"t.{format}"), icvi.Tracker(["CH"]).update_many(X, labels))
    assert "index" in result.stderr


def test_warnings_name_options_of_the_command_line(data):
    result = done("s.csv", "--clusterer", "art", "--batch", "50", *CH)
    assert "samples lay outside the bounds of the first 50 and were clipped" in result.stderr
    assert "give --bounds LOW HIGH, or take them from more samples (--batch)" in result.stderr
    typed = ["--param", "clustering_threshold=0.5", "--param", "cleanup_interval=2"]
    typed += ["--param", "fading_factor=0.1", "--param", "minimum_weight=1.2"]
    result = done("s.csv", "--clusterer", "dbstream", *typed, *BOTH, *CH)
    assert "DBSTREAM renumbered its clusters " in result.stderr


def test_help_has_every_option_under_a_heading_and_the_exit_codes():
    shown = done("--help").stdout
    assert all(len(line) <= 80 for line in shown.splitlines())
    options = re.findall(r"^  (?:-h, )?(--[a-z-]+)", shown, re.MULTILINE)
    known = [each.opts[-1] for each in main.commands["watch"].params if each.name != "source"]
    assert sorted(options) == sorted([*known, "--help"])
    headings = re.findall(r"^([A-Z].*):$", shown, re.MULTILINE)
    assert headings[0] == "Source"
    assert headings[-1] == "Help"
    text = " ".join(shown.split())
    for code in ("0 the stream ended", "1 the input or a file is invalid", "2 invalid options"):
        assert code in text
    assert "3 the stream ended and there were alarms (--fail-on-alert)" in text
    assert "130 stopped by Ctrl-C" in text


# -- completion ----------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    result = processes.run(
        [sys.executable, "-m", "icvi", "completion", shell], capture_output=True, text=True
    )
    assert result.returncode == 0
    assert f"_ICVI_COMPLETE={shell}_complete" in result.stdout


COMPLETED = {
    "icvi comp": {"compare", "completion"},
    "icvi watch --clu": {"--clusterer"},
    "icvi watch --rho": {"--rho", "--rho-a", "--rho-b"},
    "icvi watch s.csv --clusterer mini": {"minibatch-kmeans"},
    "icvi watch s.csv --clusterer km": {"kmeans"},
    "icvi watch s.csv --indices S": {"SIL"},
    "icvi watch s.csv --indices CH,si": {"CH,SIL"},
    "icvi watch s.csv --scale m": {"minmax"},
    "icvi watch s.csv --indices p": {"paper"},
    "icvi watch s.csv --bad-rows s": {"skip"},
}


def test_a_bash_completes_commands_options_and_names(folder):
    (folder / "icvi").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m icvi "$@"\n')
    (folder / "icvi").chmod(0o755)
    script = [f'PATH="{folder}:$PATH"', 'eval "$(icvi completion bash)"']
    for line in COMPLETED:
        words = line.split()
        script += [
            f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMPREPLY=()",
            "_icvi_completion icvi",
            'printf "%s " "${COMPREPLY[@]}"; echo',
        ]
    result = processes.run(
        ["bash", "--norc"], input="\n".join(script), capture_output=True, text=True
    )
    found = [set(line.split()) for line in result.stdout.splitlines()]
    assert found == [*COMPLETED.values()], result.stderr
