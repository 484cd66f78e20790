"""Keys and labels of any kind as numbers: arrays, and columns of pandas, polars and pyarrow."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.labels import Labels, as_label_array, check_label, plain
from icvi.wording import short

Integers = NDArray[np.int64]

_MANY = 20_000  # rows from which pyarrow's hash table is worth a conversion,
_VERY_MANY = 1_000_000  # and those from which it is worth the import of pyarrow


class Codes(NamedTuple):
    """Numbers of the distinct values, from 0 in order of first appearance, and their first rows."""

    codes: Integers
    first: Integers

    def __len__(self) -> int:
        """How many distinct values there are."""
        return len(self.first)


def package_of(values: Any) -> str:
    """The package that the class of an object is from."""
    return type(values).__module__.partition(".")[0]


def encode(values: Any, n: int, what: str) -> Codes:
    """The number of each of n values; ``what`` they are is for errors.

    >>> encode(["b", "a", "b"], 3, "keys")
    Codes(codes=array([0, 1, 0]), first=array([0, 1]))
    >>> encode([1, [2]], 2, "keys")
    Traceback (most recent call last):
        ...
    TypeError: keys, row 1: expected a hashable label such as an int or a str, got list: [2]
    """
    coded = {"pandas": _by_pandas, "polars": _by_polars, "pyarrow": _by_arrow}
    package = package_of(values)
    if package in coded and not hasattr(values, "columns"):
        if len(values) != n:
            raise ValueError(f"expected {n} {what}, one per row, got {len(values)}")
        found = coded[package](values)
        if found is not None:
            missing = np.flatnonzero(found < 0)
            if missing.size:
                raise ValueError(f"{what}, row {missing[0]}: the value is missing; fill or drop it")
            return _in_order(found)
    return _encode_array(values, n, what)


def encode_several(columns: Sequence[Any], n: int, what: str) -> Codes:
    """The number of each combination of values in several columns."""
    codes = encode(columns[0], n, what)
    for column in columns[1:]:
        more = encode(column, n, what)
        codes = _in_order(codes.codes * len(more) + more.codes)
    return codes


def _encode_array(values: Any, n: int, what: str) -> Codes:
    try:
        array = as_label_array(values, n)
    except (TypeError, ValueError) as error:
        raise type(error)(_about(what, str(error))) from None
    found = _shifted(array) if array.dtype.kind in "iu" else None
    if found is None and array.dtype.kind in "iuUO" and _is_worth_arrow(n):
        found = _hashed(array)
    if found is not None:
        return _in_order(found)
    try:
        return _in_order(Labels().encode(array)[0] - 1)
    except (TypeError, ValueError):
        _name_bad_row(array, what)
        raise


def _about(what: str, error: str) -> str:
    return error if what == "labels" else f"{what}, which are checked like labels: {error}"


def _name_bad_row(array: NDArray[Any], what: str) -> None:
    for row, value in enumerate(array.tolist()):
        try:
            check_label(plain(value))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{what}, row {row}: {error}") from None


def _in_order(codes: NDArray[Any]) -> Codes:
    """Numbers in order of first appearance, for any numbers of values."""
    codes = np.asarray(codes, dtype=np.int64)
    n, size = len(codes), int(codes.max(initial=-1)) + 1
    if size > 4 * n + 1024:
        codes, size = np.unique(codes, return_inverse=True)[1], n
    first = np.full(size, n, dtype=np.int64)
    # Assigned backwards, so that the first appearance overwrites later ones.
    first[codes[::-1]] = np.arange(n - 1, -1, -1)
    present = np.flatnonzero(first < n)
    order = np.argsort(first[present], kind="stable")
    if (order == np.arange(len(order))).all() and len(order) == size:
        return Codes(codes, first)
    rank = np.empty(size, dtype=np.int64)
    rank[present[order]] = np.arange(len(order))
    return Codes(rank[codes], first[present[order]])


def _by_pandas(values: Any) -> NDArray[Any] | None:
    import pandas

    try:
        return np.asarray(pandas.factorize(values)[0])
    except TypeError:  # values without a hash
        return None


def _by_polars(values: Any) -> NDArray[Any] | None:
    return _by_arrow(values.to_arrow()) if _has_arrow() else None


def _by_arrow(values: Any) -> NDArray[Any] | None:
    import pyarrow

    values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    types = pyarrow.types
    if types.is_floating(values.type) or types.is_nested(values.type):
        return None  # nan, and values that Arrow cannot compare
    if not types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = values.indices.fill_null(-1) if values.indices.null_count else values.indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def _shifted(array: NDArray[Any]) -> NDArray[Any] | None:
    """Whole numbers less the smallest; None where they lie far apart."""
    low = array.min()
    if int(array.max()) - int(low) >= 4 * array.size + 1024:
        return None
    # In integers that hold the numbers and their differences.
    wide = array if array.dtype == np.uint64 else array.astype(np.int64, copy=False)
    return np.asarray(wide - wide.dtype.type(low))


def _hashed(array: NDArray[Any]) -> NDArray[Any] | None:
    """Codes of whole numbers or strings, by pyarrow; None where it knows no such type."""
    import pyarrow

    kind = pyarrow.string() if array.dtype.kind in "UO" else None
    try:
        values = pyarrow.array(array, type=kind, from_pandas=False)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        return None
    return None if values.null_count else _by_arrow(values)


def _has_arrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def _is_worth_arrow(n: int) -> bool:
    return n >= (_MANY if "pyarrow" in sys.modules else _VERY_MANY) and _has_arrow()


def is_noise(value: Any, noise_label: Any) -> bool:
    """Whether a label is the one that marks noise."""
    if noise_label is None:
        return False
    try:
        return bool(plain(value) == noise_label)
    except (TypeError, ValueError):
        raise ValueError(f"label {short(value)} cannot be compared with noise_label") from None
