"""Files with right checksums that icvi has not written: refused by name, or harmless."""

from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import icvi
import processes
from icvi.kernels import layout as L
from mutating import decoded, encoded, sealed
from saved_objects import KINDS

HERE = Path(__file__).parents[1]


@pytest.fixture
def altered(golden, tmp_path):
    """A saved file of some kind, after a change of its facts and arrays."""

    def alter(name, change):
        described, arrays = decoded((golden / "saved" / f"{name}.icvi").read_bytes())
        lies = change(described["facts"], arrays)
        path = tmp_path / "altered.icvi"
        path.write_bytes(encoded(described["facts"], arrays, lies))
        return path

    return alter


def fact(*path, to):
    """Change one fact, named by the way to it."""

    def change(facts, arrays):
        for key in path[:-1]:
            facts = facts[key]
        if to is KeyError:
            del facts[path[-1]]
        else:
            facts[path[-1]] = to

    return change


def entry(name, *at, to):
    """Change one number of an array."""

    def change(facts, arrays):
        arrays[name][at or ...] = to

    return change


def squares(value):
    """Add sums of squared weights, all with the same value."""

    def change(facts, arrays):
        high = np.full(arrays["partition.columns"].shape[1], value)
        arrays["partition.squares"] = np.stack([high, 0.0 * high])

    return change


def array(name, made):
    """Change a whole array."""

    def change(facts, arrays):
        if made is KeyError:
            del arrays[name]
        else:
            arrays[name] = made(arrays[name])

    return change


def lie(array, /, **said):
    """Say something about an array that is not so."""
    return lambda facts, arrays: {array: said}


#: What is changed in a file of which kind, and what the error says it is about.
DAMAGES = {
    # partitions
    "a count of -5": ("partition", entry("columns", L.N, 1, to=-5.0), "columns"),
    "a weight of -5": ("partition", entry("columns", L.HELD, 1, to=-5.0), "columns"),
    "a total of -5": ("partition", entry("columns", L.HELD, 0, to=-5.0), "columns"),
    "a label twice": ("partition", fact("labels", to=[0, 1, 1, 2]), "labels"),
    "fewer labels than columns": ("partition", fact("labels", to=[0, 1]), "serials"),
    "a label that is nan": ("partition", fact("labels", 0, to={"float": "nan"}), "labels"),
    "a label that is a list": ("partition", fact("labels", 0, to=[1]), "labels"),
    "a label of unknown kind": ("partition", fact("labels", 0, to={"set": [1]}), "labels"),
    "noise as a label": ("partition-scatter", fact("labels", 0, to="noise"), "labels"),
    "the last cluster of five": ("partition", fact("last", to=5), "last"),
    "a serial twice": ("partition", fact("serials", to=[1, 2, 2, 3]), "serials"),
    "a serial of the future": ("partition", fact("next_serial", to=2), "serials"),
    "infinite noise": ("partition-noise", fact("noise", to="inf"), "noise"),
    "a factor of 0": ("partition", fact("factor", to="0x0.0p+0"), "factor"),
    "a factor that is no number": ("partition", fact("factor", to=None), "factor"),
    "no factor": ("partition", fact("factor", to=KeyError), "factor"),
    "many features": ("partition", fact("features", to=10**9), "sums"),
    "no features": ("partition", fact("features", to=0), "features"),
    "-1 features": ("partition", fact("features", to=-1), "features"),
    "true features": ("partition", fact("features", to=True), "features"),
    "room for half of them": ("partition", fact("columns", to=3), "columns"),
    "scatter that is not there": ("partition", fact("scatter", to=True), "scatter"),
    "a centroid at infinity": ("partition", entry("sums", 1, 2, 0, to=np.inf), "sums"),
    "a centroid beyond samples": ("partition", entry("sums", 1, 2, 0, to=1e200), "sums"),
    "a rest that is none": ("partition", entry("sums", 1, 1, 0, to=1e9), "sums"),
    "a variance below 0": ("partition", entry("scatter", 1, 0, 0, to=-1.0), "scatter"),
    "half an owner": ("partition", entry("owners", 1, to=0.5), "owners"),
    "floats as integers": ("partition", array("owners", lambda a: a.astype(np.int64)), "owners"),
    "no array": ("partition", array("owners", KeyError), "owners"),
    # the file itself
    "a longer array": ("partition", array("owners", lambda a: np.tile(a, 2)), "owners"),
    "a shape of 2**64 bytes": ("partition", lie("sums", shape=[2**61, 8]), "sums"),
    "a product of 0": ("partition", lie("sums", shape=[2**62, 0, 2**62]), "sums"),
    "a shape below 0": ("partition", lie("sums", shape=[-1, -40]), "sums"),
    "a shape of text": ("partition", lie("sums", shape=["5"]), "sums"),
    "an array behind the end": ("partition", lie("sums", offset=2**40), "sums"),
    "an array in the head": ("partition", lie("sums", offset=0), "sums"),
    "an array of objects": ("partition", lie("sums", dtype="|O"), "sums"),
    "big-endian numbers": ("partition", lie("sums", dtype=">f8"), "sums"),
    "an array twice": ("partition", lie("sums", name="columns"), "columns"),
    "an array without a name": ("partition", lie("sums", name=None), "array 1"),
    "no kind": ("partition", fact("kind", to=KeyError), "kind"),
    "a kind that is a list": ("partition", fact("kind", to=[]), "kind"),
    # trackers
    "an unknown index": ("tracker", fact("indices", 0, "family", to="HC"), "indices"),
    "an index twice": ("tracker", fact("indices", 0, "name", to="XB"), "options"),
    "an option of no index": ("tracker", fact("indices", 1, "options", to={"q": 1}), "indices"),
    "a list as an option": ("tracker", fact("indices", 1, "options", "p", to=[2]), "indices"),
    "no list of indices": ("tracker", fact("indices", to=None), "indices"),
    "too few readings": ("tracker", array("values", lambda a: a[1:]), "values"),
    "-1 samples": ("tracker", fact("seen", to=-1), "seen"),
    "10**30 samples": ("tracker", fact("seen", to=10**30), "seen"),
    "scatter of another tracker": (
        "tracker-window-time",
        fact("partition", "scatter", to=True),
        "",
    ),
    "weights that fade": ("tracker", fact("partition", "factor", to="0x1p-3"), "partition.factor"),
    "no such treatment": ("tracker", fact("undefined", to="ignore"), "options"),
    "a window of -3": ("tracker-window", fact("window", to=-3), "options"),
    "a window of half a year": ("tracker-window", fact("window", to={"timedelta": 9}), "window"),
    "a window that is too short": ("tracker-window", fact("window", to=7), "window.ticks"),
    "a clock of text": ("tracker-window", fact("clock", to=["40", True]), "clock"),
    "a clock at 2**80": ("tracker-window", fact("clock", 0, to=2**80), "clock"),
    "a clock that is late": ("tracker-window", fact("clock", 0, to=3), "window.ticks"),
    "moments that go back": ("tracker-window", entry("window.ticks", 4, to=2), "window.ticks"),
    "a sample of no cluster": ("tracker-window", entry("window.serials", 4, to=9), "serials"),
    "a winner that is its runner-up": (
        "tracker-conn-window",
        entry("window.winners", 20, to=3),
        "window.winners",
    ),
    "a winner of another cluster": (
        "tracker-conn-window-given",
        array("window.winners", lambda a: a[:, ::-1]),
        "window.winners",
    ),
    "a sample at infinity": ("tracker-window", entry("window.X", 0, 0, to=np.inf), "window.X"),
    "a sample without weight": ("tracker-window", entry("window.weights", 0, to=0.0), "weights"),
    "a sample less": ("tracker-window", array("window.weights", lambda a: a[1:]), "weights"),
    "an origin to come": ("tracker-half-life", fact("origin", to=41), "origin"),
    "an origin long ago": ("tracker-half-life", fact("origin", to=-(10**6)), "origin"),
    "no origin": ("tracker-half-life", fact("origin", to=None), "origin"),
    "squares of no half-life": ("tracker", squares(1.0), "partition.squares"),
    "squares of nothing": ("tracker-half-life", squares(0.0), "partition.squares"),
    "squares beyond all weights": ("tracker-half-life", squares(1e9), "partition.squares"),
    "squares that are no numbers": ("tracker-half-life", squares(np.nan), "partition.squares"),
    "a least weight of 2": ("tracker-half-life", fact("least_weight", to="0x1p+1"), "options"),
    # banks
    "a key twice": ("bank", fact("keys", to=["fan", "fan", "valve", "pump"]), "keys"),
    "a key of numpy's": ("bank", fact("keys", 0, to={"ns": 1}), "keys"),
    "a key more": ("bank", lambda facts, arrays: facts["keys"].append("new"), "ends"),
    "a tracker that is cut": ("bank", entry("ends", 1, to=5), "ends"),
    "a tracker beyond the end": ("bank", entry("ends", -1, to=10**6), "ends"),
    "a tracker with another byte": ("bank", entry("trackers", 2000, to=255), "trackers: key "),
    "a tracker of other options": (
        "bank",
        fact("template", "undefined", to="nan"),
        "trackers: key 'pump': the state is damaged: options",
    ),
    "trackers as numbers": ("bank", array("trackers", lambda a: a.astype("<f8")), "trackers"),
    "no template": ("bank", fact("template", to=None), "template"),
    # prototypes
    "a graph too many": ("tracker-conn", fact("prototypes", "graphs", to=[{}] * 3), "graphs"),
    "a graph of another form": (
        "tracker-conn",
        fact("prototypes", "graphs", 1, "border", to="CONN"),
        "prototypes.graph1",
    ),
    "graphs of different events": (
        "tracker-conn",
        entry("prototypes.graph1.cadj", 0, to=9.0),
        "prototypes.graph1.cadj",
    ),
    "a cluster without prototypes": (
        "tracker-conn",
        fact("partition", "labels", 0, to="new"),
        "prototypes.graph0.labels",
    ),
    "no module": ("tracker-conn", fact("prototypes", "module", to=7), "prototypes.module"),
    "owners of another graph": (
        "tracker-conn",
        fact("prototypes", "module", "labels", to=[3, 2, 1, 0]),
        "prototypes.module.weights",
    ),
    "a quantizer of no kind": (
        "tracker-conn",
        fact("prototypes", "quantization", "rho", to="high"),
        "options",
    ),
    "a prototype of another cluster": (
        "tracker-mixtures",
        fact("prototypes", "mixtures", "labels", 0, to=99),
        "prototypes.mixtures.labels",
    ),
    "an owner that is none": (
        "tracker-mixtures",
        entry("prototypes.mixtures.owners", 1, to=4.0),
        "prototypes.mixtures.owners",
    ),
    # graphs
    "a prototype number of 2**62": ("connectivity", entry("prototype", -1, to=2**62), "prototype"),
    "a runner-up of 2**62": ("connectivity", entry("second", 0, to=2**62), "second"),
    "a prototype of no cluster": ("connectivity", entry("owner", 0, to=99), "owner"),
    "an edge of one direction": ("connectivity", entry("winner", 0, to=3), "winner"),
    "a count below 0": ("connectivity", entry("cadj", 0, to=-1.0), "cadj"),
    "a weight below 0": ("connectivity", entry("n", 0, to=-5.0), "n"),
    "a count that is nan": ("connectivity", entry("cadj", 0, to=np.nan), "cadj"),
    "a rest as large as a count": ("connectivity", entry("cadj_rest", 0, to=1.0), "cadj_rest"),
    "no flag": ("connectivity", array("decayed", lambda a: a[:0]), "decayed"),
    "another convention": ("connectivity", fact("convention", to="mine"), "convention"),
    "an edge less": ("connectivity", array("cadj", lambda a: a[:-1]), "length"),
    # estimators
    "more categories than room": ("fuzzy-art", entry("_module.counters", 0, to=99), "counters"),
    "-5 categories": ("fuzzy-art", entry("_module.counters", 0, to=-5), "counters"),
    "a weight of nan": ("fuzzy-art", entry("_module.weights", 0, 0, 0, to=np.nan), "weights"),
    "a weight of 2": ("fuzzy-art", entry("_module.weights", 0, 0, 0, to=2.0), "weights"),
    "bounds that cross": ("fuzzy-art", entry("_scaling.bounds", 0, 0, to=99.0), "_scaling.bounds"),
    "a feature more": ("fuzzy-art", fact("learnt", "n_features_in_", to=3), "n_features_in_"),
    "a method": ("fuzzy-art", fact("learnt", "predict", to=5), "learnt.predict"),
    "a class": ("fuzzy-art", fact("learnt", "__class__", to=5), "learnt.__class__"),
    "no scaling": ("fuzzy-art", fact("learnt", "_scaling", to=KeyError), "_scaling"),
    "a parameter too many": ("fuzzy-art", fact("parameters", "n_jobs", to=5), "n_jobs"),
    "a parameter of objects": (
        "fuzzy-art",
        fact("parameters", "rho", to={"number": {"dtype": "|O", "shape": [], "numbers": [1]}}),
        "rho",
    ),
    "a parameter of 2**60 numbers": (
        "fuzzy-art",
        fact("parameters", "rho", to={"array": {"dtype": "<f8", "shape": [2**60], "numbers": []}}),
        "rho",
    ),
    "a prototype of cluster 99": ("fuzzy-smart", entry("_prototypes.weights", 0, 5, 0, to=99), ""),
    "clusters that saw nothing": ("fuzzy-smart", array("_seen.values", lambda a: a[:0]), "_seen"),
    "prototypes of no label": (
        "quantizer",
        fact("learnt", "_module", "module_a", to=[]),
        "_module",
    ),
    "a category of no class": ("fuzzy-artmap", entry("_module.weights", 0, 5, 0, to=7), "_module"),
    "texts of 2 GB": (
        "fuzzy-artmap-names",
        fact("learnt", "_targets", "classes", "dtype", to="<U500000000"),
        "_targets.classes",
    ),
    "classes of two types": (
        "fuzzy-artmap-objects",
        fact("learnt", "_targets", "classes", "labels", to=["ash", 1, "fir", "oak"]),
        "_targets.classes",
    ),
    "a dtype with fields": (
        "fuzzy-artmap",
        fact("learnt", "_targets", "classes", "dtype", to="i8,i8"),
        "_targets.classes",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_wrong_is_refused_with_the_names_of_the_file_and_the_part(damage, altered):
    name, change, part = DAMAGES[damage]
    path = altered(name, change)
    with pytest.raises(ValueError, match=r"is damaged: ") as refusal:
        icvi.load(path)
    assert type(refusal.value) is ValueError
    assert str(refusal.value).startswith(f"{path} is damaged: ")
    assert part in str(refusal.value).removeprefix(f"{path} is damaged: ")


def test_a_file_that_is_written_by_the_means_of_these_tests_loads(altered):
    for name in KINDS:
        icvi.load(altered(name, lambda facts, arrays: None))


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"tuple":['])
def test_a_description_of_any_depth_is_refused_without_exhausting_the_stack(opening, tmp_path):
    path = tmp_path / "deep.icvi"
    path.write_bytes(sealed(b'{"arrays":[],"facts":' + opening * 100_000, b""))
    with pytest.raises(ValueError, match=r"deep.icvi is damaged: .* nested more than"):
        icvi.load(path)


@pytest.mark.parametrize(
    "said", [b"", b"[]", b"{}", b"\xff", b'{"facts":NaN,"arrays":[]}', b"1" * 9999]
)
def test_a_description_that_is_none_is_refused(said, tmp_path):
    path = tmp_path / "odd.icvi"
    path.write_bytes(sealed(said, b""))
    with pytest.raises(ValueError, match=r"odd.icvi is damaged: "):
        icvi.load(path)


def test_a_label_that_is_nested_too_deeply_to_be_loaded_is_not_saved(tmp_path):
    label: tuple = ()
    for _ in range(300):
        label = (label,)
    p = icvi.Partition()
    p.add([0.0], label)
    with pytest.raises(ValueError, match="nested more than"):
        p.save(tmp_path / "p.icvi")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("k", [10**4, 10**6, 10**12])
@pytest.mark.parametrize("name", ["tracker", "tracker-window", "partition-scatter"])
def test_memory_is_not_asked_for_clusters_that_are_gone(name, k, altered, golden):
    """A small file cannot say that it once had a million clusters and get room for them."""

    def change(facts, arrays):
        facts.get("partition", facts)["columns"] = L.columns_for(k)

    path = altered(name, change)
    icvi.load(golden / "saved" / f"{name}.icvi")  # what is loaded once only is no memory of its own
    tracemalloc.start()
    try:
        loaded = icvi.load(path)
        seen = KINDS[name].resume(loaded)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**27
    for what, expected in KINDS[name].resume(KINDS[name].make()).items():
        if np.asarray(expected).dtype.kind == "f":
            np.testing.assert_allclose(seen[what], expected, rtol=1e-9, err_msg=what)


def test_a_tracker_that_had_more_clusters_resumes_to_the_bit(tmp_path):
    """Room within reason is made again: sums over pairs depend on it."""
    rng = np.random.default_rng(5)
    X = rng.random((400, 2))
    t = icvi.Tracker(["rCIP", "rH", "NI"])
    t.update_many(X[:300], np.arange(300) % 100)
    t.remove_many(X[:300][np.arange(300) % 100 > 8], np.arange(300)[np.arange(300) % 100 > 8] % 100)
    t.save(tmp_path / "t.icvi")
    twin = icvi.load(tmp_path / "t.icvi")
    traces = [each.update_many(X[300:], np.arange(100) % 9) for each in (t, twin)]
    for name in t.values:
        assert traces[0][name].tobytes() == traces[1][name].tobytes()


# -- thousands of changed files ------------------------------------------------------------

_CASES = 50  # per kind of file
_CHILDREN = 2
_LONGEST = 900  # seconds that a process may take on a busy machine


@pytest.mark.parametrize("child", range(_CHILDREN))
def test_changed_files_are_refused_or_harmless(child, tmp_path):
    """Changes with right checksums, of every kind of file; `fuzz_saved` says what is done."""
    report = tmp_path / "report.txt"
    kinds = sorted(KINDS)[child::_CHILDREN]
    done = processes.run(
        [sys.executable, str(HERE / "fuzz_saved.py"), str(report), "1", str(_CASES), *kinds],
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        cwd=HERE,
    )
    lines = report.read_text().splitlines() if report.exists() else []
    cases = [line for line in lines if not line.startswith("{")]
    told = [json.loads(line) for line in lines if line.startswith("{")]
    last = cases[-1] if cases else "before the first case"
    assert done.returncode == 0, f"ended by {done.returncode} in {last}\n{done.stderr[-3000:]}"
    failures = [f"{entry['case']}\n{entry['error']}" for entry in told if "error" in entry]
    assert not failures, "\n".join(failures[:3])
    assert len(cases) == _CASES * len(kinds)
    # Both happen, or the changes are too large or too small to tell anything.
    assert told[-1]["loaded"] > len(cases) / 20
    assert told[-1]["refused"] > len(cases) / 2
