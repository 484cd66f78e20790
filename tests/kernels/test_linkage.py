"""Paths of merges: every step merges the two that are the cheapest at the time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icvi.kernels.linkage import WARD, link


def path(n, V, steps=None):
    k = len(n)
    merges = np.empty((k - 1 if steps is None else steps, 2), dtype=np.int64)
    heights = np.empty(len(merges))
    link(WARD, n.copy(), V.copy(), np.zeros((0, 0, 0)), merges, heights)
    return merges, heights


def ward(a, b):
    (na, va), (nb, vb) = a, b
    return na * nb / (na + nb) * float((va - vb) @ (va - vb))


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=14
    )
)
@settings(max_examples=60, deadline=None)
def test_every_merge_is_the_cheapest_also_among_equals(given):
    n = np.array([each[0] for each in given], dtype=float)
    V = np.array([each[1:] for each in given], dtype=float)
    merges, heights = path(n, V)
    there = {i: (n[i], V[i]) for i in range(len(n))}
    for step, (a, b) in enumerate(merges.tolist()):
        cheapest = min(ward(*pair) for pair in itertools.combinations(there.values(), 2))
        assert ward(there[a], there[b]) == pytest.approx(cheapest, abs=1e-9)
        assert heights[step] == pytest.approx(cheapest, abs=1e-9)
        (na, va), (nb, vb) = there.pop(a), there.pop(b)
        there[len(n) + step] = na + nb, (na * va + nb * vb) / (na + nb)
    assert (np.diff(heights) >= 0.0).all()


def test_a_path_that_ends_early_is_the_beginning_of_the_whole_one():
    rng = np.random.default_rng(0)
    n, V = rng.uniform(1.0, 9.0, 30), rng.normal(size=(30, 3))
    whole, part = path(n, V), path(n, V, 11)
    for all_steps, some in zip(whole, part):
        np.testing.assert_array_equal(all_steps[:11], some)
