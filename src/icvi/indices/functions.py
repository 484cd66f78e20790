"""Functions of the state: the fields that they read, and how they get to other processes."""

from __future__ import annotations

import functools
import importlib
import inspect
import pickle
from collections.abc import Callable
from types import CodeType
from typing import Any, cast

from icvi.kernels.state import State

Reading = Callable[..., float]


def fields_read(function: Reading) -> tuple[str, ...]:
    """Fields of the state that a function, or a function it calls, may read."""
    names = _names(function, set())
    return tuple(name for name in State._fields if name in names)


fields_read_once = functools.cache(fields_read)  # most of the time that a new tracker takes


def _names(function: Any, seen: set[CodeType]) -> set[str]:
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or code in seen:
        return set()
    seen.add(code)
    names = _code_names(code)
    scope = inspect.getclosurevars(function)
    for value in (*scope.globals.values(), *scope.nonlocals.values()):
        names |= _names(value, seen)
    return names


def _code_names(code: CodeType) -> set[str]:
    """Names in a function and in the functions and comprehensions inside it."""
    inner = (_code_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def code_where_needed(function: Reading) -> bytes | None:
    """The code of a function that another process could not import.

    No other process can import what a script or a notebook defines. No process at all can import a
    function inside a function, or one that has the name of the function it wraps.
    """
    module = function.__module__
    try:
        if module != "__main__" and _defined(module, function.__qualname__) is function:
            return None
    except (ImportError, AttributeError):
        pass
    from numba import cloudpickle

    return cast("bytes", cloudpickle.dumps(function))


def restored(module: str, name: str, code: bytes | None) -> Reading:
    """The function that a module defines under a name, or another one that ``code`` holds."""
    try:
        function = _defined(module, name)
    except (ImportError, AttributeError):
        if code is None:
            raise
        function = None
    if code is not None and _body(function) != _body(_from_code(code)):
        return _from_code(code)
    return cast("Reading", function)


def _defined(module: str, name: str) -> Any:
    found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    return getattr(found, "reading", found)  # of an index, if the function is decorated


@functools.lru_cache(maxsize=64)  # equal code is one function, so it is compiled once
def _from_code(code: bytes) -> Reading:
    return cast("Reading", pickle.loads(code))


def _body(function: Any) -> tuple[Any, ...]:
    """What distinguishes two functions of the same name."""
    function = getattr(function, "py_func", function)  # unwraps what Numba has compiled
    return getattr(function, "__code__", None), getattr(function, "__defaults__", None)
