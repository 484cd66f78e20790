"""Options of a call, checked before any work."""

from __future__ import annotations

import math
from typing import Any, get_args

from icvi import inputs
from icvi.wording import short


def check_choice(name: str, value: object, choices: Any) -> None:
    """Refuse what is not among the literals."""
    inputs.check_choice(value, name, get_args(choices))


def check_positive(name: str, value: object) -> None:
    """Refuse what is not a finite number above 0."""
    if not 0.0 < inputs.as_number(value, name) < math.inf:
        raise ValueError(f"expected {name} to be a finite number above 0, got {short(value)}")
