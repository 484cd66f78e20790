"""Translation of kernels: faster than Numba's own, with the same results."""

from __future__ import annotations

import operator
import sys

import numba
import numpy as np
import pytest
from numba import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys
from numba.extending import overload

from icvi.kernels.compiler.compiling import MAKES_NO_ARRAYS, OPTIONS, PLAIN, SUMS, compiled

if PLAIN:
    pytest.skip("Numba's own passes", allow_module_level=True)

from icvi.kernels.compiler.contexts import Flags
from icvi.kernels.compiler.pipeline import Pipeline


def all_operators(a, b):
    return (a + b, a - b, a * b, a / b, a // b, a % b, -a, a < b, a >= b, a == b, a != b)


@pytest.mark.parametrize("first", [int, float])
@pytest.mark.parametrize("second", [int, float])
def test_operators_have_the_types_that_python_gives_them(first, second):
    translated = numba.njit(all_operators, pipeline_class=Pipeline)
    a, b = first(7), second(-2)
    for found, expected in zip(translated(a, b), all_operators(a, b), strict=True):
        assert found == expected
        assert type(found) is type(expected)


def test_an_operator_may_get_a_new_meaning_between_two_kernels():
    def add(a, b):
        return a + b

    assert numba.njit(add, pipeline_class=Pipeline)(1.5, 2.5) == 4.0

    @overload(operator.add)
    def add_nothing(a, b):
        return (lambda a, b: 0) if isinstance(a, types.NoneType) and a is b else None

    again = numba.njit(lambda a, b: (a + b) * 2.0, pipeline_class=Pipeline)
    assert again(1.5, 2.5) == 8.0
    assert numba.njit(add, pipeline_class=Pipeline)(None, None) == 0


def test_the_types_that_numba_knows_stay_as_they_are():
    known = cpu_target.typing_context.resolve_value_type(operator.sub)
    before = known._code
    assert numba.njit(lambda a, b: a - b, pipeline_class=Pipeline)(2.5, 1.0) == 1.5
    assert cpu_target.typing_context.resolve_value_type(operator.sub) is known
    assert known._code == before


def test_items_of_arrays_of_one_and_two_axes():
    @numba.njit(pipeline_class=Pipeline)
    def pick_and_put(row, table):
        table[1, 0] = row[2]
        row[0] = table[0, 1]
        return table[1]

    row, table = np.arange(3), np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(pick_and_put(row, table), [2.0, 3.0])
    assert row.tolist() == [1, 1, 2]


@numba.njit(pipeline_class=Pipeline)
def extremes(a, b):
    return min(a, b), max(a, b)


NAN = float("nan")


@pytest.mark.parametrize("pair", [(1.0, 2.0), (2.0, 1.0), (3, -4), (NAN, 1.0), (1.0, NAN)])
def test_the_lesser_and_the_greater_are_those_that_python_finds(pair):
    for found, expected in zip(extremes(*pair), (min(*pair), max(*pair)), strict=True):
        np.testing.assert_equal(found, expected)
        assert type(found) is type(expected)


def test_the_lesser_of_a_whole_number_and_a_double_is_a_double():
    assert extremes(2, 1.5) == (1.5, 2.0)
    assert isinstance(extremes(2, 1.5)[1], float)


def test_parts_of_tuples_by_number():
    @numba.njit(pipeline_class=Pipeline)
    def ends(table, pair):
        return table.shape[0], table.shape[1], pair[0], pair[1]

    assert ends(np.zeros((2, 3)), (4, 5.5)) == (2, 3, 4, 5.5)


def test_variables_that_change_their_value_in_branches_and_loops():
    @numba.njit(pipeline_class=Pipeline)
    def count(n):
        last, found = 0, 0
        for i in range(n):
            if i % 3 == 0:
                last = i
                continue
            while last < i:
                last, found = last + 1, found + last
        return last, found

    assert count(11) == count.py_func(11)
    assert count(0) == (0, 0)


def test_arrays_that_kernels_make_are_freed():
    @numba.njit(types.float64(types.int64), **OPTIONS)
    def make_many(n):
        total, row = 0.0, np.ones(1)
        for i in range(n):
            row = np.ones(1 + i % 3)
            total += row.sum()
        return total + row[0]

    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        assert make_many(9) == 19.0
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


@compiled(types.float64(types.float64, types.float64), fastmath=SUMS)
def rest_in_any_order(a, b):
    return abs((a + b) - a)


@compiled(types.float64(types.float64, types.float64), fastmath=False)
def rest_as_written(a, b):
    return abs((a + b) - a)


def test_what_one_kernel_may_reorder_another_may_not():
    assert rest_in_any_order(1e16, 0.5) == 0.5
    assert rest_as_written(1e16, 0.5) == 0.0


def test_flags_are_equal_when_all_their_options_are():
    flags, same, other = Flags(), Flags(), Flags()
    flags.nrt = same.nrt = True
    other.nrt = False
    assert flags == same
    assert hash(flags) == hash(same)
    assert flags != other
    assert hash(flags) != hash(other)
    assert flags.copy() == flags
    assert flags != "nrt"


MAKERS = {
    "copy": lambda row: row.copy().sum(),
    "call": lambda row: np.empty(row.size).size * 1.0,
    "sum": lambda row: (row + 1.0).sum(),
    "minus": lambda row: (-row).sum(),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_kernel_that_makes_arrays_says_so(name):
    signature = types.float64(types.float64[::1])
    # First with, then without: Numba itself notices only if it is the other way round.
    assert numba.njit(signature, **OPTIONS)(MAKERS[name])(np.zeros(3)) in (0.0, 3.0)
    with pytest.raises(TypingError, match="array"):
        numba.njit(signature, **OPTIONS, **MAKES_NO_ARRAYS)(MAKERS[name])


def test_views_are_no_new_arrays():
    @numba.njit(types.float64(types.float64[:, ::1]), **OPTIONS, **MAKES_NO_ARRAYS)
    def last_of_views(table):
        return table[1, 1:].sum() + table.T[0, 1] + table.reshape(4)[3]

    assert last_of_views(np.arange(4.0).reshape(2, 2)) == 3.0 + 2.0 + 3.0


def test_arrays_that_kernels_are_given_are_not_held():
    @numba.njit(types.float64(types.float64[:, ::1]), **OPTIONS, **MAKES_NO_ARRAYS)
    def corner(table):
        row = table[0]
        return row[0]

    table = np.ones((2, 2))
    before = sys.getrefcount(table)
    for _ in range(10):
        assert corner(table) == 1.0
    assert sys.getrefcount(table) == before
