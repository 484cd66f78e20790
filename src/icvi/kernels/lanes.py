"""Eight neighbouring columns of a row as one value that stays in registers.

Rows are addressed as ``a[r, i]``: making a view ``a[r]`` costs more than the eight numbers.
"""

from __future__ import annotations

from icvi.kernels.compiling import kernel

LANES = 8


@kernel(forceinline=True)
def load(a, r, i):
    """a[r, i], ..., a[r, i + 7]."""
    return (
        a[r, i], a[r, i + 1], a[r, i + 2], a[r, i + 3],
        a[r, i + 4], a[r, i + 5], a[r, i + 6], a[r, i + 7],
    )  # fmt: skip


@kernel(forceinline=True)
def store(a, r, i, x):
    """Write eight values to a[r, i], ..., a[r, i + 7]."""
    a[r, i], a[r, i + 1], a[r, i + 2], a[r, i + 3] = x[0], x[1], x[2], x[3]
    a[r, i + 4], a[r, i + 5], a[r, i + 6], a[r, i + 7] = x[4], x[5], x[6], x[7]


@kernel(forceinline=True)
def times(x, y):
    """X y."""
    return (
        x[0] * y[0], x[1] * y[1], x[2] * y[2], x[3] * y[3],
        x[4] * y[4], x[5] * y[5], x[6] * y[6], x[7] * y[7],
    )  # fmt: skip


@kernel(forceinline=True)
def minus_product(x, y, z):
    """X - y z."""
    return (
        x[0] - y[0] * z[0], x[1] - y[1] * z[1], x[2] - y[2] * z[2], x[3] - y[3] * z[3],
        x[4] - y[4] * z[4], x[5] - y[5] * z[5], x[6] - y[6] * z[6], x[7] - y[7] * z[7],
    )  # fmt: skip
