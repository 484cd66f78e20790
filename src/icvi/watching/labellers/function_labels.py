"""Labels from a function of the samples."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import Labelled, Labeller, as_labels

if TYPE_CHECKING:
    from icvi.watching.step import Kept

_STATELESS = (types.FunctionType, types.BuiltinFunctionType)


class FunctionLabels(Labeller):
    """Calls a function, ``labels = f(X)``, for the labels of (n, d) arrays.

    The function gets samples in order, in arrays of any size: the label of a sample must not
    depend on which others are in the same array. Checkpoints do not store a plain function, but
    they do store an object with ``__call__``, with its state.

    Examples
    --------
    >>> import numpy as np
    >>> sides = FunctionLabels(lambda X: np.where(X[:, 0] < 0, "left", "right"))
    >>> sides.label(Batch(np.array([[-3.0], [2.0]]))).labels.tolist()
    ['left', 'right']
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.model = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def label(self, batch: Batch) -> Labelled:
        """Call the function."""
        # A copy: the function may change it.
        return Labelled(as_labels(self.model(batch.X.copy()), len(batch), self.name))

    @property
    def pickles(self) -> bool:
        """Whether it is an object, which checkpoints store; they do not store a plain function."""
        return not isinstance(self.model, _STATELESS)

    def keep(self) -> Kept:
        """An empty state for a plain function, a pickle of any other object."""
        return super().keep() if self.pickles else ({}, {})

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume with the stored object; a plain function is the one given now."""
        if self.pickles or facts or arrays:
            super().resume(facts, arrays)
