"""Read indices from moments."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from icvi.indices.from_moments.derived import derive, with_gaussians
from icvi.indices.index import Index
from icvi.indices.ridge import Ridge
from icvi.kernels.state import State
from icvi.kernels.undefined import NEGATIVE_OVERFLOW, OVERFLOW
from icvi.state.moments import Moments


def wanted(indices: Sequence[Index]) -> int:
    """All caches that the indices need."""
    return functools.reduce(int.__or__, (index.want for index in indices), 0)


def evaluate(indices: Sequence[Index], moments: Moments) -> dict[str, float]:
    """Values of indices on clusters, by name; the scatter is there if one of them needs it."""
    want = wanted(indices)
    with np.errstate(all="ignore"):  # infinities become undefined below
        state = derive(moments, want)
        states: dict[Ridge | None, State] = {None: state}
        for index in indices:
            ridge = index.regularisation
            if ridge is not None and ridge not in states:
                states[ridge] = with_gaussians(state, moments, ridge.value(state.d), want)
        return {index.name: _read(index, states[index.regularisation]) for index in indices}


def _read(index: Index, state: State) -> float:
    """A reading outside compiled code, undefined where it is undefined in compiled code."""
    try:
        value = index(state)
    except OverflowError:
        return OVERFLOW
    except (ArithmeticError, ValueError, RuntimeError):
        return math.nan
    if value == math.inf:
        return OVERFLOW
    return NEGATIVE_OVERFLOW if value == -math.inf else value
