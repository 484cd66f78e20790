"""The regularisation that NI, rCIP and rH share, and how parameters show in a name."""

from __future__ import annotations

import math

from icvi.indices.index import Ridge


def ridge(epsilon: float | None, delta: float | None) -> Ridge:
    """A checked `Ridge`; epsilon = 12 when neither is given."""
    if epsilon is not None and delta is not None:
        raise ValueError("expected epsilon or delta, got both")
    if epsilon is not None and not math.isfinite(epsilon):
        raise ValueError(f"expected a finite epsilon, got {epsilon}")
    if delta is not None and not 0.0 <= delta < math.inf:
        raise ValueError(f"expected delta >= 0, got {delta}")
    if delta is not None:
        return Ridge(None, float(delta))
    return Ridge(12.0 if epsilon is None else float(epsilon))


def named(name: str, **parameters: float | bool | str | None) -> str:
    """The name with the parameters that were given: rCIP, rCIP(delta=0.1, mean=True)."""
    given = [
        f"{key}={value!r}" if isinstance(value, (bool, str)) else f"{key}={value:g}"
        for key, value in parameters.items()
        if value is not None and value is not False
    ]
    return f"{name}({', '.join(given)})" if given else name
