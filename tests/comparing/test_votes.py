"""Votes of the indices, against a slow count of our own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
from icvi.comparing.votes import abstaining, count_votes
from icvi.indices import select

INDICES = select("CH, XB, SIL, rH, rCIP, DB")


@st.composite
def tables(draw):
    m = draw(st.integers(1, 6))
    reading = st.sampled_from([math.nan, 0.0, 0.5, 1.0, 2.0, math.inf])
    rows = draw(st.lists(st.lists(reading, min_size=6, max_size=6), min_size=m, max_size=m))
    return np.array(rows), draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))


def naive(table, clusters, silent):
    """Votes and ranks, candidate by candidate, from their definition."""
    voters = [i for i, index in enumerate(INDICES) if index.name not in silent]
    votes, ranks = [], []
    for row in table:
        mine, places = 0, []
        for i in voters:
            sign = 1 if INDICES[i].direction == "max" else -1
            others = [sign * each[i] for each in table if not math.isnan(each[i])]
            if math.isnan(row[i]):
                places.append(len(table))
                continue
            better = sum(other > sign * row[i] for other in others)
            mine += better == 0
            places.append(better)
        votes.append(mine)
        ranks.append(sum(places) / len(places))
    if not any(votes):
        return votes, None
    best = min(range(len(table)), key=lambda i: (-votes[i], ranks[i], clusters[i], i))
    return votes, best


@given(tables())
def test_votes_are_those_of_a_slow_count(given):
    table, clusters = given
    silent = abstaining(INDICES, table)
    found = count_votes(INDICES, table, clusters)
    votes, best = naive(table, clusters, silent)
    assert found.counts.tolist() == votes
    assert found.best == best


@given(tables(), st.sampled_from(["CH, XB, SIL, DB", "CH, PBM, NI, WB, DB", "XB, DB"]))
def test_a_choice_is_as_sure_as_the_indices_that_weigh_all_clusters(given, names):
    table, clusters = given
    indices = select(names)
    table = table[:, : len(indices)]
    found = count_votes(indices, table, clusters, {})
    if found.best is None:
        assert found.sure == "open"
        return
    weigh = [
        i
        for i, index in enumerate(indices)
        if index.name in ("CH", "PBM", "NI", "WB") and not np.isnan(table[:, i]).all()
    ]
    agree = sum(bool(found.marked[found.best, i]) for i in weigh)
    if len(weigh) >= 2 and agree == len(weigh):
        assert found.sure == "clear"
    else:
        assert found.sure == ("likely" if agree > len(weigh) / 2 else "open")


def test_sums_over_pairs_do_not_vote_and_their_means_do():
    table = np.arange(8.0).reshape(2, 4)
    indices = [icvi.rH(), icvi.rCIP(), icvi.rH(mean=True), icvi.CH]
    silent = abstaining(select(indices), table)
    assert set(silent) == {"rH", "rCIP"}
    assert all("grow with their number" in why for why in silent.values())


def test_an_index_that_reads_the_same_as_another_does_not_vote_twice():
    table = np.array([[1.0, 1.0], [2.0, 2.0]])
    assert abstaining(select("PBM, I"), table) == {"I": "reads the same as PBM"}


def test_equal_candidates_share_every_vote_and_do_not_make_the_choice_open():
    table = np.array([[5.0, 0.1], [5.0, 0.1], [1.0, 0.9]])
    found = count_votes(select("CH, XB"), table, [4, 4, 2])
    assert found.counts.tolist() == [2, 2, 0]
    assert (found.best, found.equals, found.next, found.sure) == (0, [1], None, "likely")


def test_readings_that_differ_by_rounding_are_equal():
    table = np.array([[5.0, 0.1], [5.0 * (1 + 1e-13), 0.1 * (1 + 1e-13)], [1.0, 0.9]])
    found = count_votes(select("CH, XB"), table, [4, 4, 2])
    assert found.counts.tolist() == [2, 2, 0]
    assert (found.best, found.equals) == (0, [1])


def test_of_equal_votes_the_least_mean_rank_decides():
    table = np.array([[9.0, 0.9, 0.1], [8.0, 0.1, 0.2], [1.0, 0.5, 0.3]])
    found = count_votes(select("CH, XB, SIL"), table, [2, 3, 4])
    assert found.counts.tolist() == [1, 1, 1]
    assert found.best == 1


@pytest.mark.parametrize("table", [np.full((2, 1), np.nan), np.empty((1, 0))])
def test_where_nothing_is_defined_there_is_no_best(table):
    found = count_votes(select("CH")[: table.shape[1]], table, [1] * len(table))
    assert (found.best, found.voting, found.sure) == (None, 0, "open")
