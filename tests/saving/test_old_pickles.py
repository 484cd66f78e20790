"""Pickles that the version before has written, of states whose classes have moved since."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

import icvi
from checkpoints_before import PICKLED_STATES, bank, own_index, trace
from icvi.saving import old_pickles
from saved_objects import HALF, KINDS, LABELS, NAMES, REST, X
from streams import GAUSSIAN

pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numpy 1 loads no pickles of numpy 2"
)


def pickled(golden, name: str) -> bytes:
    return gzip.decompress((golden / "pickled_states" / f"{name}.pkl.gz").read_bytes())


def attributes(thing) -> set[tuple[str, type]]:
    return {(name, type(value)) for name, value in vars(thing).items()}


def assert_same(ours, theirs):
    """The same to rounding: pickles come from another machine."""
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        if np.asarray(value).dtype.kind in "fc":
            np.testing.assert_allclose(ours[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(ours[name], value, err_msg=name)


@pytest.mark.parametrize("name", PICKLED_STATES)
def test_a_state_pickled_before_resumes_like_the_one_that_was_pickled(name, golden):
    kind = KINDS[name]
    loaded, fresh = old_pickles.loads(pickled(golden, name)), kind.make()
    assert type(loaded) is type(fresh)
    assert attributes(loaded) == attributes(fresh)
    again = pickle.loads(pickle.dumps(loaded))
    values, ours, copied = kind.resume(fresh), kind.resume(loaded), kind.resume(again)
    assert_same(copied, ours)
    if name == "tracker-half-life":
        # Of its samples it does not know how far they have faded, each for itself.
        unknown = (*GAUSSIAN, "before")
        values = {n: ours[n] if n in unknown else value for n, value in values.items()}
    assert_same(ours, values)


def test_a_bank_pickled_before_resumes(golden):
    loaded, fresh = old_pickles.loads(pickled(golden, "bank")), bank()
    assert type(loaded) is icvi.TrackerBank
    for trackers in (loaded, fresh):
        trackers.update_many(NAMES[REST], X[REST], LABELS[REST])
    ours, theirs = loaded.readings(), fresh.readings()
    assert_same({n: ours[n] for n in ours.names}, {n: theirs[n] for n in theirs.names})


def test_a_trace_pickled_before_has_its_readings(golden):
    loaded, fresh = old_pickles.loads(pickled(golden, "trace")), trace()
    assert type(loaded) is icvi.Trace
    assert attributes(loaded) == attributes(fresh)
    names = [*fresh.names]
    assert_same({n: loaded[n] for n in names}, {n: fresh[n] for n in names})
    assert loaded.labels.tolist() == NAMES[HALF].tolist()


def test_an_index_of_a_user_is_found_in_its_module(golden):
    loaded, fresh = old_pickles.loads(pickled(golden, "own-index")), own_index()
    assert loaded.values == pytest.approx(fresh.values)
    loaded.update_many(X[REST], LABELS[REST])
    fresh.update_many(X[REST], LABELS[REST])
    assert loaded["mean_radius"] == pytest.approx(fresh["mean_radius"])


def test_pickles_of_this_version_load_too():
    both = {"now": own_index(), "other": np.arange(3)}
    loaded = old_pickles.loads(pickle.dumps(both))
    assert loaded["now"].values == both["now"].values
    assert loaded["other"].tolist() == [0, 1, 2]


def test_pickle_alone_refuses_them(golden):
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'icvi\.tracker'"):
        pickle.loads(pickled(golden, "tracker"))


def test_every_pickle_is_resumed(golden):
    stored = {path.name.removesuffix(".pkl.gz") for path in (golden / "pickled_states").iterdir()}
    assert stored == {*PICKLED_STATES, "bank", "trace", "own-index"}
