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


SPELT = {
    "silhouette": "SIL", "Sil": "SIL", "silhouette-score": "SIL", "ch": "CH", "calinski": "CH",
    "Calinski-Harabasz index": "CH", "davies-bouldin": "DB", "davies_bouldin": "DB",
    "xie-beni": "XB", "XIE BENI": "XB", "rcip": "rCIP", "RH": "rH", "gd43": "GD43", "conn": "Conn",
    "conn_index": "Conn", "i": "I", "pbm": "PBM", "negentropy": "NI", "wb": "WB",
    "partition separation": "PS",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELT)
def test_an_index_is_found_however_it_is_spelt(name):
    (found,) = select(name)
    assert found.name == SPELT[name]


def test_names_are_a_list_with_commas_and_groups_have_any_case():
    assert [index.name for index in select("SIL,CH")] == ["SIL", "CH"]
    assert [index.name for index in select(["sil, xb", "WB"])] == ["SIL", "XB", "WB"]
    assert select("Paper") == select("paper")
    assert select("ALL") == select("all")
    with pytest.raises(ValueError, match="expected every index once, got CH more than once"):
        select("CH,calinski")
    with pytest.raises(ValueError, match=r"unknown index ''.*or a group: paper, all"):
        select("CH,")


@pytest.mark.parametrize(
    ("name", "guess"), [("silhuette", "SIL"), ("davis-bouldin", "DB"), ("papr", "paper")]
)
def test_a_misspelt_name_gives_the_one_that_is_meant(name, guess):
    with pytest.raises(ValueError, match=f"unknown index '{name}', did you mean '{guess}'?"):
        select(name)


def test_a_tracker_reads_an_index_by_any_of_its_names():
    t = icvi.Tracker("silhouette")
    t.update_many([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    assert t["sil"] == t["SIL"] == t["Silhouette"]
    with pytest.raises(KeyError, match="'CH' is not tracked"):
        t["CH"]
