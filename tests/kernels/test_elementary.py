"""The exponential function and the logarithm of kernels, against those of the C library."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from icvi.kernels.compiler.lanes import load, store
from icvi.kernels.elementary import exp, exp_negative, ln
from icvi.kernels.layout import LANES


@numba.njit
def one_by_one(y, m, out):
    for i in range(y.shape[1]):
        out[0, i], out[1, i] = exp(y[0, i]), ln(y[1, i], m[0, i])


@numba.njit
def in_lanes(y, m, out):
    for i in range(0, y.shape[1], LANES):
        store(out, 0, i, exp(load(y, 0, i)))
        store(out, 1, i, ln(load(y, 1, i), load(m, 0, i)))


@pytest.fixture(params=[one_by_one, in_lanes], ids=["doubles", "lanes"])
def run(request):
    return request.param


def run_all(run, y, x=1.0, m=0.0):
    """Exponentials of y, logarithms of x 2^m."""
    y, x, m = np.broadcast_arrays(np.asarray(y, dtype=float), x, m)
    padded = np.ones((3, -(-y.size // LANES) * LANES))
    padded[:, : y.size] = y, x, m
    out = np.empty_like(padded[:2])
    run(padded[:2].copy(), padded[2:].copy(), out)
    return out[0, : y.size], out[1, : y.size]


def exponentials(run, y):
    return run_all(run, y)[0]


def logarithms(run, x, m=0.0):
    return run_all(run, np.zeros_like(x), x, m)[1]


def check(found, expected):
    """To two units in the last place."""
    assert np.all(np.abs(found - expected) <= 2.0 * np.spacing(np.abs(expected)))


@pytest.mark.parametrize("scale", [1e-17, 1e-8, 0.3, 1.0, 40.0, 690.0])
def test_exponentials_are_right_to_two_units_in_the_last_place(run, scale):
    y = scale * (2.0 * np.random.default_rng(0).random(20_000) - 1.0)
    check(exponentials(run, y), np.array([math.exp(each) for each in y]))


def test_halves_of_ln_2_are_no_seams(run):
    m = np.arange(-1000, 1000)[:, None] / 2
    y = (m * math.log(2.0) + np.array([-1e-12, 0.0, 1e-12])).ravel()
    check(exponentials(run, y), np.array([math.exp(each) for each in y]))


def test_exponentials_end_as_those_of_the_c_library(run):
    assert exponentials(run, [0.0, -0.0]).tolist() == [1.0, 1.0]
    assert exponentials(run, [-745.2, -1e5, -1e300, -math.inf]).tolist() == [0.0] * 4
    assert exponentials(run, [709.8, 1e5, 1e300, math.inf]).tolist() == [math.inf] * 4
    largest, least = exponentials(run, [709.78, -745.0])
    assert largest == pytest.approx(math.exp(709.78), rel=1e-15)
    assert least == math.exp(-745.0)  # the least number there is
    assert np.isnan(exponentials(run, [math.nan]))[0]


@pytest.mark.parametrize("range_", [(0.4, 2.5), (0.999999, 1.000001), (1e-300, 1e300)])
def test_logarithms_are_right_to_two_units_in_the_last_place(run, range_):
    low, high = (math.log(each) for each in range_)
    x = np.exp(low + (high - low) * np.random.default_rng(0).random(20_000))
    check(logarithms(run, x), np.array([math.log(each) for each in x]))


def test_logarithms_of_powers_of_two_and_their_neighbours(run):
    powers = 2.0 ** np.arange(-1021.0, 1023.0)
    x = np.concatenate([powers, np.nextafter(powers, 0.0), np.nextafter(powers, np.inf)])
    x = np.concatenate([x, x[x < 1e307] * math.sqrt(2.0)])
    check(logarithms(run, x), np.array([math.log(each) for each in x]))
    assert logarithms(run, np.array([1.0])).tolist() == [0.0]


def test_logarithms_of_numbers_beyond_all_doubles(run):
    m = np.array([5000.0, -5000.0, 1.0])
    expected = np.log(1.5) + m * math.log(2.0)
    np.testing.assert_allclose(logarithms(run, np.full(3, 1.5), m), expected, rtol=4e-16)


@numba.njit
def negative_ones(y, out):
    for i in range(len(y)):
        out[i] = exp_negative(y[i])


def of_negative(y):
    y = np.asarray(y, dtype=float)
    out = np.empty_like(y)
    negative_ones(y, out)
    return out


@pytest.mark.parametrize("scale", [1e-17, 1e-8, 0.3, 1.0, 40.0, 690.0])
def test_exponents_that_are_not_positive(scale):
    y = -scale * np.random.default_rng(0).random(20_000)
    check(of_negative(y), np.array([math.exp(each) for each in y]))


def test_far_below_they_give_next_to_nothing_and_nan_ends_nothing():
    assert of_negative([0.0, -0.0]).tolist() == [1.0, 1.0]
    far = of_negative([-700.0, -745.0, -1e5, -1e300, -math.inf, math.nan])
    assert (far == far[0]).all()
    assert 0.0 < far[0] < 1e-300
