"""Minima, maxima and sums over clusters, for readings; compiled ones call `kernels.sums` instead.

A loop with a comparison would be as clear, but it is not vectorised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def total(values: Vector) -> float:
    """The sum of some numbers."""
    return float(values.sum())


def largest(values: Vector) -> float:
    """The largest of some numbers."""
    return float(values.max())


def silhouettes(a: Vector, b: Vector) -> float:
    """Sum of (b_i - a_i) / max(a_i, b_i); minus infinity where both are 0 for some i."""
    larger = np.maximum(a, b)
    return float(np.where(larger > 0.0, (b - a) / larger, -np.inf).sum())


def least_pooled(var: Vector, CP: Vector, n: Vector) -> float:
    """Min over pairs of (CP_i + CP_j) / (n_i + n_j).

    One of the two is the cluster with the smallest var, because the fraction lies between the var
    of both.
    """
    narrow = int(var.argmin())
    pooled = (CP[narrow] + CP) / (n[narrow] + n)
    pooled[narrow] = np.inf
    return float(pooled.min())


def log_volumes(n: Vector, N: float, logdet: Vector, logdet_T: float) -> float:
    """Sum of p_i ((ln|Sigma_i| - ln|Sigma_data|) / 2 - ln p_i), where p_i = n_i / N."""
    p = n / N
    return float((p * (0.5 * (logdet - logdet_T) - np.log(p))).sum())
