"""Embedded functions: compiled once, into the module of their caller."""

from __future__ import annotations

import re

import numba
import numpy as np
import pytest
from numba import types
from numba.extending import register_jitable

from icvi.kernels.compiler.compiling import PLAIN, SUMS, compiled
from icvi.kernels.compiler.embedded import embedded


@embedded(returns=types.float64)
def twice(x):
    return 2.0 * x


@embedded(returns=types.float64, fastmath=SUMS)
def sum_of(row):
    s = 0.0
    for i in range(row.size):
        s += row[i]
    return s


@embedded
def double_all(row):
    for i in range(row.size):
        row[i] = twice(row[i])


@compiled(types.float64(types.float64[::1]))
def double_and_sum(row):
    double_all(row)
    return twice(sum_of(row)) + twice(0.5)


def test_embedded_functions_compute_what_their_functions_say():
    row = np.arange(5.0)
    assert double_and_sum(row) == 41.0
    np.testing.assert_array_equal(row, 2.0 * np.arange(5.0))


@pytest.mark.skipif(PLAIN, reason="Numba compiles functions for themselves")
def test_an_embedded_function_is_compiled_once_for_all_its_calls_in_a_module():
    @numba.njit(types.float64(types.float64))
    def call_three_times(x):
        return twice(x) + twice(x + 1.0) * twice(x - 1.0)

    code = call_three_times.inspect_llvm(call_three_times.signatures[0])
    assert len(re.findall(r"^define .*twice", code, re.MULTILINE)) <= 1
    assert call_three_times(3.0) == 38.0


@embedded(returns=types.float64, fastmath=False, forceinline=True)
def lost(a, b):
    return b - ((a + b) - a)


@compiled(types.float64(types.float64, types.float64), fastmath=SUMS)
def lost_in_a_kernel_that_may_reorder(a, b):
    return lost(a, b) + 0.0


def test_an_embedded_function_that_may_not_be_reordered_is_not_by_its_caller():
    assert lost_in_a_kernel_that_may_reorder(1e16, 1.0) == 1.0


@compiled(types.float64(types.float64[::1]))
def double_and_sum_again(row):
    double_all(row)
    return sum_of(row)


def test_a_function_is_embedded_in_more_than_one_kernel():
    row = np.arange(5.0)
    assert double_and_sum_again(row) == 20.0
    assert double_and_sum(row) == 81.0


@embedded(returns=types.float64)
def rest(a, b):
    return (a + b) - a


@compiled(types.float64(types.float64, types.float64), fastmath=False)
def once_alone(a, b):
    return rest(a, b)


@compiled(types.float64(types.float64, types.float64), fastmath=SUMS)
def once_more(a, b):
    return rest(a, b)


def test_an_embedded_function_keeps_its_own_flags_in_every_kernel():
    assert once_alone(1e16, 1.0) == once_more(1e16, 1.0) == 0.0


@register_jitable
def three_times(x):
    return x + x + x


@embedded(returns=types.float64)
def six_times(x):
    return twice(three_times(x))


@compiled(types.float64(types.float64))
def call_what_numba_compiles(x):
    return six_times(x)


@compiled(types.float64(types.float64))
def call_it_once_more(x):
    return six_times(x) + 1.0


def test_an_embedded_function_may_call_what_numba_compiles_for_itself():
    assert call_what_numba_compiles(2.0) == 12.0
    assert call_it_once_more(2.0) == 13.0
