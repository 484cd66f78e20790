"""Words of vector arithmetic that the compiler does not find by itself in plain Python.

``a if a < b else b`` compiles to a comparison and a branch, and a running minimum over it stays
scalar; these are single machine instructions and let the loop around them use whole vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped,unused-ignore]
from numba import njit, types
from numba.extending import intrinsic


def _of_two(name: str) -> Any:
    """Return the LLVM intrinsic ``name`` as a function of two doubles."""

    def function(_typing: Any, _a: Any, _b: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            double = args[0].type
            signature = ir.FunctionType(double, [double, double])
            return builder.call(builder.module.declare_intrinsic(name, [double], signature), args)

        return types.float64(types.float64, types.float64), generate

    return intrinsic(function)


smaller = _of_two("llvm.minnum")
larger = _of_two("llvm.maxnum")


def _pick(_typing: Any, _condition: Any, yes: Any, _no: Any) -> Any:
    """Return ``yes`` where the condition holds, else ``no``; evaluates both, never branches."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return yes(types.boolean, yes, yes), generate


def _stored_as(kind: Any) -> Any:
    """Return the function that reads the same 64 bits as another type."""

    def function(_typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(kind))

        return kind(number), generate

    return intrinsic(function)


pick: Any = intrinsic(_pick)
_bits = _stored_as(types.int64)
_double = _stored_as(types.float64)


def _exp_negative(y: float) -> float:
    """Return exp(y) for y <= 0 to about one unit in the last place, without a call."""
    y = larger(y, -700.0)
    m = np.floor(y * 1.4426950408889634 + 0.5)
    # ln 2 in two parts, so that the remainder |r| <= ln(2)/2 keeps its last digits
    r = y - m * 6.93147180369123816490e-01 - m * 1.90821492927058770002e-10
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    # Adding 2^52 puts the exponent m + 1023 into the lowest bits; the shift moves it into place.
    power: float = _double(_bits(m + (4503599627370496.0 + 1023.0)) << 52)
    product: float = p * power
    return product


# Its own flags, whatever the caller's: reordered sums would join the two parts of ln 2 again.
exp_negative: Any = njit(fastmath={"contract"}, forceinline=True)(_exp_negative)
