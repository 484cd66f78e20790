"""Sparse tables: entry (row, column) is found by hash, the entries of a row by a chain.

Entries are never removed. One that is no longer true has zeros, until the graph is rebuilt.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiler.addresses import array, integers
from icvi.kernels.compiler.compiling import INTEGERS, PAIRS, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.graph import layout as L


@embedded(returns=types.int64)
def find(meta, table, row, column):
    """Number of an entry; 0 when there is none."""
    entries, slots = arrays_of(meta, table)
    return slots[slot_of(entries, slots, row, column)]


@embedded(returns=types.int64)
def append(meta, table, row, column, following):
    """A new entry, which comes before entry ``following`` in the chain of its row."""
    entries, slots = arrays_of(meta, table)
    meta[L.USED + table] += 1
    e = meta[L.USED + table]
    entries[e, 0] = row
    entries[e, 1] = column
    entries[e, 2] = following
    slots[slot_of(entries, slots, row, column)] = e
    return e


@embedded(returns=types.Tuple((PAIRS, INTEGERS)))
def arrays_of(meta, table):
    """The records of a table, as rows of integers, and its slots."""
    shape = (meta[L.SIZE + table], meta[L.WIDTH + table])
    slots = table + L.SLOTS
    return (
        array(integers(meta[L.AT + table]), shape),
        array(integers(meta[L.AT + slots]), (meta[L.SIZE + slots],)),
    )


@embedded(returns=types.int64)
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
def rehash(meta, table):
    """Fill the slots, which are empty, with all entries."""
    entries, slots = arrays_of(meta, table)
    for e in range(1, meta[L.USED + table] + 1):
        slots[slot_of(entries, slots, entries[e, 0], entries[e, 1])] = e
