"""Directions in whitened coordinates from which a search for the clearest cut starts."""

from __future__ import annotations

import math

from numba import int64

from icvi.kernels.compiler.compiling import SUMS
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.splits.whitening import copy, dot, hashed

_LOWEST, _HIGHEST = 4, 2  # eigenvectors of the kurtosis matrix
_RANDOM = 4  # starts that move to extreme kurtosis or, the first of them, skewness
_PURSUIT = 2  # steps of such a move
_SWEEPS = 4  # of Jacobi's method
_POWERS = 6  # steps to a principal axis

#: More directions than there ever are.
MOST = 4 + 2 * (_LOWEST + _HIGHEST) + _RANDOM


@embedded(fastmath=SUMS)
def project(F, q, u):
    """What samples, the columns of F, project to along a direction."""
    for i in range(len(u)):
        u[i] = 0.0
    for t in range(len(q)):
        f, weight = F[t], q[t]
        for i in range(len(u)):
            u[i] += weight * f[i]


@embedded
def to_unit_length(q):
    """Scale a direction, unless it is 0."""
    length = math.sqrt(dot(q, q))
    if length > 0.0:
        for t in range(len(q)):
            q[t] /= length


@embedded
def principal_axis(C, L, units, a, b, other, q):
    """Towards the widest axis with features in other units, at right angles to another axis."""
    r = len(a)
    for t in range(r):
        a[t] = units[t] * units[t]
    for _ in range(_POWERS):
        to_unit_length(a)
        along = dot(a, other)
        for t in range(r):
            b[t] = a[t] - along * other[t]
        for t in range(r):
            a[t] = units[t] * units[t] * dot(C[t], b)
    to_unit_length(a)
    for t in range(r):
        q[t] = 0.0
        for s in range(t, r):
            q[t] += L[s, t] * a[s]


@embedded
def diagonalise(K, V):
    """Jacobi's method: eigenvalues on the diagonal of K, eigenvectors in the rows of V."""
    r = K.shape[0]
    for t in range(r):
        for s in range(r):
            V[t, s] = 1.0 if s == t else 0.0
    for _ in range(_SWEEPS):
        for p in range(r):
            for q in range(p + 1, r):
                if abs(K[p, q]) <= 1e-4 * abs(K[q, q] - K[p, p]):
                    continue
                theta = (K[q, q] - K[p, p]) / (2.0 * K[p, q])
                tangent = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    tangent = -tangent
                c = 1.0 / math.sqrt(tangent * tangent + 1.0)
                s = tangent * c
                for j in range(r):
                    a, b = K[j, p], K[j, q]
                    K[j, p], K[j, q] = c * a - s * b, s * a + c * b
                for j in range(r):
                    a, b = K[p, j], K[q, j]
                    K[p, j], K[q, j] = c * a - s * b, s * a + c * b
                for j in range(r):
                    a, b = V[p, j], V[q, j]
                    V[p, j], V[q, j] = c * a - s * b, s * a + c * b


@embedded
def pursue(F, q, u, skewed):
    """Move a direction towards extreme skewness or kurtosis."""
    n = len(u)
    for _ in range(_PURSUIT):
        to_unit_length(q)
        project(F, q, u)
        for i in range(n):
            u[i] *= u[i] if skewed else u[i] * u[i]
        for t in range(len(q)):
            q[t] = dot(F[t], u) - (0.0 if skewed else 3.0 * n * q[t])


@embedded(returns=int64)
def rank(K, t):
    """How many values on the diagonal of a matrix are less than one of them."""
    less = 0
    for s in range(K.shape[0]):
        if K[s, s] < K[t, t] or (K[s, s] == K[t, t] and s < t):
            less += 1
    return less


@embedded(fastmath=SUMS)
def weigh_by_length(F, K, skewness, squares, heavy):
    """The kurtosis matrix of whitened samples, and the vector of skewness."""
    r, n = F.shape
    for i in range(n):
        squares[i] = 0.0
    for t in range(r):
        f = F[t]
        for i in range(n):
            squares[i] += f[i] * f[i]
    for t in range(r):
        f, total = F[t], 0.0
        for i in range(n):
            heavy[i] = f[i] * squares[i]
            total += heavy[i]
        skewness[t] = total
        for s in range(t + 1):
            K[t, s] = K[s, t] = dot(heavy, F[s])


@embedded(returns=int64)
def directions(F, matrices, widths, vectors, rows, Q):
    """Fill the rows of Q; how many there are."""
    r = F.shape[0]
    C, L, K, V = matrices[0], matrices[1], matrices[2], matrices[3]
    ones, none, axis, a, b = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    for t in range(r):
        ones[t], none[t] = 1.0, 0.0
    principal_axis(C, L, widths, a, b, none, Q[0])
    principal_axis(C, L, ones, axis, b, none, Q[1])
    principal_axis(C, L, ones, a, b, axis, Q[2])
    weigh_by_length(F, K, Q[3], rows[0], rows[1])
    diagonalise(K, V)
    m = 4
    for t in range(r):
        place = rank(K, t)
        if place < _LOWEST or place >= r - _HIGHEST:
            copy(V[t], Q[m])
            copy(V[t], Q[m + 1])
            pursue(F, Q[m + 1], rows[0], t < 0)
            m += 2
    for start in range(_RANDOM):
        for t in range(r):
            Q[m, t] = hashed(start * r + t) - 0.5
        pursue(F, Q[m], rows[0], start == 0)
        m += 1
    return m
