"""Compile the reading of an index into a step of the loop."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
from numba.core.errors import NumbaError

from icvi.errors import IndexCompilationError
from icvi.kernels.compiling import SUMS, step
from icvi.kernels.view import settle, view

_steps: dict[Callable[..., float], Any] = {}

_OURS = """
def {name}(A, C, G, meta, p):
    return settle(reading(view(A, C, G, meta){parameters}))
"""

# A user's function may raise; C has no exceptions, and a reading must not end a stream.
_THEIRS = """
def {name}(A, C, G, meta, p):
    try:
        value = float(reading(view(A, C, G, meta){parameters}))
    except Exception:
        value = nan
    return settle(value)
"""


def reading_address(reading: Callable[..., float], name: str, *, own: bool) -> int:
    """Address of the compiled reading; compiled once per process, cached on disk if ours."""
    if reading not in _steps:
        _steps[reading] = _compile_own(reading, name) if own else _compile_ours(reading)
    return int(_steps[reading].address)


def _compile_ours(reading: Callable[..., float]) -> Any:
    # Compiled as if it stood in the index's own file: Numba keeps its cache beside it.
    body = _jitted(reading, fastmath=SUMS, forceinline=True)
    return step(_entry(_OURS, reading, body, inspect.getfile(reading)))


def _compile_own(reading: Callable[..., float], name: str) -> Any:
    try:
        body = _jitted(reading)
        return step(_entry(_THEIRS, reading, body, "<icvi>"), cached=False)
    except NumbaError as error:
        raise IndexCompilationError(
            f"index {name!r} cannot be compiled: {_gist(error)}\n"
            "An index runs inside the compiled loop: use numbers, loops, math, numpy functions "
            "that Numba supports, and the fields of icvi.State."
        ) from error


def _entry(template: str, reading: Callable[..., float], body: Any, filename: str) -> Any:
    count = len(inspect.signature(reading).parameters) - 1
    name = f"read_{re.sub(r'[^0-9a-zA-Z_]', '_', reading.__name__)}"
    source = template.format(
        name=name, parameters="".join(f", p[{position}]" for position in range(count))
    )
    scope: dict[str, Any] = {
        "view": view, "settle": settle, "reading": body, "nan": float("nan"),
        "__name__": reading.__module__,
    }  # fmt: skip
    exec(compile(source, filename, "exec"), scope)
    return scope[name]


def _jitted(function: Any, **options: Any) -> Any:
    """The function ready to be called from compiled code, with the plain functions it calls."""
    if not isinstance(function, FunctionType):
        return function
    scope = dict(function.__globals__)
    for name in set(function.__code__.co_names) & scope.keys():
        if isinstance(scope[name], FunctionType) and scope[name] is not function:
            scope[name] = _jitted(scope[name], **options)
    copy = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    return numba.njit(copy, error_model="numpy", **options)


def _gist(error: Exception) -> str:
    """The lines of a Numba error that say what is wrong, without the trail of passes."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines()]
    noise = re.compile(
        r"^(Failed in|During:|File |<source|There are|This is not usually|Enable|\^|-+$|To see)"
    )
    telling = [line for line in lines if line and not noise.match(line)]
    return "\n  ".join(telling[:6]) or text
