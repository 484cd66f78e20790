"""Options of a call, checked before any work."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, get_args

from icvi.shown import shown


def check_choice(name: str, value: object, choices: Any) -> None:
    """Refuse what is not among the literals."""
    if value not in get_args(choices):
        raise ValueError(f"expected {name} to be one of {get_args(choices)}, got {shown(value)}")


def check_positive(name: str, value: object) -> None:
    """Refuse what is not a finite number above 0."""
    if not 0.0 < as_number(value) < math.inf:
        raise ValueError(f"expected {name} to be a finite number above 0, got {shown(value)}")


def as_number(value: object) -> float:
    """The value as a float; nan when it is no number at all."""
    return float(value) if isinstance(value, Real) else math.nan
