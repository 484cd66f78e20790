"""Two Gaussians, each with a covariance of its own, fitted by expectation maximisation.

Two clusters that are long in different directions have no covariance in common: Fisher's direction
of a first guess, improved with one covariance for both, ends between them and another cut. With
two covariances the shares of samples find the clusters, and Fisher's direction of *these* is right.

Few samples say little about a covariance, so each is shrunk towards the one within both groups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_RIDGE = 1e-3  # of the variance of whitened samples, which is 1


def two_gaussians(Y: Array, R: Array, rounds: int) -> Array:
    """Improve shares of samples in the second of two groups, for several guesses at once.

    Parameters
    ----------
    Y : ndarray of shape (n, r)
        Whitened samples.
    R : ndarray of shape (n, m)
        Shares from 0 to 1, one guess per column.
    rounds : int
        Steps of expectation maximisation.
    """
    n, r = Y.shape
    m = R.shape[1]
    W = np.concatenate([1.0 - R.T, R.T])  # first groups, then second ones
    for _ in range(rounds):
        size = W.sum(axis=1) + 1e-9
        means = W @ Y / size[:, None]
        C = np.matmul((Y[None] * W[:, :, None]).transpose(0, 2, 1), Y) / size[:, None, None]
        C -= means[:, :, None] * means[:, None, :]
        pooled = C * (size / n)[:, None, None]
        pooled = np.tile(pooled[:m] + pooled[m:], (2, 1, 1))
        doubt = np.minimum(1.0, (r + 1.0) / size)[:, None, None]
        C += doubt * (pooled - C)
        C[:, range(r), range(r)] += _RIDGE
        L = np.linalg.cholesky(C)
        back = np.linalg.inv(L)
        Z = (
            np.matmul(Y, back.transpose(0, 2, 1))
            - np.matmul(back, means[:, :, None])[:, None, :, 0]
        )
        log_p = np.log(size / n) - np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
        log_p = log_p[:, None] - 0.5 * np.einsum("mnr,mnr->mn", Z, Z)
        second = 1.0 / (1.0 + np.exp(np.clip(log_p[:m] - log_p[m:], -30.0, 30.0)))
        W = np.concatenate([1.0 - second, second])
    return np.ascontiguousarray(W[m:].T)
