"""Numbers hold: against 60-digit arithmetic on the very same doubles, and on long streams.

Relative error below 1e-9 everywhere, for every index; where conditioning forbids it the reading is
nan, or the data themselves have no more digits. `test_conditioning` looks for hard cases.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import exact
import icvi
from streams import GAUSSIAN, NAMES, assert_same, blobs, tracked

MOMENT = [name for name in NAMES if name not in GAUSSIAN]


def assert_precise(X: np.ndarray, labels: np.ndarray, names: list[str] = NAMES) -> None:
    """Streamed and batch values against extended precision."""
    expected = {name: exact.exact(name, X, labels.tolist()) for name in names}
    assert all(np.isfinite(value) for value in expected.values()), expected
    assert_same(tracked(X, labels, names), expected, rtol=1e-9, atol=0.0)
    assert_same(icvi.scores(X, labels, names), expected, rtol=1e-9, atol=0.0)


@pytest.mark.parametrize("seed", range(3))
def test_plain_data(seed):
    assert_precise(*blobs(n=150, d=3, k=5, seed=seed))


@pytest.mark.parametrize("offset", [1e4, 1e8, -1e8, 1e11])
def test_data_far_from_the_origin(offset):
    X, labels = blobs(n=150, d=3, k=5)
    assert_precise(X + offset, labels)


def test_features_with_different_offsets_and_scales():
    X, labels = blobs(n=150, d=3, k=5)
    assert_precise(X * [1.0, 1e-3, 30.0] + [1e8, -5e4, 0.0], labels)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_extreme_scales(scale):
    X, labels = blobs(n=150, d=2, k=5)
    representable = [n for n in MOMENT if n not in ("I", "PBM")]
    assert_precise(scale * X, labels, representable)
    index = icvi.I(p=1)
    ours = {"I": icvi.score(scale * X, labels, index)}
    assert_same(ours, {"I": exact.exact("I", scale * X, labels.tolist(), p=1)}, atol=0.0)


def test_covariance_indices_on_huge_and_tiny_data():
    """rCIP itself leaves the range of doubles; its logarithm, NI and rH do not."""
    X, labels = blobs(n=150, d=2, k=4)
    for scale in (1e-100, 1e100):
        for index, name, options in (
            (icvi.NI(), "NI", {}),
            (icvi.rH(), "rH", {}),
            (icvi.rCIP(log_rcip=True), "rCIP", {"log_rcip": True}),
        ):
            expected = exact.exact(name, scale * X, labels.tolist(), **options)
            ours = tracked(scale * X, labels, [index])
            np.testing.assert_allclose(list(ours.values()), expected, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e12])
def test_a_first_sample_that_is_a_far_outlier(outlier):
    """In a cluster of its own, and in one with others, whose covariance it then spoils."""
    X, labels = blobs(n=150, d=2, k=4)
    X = np.vstack([[outlier, -outlier], X])
    covariance = NAMES if outlier < 1e10 else MOMENT  # two doubles are not enough beyond
    assert_precise(X, np.concatenate([[4], labels]), [*MOMENT, "rCIP", "rH"])
    assert_precise(X, np.concatenate([[4], labels]), covariance)
    assert_precise(X, np.concatenate([[0], labels]), covariance)


def test_clusters_far_apart_compared_with_their_width():
    X, labels = blobs(n=150, d=2, k=4, width=1e-6, box=1e6)
    assert_precise(X, labels, [n for n in NAMES if n != "rCIP"])


def test_a_mean_that_drifts_far_from_where_the_stream_began():
    X, labels = blobs(n=200, d=2, k=4)
    assert_precise(X + np.linspace(0.0, 1e9, len(X))[:, None], labels)


def test_between_scatter_that_is_tiny_beside_the_within_scatter():
    """CP_0 - W would have no correct digit here; B is summed instead."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((60, 2))
    X = np.vstack([half, half + 1e-7])
    labels = np.repeat([0, 1], 60)
    assert_precise(X, labels, ["CH", "WB", "XB", "DB", "PS", "GD43"])


def test_sums_over_pairs_forget_what_was_large():
    """Early clusters of one sample make rCIP huge; no trace of it may remain."""
    rng = np.random.default_rng(0)
    k = 6
    first = np.zeros((k, 2)) + 1e-9 * rng.standard_normal((k, 2))
    X, labels = blobs(n=400, d=2, k=k, width=0.05, box=40.0, seed=2)
    tracker = icvi.Tracker(["rCIP", "rH"])
    early = tracker.update_many(first, np.arange(k))
    assert early["rCIP"][-1] > 1e4
    tracker.update_many(X, labels)
    X, labels = np.vstack([first, X]), np.concatenate([np.arange(k), labels])
    assert_same(tracker.values, {n: exact.exact(n, X, labels.tolist()) for n in ("rCIP", "rH")})


def test_ten_million_samples_far_from_the_origin():
    rng = np.random.default_rng(0)
    n, k = 10_000_000, 8
    labels = rng.integers(0, k, n)
    X = rng.standard_normal((n, 2))
    X += (6.0 * rng.random((k, 2)))[labels] + 1e8
    tracker = icvi.Tracker("all")
    tracker.update_many(X, labels, every=n)
    moments = exact.moments_longdouble(X, labels)
    expected = {name: exact.read(name, moments) for name in NAMES}
    assert_same(tracker.values, expected, rtol=1e-9, atol=0.0)
    assert_same(icvi.scores(X, labels, "all"), expected, rtol=1e-9, atol=0.0)


# -- where conditioning forbids it ---------------------------------------------------------


def relative_change(name: str, X: np.ndarray, labels: np.ndarray) -> float:
    """How much the exact value changes when one input changes by half a unit in the last place."""
    nudged = X.copy()
    nudged[0, 0] = np.nextafter(X[0, 0], np.inf)
    with mpmath.workdps(60):
        before = exact.exact(name, X, labels.tolist())
        after = exact.exact(name, nudged, labels.tolist())
    return abs(after - before) / abs(before)


def test_coincident_centroids_up_to_rounding_are_ill_conditioned():
    """XB divides by a distance of 1e-16: the last digit of one sample moves it by percents.

    No arithmetic on doubles can do better than the doubles it is given.
    """
    X = np.array([[0.1], [0.3], [0.2], [0.2 + 1e-16]])
    labels = np.array([0, 0, 1, 1])
    assert relative_change("XB", X, labels) > 0.01
    assert icvi.score(X, labels, "XB") > 1e30


def test_singular_clusters_beyond_rounding_are_undefined_not_garbage():
    X = 1e9 * np.array([[0.0, 1.0], [1.0, 2.0], [5.0, 3.0], [7.0, 5.0]])
    tracker = icvi.Tracker(["NI", "rH"])
    tracker.update_many(X, [0, 0, 1, 1])
    assert np.isnan(tracker["NI"])
    assert tracker.why("NI") == "singular_scatter"
