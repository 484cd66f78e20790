"""What callers hand in, checked and turned into plain arrays; nothing is changed on refusal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Entries beyond this are refused: sums of their squares could overflow.
LARGEST = 1e140

_FLOAT = np.dtype(np.float64)


def as_samples(X: Any, n_features: int | None = None) -> NDArray[np.float64]:
    """X as a C-contiguous (n, d) array of finite float64, n and d at least 1."""
    array = _as_float(X, "X")
    if array.ndim != 2:
        hint = "; for one feature use X.reshape(-1, 1)" if array.ndim == 1 else ""
        raise ValueError(
            f"expected X as a 2-D array (samples, features), got shape {array.shape}{hint}"
        )
    if array.shape[0] == 0:
        raise ValueError("expected at least one sample, got none")
    _check_features(array.shape[1], n_features)
    if not _all_within(array):
        raise ValueError(_not_finite(array))
    return array


def as_sample(x: Any, n_features: int | None = None) -> NDArray[np.float64]:
    """One sample as a C-contiguous (d,) array of finite float64."""
    array = _as_float(x, "x")
    if array.ndim != 1:
        hint = (
            "; for many samples use update_many, add_many or partial_fit" if array.ndim == 2 else ""
        )
        raise ValueError(f"expected one sample of shape (features,), got {array.shape}{hint}")
    _check_features(array.size, n_features)
    if not _all_within(array):
        raise ValueError(_not_finite(array))
    return array


def as_weights(weights: Any, n: int) -> NDArray[np.float64]:
    """Weights as n finite, non-negative float64; None is weight 1 for every sample."""
    if weights is None:
        return np.ones(n)
    array = _as_float(weights, "weights")
    if array.shape != (n,):
        raise ValueError(f"expected {n} weights, one per sample, got shape {array.shape}")
    bad = ~((array >= 0.0) & (array <= LARGEST))
    if bad.any():
        where = int(np.argmax(bad))
        raise ValueError(
            f"expected weights to be finite and not negative, got {array[where]} at {where}"
            f" (the largest is {LARGEST:g})"
        )
    return array


def as_weight(weight: Any) -> float:
    """One finite, non-negative weight."""
    if weight.__class__ is float and 0.0 <= weight <= LARGEST:
        return float(weight)
    return float(as_weights(np.asarray([weight]), 1)[0])


def as_every(every: Any) -> int:
    """Of how many samples one is read after."""
    if not 1 <= every < math.inf or int(every) != every:
        raise ValueError(f"expected every to be a whole number from 1 on, got {every}")
    return int(every)


def as_label_array(labels: Any, n: int) -> NDArray[Any]:
    """Labels as a 1-D array of n entries: numbers and strings natively, the rest as objects."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"expected a sequence of {n} labels, got one {type(labels).__name__}")
    if isinstance(labels, np.ma.MaskedArray) and np.ma.is_masked(labels):
        raise ValueError("expected labels without masked entries; fill or drop them first")
    array = _label_array(labels)
    if array.ndim != 1:
        raise ValueError(
            f"expected labels as a 1-D sequence, got shape {array.shape}; use labels.ravel()"
        )
    if array.size != n:
        raise ValueError(f"expected as many labels as samples, got {array.size} for {n} samples")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(
            f"label {int(np.argmax(np.isnan(array)))} is nan; a label must equal itself"
        )
    return array


def _label_array(labels: Any) -> NDArray[Any]:
    if hasattr(labels, "__array__"):
        return np.asarray(labels)
    try:
        items = list(labels)
    except TypeError:
        raise TypeError(f"expected a sequence of labels, got {type(labels).__name__}") from None
    if all(type(item) is int for item in items):
        try:
            return np.array(items, dtype=np.int64)
        except OverflowError:
            pass
    # numpy would turn mixed labels into strings and tuples into columns.
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _as_float(values: Any, name: str) -> NDArray[np.float64]:
    if type(values) is np.ndarray and values.dtype == _FLOAT:
        return np.ascontiguousarray(values) if values.ndim else values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"expected {name} without masked entries; fill or drop them first")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"expected {name} with rows of equal length ({error})") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"expected {name} to hold real numbers, got dtype {array.dtype}; "
            f"convert it with astype(float) if it does"
        )
    array = array.astype(np.float64, order="C", copy=False)
    return np.ascontiguousarray(array) if array.ndim else array


def _check_features(given: int, expected: int | None) -> None:
    if given == 0:
        raise ValueError("expected at least one feature, got none")
    if expected is not None and given != expected:
        s = "s" if expected > 1 else ""
        raise ValueError(f"expected {expected} feature{s} like the samples before, got {given}")


def _all_within(array: NDArray[np.float64]) -> bool:
    # min and max need no temporary array and pass nan on.
    return bool(array.min() >= -LARGEST and array.max() <= LARGEST)


def _not_finite(array: NDArray[np.float64]) -> str:
    bad = np.argwhere(~(np.abs(array) <= LARGEST))[0]
    value = array[tuple(bad)]
    where = f"sample {bad[0]}, feature {bad[1]}" if array.ndim == 2 else f"feature {bad[0]}"
    if np.isfinite(value):
        return f"expected entries up to {LARGEST:g} in size, got {value:g} at {where}; rescale"
    return f"expected finite numbers, neither NaN nor infinity, got {value} at {where}"
