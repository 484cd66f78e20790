"""Parameters of estimators as JSON, and back: numbers, names, and lists and arrays of these."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.saving.json_values import as_json, from_json

_NUMBERS = "biuf"
#: Names of dtypes, as numpy gives them: no lists of fields, and no sizes beyond reason.
_DTYPE = re.compile(r"[<>|=]?[biufUSOMm]\d{0,9}(\[\w+\])?")
_DIMENSIONS = 32


def parameter_as_json(value: Any) -> Any:
    """A parameter as JSON, from which numpy's numbers, lists and arrays can be made again."""
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [parameter_as_json(item) for item in value]}
    if not hasattr(value, "__array__"):
        return as_json(value)
    array = np.asarray(value)
    if array.dtype.kind not in _NUMBERS:
        return as_json(value)
    numbers = [as_json(number) for number in array.ravel().tolist()]
    kind = "number" if isinstance(value, np.generic) else "array"
    return {kind: {"dtype": array.dtype.str, "shape": array.shape, "numbers": numbers}}


def parameter_from_json(encoded: Any) -> Any:
    """The parameter that `parameter_as_json` has encoded."""
    match encoded:
        case {"list": list(items)}:
            return [parameter_from_json(item) for item in items]
        case {"tuple": list(items)}:
            return tuple(parameter_from_json(item) for item in items)
        case {"number": facts} | {"array": facts}:
            array = _as_numbers(facts)
            return array[()] if "number" in encoded else array
    return from_json(encoded)


def _as_numbers(facts: Any) -> NDArray[Any]:
    match facts:
        case {"dtype": str(dtype), "shape": list(shape), "numbers": list(encoded)}:
            numbers = [from_json(number) for number in encoded]
            whole = all(type(n) is int and n >= 0 for n in shape)
            if whole and math.prod(shape) == len(numbers) and len(shape) <= _DIMENSIONS:
                return np.array(numbers, dtype=as_dtype(dtype, _NUMBERS)).reshape(shape)
    raise ValueError("expected numbers with a dtype and a shape that fits")


def as_dtype(name: str, kinds: str) -> np.dtype[Any]:
    """A plain dtype of one of these kinds, by the name that numpy gives it."""
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"expected the name of a dtype, got {name!r:.40}")
    dtype = np.dtype(name)
    if dtype.kind not in kinds:
        raise ValueError(f"expected a dtype of kind {', '.join(kinds)}, got {name}")
    return dtype
