"""What is saved of ART modules and of the scaling of samples, and how they are made again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.categories import Module, ModuleA
from icvi.art.scaling import Scaling
from icvi.inputs import LARGEST
from icvi.kernels.art.resonance import CATEGORIES, COUNTERS, EXTRA_ROWS, NORM, OWNER
from icvi.kernels.layout import LANES as BLOCK
from icvi.saving.parts import MOST, Part

#: What rounding may add to a weight, or per weight to their sum.
_ROUNDING = 1e-9


def module_arrays(module: Module) -> dict[str, NDArray[Any]]:
    """The arrays of a module."""
    return {"weights": module.W, "counters": module.counters}


def as_scaling(part: Part, name: str = "bounds") -> Scaling:
    """Bounds of features, which are called so in messages."""
    low, high = part.floats("bounds", (2, None), -LARGEST, LARGEST)
    part.require(low.size > 0 and (low <= high).all(), "bounds", "low up to high")
    return Scaling(low.copy(), high.copy(), name)


def as_module(part: Part, d: int, owners: range = range(-1, 0), least: int = 1) -> Module:
    """A module for samples with d features, whose categories have owners with these numbers.

    A module that has learnt has a category at least.
    """
    rows = 2 * d
    W = part.floats("weights", (None, rows + EXTRA_ROWS, BLOCK))
    counters = part.integers("counters", (COUNTERS,), 0, MOST)
    k = int(counters[CATEGORIES])
    room = len(W) * BLOCK
    part.require(least <= k <= room, "counters", f"from {least} to {room} categories", k)
    part.require(room > 0, "weights", "room for categories")
    categories = W.transpose(0, 2, 1).reshape(-1, W.shape[1])[:k]
    w, norm, owner = categories[:, :rows], categories[:, rows + NORM], categories[:, rows + OWNER]
    part.require(
        ((w >= 0.0) & (w <= 1.0 + _ROUNDING)).all(), "weights", "weights of categories from 0 to 1"
    )
    exact = np.abs(norm - w.sum(axis=1)) <= _ROUNDING * rows
    part.require(exact.all(), "weights", "sums of the weights")
    known = (owner == np.floor(owner)) & (owner >= owners.start) & (owner < owners.stop)
    part.require(known.all(), "weights", f"owners from {owners.start} to {owners.stop - 1}")
    module = Module(0)
    module.W, module.counters = W.copy(), counters.copy()
    return module


def as_module_a(part: Part, labels: list[Hashable], scaling: Scaling) -> ModuleA:
    """Prototypes of clusters with these labels; before the first sample there are none."""
    a = ModuleA(scaling)
    a.module = as_module(part, scaling.d, range(1, len(labels) + 1), least=0)
    a.labels.remember(labels)
    a.seen = part.integers("seen", (None,), 0, MOST).copy()
    part.require(a.seen.size > len(labels), "seen", f"more than {len(labels)}", a.seen.size)
    return a
