"""Compile the reading of an index into a step of the loop."""

from __future__ import annotations

import inspect
import re
from collections import namedtuple
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numba

from icvi.errors import IndexCompilationError
from icvi.kernels import layout
from icvi.kernels.compiler.compiling import SUMS, step
from icvi.kernels.view import ARENAS, FIELDS, array, settle

Needs = tuple[str, ...]

_steps: dict[tuple[Callable[..., float], Needs], Any] = {}

_ENTRY = """
def {name}(A_pointer, Q_pointer, C_pointer, G_pointer, m, p):
    {arenas}
    {body}
"""

_OURS = "return settle(reading(State({fields}){parameters}))"

# A user's function may raise; C has no exceptions, and a reading must not end a stream.
_THEIRS = """try:
        value = float(reading(State({fields}){parameters}))
    except Exception:
        value = nan
    return settle(value)"""


def reading_address(reading: Callable[..., float], name: str, needs: Needs, *, own: bool) -> int:
    """Address of the compiled reading; compiled once per process, cached on disk if ours."""
    key = (reading, needs)
    if key not in _steps:
        _steps[key] = _compile_own(reading, name, needs) if own else _compile_ours(reading, needs)
    return int(_steps[key].address)


def _compile_ours(reading: Callable[..., float], needs: Needs) -> Any:
    # Compiled as if it stood where the reading stands: Numba keeps its cache beside that file,
    # and looks at the source there.
    body = _jitted(reading, inline="always")
    entry = _entry(_OURS, reading, body, needs, inspect.getfile(reading))
    return step(entry, fastmath=SUMS).compiled


def _compile_own(reading: Callable[..., float], name: str, needs: Needs) -> Any:
    try:
        entry = _entry(_THEIRS, reading, _jitted(reading), needs, "<icvi>")
        return step(entry, cached=False).compiled
    except Exception as error:
        raise IndexCompilationError(
            f"index {name!r} cannot be compiled: {_gist(error)}\n"
            "An index runs inside the compiled loop: use numbers, loops, math, numpy functions "
            "that Numba supports, and the fields of icvi.State."
        ) from error


def _entry(
    template: str, reading: Callable[..., float], body: Any, needs: Needs, filename: str
) -> Any:
    """The step around a reading: make the state from pointers, read, settle infinities."""
    count = 0 if template is _THEIRS else len(inspect.signature(reading).parameters) - 1
    name = f"read_{re.sub(r'[^0-9a-zA-Z_]', '_', reading.__name__)}"
    fields = [FIELDS[field] for field in needs]
    arenas = [f"{arena} = {made}" for arena, made in ARENAS.items() if f"{arena}[" in str(fields)]
    inner = template.format(
        fields=", ".join(fields),
        parameters="".join(f", p[{position}]" for position in range(count)),
    )
    scope: dict[str, Any] = {
        "L": layout,
        "State": namedtuple("State", needs),
        "array": array,
        "nan": float("nan"),
        "reading": body,
        "settle": settle,
        "__name__": reading.__module__,
    }
    lines_before = "\n" * (reading.__code__.co_firstlineno - 2)
    source = lines_before + _ENTRY.format(name=name, arenas="; ".join(arenas), body=inner)
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
    cells = tuple(
        CellType(_jitted(cell.cell_contents, **options)) for cell in function.__closure__ or ()
    )
    copy = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
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
