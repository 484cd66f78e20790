"""The catalogue: indices by name, and again from what a saved file or a pickle has of them."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import pytest

import icvi
from icvi.indices import select
from icvi.indices.catalogue import from_spec

MADE = [
    *icvi.catalogue(),
    icvi.I(p=0.5),
    icvi.NI(epsilon=3),
    icvi.NI(delta=0.0),
    icvi.rCIP(delta=0.1, log_rcip=True, mean=True),
    icvi.rCIP(log_rcip=True, prototypes=True),
    icvi.rH(mean=True, prototypes=True),
    icvi.Conn("toolbox", "CADJ"),
]


def facts(index):
    return {name: value for name, value in vars(index).items() if name != "options"}


@pytest.mark.parametrize("index", MADE, ids=lambda index: index.name)
class TestAnIndex:
    def test_is_made_again_from_its_spec(self, index):
        again = from_spec(json.loads(json.dumps(index.spec)))
        assert type(again) is type(index)
        assert facts(again) == facts(index)
        assert again.spec == index.spec

    def test_is_made_again_from_its_pickle(self, index):
        again = pickle.loads(pickle.dumps(index))
        assert type(again) is type(index)
        assert facts(again) == facts(index)

    def test_is_made_again_under_another_name(self, index):
        other = replace(index, name="another name")
        for again in (from_spec(other.spec), pickle.loads(pickle.dumps(other))):
            assert facts(again) == facts(other)

    def test_is_its_own_deep_copy(self, index):
        assert copy.deepcopy([index]) == [index]


@pytest.mark.parametrize("name", ["CH", "PBM", "SIL", "XB", "DB", "PS", "WB", "GD43", "GD53"])
def test_an_index_without_options_is_one_object(name):
    (index,) = select(name)
    assert from_spec(index.spec) is index
    assert pickle.loads(pickle.dumps(index)) is index


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"own": "mine"},
        {"family": "CH", "options": {}},
        {"family": "CH", "options": [], "name": "CH"},
        {"family": "paper", "options": {}, "name": "CH"},
        {"family": "index", "options": {}, "name": "CH"},
        {"family": "I", "options": {"p": [2.0]}, "name": "I"},
        {"family": "I", "options": {"p": -1.0}, "name": "I"},
    ],
    ids=str,
)
def test_what_describes_no_index_is_a_value_error(spec):
    with pytest.raises(ValueError, match=r"expected|unknown index"):
        from_spec(spec)


def test_factories_are_taken_for_what_they_make_by_default():
    assert [index.name for index in select([icvi.I, icvi.NI, icvi.Conn])] == ["I", "NI", "Conn"]
