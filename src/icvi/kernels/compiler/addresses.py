"""What kernels know by its address: arrays, records and compiled steps."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from icvi.kernels.compiler.compiling import PLAIN, STEP
from icvi.kernels.compiler.instruction import instruction

_DOUBLE, _INTEGER = ir.DoubleType(), ir.IntType(64)
_SIZE = _INTEGER(8)  # bytes of a number


def _pointer(kind):
    """An intrinsic that makes a pointer of an address."""

    @instruction(types.CPointer(kind))
    def pointer(code, address):
        return code.builder.inttoptr(address, code.context.get_value_type(code.returns))

    return pointer


doubles = _pointer(types.float64)
integers = _pointer(types.int64)


def _array_at(code, start, lengths):
    """An array of numbers that lie one after the other."""
    made = code.context.make_array(code.returns)(code.context, code.builder)
    strides = [_SIZE]
    for length in lengths[:0:-1]:
        strides.insert(0, code.builder.mul(strides[0], length))
    populate_array(made, start, lengths, strides, _SIZE, meminfo=None)
    return made._getvalue()  # noqa: SLF001 - Numba's own functions do the same


@instruction(lambda pointer, shape: types.Array(pointer.dtype, len(shape), "C"))
def array(code, pointer, shape):
    """What lies at a pointer, as an array.

    Numba's carray does the same by way of functions that are compiled for every call, and that may
    make arrays.
    """
    return _array_at(code, pointer, cgutils.unpack_tuple(code.builder, shape))


@instruction(lambda cube, *_: types.Array(cube.dtype, 1, "C"))
def row(code, cube, block, number):
    """A row of a block of an array with three axes.

    As a view such as cube[block, number], which takes longer to make than a short loop to run.
    """
    builder, cube = code.builder, code.array(0, cube)
    rows, length = (builder.extract_value(cube.shape, axis) for axis in (1, 2))
    # In two steps: the first is the same for all rows of a block, and is done once.
    offset = builder.mul(block, builder.mul(rows, length))
    start = builder.gep(cube.data, [offset], source_etype=_DOUBLE)
    start = builder.gep(start, [builder.mul(number, length)], source_etype=_DOUBLE)
    return _array_at(code, start, [length])


@instruction(lambda table, *_: types.Array(table.dtype, 1, "C"))
def part(code, table, number, start, length):
    """A part of a row of an array with two axes, as `row` makes it."""
    table, place = code.array(0, table), [number, start]
    start = cgutils.get_item_pointer(code.context, code.builder, code.kinds[0], table, place)
    return _array_at(code, start, [length])


@instruction(lambda table, *_: types.CPointer(table.dtype))
def pointer_to(code, table, number):
    """Where row ``number`` of an array begins, or an entry of one with a single axis."""
    builder, table = code.builder, code.array(0, table)
    offset = builder.mul(number, builder.extract_value(table.strides, 0))
    start = builder.add(builder.ptrtoint(table.data, offset.type), offset)
    return builder.inttoptr(start, table.data.type)


def records(position, kind):
    """An intrinsic f(meta, number): a record, by reference; meta[position] has the address."""

    @instruction(numba.from_dtype(kind))
    def record(code, meta, number):
        builder, meta = code.builder, code.array(0, meta)
        place = builder.gep(meta.data, [_INTEGER(int(position))], source_etype=_INTEGER)
        offset = builder.mul(number, _INTEGER(kind.itemsize))
        address = builder.add(builder.load(place, typ=_INTEGER), offset)
        return builder.inttoptr(address, code.context.get_value_type(code.returns))

    return record


@instruction(types.void)
def call_step(code, address, meta, parameters, out):
    """Call the step at an address (see `step_address`); its value goes to where ``out`` points."""
    builder, convention = code.builder, code.context.call_conv
    if PLAIN:
        kind = ir.FunctionType(_DOUBLE, [meta.type, parameters.type])
        function = builder.inttoptr(address, kind.as_pointer())
        builder.store(builder.call(function, [meta, parameters]), out)
    else:
        kind = convention.get_function_type(STEP.return_type, STEP.args)
        function = builder.inttoptr(address, kind.as_pointer())
        # A user's function may raise, and catch, an exception, which is put there.
        exception = cgutils.alloca_once(builder, kind.args[1].pointee)
        builder.call(function, [out, exception, meta, parameters])
