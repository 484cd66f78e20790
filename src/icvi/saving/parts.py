"""Reading the content of a file piece by piece; each piece is checked before it is used.

Checksums prove that a file was not damaged, not that icvi has written it. Compiled code trusts
counters, indices and lengths, so nothing from a file reaches it unchecked. A wrong piece raises a
`ValueError` that names the file and the piece.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.saving import container
from icvi.saving.json_values import from_json

Arrays = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: What is saved of an object: facts in terms of JSON, and arrays.
Packed = tuple[dict[str, Any], dict[str, NDArray[Any]]]
#: Lengths of an array; None for one that may be anything.
Shape = tuple[int | None, ...]

#: Counters and serials are below this, so that kernels can add to them.
MOST = 2**62
#: Sums of weights are below this: no weight is above 1e140, and fading raises it by 1e18.
HEAVIEST = 1e200

_MISSING = object()


def nested(name: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays of a part, with its name in front of theirs."""
    return {f"{name}.{inner}": array for inner, array in arrays.items()}


def arrays_of(name: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays that `nested` has put under the name of a part."""
    front = f"{name}."
    return {n.removeprefix(front): a for n, a in arrays.items() if n.startswith(front)}


def read(path: str | os.PathLike[str]) -> Part:
    """The whole content of a file."""
    facts, arrays = container.read(path)
    return Part(facts, arrays, os.fspath(path))


def decode(content: NDArray[np.uint8], name: str) -> Part:
    """The same of the bytes of a file, which errors call ``name``."""
    return Part(*container.decode(content, name), name)


class Part:
    """One part of a file: facts, and the arrays whose names begin with the name of the part.

    Parameters
    ----------
    facts : object
        The JSON of the part; anything but an object is refused.
    arrays : mapping of str to ndarray
        The arrays of the part, without its name.
    file : str
        What to call the file in messages.
    name : str
        The name of the part with a dot behind it; the whole file has none.
    """

    def __init__(self, facts: Any, arrays: Arrays, file: str, name: str = "") -> None:
        self.file, self._name, self._arrays = file, name, arrays
        self.facts: dict[str, Any] = facts if isinstance(facts, dict) else {}
        self.require(isinstance(facts, dict), "", "an object", facts)

    # -- refusals --------------------------------------------------------------------------

    def require(self, fine: bool | np.bool_, name: str, expected: str, got: Any = _MISSING) -> None:
        """Refuse the file unless a piece is fine."""
        if not fine:
            shown = "" if got is _MISSING else f", got {reprlib.repr(got)}"
            raise self.damage(name, f"expected {expected}{shown}")

    def damage(self, name: str, what: str) -> ValueError:
        """The error for a wrong piece."""
        where = f"{self._name}{name}".rstrip(".")
        return ValueError(f"{self.file} is damaged: {where + ': ' if where else ''}{what}")

    @contextmanager
    def making(self, name: str) -> Iterator[None]:
        """Errors while something is made from a piece become errors that name file and piece."""
        try:
            yield
        except (TypeError, ValueError, OverflowError) as error:
            raise self.damage(name, str(error)) from None

    # -- parts -----------------------------------------------------------------------------

    def part(self, name: str, facts: Any = _MISSING) -> Part:
        """A part of this part; its facts are those with its name unless they are given."""
        facts = self.fact(name) if facts is _MISSING else facts
        return Part(facts, arrays_of(name, self._arrays), self.file, f"{self._name}{name}.")

    @property
    def arrays(self) -> Arrays:
        """The arrays, unchecked."""
        return self._arrays

    # -- facts -----------------------------------------------------------------------------

    def fact(self, name: str) -> Any:
        """A fact, unchecked."""
        if name not in self.facts:
            raise self.damage(name, "it is missing")
        return self.facts[name]

    def flag(self, name: str) -> bool:
        """A truth value."""
        value = self.fact(name)
        self.require(isinstance(value, bool), name, "true or false", value)
        return bool(value)

    def whole(self, name: str, least: int = 0, most: int = MOST) -> int:
        """An integer."""
        return self._whole(name, self.fact(name), least, most)

    def wholes(self, name: str, n: int, least: int = 0, most: int = MOST) -> list[int]:
        """A list of n integers."""
        numbers = self.many(name)
        self.require(len(numbers) == n, name, f"{n} numbers", len(numbers))
        return [self._whole(name, number, least, most) for number in numbers]

    def _whole(self, name: str, value: Any, least: int, most: int) -> int:
        fine = type(value) is int and least <= value <= most
        self.require(fine, name, f"an integer from {least} to {most}", value)
        return int(value)

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number, stored in hexadecimal so that no bit is lost."""
        digits = self.fact(name)
        with self.making(name):
            value = float.fromhex(digits)
        fine = math.isfinite(value) and least <= value <= most
        self.require(fine, name, f"a number from {least:g} to {most:g}", value)
        return value

    def text(self, name: str) -> str:
        """A string."""
        value = self.fact(name)
        self.require(isinstance(value, str), name, "a string", value)
        return str(value)

    def choice(self, name: str, options: Sequence[str]) -> Any:
        """One of several strings."""
        value = self.text(name)
        self.require(value in options, name, f"one of {', '.join(options)}", value)
        return value

    def many(self, name: str) -> list[Any]:
        """A list."""
        value = self.fact(name)
        self.require(isinstance(value, list), name, "a list", value)
        return list(value)

    def named(self, name: str) -> dict[str, Any]:
        """An object of JSON."""
        value = self.fact(name)
        self.require(isinstance(value, dict), name, "an object", value)
        return dict(value)

    def value(self, name: str) -> Any:
        """A label or a time span."""
        encoded = self.fact(name)
        with self.making(name):
            return from_json(encoded)

    def labels(self, name: str = "labels") -> list[Hashable]:
        """Different labels."""
        encoded = self.many(name)
        with self.making(name):
            labels = [from_json(label) for label in encoded]
        for label in labels:
            self.require(label == label, name, "labels that equal themselves", label)
        self.require(len(set(labels)) == len(labels), name, "every label once", labels)
        return labels

    # -- arrays ----------------------------------------------------------------------------

    def floats(
        self,
        name: str,
        shape: Shape,
        least: float = -math.inf,
        most: float = math.inf,
        *,
        finite: bool = True,
    ) -> Floats:
        """An array of numbers in a range."""
        array = self._array(name, np.dtype(np.float64), shape)
        if finite:
            fine = np.isfinite(array).all() and (least <= array).all() and (array <= most).all()
            limits = "" if math.isinf(most) else f" from {least:g} to {most:g}"
            self.require(fine, name, f"finite numbers{limits}")
        return array

    def integers(
        self, name: str, shape: Shape, least: int = -(2**63), most: int = 2**63 - 1
    ) -> Integers:
        """An array of integers in a range."""
        array = self._array(name, np.dtype(np.int64), shape)
        fine = ((least <= array) & (array <= most)).all()
        self.require(fine, name, f"integers from {least} to {most}")
        return array

    def bytes(self, name: str) -> NDArray[np.uint8]:
        """An array of bytes."""
        return self._array(name, np.dtype(np.uint8), (None,))

    def _array(self, name: str, dtype: np.dtype[Any], shape: Shape) -> NDArray[Any]:
        if name not in self._arrays:
            raise self.damage(name, "it is missing")
        array = self._arrays[name]
        self.require(array.dtype == dtype, name, f"an array of {dtype}", str(array.dtype))
        fits = array.ndim == len(shape) and all(
            wanted in (None, n) for wanted, n in zip(shape, array.shape, strict=True)
        )
        lengths = ["any" if n is None else str(n) for n in shape]
        self.require(fits, name, f"an array of shape ({', '.join(lengths)})", array.shape)
        return array
