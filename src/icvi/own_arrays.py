"""Arrays that belong to one object: what is unpickled may lie in memory that others share.

Pickle's protocol 5 can hand over arrays apart from the rest, as buffers that are read-only and
that several processes may look at; joblib maps them from a file. A state writes to its arrays, and
kernels know them by their addresses, so it takes copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def own_arrays(state: Any) -> Any:
    """The same variables, with copies in place of arrays that are views of other memory."""
    if isinstance(state, np.ndarray):
        return state if state.flags.owndata and state.flags.writeable else np.array(state)
    if type(state) is dict:
        return {name: own_arrays(value) for name, value in state.items()}
    if type(state) in (list, tuple):
        return type(state)(own_arrays(value) for value in state)
    return state
