"""What kernels know by its address: arrays, records and compiled steps."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from icvi.kernels.compiler.compiling import PLAIN, STEP


def _pointer(kind):
    """An intrinsic that makes a pointer of an address."""

    @intrinsic
    def pointer(typingctx, address):
        del typingctx, address

        def codegen(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    return pointer


doubles = _pointer(types.float64)
integers = _pointer(types.int64)


@intrinsic
def array(typingctx, pointer, shape):
    """What lies at a pointer, as an array.

    Numba's carray does the same by way of functions that are compiled for every call, and that may
    make arrays.
    """
    del typingctx
    kind = types.Array(pointer.dtype, len(shape), "C")

    def codegen(context, builder, signature, arguments):
        made = context.make_array(kind)(context, builder)
        size = ir.IntType(64)(8)  # bytes of a number
        lengths = cgutils.unpack_tuple(builder, arguments[1])
        strides = [size]
        for length in lengths[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(made, arguments[0], lengths, strides, size, meminfo=None)
        return made._getvalue()  # noqa: SLF001 - Numba's own functions do the same

    return kind(pointer, shape), codegen


@intrinsic
def row(typingctx, cube, block, number):
    """A row of a block of an array with three axes.

    As a view such as cube[block, number], which takes longer to make than a short loop to run.
    """
    del typingctx, block, number
    kind = types.Array(cube.dtype, 1, "C")

    def codegen(context, builder, signature, arguments):
        cube = context.make_array(signature.args[0])(context, builder, arguments[0])
        made = context.make_array(kind)(context, builder)
        size, double = ir.IntType(64)(8), ir.DoubleType()
        rows, length = (builder.extract_value(cube.shape, axis) for axis in (1, 2))
        # In two steps: the first is the same for all rows of a block, and is done once.
        offset = builder.mul(arguments[1], builder.mul(rows, length))
        start = builder.gep(cube.data, [offset], source_etype=double)
        offset = builder.mul(arguments[2], length)
        start = builder.gep(start, [offset], source_etype=double)
        populate_array(made, start, [length], [size], size, meminfo=None)
        return made._getvalue()  # noqa: SLF001 - Numba's own functions do the same

    return kind(cube, types.int64, types.int64), codegen


@intrinsic
def part(typingctx, table, number, start, length):
    """A part of a row of an array with two axes, as `row` makes it."""
    del typingctx, number, start, length
    kind = types.Array(table.dtype, 1, "C")

    def codegen(context, builder, signature, arguments):
        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        made = context.make_array(kind)(context, builder)
        size = ir.IntType(64)(8)
        place = arguments[1:3]
        start = cgutils.get_item_pointer(context, builder, signature.args[0], table, place)
        populate_array(made, start, [arguments[3]], [size], size, meminfo=None)
        return made._getvalue()  # noqa: SLF001 - Numba's own functions do the same

    return kind(table, types.int64, types.int64, types.int64), codegen


@intrinsic
def pointer_to(typingctx, table, number):
    """Where row ``number`` of an array begins, or an entry of one with a single axis."""
    del typingctx, number

    def codegen(context, builder, signature, arguments):
        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        offset = builder.mul(arguments[1], builder.extract_value(table.strides, 0))
        start = builder.add(builder.ptrtoint(table.data, offset.type), offset)
        return builder.inttoptr(start, table.data.type)

    return types.CPointer(table.dtype)(table, types.int64), codegen


def records(position, kind):
    """An intrinsic f(meta, number): a record, by reference; meta[position] has the address."""

    @intrinsic
    def record(typingctx, meta, number):
        del typingctx, number

        def codegen(context, builder, signature, arguments):
            meta = context.make_array(signature.args[0])(context, builder, arguments[0])
            integer = arguments[1].type
            place = builder.gep(meta.data, [integer(int(position))], source_etype=integer)
            offset = builder.mul(arguments[1], integer(kind.itemsize))
            address = builder.add(builder.load(place, typ=integer), offset)
            return builder.inttoptr(address, context.get_value_type(signature.return_type))

        return numba.from_dtype(kind)(meta, types.int64), codegen

    return record


@intrinsic
def call_step(typingctx, address, meta, parameters, out):
    """Call the step at an address (see `step_address`); its value goes to where ``out`` points."""
    del typingctx
    signature = types.void(address, meta, parameters, out)

    def codegen(context, builder, signature, arguments):
        address, *pointers, out = arguments
        if PLAIN:
            kind = ir.FunctionType(ir.DoubleType(), [pointer.type for pointer in pointers])
            function = builder.inttoptr(address, kind.as_pointer())
            builder.store(builder.call(function, pointers), out)
        else:
            kind = context.call_conv.get_function_type(STEP.return_type, STEP.args)
            function = builder.inttoptr(address, kind.as_pointer())
            # A user's function may raise, and catch, an exception, which is put there.
            exception = cgutils.alloca_once(builder, kind.args[1].pointee)
            builder.call(function, [out, exception, *pointers])
        return context.get_dummy_value()

    return signature, codegen
