"""MicroWard as a file: it comes back to the bit, and a file that is not ours is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import icvi
from icvi.kernels.micro.layout import FACTOR, GAIN, LABEL, MICRO, TAKEN, WEIGHT
from icvi.saving import container
from streams import blobs

X, _ = blobs(n=200, d=3)
ARRAYS = ("M", "owners", "scale", "counters", "numbers")


def there_and_back(m, tmp_path):
    m.save(tmp_path / "m.icvi")
    return icvi.load(tmp_path / "m.icvi")


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"by": "CH", "max_micro": 20, "half_life": 30.0},
        {"by": ["DB", "XB"], "scale": "none", "refresh": np.float64(0.5)},
    ],
)
def test_it_comes_back_to_the_bit_and_resumes(parameters, tmp_path):
    m = icvi.MicroWard(**parameters).partial_fit(X[:150])
    twin = there_and_back(m, tmp_path)
    assert twin.get_params() == m.get_params()
    for _ in range(2):
        for name in ARRAYS:
            assert getattr(twin._micro, name).tobytes() == getattr(m._micro, name).tobytes()
        np.testing.assert_array_equal(twin.labels_, m.labels_)
        m.partial_fit(X[150:])
        twin.partial_fit(X[150:])


def test_one_that_has_learnt_nothing_comes_back(tmp_path):
    twin = there_and_back(icvi.MicroWard("SIL", 40), tmp_path)
    assert (twin.by, twin.max_micro) == ("SIL", 40)
    assert twin.fit(X).n_clusters_ == icvi.MicroWard("SIL", 40).fit(X).n_clusters_


def test_names_of_features_come_back(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    twin = there_and_back(icvi.MicroWard().fit(frame), tmp_path)
    assert twin.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        twin.partial_fit(frame[["b", "a", "c"]])


def test_what_contains_code_is_refused(tmp_path):
    class Own(icvi.MicroWard):
        pass

    with pytest.raises(TypeError, match="your class Own"):
        Own().save(tmp_path / "m.icvi")
    with pytest.raises(TypeError, match="cannot save"):
        icvi.MicroWard(icvi.CH).save(tmp_path / "m.icvi")
    assert list(tmp_path.iterdir()) == []


def set_at(name, place, value):
    def change(facts, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


DAMAGE = {
    "too many micro-clusters": set_at("counters", MICRO, 10**6),
    "none": set_at("counters", MICRO, 0),
    "the last sample nowhere": set_at("counters", TAKEN, 500),
    "a label that was not given": set_at("owners", (LABEL, 0), 10**9),
    "a negative label": set_at("owners", (LABEL, 0), -1),
    "no weight": set_at("micro", (WEIGHT, 0), 0.0),
    "negative compactness": set_at("micro", (-1, 0), -1.0),
    "nan": set_at("micro", (1, 0), np.nan),
    "a factor of 0": set_at("scale", (FACTOR, 0), 0.0),
    "samples without weight": set_at("numbers", GAIN, 0.0),
    "other features": lambda facts, arrays: facts["learnt"].update(features=2),
    "a parameter of others": lambda facts, arrays: facts["parameters"].update(rho=1),
    "two names": lambda facts, arrays: facts["learnt"].update(names=["a", "b"]),
    "no labels": lambda facts, arrays: arrays.pop("labels"),
    "no room": lambda facts, arrays: arrays.update(micro=arrays["micro"][:, :3].copy()),
}


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE)
def test_a_file_with_numbers_that_kernels_cannot_trust_is_refused(change, tmp_path):
    path = tmp_path / "m.icvi"
    icvi.MicroWard().fit(X).save(path)
    facts, arrays = container.read(path)
    arrays = dict(arrays)
    change(facts, arrays)
    container.write(path, facts, arrays)
    with pytest.raises(ValueError, match="damaged"):
        icvi.load(path)
