"""Linked functions: compiled once, called by several entry points."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba import types

from icvi.kernels.compiler.compiling import ENTRY_POINTS, OPTIONS, PLAIN, compiled
from icvi.kernels.compiler.linked import linked

VALUES = types.float64[::1]


@linked(types.float64(VALUES, types.float64), fastmath=False)
def scale(x, factor):
    for i in range(x.size):
        x[i] *= factor
    return x[0]


@compiled(types.float64(VALUES), calls=[scale])
def double(x):
    return scale(x, 2.0)


@compiled(types.float64(VALUES), calls=[scale])
def halve(x):
    return 10.0 + scale(x, 0.5)


# `icvi warmup` compiles what is registered; these are for this file alone.
del ENTRY_POINTS[-2 if PLAIN else -3 :]


def test_two_entry_points_call_one_function():
    x = np.array([3.0, 4.0])
    assert double(x) == 6.0
    assert x.tolist() == [6.0, 8.0]
    assert halve(x) == 13.0
    assert x.tolist() == [3.0, 4.0]


@pytest.mark.skipif(PLAIN, reason="plain kernels are not linked")
def test_callers_do_not_contain_it():
    # Not from the cache, where Numba keeps no text.
    scale.load()
    triple = numba.njit(types.float64(VALUES), **OPTIONS)(lambda x: scale(x, 3.0))
    (made,) = triple.overloads.values()
    code = made.library.get_llvm_str()
    assert "declare" in code
    assert "icvi_scale_" in code
    assert "fmul" not in code


@pytest.mark.skipif(PLAIN, reason="plain kernels are not linked")
def test_a_caller_that_does_not_name_it_is_refused_instead_of_ending_the_process():
    @linked(types.void(VALUES), fastmath=False)
    def unnamed(x):
        x[0] = 1.0

    @compiled(types.void(VALUES))
    def caller(x):
        unnamed(x)

    del ENTRY_POINTS[-2:]
    with pytest.raises(RuntimeError, match="unnamed is not among the calls of its caller"):
        caller(np.zeros(1))
