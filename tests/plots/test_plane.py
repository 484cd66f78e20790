"""The plane of a figure: features as they are, or the two directions of the largest spread."""

import numpy as np
import pytest

from icvi.plots.plane import Plane, principal_axes


@pytest.mark.parametrize("d", [1, 2])
def test_one_or_two_features_are_drawn_as_they_are(d):
    X = np.random.default_rng(0).normal(size=(9, d))
    plane = Plane(X)
    np.testing.assert_array_equal(plane(X)[:, :d], X)
    assert plane.names == ("x1", "x2")


def test_more_features_are_drawn_along_the_axes_of_largest_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * [1.0, 9.0, 0.1, 3.0] + 1e6
    at = Plane(X)(X)
    values, vectors = np.linalg.eigh(np.cov(X.T))
    np.testing.assert_allclose(at.var(axis=0, ddof=1), values[:-3:-1], rtol=1e-6)
    axes, shares, mean = principal_axes(X)
    np.testing.assert_allclose(shares, values[:-3:-1] / values.sum(), rtol=1e-6)
    np.testing.assert_allclose(np.abs(axes.T @ vectors[:, :-3:-1]), np.eye(2), atol=1e-5)
    np.testing.assert_allclose(mean, X.mean(axis=0))


def test_an_axis_points_to_where_its_largest_weight_is_positive():
    X = np.outer(np.arange(5.0), [1.0, -3.0, 2.0])
    for points in (X, -X):
        axes, _, _ = principal_axes(points)
        assert axes[1, 0] > 0.0


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.full((4, 5), 7.0), np.eye(3) * 1e200])
def test_points_that_span_no_plane_have_positions_all_the_same(X):
    assert np.isfinite(Plane(X)(X)).all()
