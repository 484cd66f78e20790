"""Clusterers as text: names, parameters, ranges."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icvi.watching.labellers.specs import MOST, Spec, parse_one, parse_spec


@given(st.integers(-50, 50), st.integers(0, 30), st.integers(1, 7))
def test_a_range_of_whole_numbers_has_both_ends_and_the_steps_between(low, more, step):
    specs = parse_spec(f"kmeans n_clusters={low}..{low + more}/{step}")
    assert [spec.params["n_clusters"] for spec in specs] == [*range(low, low + more + 1, step)]
    assert all(type(spec.params["n_clusters"]) is int for spec in specs)


def test_a_range_of_fractions_has_the_numbers_that_a_user_would_type():
    values = [spec.params["rho_b"] for spec in parse_spec("smart rho_a=0.9 rho_b=0.5..0.8/0.05")]
    assert values == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8]


def test_a_range_ends_at_the_last_step_before_its_end():
    assert [spec.params["rho"] for spec in parse_spec("art rho=.1..0.45/1e-1")] == [
        0.1,
        0.2,
        0.3,
        0.4,
    ]


def test_several_ranges_give_all_combinations():
    specs = parse_spec("smart rho_a=0.8..0.9/0.1 rho_b=0.5..0.6/0.1 alpha=0.01")
    assert [spec.text() for spec in specs] == [
        "smart rho_a=0.8 rho_b=0.5",
        "smart rho_a=0.8 rho_b=0.6",
        "smart rho_a=0.9 rho_b=0.5",
        "smart rho_a=0.9 rho_b=0.6",
    ]
    assert all(spec.params["alpha"] == 0.01 for spec in specs)


def test_parameters_are_read_as_watch_reads_them():
    (spec,) = parse_spec("birch n_clusters=null copy=False note='a b' bounds='[0, 1]'")
    expected = {"n_clusters": None, "copy": False, "note": "a b", "bounds": [0, 1]}
    assert spec == Spec("birch", expected)


def test_a_name_may_have_blanks_and_a_path_may_have_dots():
    (spec,) = parse_spec(r"my models\old.icvi")
    assert spec == Spec(r"my models\old.icvi", {})
    assert parse_spec("a.B path=../c")[0].params == {"path": "../c"}


def test_the_file_of_a_model_is_taken_as_it_is(tmp_path):
    assert parse_one("bob's  last.icvi") == Spec("bob's  last.icvi", {})
    assert parse_one("a.B path=old.pkl") == Spec("a.B", {"path": "old.pkl"})
    path = tmp_path / "rho=0.7.pkl"
    path.touch()
    assert parse_one(str(path)) == Spec(str(path), {})


def test_a_watch_takes_one_clusterer_and_is_pointed_to_compare_for_more():
    assert parse_one("auto by=DB,CH max_micro=60") == Spec("auto", {"by": "DB,CH", "max_micro": 60})
    assert parse_one("kmeans n_clusters=3..3").params == {"n_clusters": 3}
    with pytest.raises(ValueError, match=r"stands for 4 clusterers.* ranges are for icvi\.compare"):
        parse_one("kmeans n_clusters=2..5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a clusterer, such as 'minibatch-kmeans n_clusters=2..12', got ''"),
        ("n_clusters=2..3", "expected a clusterer"),
        ("kmeans n_clusters=2..", "expected a range such as 2..12 or 0.5..0.8/0.05"),
        ("kmeans n_clusters=two..3", "expected a range such as"),
        ("kmeans n_clusters=2...5", "expected a range such as"),
        ("kmeans n_clusters=5..2", "the range is empty; give the smaller number first"),
        ("kmeans n_clusters=2..5/0", "the step must be greater than zero"),
        ("kmeans n_clusters=2..5/-1", "the step must be greater than zero"),
        ("art rho=0.5..0.8", "needs a step"),
        ("kmeans n_clusters=2..3 n_clusters=4", "n_clusters is given twice"),
        ("kmeans 2x=1..3", "expected NAME=VALUE"),
        ("kmeans init='k", "a quotation mark has no counterpart"),
        (f"kmeans n_clusters=1..{MOST + 1}", f"has {MOST + 1} values; at most {MOST}"),
        ("a x=1..20 y=1..20", f"stands for more than {MOST} clusterers"),
    ],
)
def test_what_is_no_clusterer_is_refused_with_a_reason(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_spec(text)
