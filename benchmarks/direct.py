"""The eight indices straight from their definitions: slow, obvious, to check the floor with."""

from __future__ import annotations

import numpy as np

from data import Floats, Ints


def moments(X: Floats, labels: Ints, k: int) -> tuple[Floats, Floats, Floats]:
    """Return n_i, v_i and CP_i of the clusters 0 to k - 1."""
    members = [X[labels == i] for i in range(k)]
    n = np.array([len(each) for each in members], dtype=np.float64)
    v = np.array([each.mean(axis=0) for each in members])
    CP = np.array([((each - each.mean(axis=0)) ** 2).sum() for each in members])
    return n, v, CP


def pairs(a: Floats) -> Floats:
    """Return a_i + a_j for every pair."""
    return np.asarray(a[:, None] + a[None, :])


def eight(X: Floats, labels: Ints, k: int) -> dict[str, float]:
    """Return the eight readings that icvi shares with cvi."""
    n, v, CP = moments(X, labels, k)
    N, W, var = n.sum(), CP.sum(), CP / n
    B = (n * ((v - X.mean(axis=0)) ** 2).sum(axis=1)).sum()
    beta = ((v - v.mean(axis=0)) ** 2).sum() / k
    D = np.array([((v - each) ** 2).sum(axis=1) for each in v])
    itself = np.diag(np.full(k, np.inf))
    nearest = (D + itself).min(axis=1)
    b = (var[None, :] + D + itself).min(axis=1)
    width = 2 * var.max()
    return {
        "CH": B / (k - 1) / (W / (N - k)),
        "SIL": float(((b - var) / np.maximum(b, var)).mean()),
        "DB": float((pairs(var) / (D + itself)).max(axis=1).mean()),
        "GD43": np.sqrt(nearest.min()) / width,
        "GD53": (pairs(CP) / pairs(n) + itself).min() / width,
        "PS": float((n / n.max() - np.exp(-nearest / beta)).sum()),
        "WB": k * W / B,
        "XB": W / (N * nearest.min()),
    }
