"""The log of a call: columns as they were before single samples changed them."""

from __future__ import annotations

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.addresses import array, doubles
from icvi.kernels.compiler.embedded import embedded


@embedded
def log_column(meta, column):
    """Note column ``column`` of A and Q, for `Arenas.restore`; there is room for it."""
    entry, columns = meta[L.LOGGED], meta[L.COLUMNS]
    A, Q, _ = arenas(meta, columns)
    if entry == 0:
        meta[L.UNDO_K], meta[L.UNDO_LAST] = meta[L.K], meta[L.LAST]
        meta[L.UNDO_STALE] = meta[L.STALE]
    width = 1 + meta[L.ROWS] + meta[L.Q_ROWS] * meta[L.Q_WIDTH]
    log = array(doubles(meta[L.AT_LOG]), (meta[L.LOG_ROOM], width))
    log[entry, 0] = column
    at = 1
    for row in range(meta[L.ROWS]):
        log[entry, at] = A[row, column]
        at += 1
    for row in range(meta[L.Q_ROWS]):
        for t in range(meta[L.Q_WIDTH]):
            log[entry, at] = Q[column, row, t]
            at += 1
    meta[L.LOGGED] = entry + 1
