"""Files that earlier versions have written still load, and what they hold resumes as before.

The files under ``golden/saved`` are never written again: they were saved by the first version of
the format, from the objects that `saved_objects` describes.
"""

from __future__ import annotations

import numpy as np
import pytest

import icvi
from icvi.saving import container
from saved_objects import KINDS
from streams import GAUSSIAN

#: Covariances of samples that fade: those in files without sums of squared weights have just come.
FADING = ("tracker-half-life", "tracker-insight-half-life")
WITHOUT_FADING = [name for name in KINDS if name not in FADING]


def without_covariances(readings):
    left_out = (*GAUSSIAN, "before")  # all readings in one list
    return {name: value for name, value in readings.items() if name not in left_out}


def assert_same(ours, theirs):
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        if np.asarray(value).dtype.kind in "fc":
            # Files come from another machine, whose compiled sums may round differently.
            np.testing.assert_allclose(ours[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(ours[name], value, err_msg=name)


@pytest.mark.parametrize("name", KINDS)
def test_a_file_written_before_resumes_like_the_object_that_was_saved(name, golden):
    kind = KINDS[name]
    loaded = icvi.load(golden / "saved" / f"{name}.icvi")
    fresh = kind.make()
    assert type(loaded) is type(fresh)
    ours, theirs = kind.resume(loaded), kind.resume(fresh)
    if name in FADING:
        ours, theirs = without_covariances(ours), without_covariances(theirs)
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", FADING)
def test_a_half_life_in_a_file_written_before_reads_as_it_did_then(name, golden):
    path = golden / "saved" / f"{name}.icvi"
    loaded = icvi.load(path)
    readings = dict(zip(loaded.values, container.read(path)[1]["values"], strict=True))
    loaded._stale = True  # computed again, not those of the file
    assert_same(loaded.values, readings)


@pytest.mark.parametrize("name", WITHOUT_FADING)
def test_the_bytes_of_a_file_written_before_are_those_of_what_they_hold(name, golden, monkeypatch):
    path = golden / "saved" / f"{name}.icvi"
    monkeypatch.setattr(icvi, "__version__", container.read(path)[0]["icvi"])
    held = icvi.from_bytes(path.read_bytes())
    if hasattr(held, "to_bytes"):  # estimators have files only
        assert held.to_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", FADING)
def test_a_half_life_in_a_file_written_before_gets_its_squares(name, golden):
    path = golden / "saved" / f"{name}.icvi"
    again = icvi.load(path).to_bytes()
    facts, arrays = container.decode(np.frombuffer(again, dtype=np.uint8), "again")
    before, old = container.read(path)
    assert set(arrays) == {*old, "partition.squares"}
    assert facts == before | {"icvi": icvi.__version__}
    assert icvi.from_bytes(again).to_bytes() == again


@pytest.mark.parametrize("name", WITHOUT_FADING)
def test_a_file_written_before_is_written_again_byte_for_byte(name, golden, tmp_path, monkeypatch):
    path = golden / "saved" / f"{name}.icvi"
    monkeypatch.setattr(icvi, "__version__", container.read(path)[0]["icvi"])
    icvi.load(path).save(tmp_path / "again.icvi")
    assert (tmp_path / "again.icvi").read_bytes() == path.read_bytes()


def test_every_kind_has_a_file_and_every_file_a_kind(golden):
    assert {path.stem for path in (golden / "saved").iterdir()} == set(KINDS)
