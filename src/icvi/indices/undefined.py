"""What becomes of readings that are undefined: nan, the limit, or an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.indices import Index
from icvi.inputs import check_choice
from icvi.kernels.undefined import limit_of, why

Undefined = Literal["nan", "limit", "raise"]


def treated(name: str, value: float, undefined: Undefined, limits: Mapping[str, float]) -> float:
    """A value of the index ``name`` as the user wants it; limits are given by reason."""
    if value == value or undefined == "nan":
        return value
    if undefined == "limit":
        return limit_of(value, limits)
    raise UndefinedIndexError(f"{name} is undefined: {why(value)}")


class Treatment:
    """The user's choice for undefined readings of a list of indices."""

    def __init__(self, indices: Sequence[Index], undefined: Undefined) -> None:
        check_choice(undefined, "undefined", get_args(Undefined))
        self.indices = indices
        self.undefined = undefined

    def all(self, values: list[float]) -> list[float]:
        """Treated readings of all indices."""
        return [self.one(position, value) for position, value in enumerate(values)]

    def one(self, position: int, value: float) -> float:
        """One treated reading."""
        index = self.indices[position]
        return treated(index.name, value, self.undefined, index.limits)

    def column(self, position: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """A column of readings over time, treated in place."""
        undefined = np.flatnonzero(np.isnan(values))
        if self.undefined == "nan" or undefined.size == 0:
            return values
        values[undefined] = [self.one(position, value) for value in values[undefined].tolist()]
        return values
