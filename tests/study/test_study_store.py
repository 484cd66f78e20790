"""The folder of a study loses nothing and mixes nothing."""

import json
import math

import numpy as np
import pytest

from icvi.study.store import Store, as_json

ABOUT = {"settings": {"seed": 0, "orders": 5}, "versions": {"icvi": "1"}}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "study")
    store.open(ABOUT)
    return store


def test_a_part_that_is_done_is_found_again(store):
    assert store.read_part("a.shown") is None
    given = store.write_part("a.shown", {"x": np.float64(1.5), "y": [np.int64(2), math.nan]})
    assert given == store.read_part("a.shown") == {"x": 1.5, "y": [2, None]}
    assert Store(store.folder).read_part("a.shown") == given


def test_the_same_study_resumes(store):
    store.write_part("a", 1)
    again = Store(store.folder)
    again.open(ABOUT)
    assert again.read_part("a") == 1


def test_another_study_is_refused_with_the_difference_named(store):
    other = {**ABOUT, "settings": {"seed": 1, "orders": 5}}
    with pytest.raises(ValueError, match="its seed is 0, not 1"):
        Store(store.folder).open(other)
    newer = {**ABOUT, "versions": {"icvi": "2"}}
    with pytest.raises(ValueError, match="its icvi is '1', not '2'"):
        Store(store.folder).open(newer)


def test_overwriting_starts_from_scratch(store):
    store.write_part("a", 1)
    other = {**ABOUT, "settings": {"seed": 1}}
    store.open(other, overwrite=True)
    assert store.read_part("a") is None
    assert json.loads((store.folder / "study.json").read_text()) == other


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="contains other files"):
        Store(tmp_path).open(ABOUT)
    with pytest.raises(ValueError, match="contains other files"):
        Store(tmp_path).open(ABOUT, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_damaged_part_says_so(store):
    store.write_part("a", 1)
    (store.folder / "parts" / "a.json").write_text("{")
    with pytest.raises(ValueError, match=r"a\.json is not JSON .* remove it and rerun the command"):
        store.read_part("a")


def test_a_failed_write_leaves_the_file_before(store, monkeypatch):
    store.write("page.html", b"before")

    def fail(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        store.write("page.html", b"after")
    assert (store.folder / "page.html").read_bytes() == b"before"
    assert [path.name for path in store.folder.glob(".*")] == []


def test_numbers_that_json_lacks_become_null():
    assert as_json({"a": (math.inf, np.array([1.0, math.nan]))}) == {"a": [None, [1.0, None]]}
