"""Checks of the parameters of fuzzy ART."""

from __future__ import annotations

from typing import Any

import numpy as np

from icvi.wording import short


def check_vigilance(name: str, value: Any) -> None:
    """Vigilance is a share: 0 accepts everything, 1 only what is inside already."""
    _check(name, value, _is_real(value) and 0.0 <= value <= 1.0, "from 0 to 1")


def check_choice(alpha: Any) -> None:
    """Alpha breaks ties in favour of small categories and must not be 0."""
    _check("alpha", alpha, _is_real(alpha) and 0.0 < alpha < float("inf"), "above 0")


def check_learning(beta: Any) -> None:
    """Beta is the share of the way to the new weights; 1 is fast learning."""
    _check("beta", beta, _is_real(beta) and 0.0 < beta <= 1.0, "above 0, up to 1")


def check_epochs(max_iter: Any) -> None:
    """A whole number of passes."""
    fine = _is_real(max_iter) and 1 <= max_iter < float("inf") and max_iter == int(max_iter)
    _check("max_iter", max_iter, fine, "whole, from 1 on")


def _is_real(value: Any) -> bool:
    # What kernels accept; they do not accept fractions, for one.
    kinds = (int, float, np.integer, np.float32)
    # numpy counts time spans among the integers, Python the truth values.
    return isinstance(value, kinds) and not isinstance(value, (bool, np.timedelta64))


def _check(name: str, value: Any, fine: bool, expected: str) -> None:
    if not fine:
        raise ValueError(f"expected {name} to be a number {expected}, got {short(value)}")
