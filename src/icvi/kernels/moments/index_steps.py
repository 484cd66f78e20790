"""Compile the reading of an index into a step of the loop."""

from __future__ import annotations

import inspect
import math
import re
from collections import namedtuple
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numba

from icvi.errors import IndexCompilationError
from icvi.kernels import layout, reductions, sums
from icvi.kernels.arenas import group
from icvi.kernels.compiler.addresses import array, doubles, part
from icvi.kernels.compiler.compiling import SUMS, kernel, step, step_address
from icvi.kernels.undefined import NEGATIVE_OVERFLOW, OVERFLOW

Needs = tuple[str, ...]

_steps: dict[tuple[Callable[..., float], Needs], Any] = {}

#: How each arena is made from the pointer to it.
ARENAS = {
    "A": "array(doubles(m[L.AT_A]), (m[L.ROWS], m[L.COLUMNS]))",
    "C": "array(doubles(m[L.AT_C]), (L.CACHE_ROWS, m[L.COLUMNS]))",
    "G": "array(group(m, p), (m[L.G_ROWS], m[L.COLUMNS]))",
}

#: Where each field of `State` is. A reading is compiled with the fields it reads, no others.
FIELDS = {
    "k": "m[L.K]",
    "d": "m[L.D]",
    "N": "A[L.N, 0]",
    "n": "part(A, L.N, 1, m[L.K])",
    "v": "A[L.V : L.V + m[L.D], 1 : m[L.K] + 1].T",
    "mu": "A[L.V : L.V + m[L.D], 0]",
    "CP": "part(A, L.CP, 1, m[L.K])",
    "CP_0": "C[L.SINGLE, L.WITHIN] + C[L.SEP, 0]",
    "var": "part(C, L.VAR, 1, m[L.K])",
    "W": "C[L.SINGLE, L.WITHIN]",
    "B": "C[L.SEP, 0]",
    "sep": "part(C, L.SEP, 1, m[L.K])",
    "beta_T": "C[L.SINGLE, L.BETA_T]",
    "closeness": "C[L.SINGLE, L.CLOSENESS]",
    "pooled": "C[L.SINGLE, L.POOLED]",
    "nearest": "part(C, L.NEAREST, 1, m[L.K])",
    "farthest": "part(C, L.FARTHEST, 1, m[L.K])",
    "D_min": "C[L.SINGLE, L.D_MIN]",
    "D_max": "C[L.SINGLE, L.D_MAX]",
    "b": "part(C, L.NEIGHBOUR, 1, m[L.K])",
    "R": "part(C, L.OVERLAP, 1, m[L.K])",
    # Kept as it was some time ago, where samples fade.
    "S": "A[L.V + 2 * m[L.D] :, 1 : m[L.K] + 1] * (A[L.N, 0] / A[L.HELD, 0])",
    "logdet": "part(G, L.G_LOGDET, 1, m[L.K])",
    "logdet_T": "G[0, L.G_LOGDET_T]",
    "h_sum": "G[0, L.G_H_SUM]",
    "cip_sum": "G[0, L.G_CIP_SUM]",
    "log_cip": "G[0, L.G_LOG_CIP]",
    # Of clusters with several prototypes, which are the columns then:
    "clusters": "G[0, L.G_CLUSTERS]",
    "mixture_h": "G[0, L.G_H_SUM]",
    "mixture_cip": "G[0, L.G_CIP_SUM]",
    "mixture_log_cip": "G[0, L.G_LOG_CIP]",
}

#: What compiled readings call instead.
_KERNELS: dict[Callable[..., Any], Any] = {
    reductions.total: sums.total_of,
    reductions.largest: sums.largest,
    reductions.silhouettes: sums.silhouettes,
    reductions.log_volumes: sums.log_volumes,
}

_ENTRY = """
def {name}(m, p):
    {arenas}
    {body}
"""

_OURS = "return overflow_to_nan(reading(State({fields}){parameters}))"

# A user's function may raise; C has no exceptions, and a reading must not end a stream.
_THEIRS = """try:
        value = float(reading(State({fields}){parameters}))
    except Exception:
        value = nan
    return overflow_to_nan(value)"""


@kernel(inline="always")
def overflow_to_nan(value):
    """No reading is infinite: it is undefined, and says that it overflowed."""
    if value == math.inf:
        return OVERFLOW
    return NEGATIVE_OVERFLOW if value == -math.inf else value


def reading_address(reading: Callable[..., float], name: str, needs: Needs, *, own: bool) -> int:
    """Address of the compiled reading; compiled once per process, cached on disk if ours."""
    key = (reading, needs)
    if key not in _steps:
        _steps[key] = _compile_own(reading, name, needs) if own else _compile_ours(reading, needs)
    return step_address(_steps[key])


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
    """The step around a reading: make the state from pointers, read, infinities become nan."""
    count = 0 if template is _THEIRS else len(inspect.signature(reading).parameters) - 1
    name = f"read_{re.sub(r'[^0-9a-zA-Z_]', '_', reading.__name__)}"
    fields = [FIELDS[field] for field in needs]
    used = {arena for arena in ARENAS if re.search(rf"\b{arena}\b", " ".join(fields))}
    arenas = [f"{arena} = {made}" for arena, made in ARENAS.items() if arena in used]
    inner = template.format(
        fields=", ".join(fields),
        parameters="".join(f", p[{position}]" for position in range(1, count + 1)),
    )
    scope: dict[str, Any] = {
        "L": layout,
        "State": namedtuple("State", needs),
        "array": array,
        "doubles": doubles,
        "group": group,
        "part": part,
        "nan": float("nan"),
        "reading": body,
        "overflow_to_nan": overflow_to_nan,
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
    if function in _KERNELS:
        return _KERNELS[function]
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
