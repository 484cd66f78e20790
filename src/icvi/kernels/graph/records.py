"""Records of the prototype graph by reference, for kernels that know it by its meta array."""

from __future__ import annotations

import numba
from numba import types
from numba.extending import intrinsic

from icvi.kernels.graph import layout as L


def _records(array, kind):
    """An intrinsic f(meta, number): one record of an array, by reference."""

    @intrinsic
    def record(typingctx, meta, number):
        del typingctx, number

        def codegen(context, builder, signature, arguments):
            meta = context.make_array(signature.args[0])(context, builder, arguments[0])
            integer = arguments[1].type
            place = builder.gep(meta.data, [integer(int(L.AT + array))], source_etype=integer)
            offset = builder.mul(arguments[1], integer(kind.itemsize))
            address = builder.add(builder.load(place, typ=integer), offset)
            return builder.inttoptr(address, context.get_value_type(signature.return_type))

        return numba.from_dtype(kind)(meta, types.int64), codegen

    return record


prototype = _records(L.PROTOTYPES, L.PROTOTYPE)
cluster = _records(L.CLUSTERS, L.CLUSTER)
edge = _records(L.EDGES, L.EDGE)
contact = _records(L.CONTACTS, L.CONTACT)
pair = _records(L.PAIRS, L.PAIR)
