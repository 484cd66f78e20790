"""Log-determinants of single covariances, which NI alone reads, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

import icvi

DELTA = 1e-3
NI = icvi.NI(delta=DELTA)


def negentropy(X, labels, delta=DELTA):
    """NI from its definition; covariances by numpy."""

    def half_log(x):
        eye = np.eye(X.shape[1])
        Sigma = np.cov(x, rowvar=False).reshape(eye.shape) if len(x) > 1 else 0.0 * eye
        return 0.5 * np.linalg.slogdet(Sigma + delta * eye)[1]

    parts = [X[labels == label] for label in np.unique(labels)]
    share = [len(part) / len(X) for part in parts]
    terms = [p * (half_log(part) - np.log(p)) for p, part in zip(share, parts, strict=True)]
    return sum(terms) - half_log(X)


def stream(d, correlation):
    """Three clusters, one of a single sample, of features that depend on each other."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(60, d)) + correlation * rng.normal(size=(60, 1))
    labels = np.arange(60) % 2
    labels[-1] = 2
    return X * rng.uniform(0.5, 2.0, size=d) + labels[:, None], labels


# Rows are worked on eight features at once. Beyond 73 features factors need more scratch than rows.
@pytest.mark.parametrize("d", [*range(1, 10), 15, 16, 17, 40, 73, 74, 75, 130])
@pytest.mark.parametrize("correlation", [0.0, 3.0, 30.0])
def test_after_some_samples(d, correlation):
    X, labels = stream(d, correlation)
    readings = icvi.Tracker([NI]).update_many(X, labels)[NI.name]
    for n in (10, 59, 60):
        expected = negentropy(X[:n], labels[:n])
        assert readings[n - 1] == pytest.approx(expected, rel=1e-9, abs=1e-9 * d)


def test_alone_as_beside_the_indices_of_pairs():
    X, labels = stream(12, 3.0)
    alone = icvi.Tracker(["NI"]).update_many(X, labels)["NI"]
    together = icvi.Tracker(["NI", "rCIP"]).update_many(X, labels)["NI"]
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-9)


def test_a_singular_covariance_is_undefined():
    X, labels = stream(5, 0.0)
    index = icvi.NI(delta=0.0)
    tracker = icvi.Tracker([index])
    tracker.update_many(X, labels)  # the last cluster has one sample
    assert tracker.why(index.name) == "singular_scatter"
