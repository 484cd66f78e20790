"""Columns of a stream and the names of the features that a model was fitted on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def names_of(d: int) -> tuple[str, ...]:
    """What the features of a source without names are called."""
    return tuple(f"x{number}" for number in range(1, d + 1))


def check_columns(model: Any, columns: Sequence[str], name: str) -> None:
    """Refuse columns that are not the features of a model, or not in their order."""
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or not columns or tuple(columns) == names_of(len(columns)):
        return
    expected = [str(feature) for feature in fitted]
    if list(columns) != expected:
        order = " in this order" if sorted(columns) == sorted(expected) else ""
        raise ValueError(
            f"{name} was fitted on the columns {', '.join(expected)}, and the source has "
            f"{', '.join(columns)}; choose those of the model{order}: columns={expected}"
        )


@contextmanager
def checked_names() -> Iterator[None]:
    """scikit-learn does not warn of arrays whose columns `check_columns` has seen."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield
