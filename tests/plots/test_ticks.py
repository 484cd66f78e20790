"""Ticks that people read."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icvi.plots.ticks import short_ticks, tick_texts

UNITS = {"": 1.0, " k": 1e3, " M": 1e6, " G": 1e9, " T": 1e12}
LOWER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def value_of(text):
    """The number that a reader takes a tick for."""
    number, unit = re.fullmatch(r"([−\d,.]+)(.*)", text).groups()
    value = float(number.replace("−", "-").replace(",", ""))
    if unit.startswith(" × 10"):
        return value * 10.0 ** int(unit.removeprefix(" × 10").translate(LOWER))
    return value * UNITS[unit]


@given(
    low=st.floats(-1e18, 1e18),
    span=st.floats(1e-9, 1e18),
    n=st.integers(2, 9),
)
def test_a_reader_finds_the_number_at_every_tick_of_an_axis(low, span, n):
    ticks = MaxNLocator(n).tick_values(low, low + span)
    step = np.diff(ticks).min()
    if not step > 1e-6 * np.abs(ticks).max():  # more digits than any axis has
        return
    texts = tick_texts(ticks.tolist())
    assert len(set(texts)) == len(ticks)
    np.testing.assert_allclose([value_of(text) for text in texts], ticks, atol=1e-3 * step)


@pytest.mark.parametrize(
    ("ticks", "texts"),
    [
        ([0.0, 2.5e6, 5e6], ["0", "2.5 M", "5 M"]),
        ([0.0, 5e4, 1e5], ["0", "50 k", "100 k"]),
        ([0.0, 2e4, 4e4], ["0", "20,000", "40,000"]),
        ([-1.0, -0.5, 0.0], ["−1", "−0.5", "0"]),
        ([1e-7, 2e-7], ["1 × 10⁻⁷", "2 × 10⁻⁷"]),
        ([3e18], ["3 × 10¹⁸"]),
        ([0.0], ["0"]),
        ([], []),
        ([float("nan"), 1.0, float("inf")], ["", "1", ""]),
    ],
)
def test_units_are_letters_and_zero_has_none(ticks, texts):
    assert tick_texts(ticks) == texts


def test_an_axis_of_matplotlib_has_such_ticks():
    axes = Figure().subplots()
    axes.set_ylim(0, 3.1e6)
    short_ticks(axes.yaxis)
    axes.figure.canvas.draw()
    assert "1 M" in [label.get_text() for label in axes.get_yticklabels()]
