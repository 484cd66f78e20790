"""Samples, weights and options of callers, checked and turned into plain arrays and numbers."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.wording import did_you_mean, short

#: Larger entries are refused: sums of their squares could overflow.
LARGEST = 1e140

_BLOCK = 65_536  # numbers

_FLOAT = np.dtype(np.float64)
_BOOLS = (bool, np.bool_)
_LISTS = (list, tuple)
_FEW = 128  # numbers


def as_samples(X: Any, n_features: int | None = None) -> NDArray[np.float64]:
    """X as a C-contiguous (n, d) array of finite float64, n and d at least 1."""
    array = as_table(X, n_features)
    check_entries(array)
    return array


def as_table(X: Any, n_features: int | None = None) -> NDArray[np.float64]:
    """The same, but nobody has looked at the entries; `check_entries` does."""
    array = as_floats(X, "X")
    if array.ndim != 2:
        hint = "; for one feature use X.reshape(-1, 1)" if array.ndim == 1 else ""
        raise ValueError(
            f"expected X as a 2-D array (samples, features), got shape {array.shape}{hint}"
        )
    if array.shape[0] == 0:
        raise ValueError("expected at least one sample, got none")
    _check_features(array.shape[1], n_features)
    return array


def check_entries(array: NDArray[np.float64]) -> None:
    """Refuse samples with entries that are not finite, or too large."""
    if not within_limit(array):
        raise ValueError(_not_finite(array))


def as_sample(x: Any, n_features: int | None = None) -> NDArray[np.float64]:
    """One sample as a C-contiguous (d,) array of finite float64."""
    array = as_floats(x, "x")
    if array.ndim != 1:
        hint = (
            "; for many samples use update_many, add_many or partial_fit" if array.ndim == 2 else ""
        )
        raise ValueError(f"expected one sample of shape (features,), got {array.shape}{hint}")
    _check_features(array.size, n_features)
    check_entries(array)
    return array


def as_weights(weights: Any, n: int) -> NDArray[np.float64]:
    """Weights as n finite, non-negative float64; None is weight 1 for every sample."""
    if weights is None:
        return np.ones(n)
    array = as_floats(weights, "weights")
    if array.shape != (n,):
        raise ValueError(f"expected {n} weights, one per sample, got shape {array.shape}")
    bad = ~((array >= 0.0) & (array <= LARGEST))
    if bad.any():
        where = int(np.argmax(bad))
        raise ValueError(
            f"expected weights to be finite and not negative, got {array[where]} at {where}; "
            f"the largest is {LARGEST:g}"
        )
    return array


def as_weight(weight: Any) -> float:
    """One finite, non-negative weight."""
    if weight.__class__ is float and 0.0 <= weight <= LARGEST:
        return float(weight)
    # A weight may be a bool, as in an array of them.
    number = as_number(float(weight) if isinstance(weight, _BOOLS) else weight, "weight")
    if not 0.0 <= number <= LARGEST:
        raise ValueError(
            f"expected a weight that is finite and not negative, got {short(weight)}; "
            f"the largest is {LARGEST:g}"
        )
    return number


def as_number(value: Any, name: str) -> float:
    """A real number as float; beyond doubles it is infinite, which the caller may refuse.

    >>> as_number(2, "p"), as_number(10**400, "p")
    (2.0, inf)
    >>> as_number("2", "p")
    Traceback (most recent call last):
        ...
    TypeError: expected p to be a real number, got '2'
    """
    if not _is_real(value):
        raise TypeError(f"expected {name} to be a real number, got {short(value)}")
    try:
        with np.errstate(all="ignore"):
            return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a Decimal that signals
        return math.nan


def as_positive(value: Any, name: str) -> float:
    """A finite number greater than 0."""
    number = as_number(value, name)
    if not 0.0 < number < math.inf:
        raise ValueError(f"expected {name} to be finite and greater than 0, got {short(value)}")
    return number


def as_every(every: Any) -> int:
    """The interval between readings, in samples."""
    if every.__class__ is int and 0 < every < 2**63:
        return every
    number = as_number(every, "every")
    if not 1.0 <= number < math.inf or int(every) != every or int(every) >= 2**63:
        raise ValueError(
            f"expected every to be a positive integer, got {short(every)}; the largest is 2**63 - 1"
        )
    return int(every)


def as_factor(factor: Any) -> float:
    """A factor that weights are multiplied by."""
    number = as_number(factor, "factor")
    if not 0.0 < number <= 1.0:
        raise ValueError(f"expected a factor greater than 0 and at most 1, got {short(factor)}")
    return number


def as_least(least: Any) -> float:
    """The weight below which a cluster is dropped."""
    number = as_number(least, "least_weight")
    if not 0.0 < number < 1.0:
        raise ValueError(f"expected least_weight between 0 and 1, got {short(least)}")
    return number


def as_flag(value: Any, name: str) -> bool:
    """True or False, also as 1 or 0; a string such as "no", which is truthy, is refused."""
    if isinstance(value, (*_BOOLS, int, np.integer)) and value in (0, 1):
        return bool(value)
    raise TypeError(f"expected {name} to be True or False, got {short(value)}")


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"expected {name} to be one of {tuple(choices)}, got {short(value)}")


def as_options(given: Any, name: str) -> dict[str, Any]:
    """A dict of options, or the parameters of an estimator, as a new dict; None is no options."""
    if given is None:
        return {}
    if hasattr(given, "get_params") and not isinstance(given, type):
        return dict(given.get_params())
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise TypeError(f"expected {name} as a dict of options, got {short(given)}")
    return dict(given)


def refuse_unordered(values: Any, name: str) -> None:
    """Refuse sets and mappings: their order does not say which entry belongs to which sample."""
    # Some sparse matrices are dicts: `as_floats` refuses those, and says that they hold no numbers.
    if isinstance(values, (set, frozenset, Mapping)) and not hasattr(values, "tocsr"):
        raise TypeError(
            f"expected {name} as a sequence or an array, got a {type(values).__name__}, "
            f"which has no order"
        )


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked entries; numpy would warn and convert them to other values."""
    if _is_masked(values):
        raise ValueError(f"expected {name} without masked entries; fill or drop them first")


def _is_masked(values: Any) -> bool:
    if not isinstance(values, (list, tuple)):
        return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))
    # map and operator.is_ keep the loop in C: this runs for every sample.
    if any(map(operator.is_, values, repeat(np.ma.masked))):
        return True
    nested = len(values) > 0 and isinstance(values[0], (list, tuple, np.ma.MaskedArray))
    return nested and any(map(_is_masked, values))


def _is_real(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf" and value is not np.ma.masked
    # timedelta64 is an integer to numpy, and bool to Python.
    return isinstance(value, (Real, Decimal)) and not isinstance(value, (*_BOOLS, np.timedelta64))


def as_floats(values: Any, name: str) -> NDArray[np.float64]:
    """Real numbers as contiguous float64; the caller checks the values."""
    if type(values) is np.ndarray and values.dtype == _FLOAT:
        return np.ascontiguousarray(values) if values.ndim else values
    if type(values) in _LISTS and {*map(type, values)} == {float}:
        return np.array(values)  # a sample takes 3 us less than with all that follows
    refuse_unordered(values, name)
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"expected {name} with rows of equal length ({error})") from None
    if array.ndim == 0 and array.dtype.kind == "O":
        raise TypeError(f"expected {name} to hold real numbers, got {short(values)}")
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"expected {name} to hold real numbers, got dtype {array.dtype}; "
            f"convert it with astype(float) if it does"
        )
    with np.errstate(over="ignore"):  # beyond doubles is infinite, which callers refuse
        array = array.astype(np.float64, order="C", copy=False)
    return np.ascontiguousarray(array) if array.ndim else array


def _check_features(given: int, expected: int | None) -> None:
    if given == 0:
        raise ValueError("expected at least one feature, got none")
    if expected is not None and given != expected:
        s = "s" if expected > 1 else ""
        raise ValueError(f"expected {expected} feature{s} like the samples before, got {given}")


def within_limit(array: NDArray[np.float64]) -> bool:
    """Whether all entries are finite, and none is too large."""
    # The length is within the limit only if all entries are: 0.1 us instead of 1.5 for two.
    if array.size <= _FEW and math.hypot(*array.ravel().tolist()) <= LARGEST:
        return True
    # min and max need no temporary array and propagate nan.
    if array.size <= _BLOCK:
        return bool(array.min() >= -LARGEST and array.max() <= LARGEST)
    # The second of them finds a block in the cache: 1,000,000 samples in 10 features take 7 ms
    # instead of 12.
    numbers = array.ravel()
    return all(
        within_limit(numbers[start : start + _BLOCK]) for start in range(0, numbers.size, _BLOCK)
    )


def _not_finite(array: NDArray[np.float64]) -> str:
    bad = np.argwhere(~(np.abs(array) <= LARGEST))[0]
    value = array[tuple(bad)]
    where = f"sample {bad[0]}, feature {bad[1]}" if array.ndim == 2 else f"feature {bad[0]}"
    if np.isfinite(value):
        return f"expected entries up to {LARGEST:g} in size, got {value:g} at {where}; rescale"
    return f"expected finite numbers, neither NaN nor infinity, got {value} at {where}"


_HINTS = {
    "labels": " label= names the column of labels; with an array, pass (X, labels) as the source"
}


def refuse_unknown(
    function: Callable[..., Any], given: Iterable[str], also: Iterable[str] = ()
) -> None:
    """Refuse keyword arguments that a function with ``**kwargs`` does not take.

    Parameters
    ----------
    function : callable
        The function, with its named parameters.
    given : iterable of str
        Names of the arguments in its ``**kwargs``.
    also : iterable of str
        Names that are allowed there.
    """
    parameters = inspect.signature(function).parameters.values()
    known = [*(each.name for each in parameters if each.kind is not each.VAR_KEYWORD), *also]
    for name in given:
        if name not in known:
            raise TypeError(
                f"{function.__name__}() has no argument {name!r}{did_you_mean(name, known)}"
                f"{_HINTS.get(name, '')}"
            )
