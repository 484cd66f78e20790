"""Cholesky factors of stacks of covariances, and how wrong they can be; `kernels.pivots` says why.

With numpy alone: small jobs never meet the compiler.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.rounding import LARGEST_H, LN_2PI, TOLERANCE
from icvi.state.two_doubles import Array, Pair, inverse_root

Booleans = NDArray[np.bool_]


def factor(Sigma: Array, e: Array, unit: float) -> tuple[Array, Array, Booleans]:
    """Quadratic forms e' Sigma^-1 e and ln|Sigma| of a stack, and whether both are precise.

    ``unit`` is the u of Sigma and of the factorisation; where e is 0, only the determinant counts.
    Column by column over the whole stack.
    """
    d = Sigma.shape[1]
    L, z = np.array(Sigma), np.array(e)
    pivots = np.empty_like(z)
    for c in range(d):
        row = L[:, c, :c]
        pivots[:, c] = L[:, c, c] - np.einsum("im,im->i", row, row)
        root = np.sqrt(pivots[:, c])
        z[:, c] = (z[:, c] - np.einsum("im,im->i", row, z[:, :c])) / root
        below = np.einsum("irm,im->ir", L[:, c + 1 :, :c], row)
        L[:, c + 1 :, c] = (L[:, c + 1 :, c] - below) / root[:, None]
        L[:, c, c] = root
    return _read(L, z, pivots, np.full(len(L), unit))


def factor_precisely(Sigma: Pair, e: Pair, unit: Array) -> tuple[Array, Array, Booleans]:
    """The same in two doubles; ``unit`` is of each matrix."""
    m, d = e.high.shape
    # e is one more row below Sigma, and is solved for along with the factor.
    A = Pair(*(np.concatenate([S, row[:, None]], axis=1) for S, row in zip(Sigma, e, strict=True)))
    L, pivots = np.zeros((m, d + 1, d)), np.empty((m, d))
    for c in range(d):
        column = A.at(slice(None), slice(c, None), c)
        pivots[:, c] = column.high[:, 0]
        column = column.times(inverse_root(column.at(slice(None), slice(1))))
        L[:, c:, c] = column.high
        below, across = (
            column.at(slice(None), slice(1, None), None),
            column.at(slice(None), None, slice(1, -1)),
        )
        rest = A.at(slice(None), slice(c + 1, None), slice(c + 1, None))
        rest = rest.plus(below.times(across).negative())
        for whole, part in zip(A, rest, strict=True):
            whole[:, c + 1 :, c + 1 :] = part
    return _read(L[:, :d], L[:, d], pivots, unit)


def _read(L: Array, z: Array, pivots: Array, unit: Array) -> tuple[Array, Array, Booleans]:
    quadratic, logdet = np.einsum("ic,ic->i", z, z), np.log(pivots).sum(axis=1)
    h = np.where(z.any(axis=1), cross_entropy(quadratic, logdet, z.shape[1]), 0.0)
    allowed = TOLERANCE * np.where(np.abs(h) > LARGEST_H, np.abs(h), 1.0)
    return quadratic, logdet, _errors(L, z, unit) <= allowed


def cross_entropy(quadratic: Array, logdet: Array, d: int) -> Array:
    """Cross-entropies h of pairs of clusters."""
    return np.asarray(0.5 * (quadratic + logdet + d * LN_2PI))


def _errors(L: Array, z: Array, unit: Array) -> Array:
    """Bounds on the errors of h."""
    d = L.shape[1]
    t, size = np.sqrt(np.einsum("irc,irc->ir", np.tril(L), np.tril(L))), np.abs(L)
    x, y = np.array(z), np.array(t)
    for c in range(d):
        y[:, c] = (t[:, c] + np.einsum("im,im->i", size[:, c, :c], y[:, :c])) / size[:, c, c]
    for c in range(d - 1, -1, -1):
        x[:, c] = (x[:, c] - np.einsum("ir,ir->i", L[:, c + 1 :, c], x[:, c + 1 :])) / L[:, c, c]
    squares = np.einsum("ic,ic->i", y, y)
    products = np.einsum("ic,ic->i", t, np.abs(x))
    return np.asarray(0.5 * unit * (squares + products * (2.0 + products)))
