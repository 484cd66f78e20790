"""A stream with alarms of both kinds."""

from __future__ import annotations

from contextlib import closing

import numpy as np

import icvi

N = 3000


def stream():
    """Three clusters, one of which is labelled as two; for a while samples scatter."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N)
    labels = np.where(truth == 2, rng.integers(2, 4, N), truth)
    X = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[truth] + rng.normal(size=(N, 2))
    X[1000:1100] += 12.0 * rng.normal(size=(100, 2))
    return X, labels


X, LABELS = stream()
RULES = ["SIL < 0.6 for 50", "k >= 4", "SIL > 0.64", "CH < 5000 for 7"]


def watched(n=N, **options):
    given = {"indices": ["CH", "SIL"], "alerts": RULES}
    return icvi.watch((X[:n], LABELS[:n]), **{**given, **options})


def run(n=N, **options):
    with closing(watched(n, **options)) as one:
        return one.run()
