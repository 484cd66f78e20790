"""The exponential function of loops over clusters, against the one of the C library."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from icvi.kernels.exponential import exp_negative


@numba.njit
def exponentials(y, out):
    for i in range(len(y)):
        out[i] = exp_negative(y[i])


def of(y):
    y = np.asarray(y, dtype=float)
    out = np.empty_like(y)
    exponentials(y, out)
    return out


@pytest.mark.parametrize("scale", [1e-17, 1e-8, 0.3, 1.0, 40.0, 690.0])
def test_it_is_right_to_two_units_in_the_last_place(scale):
    y = -scale * np.random.default_rng(0).random(20_000)
    expected = np.array([math.exp(each) for each in y])
    assert np.abs(of(y) - expected).max() / np.spacing(expected).max() < 2.0
    np.testing.assert_allclose(of(y), expected, rtol=4.5e-16)


def test_halves_of_ln_2_are_no_seams():
    m = np.arange(0, 1000)[:, None] / 2
    y = (-m * math.log(2.0) + np.array([-1e-12, 0.0, 1e-12])).ravel()
    y = y[(y <= 0.0) & (y > -690.0)]
    np.testing.assert_allclose(of(y), np.exp(y), rtol=4.5e-16)


def test_it_is_1_at_0_and_next_to_nothing_far_below():
    assert of([0.0, -0.0]).tolist() == [1.0, 1.0]
    far = of([-700.0, -745.0, -1e5, -1e300, -math.inf])
    assert (far == far[0]).all()
    assert 0.0 < far[0] < 1e-300


def test_nan_ends_nothing():
    assert of([math.nan]).tolist() == of([-700.0]).tolist()
