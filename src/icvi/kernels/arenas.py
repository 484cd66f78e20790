"""The arrays of a partition, as kernels find them: by the addresses in ``meta``; see `layout`."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import array, doubles
from icvi.kernels.compiler.compiling import CUBE, DOUBLES, MATRIX
from icvi.kernels.compiler.embedded import embedded


@embedded(returns=types.Tuple((MATRIX, CUBE, MATRIX)), forceinline=True)
def arenas(m, columns):
    """A, Q and C, which have that many columns."""
    A = array(doubles(m[L.AT_A]), (m[L.ROWS], columns))
    Q = array(doubles(m[L.AT_Q]), (columns + 1, m[L.Q_ROWS], m[L.Q_WIDTH]))
    C = array(doubles(m[L.AT_C]), (L.CACHE_ROWS, columns))
    return A, Q, C


@embedded(returns=DOUBLES, forceinline=True)
def group(m, parameters):
    """Where the arena of G begins that a step is for."""
    return doubles(m[L.AT_G] + np.int64(parameters[0]) * (m[L.G_ROWS] * m[L.COLUMNS] * 8))


@embedded(returns=types.UniTuple(MATRIX, 2), forceinline=True)
def gaussian_arena(m, parameters):
    """The G that a step is for, and the same in rows of LANES numbers."""
    G = array(group(m, parameters), (m[L.G_ROWS], m[L.COLUMNS]))
    return G, array(group(m, parameters), (m[L.G_ROWS] * m[L.COLUMNS] // L.LANES, L.LANES))
