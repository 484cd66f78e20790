"""What the user gets for an undefined reading: nan, the limit, or an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.indices.index import Index
from icvi.inputs import check_choice
from icvi.kernels.undefined import limit_of, why

Undefined = Literal["nan", "limit", "raise"]


def check_undefined(undefined: object) -> None:
    """Refuse what is no choice for undefined readings."""
    check_choice(undefined, "undefined", get_args(Undefined))


def resolve(name: str, value: float, undefined: Undefined, limits: Mapping[str, float]) -> float:
    """The value itself; where it is undefined what the user chose. Limits are given by reason."""
    if value == value or undefined == "nan":
        return value
    if undefined == "limit":
        return limit_of(value, limits)
    raise UndefinedIndexError(f"{name} is undefined: {why(value)}")


def reasons(values: Any) -> list[str | None]:
    """Why values of indices are nan: for each of them a reason, or None for a number.

    The reason travels inside the nan, through arrays, frames, copies and files, but not through
    arithmetic.

    Parameters
    ----------
    values : array-like of float
        Values of `icvi.scores`, or a column of `icvi.scores_by`.

    Examples
    --------
    >>> import icvi, pandas
    >>> frame = pandas.DataFrame({"key": ["a", "a", "b"], "x": [0.0, 1.0, 2.0], "label": [0, 1, 0]})
    >>> table = icvi.scores_by("key", frame, "label", ["CH"])
    >>> icvi.reasons(table["CH"])
    ['N<=k', 'k<2']
    """
    return [why(value) for value in np.asarray(values, dtype=np.float64).tolist()]


class UndefinedPolicy:
    """The user's choice for undefined readings of a list of indices."""

    def __init__(self, indices: Sequence[Index], undefined: Undefined) -> None:
        check_undefined(undefined)
        self.indices = indices
        self.undefined = undefined

    def all(self, values: list[float]) -> list[float]:
        """Resolved readings of all indices."""
        return [self.one(position, value) for position, value in enumerate(values)]

    def one(self, position: int, value: float) -> float:
        """One resolved reading."""
        index = self.indices[position]
        return resolve(index.name, value, self.undefined, index.limits)

    def column(self, position: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Readings of one index over time, resolved in place."""
        undefined = np.flatnonzero(np.isnan(values))
        if self.undefined == "nan" or undefined.size == 0:
            return values
        values[undefined] = [self.one(position, value) for value in values[undefined].tolist()]
        return values
