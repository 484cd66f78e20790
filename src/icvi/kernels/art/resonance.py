"""What every fuzzy ART module does with a sample: code it, match it, choose, learn.

A module is one arena W of blocks of BLOCK categories: W[block, row, lane], with 2d rows of
weights, then the rows named below. Every category's sums run from the first feature to the last, so
matches are reproducible to the bit and ties are true ties; the first category wins a tie.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.art.coding import GROUP, matches_at
from icvi.kernels.compiler.addresses import array, pointer_to
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import at_most, lowest_bit
from icvi.kernels.compiler.lanes import in_all_lanes, load, load_line, reaching, store_line
from icvi.kernels.layout import LANES as BLOCK

#: Rows after the 2d weights: |w|, and the owner's number.
NORM, OWNER = 0, 1
EXTRA_ROWS = 2

#: Places of a module's counters: categories, and how often a weight has changed.
CATEGORIES, CHANGES = 0, 1
COUNTERS = 2

#: Columns of a note in front of a category's own: its number, and the counters.
NOTED = 1 + COUNTERS


@embedded(returns=types.int64)
def blocks(k):
    """Number of blocks that hold k categories."""
    return (k + BLOCK - 1) // BLOCK


@embedded(returns=types.int64, fastmath=False, forceinline=True)
def add_minima(W, I, first, end, block, out, rest, need):
    """Add min(I[t], W[block, t]), first <= t < end, to BLOCK sums in I, from out on.

    The sums start at 0 where first is 0. Those that, plus rest, reach need, as the bits of a
    number.
    """
    s = in_all_lanes(0.0) if first == 0 else load_line(I, out)
    # Rows of BLOCK numbers, not of as many as W has, from the first on, not from the last: 600
    # categories of 16 features took 2.3 us instead of 1.95.
    w = array(pointer_to(W, block), (W.shape[1], BLOCK))
    for t in range(first, end):
        s = s + at_most(load(w, t, 0), I[np.uint64(t)])  # it is not negative
    store_line(I, out, s)
    return reaching(s + rest, need)


# Inlined: FuzzySMART takes 6.3 us for a sample instead of 6.9 with registers of 256 bits.
@embedded(returns=types.int64, forceinline=True)
def matched(W, I, rows, need, block):
    """Matches of a block of categories; those that reach ``need``, as the bits of a number.

    Where none can, sums stop early: they are then below the need, as they would be complete.
    """
    passing, first = np.int64(1), np.int64(0)
    while passing != 0 and first < rows:
        end = min(first + GROUP, rows)
        rest = I[rows + first // GROUP]
        passing = add_minima(W, I, first, end, block, matches_at(rows), rest, need)
        first = end
    return passing


@embedded(returns=types.int64)
def resonant(W, I, k, need, alpha):
    """The category with the highest choice among those that pass vigilance; -1 if none does."""
    rows = W.shape[1] - EXTRA_ROWS
    M = matches_at(rows)
    winner, best = -1, -1.0
    for block in range(blocks(k)):
        passing = matched(W, I, rows, need, block)
        while passing != 0:
            lane = lowest_bit(passing)
            passing &= passing - 1
            choice = I[M + lane] / (alpha + W[block, rows + NORM, lane])
            if choice > best and block * BLOCK + lane < k:
                winner, best = block * BLOCK + lane, choice
    return winner


@embedded(returns=types.Tuple((types.int64, types.boolean, types.int64, types.int64)))
def ranked(W, I, k, need, alpha, owner):
    """Winner, whether it passes vigilance, and the two highest choices of all categories.

    The winner is the resonant category of this owner with the highest choice; without a
    resonant one, the owner's highest choice; owner -1 takes all. -1 stands for none.
    """
    rows = W.shape[1] - EXTRA_ROWS
    M = matches_at(rows)
    winner, nearest, first, second = -1, -1, -1, -1
    T_winner, T_nearest, T_first, T_second = -1.0, -1.0, -1.0, -1.0
    for block in range(blocks(k)):
        matched(W, I, rows, -1.0, block)
        for lane in range(min(BLOCK, k - block * BLOCK)):
            j = block * BLOCK + lane
            choice = I[M + lane] / (alpha + W[block, rows + NORM, lane])
            if choice > T_second:
                if choice > T_first:
                    second, T_second = first, T_first
                    first, T_first = j, choice
                else:
                    second, T_second = j, choice
            if choice > T_winner and (owner < 0 or W[block, rows + OWNER, lane] == owner):
                if choice > T_nearest:
                    nearest, T_nearest = j, choice
                if I[M + lane] >= need:
                    winner, T_winner = j, choice
    if winner >= 0:
        return winner, True, first, second
    return nearest, False, first, second


@embedded
def put_down(W, j, counters, note):
    """Note category j as it is before a change, for the way back; row 0 counts the others.

    Callers skip it for a note without rows: called in any case, it takes a third of the time.
    """
    row = np.int64(note[0, 0]) + 1
    note[0, 0] = row
    if row < note.shape[0]:
        note[row, 0] = j
        for c in range(COUNTERS):
            note[row, 1 + c] = counters[c]
        for t in range(W.shape[1]):
            note[row, NOTED + t] = W[j // BLOCK, t, j % BLOCK]


@embedded
def learn(W, I, j, beta, counters):
    """Move category j towards min(I, w)."""
    rows = W.shape[1] - EXTRA_ROWS
    block, lane = j // BLOCK, j % BLOCK
    changed = False
    for t in range(rows):
        w = W[block, t, lane]
        if I[t] < w:
            w = (1.0 - beta) * w + beta * I[t]
            changed = changed or w != W[block, t, lane]
            W[block, t, lane] = w
    if changed:
        norm = 0.0
        for t in range(rows):
            norm += W[block, t, lane]
        W[block, rows + NORM, lane] = norm
        counters[CHANGES] += 1


@embedded(returns=types.int64)
def create(W, I, owner, counters):
    """Make the sample a category of an owner; its number."""
    rows = W.shape[1] - EXTRA_ROWS
    j = counters[CATEGORIES]
    block, lane = j // BLOCK, j % BLOCK
    norm = 0.0
    for t in range(rows):
        W[block, t, lane] = I[t]
        norm += I[t]
    W[block, rows + NORM, lane], W[block, rows + OWNER, lane] = norm, owner
    counters[CATEGORIES] += 1
    counters[CHANGES] += 1
    return j
