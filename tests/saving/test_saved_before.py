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
    assert_same(kind.resume(loaded), kind.resume(fresh))


@pytest.mark.parametrize("name", KINDS)
def test_the_bytes_of_a_file_written_before_are_those_of_what_they_hold(name, golden, monkeypatch):
    path = golden / "saved" / f"{name}.icvi"
    monkeypatch.setattr(icvi, "__version__", container.read(path)[0]["icvi"])
    held = icvi.from_bytes(path.read_bytes())
    if hasattr(held, "to_bytes"):  # estimators have files only
        assert held.to_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", KINDS)
def test_a_file_written_before_is_written_again_byte_for_byte(name, golden, tmp_path, monkeypatch):
    path = golden / "saved" / f"{name}.icvi"
    monkeypatch.setattr(icvi, "__version__", container.read(path)[0]["icvi"])
    icvi.load(path).save(tmp_path / "again.icvi")
    assert (tmp_path / "again.icvi").read_bytes() == path.read_bytes()


def test_every_kind_has_a_file_and_every_file_a_kind(golden):
    assert {path.stem for path in (golden / "saved").iterdir()} == set(KINDS)
