"""Parameters of fuzzy ART, checked with words that help."""

from __future__ import annotations

from typing import Any

import numpy as np

from icvi.shown import shown


def check_vigilance(name: str, value: Any) -> None:
    """Vigilance is a share: 0 accepts everything, 1 only what is inside already."""
    _check(name, value, 0.0 <= value <= 1.0 if _real(value) else False, "from 0 to 1")


def check_choice(alpha: Any) -> None:
    """Alpha breaks ties in favour of small categories and must not be 0."""
    _check("alpha", alpha, 0.0 < alpha < float("inf") if _real(alpha) else False, "above 0")


def check_learning(beta: Any) -> None:
    """Beta is the share of the way to the new weights; 1 is fast learning."""
    _check("beta", beta, 0.0 < beta <= 1.0 if _real(beta) else False, "above 0, up to 1")


def check_epochs(max_iter: Any) -> None:
    """A whole number of passes."""
    whole = _real(max_iter) and max_iter == int(max_iter) if _finite(max_iter) else False
    _check("max_iter", max_iter, whole and max_iter >= 1, "whole, from 1 on")


def _real(value: Any) -> bool:
    # What kernels take; fractions, for one, they do not.
    kinds = (int, float, np.integer, np.float32)
    return isinstance(value, kinds) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return _real(value) and abs(value) < float("inf")


def _check(name: str, value: Any, fine: bool, expected: str) -> None:
    if not fine:
        raise ValueError(f"expected {name} to be a number {expected}, got {shown(value)}")
