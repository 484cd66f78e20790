"""scikit-learn's checks of samples, without warnings and with errors of one length and kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import refuse_masked, refuse_unordered

_LONGEST = 500  # letters of an error; it may quote all that was given


def checked(check: Callable[..., Any], values: Any, name: str) -> NDArray[np.float64]:
    """Numbers as scikit-learn takes them, contiguous; `check` is called with them."""
    refuse_unordered(values, name)
    refuse_masked(values, name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        raise TypeError(f"expected {name} to hold real numbers, got dtype {values.dtype}")
    try:
        with np.errstate(over="ignore"):  # beyond doubles is infinite, and refused as such
            return np.ascontiguousarray(check(values))
    except OverflowError:
        raise ValueError(f"expected {name} to hold numbers that doubles can hold") from None
    except ValueError as error:
        if len(str(error)) <= _LONGEST:
            raise
        raise ValueError(str(error)[: _LONGEST - 3] + "...") from None
