"""The ridge that NI, rCIP and rH add to covariances, and their checked options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from icvi.inputs import LARGEST, as_flag, as_number
from icvi.wording import short

_SMALLEST_EPSILON = -math.log10(LARGEST)  # gives the largest delta


@dataclass(frozen=True)
class Ridge:
    """delta I, added to every covariance: a fixed delta, or 10^(-epsilon/d) in d dimensions."""

    epsilon: float | None = 12.0
    delta: float | None = None

    def value(self, d: int) -> float:
        """Delta for data with d features."""
        return self.delta if self.delta is not None else 10.0 ** (-float(self.epsilon or 0.0) / d)


def checked_options(
    epsilon: float | None, delta: float | None, **flags: bool
) -> tuple[Ridge, dict[str, Any]]:
    """The ridge, and every option by name, None where it was not given."""
    ridge = _checked_ridge(epsilon, delta)
    options = {"epsilon": None if epsilon is None else ridge.epsilon, "delta": ridge.delta}
    return ridge, options | {name: as_flag(value, name) for name, value in flags.items()}


def _checked_ridge(epsilon: float | None, delta: float | None) -> Ridge:
    if epsilon is not None and delta is not None:
        raise ValueError("expected epsilon or delta, got both")
    if delta is not None:
        number = as_number(delta, "delta")
        if not 0.0 <= number <= LARGEST:
            raise ValueError(f"expected delta >= 0, got {short(delta)}; the largest is {LARGEST:g}")
        return Ridge(None, number)
    number = 12.0 if epsilon is None else as_number(epsilon, "epsilon")
    if not _SMALLEST_EPSILON <= number < math.inf:
        raise ValueError(
            f"expected a finite epsilon, got {short(epsilon)}; the smallest is "
            f"{_SMALLEST_EPSILON:g}"
        )
    return Ridge(number)


def name_with_options(family: str, **options: float | bool | str | None) -> str:
    """The name of an index with the options that were given: rCIP, rCIP(delta=0.1, mean=True)."""
    given = [
        f"{key}={value!r}" if isinstance(value, (bool, str)) else f"{key}={value:g}"
        for key, value in options.items()
        if value is not None and value is not False
    ]
    return f"{family}({', '.join(given)})" if given else family
