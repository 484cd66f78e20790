"""Sparse tables: entry (row, column) is found by hash, the entries of a row by a chain.

Nothing is ever taken out; an entry that is no longer true holds zeros, until the whole graph is
built anew.
"""

from __future__ import annotations

import numpy as np
from numba import carray, types

from icvi.kernels.compiler.addresses import integers
from icvi.kernels.compiler.compiling import INTEGERS, compiled, kernel
from icvi.kernels.graph import layout as L


@kernel
def find(meta, relation, row, column):
    """Number of an entry; 0 when there is none."""
    entries, slots = arrays_of(meta, relation)
    return slots[slot_of(entries, slots, row, column)]


@kernel
def append(meta, relation, row, column, following):
    """A new entry, which comes before entry ``following`` in the chain of its row."""
    entries, slots = arrays_of(meta, relation)
    meta[L.USED + relation] += 1
    e = meta[L.USED + relation]
    entries[e, 0] = row
    entries[e, 1] = column
    entries[e, 2] = following
    slots[slot_of(entries, slots, row, column)] = e
    return e


@kernel
def arrays_of(meta, relation):
    """A relation's records, seen as rows of integers, and its slots."""
    shape = (meta[L.SIZE + relation], meta[L.WIDTH + relation])
    slots = relation + L.SLOTS
    return (
        carray(integers(meta[L.AT + relation]), shape),
        carray(integers(meta[L.AT + slots]), meta[L.SIZE + slots]),
    )


@kernel
def slot_of(entries, slots, row, column):
    """The slot of an entry, or the free one where it belongs; slots are a power of two."""
    h = np.uint64(row) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(column)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    slot = np.int64((h ^ (h >> np.uint64(32))) & np.uint64(slots.size - 1))
    while True:
        e = slots[slot]
        if e == 0 or (entries[e, 0] == row and entries[e, 1] == column):
            return slot
        slot = (slot + 1) & (slots.size - 1)


@compiled(types.void(INTEGERS, types.int64))
def rehash(meta, relation):
    """Fill the slots, which are empty, with all entries."""
    entries, slots = arrays_of(meta, relation)
    for e in range(1, meta[L.USED + relation] + 1):
        slots[slot_of(entries, slots, entries[e, 0], entries[e, 1])] = e
