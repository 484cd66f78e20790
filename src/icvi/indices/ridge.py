"""The regularisation that NI, rCIP and rH share, and how parameters show in a name."""

from __future__ import annotations

import math
from typing import Any

from icvi.indices.index import Ridge
from icvi.inputs import LARGEST, as_flag, as_number
from icvi.wording import short

_SMALLEST = -math.log10(LARGEST)  # the epsilon of the largest delta


def ridge(epsilon: float | None, delta: float | None) -> Ridge:
    """A checked `Ridge`; epsilon = 12 when neither is given."""
    if epsilon is not None and delta is not None:
        raise ValueError("expected epsilon or delta, got both")
    if delta is not None:
        number = as_number(delta, "delta")
        if not 0.0 <= number <= LARGEST:
            raise ValueError(f"expected delta >= 0, got {short(delta)}; the largest is {LARGEST:g}")
        return Ridge(None, number)
    number = 12.0 if epsilon is None else as_number(epsilon, "epsilon")
    if not _SMALLEST <= number < math.inf:
        raise ValueError(
            f"expected a finite epsilon, got {short(epsilon)}; the smallest is {_SMALLEST:g}"
        )
    return Ridge(number)


def options(
    epsilon: float | None, delta: float | None, **flags: bool
) -> tuple[Ridge, dict[str, Any]]:
    """The regularisation, and all that was given, checked: what the name and the recipe hold."""
    checked = ridge(epsilon, delta)
    given = {"epsilon": None if epsilon is None else checked.epsilon, "delta": checked.delta}
    return checked, given | {name: as_flag(value, name) for name, value in flags.items()}


def named(name: str, **parameters: float | bool | str | None) -> str:
    """The name with the parameters that were given: rCIP, rCIP(delta=0.1, mean=True)."""
    given = [
        f"{key}={value!r}" if isinstance(value, (bool, str)) else f"{key}={value:g}"
        for key, value in parameters.items()
        if value is not None and value is not False
    ]
    return f"{name}({', '.join(given)})" if given else name
