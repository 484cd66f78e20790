"""Checkpoints and pickled estimators that the version before has written are resumed.

They were written before icvi's modules moved into folders, and pickles name modules.
"""

from __future__ import annotations

import pickle
import shutil

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from checkpoints_before import PICKLED, SEEN, WATCHED, unpack, watch
from icvi.saving import container
from icvi.watching.labellers import river_labels
from saved_objects import KINDS

#: The packages whose classes are pickled in checkpoints, in the versions that wrote them. Another
#: version may not read them, as their authors say.
WRITTEN_WITH = {"sklearn": "1.9", "river": "0.26"}


def needs(package):
    """Skip where a pickle of another package's class is of another version."""
    if package is not None:
        version = pytest.importorskip(package).__version__
        if version.rpartition(".")[0] != WRITTEN_WITH[package]:
            pytest.skip(f"the pickle is of {package} {WRITTEN_WITH[package]}, here is {version}")


def table(path):
    read = pyarrow.parquet if path.suffix == ".parquet" else pyarrow.csv
    reader = getattr(read, "read_table", None) or read.read_csv
    return reader(path).to_pydict()


def assert_same(ours, theirs):
    assert list(ours) == list(theirs)
    for name, column in theirs.items():
        if np.asarray(column[-1]).dtype.kind == "f":
            # Files come from another machine, whose compiled sums may round differently.
            both = (np.array(each, dtype=float) for each in (ours[name], column))
            np.testing.assert_allclose(*both, rtol=1e-9, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(ours[name], column, err_msg=name)


@pytest.mark.parametrize("name", WATCHED)
def test_a_watch_resumes_from_a_checkpoint_written_before(name, golden, tmp_path, monkeypatch):
    needs(WATCHED[name].package)
    traces = []
    for folder, resumed in (("resumed", SEEN), ("whole", 0)):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        if resumed:
            unpack(name, golden)
        else:
            # A watch that was begun before clusters were matched resumes without that.
            monkeypatch.setattr(river_labels, "_RENUMBERING", ())
        shutil.copy(golden / "checkpoints" / "stream.csv", "stream.csv")
        watched = watch(name)
        assert (watched.resumed, watched.seen) == (resumed, 2 * SEEN)
        traces.append(table(tmp_path / folder / WATCHED[name].options.get("trace", "trace.csv")))
        # The checkpoint has no state of what raises alarms.
        alarms = tmp_path / folder / "trace.alarms.ndjson"
        assert alarms.exists() is (watched.alarm_file is not None or not resumed)
        assert watched.tracker.insight is not bool(resumed)
    assert_same(*traces)


def test_a_watch_resumed_from_a_checkpoint_written_before_takes_no_new_rules(
    golden, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    unpack("label-column", golden)
    shutil.copy(golden / "checkpoints" / "stream.csv", "stream.csv")
    for options in ({"alerts": ["SIL < 0.5"]}, {"alarms": "a.ndjson"}):
        monkeypatch.setitem(WATCHED["label-column"].options, *next(iter(options.items())))
        (name,) = options
        with pytest.raises(ValueError, match=f"{name} was not set and is"):
            watch("label-column")
        monkeypatch.delitem(WATCHED["label-column"].options, name)


def test_the_checkpoints_were_written_by_the_version_before(golden, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    unpack("own-fuzzy-art", golden)
    facts, arrays = container.read(tmp_path / "kept" / "watch.icvi")
    assert facts["icvi"] == "0.1.0"
    assert b"icvi.art.module" in arrays["labeller.pickle"].tobytes()


@pytest.mark.parametrize("name", PICKLED)
def test_an_estimator_pickled_before_resumes_like_the_one_that_was_pickled(name, golden):
    kind = KINDS[name]
    loaded = pickle.loads((golden / "pickled" / f"{name}.pkl").read_bytes())
    fresh = kind.make()
    assert type(loaded) is type(fresh)
    assert_same(kind.resume(loaded), kind.resume(fresh))


def test_every_checkpoint_and_pickle_is_resumed(golden):
    stored = {path.name for path in (golden / "checkpoints").iterdir() if path.is_dir()}
    assert stored == set(WATCHED)
    assert {path.stem for path in (golden / "pickled").iterdir()} == set(PICKLED)
