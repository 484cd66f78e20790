"""How kernels are compiled, cached on disk and called through pointers.

Everything a stream runs per sample is compiled in small units that know each other only by
address: the refresh of the caches and every index reading have the same C signature. A new
selection of indices, or a user's own index, therefore compiles nothing but what is new.
"""

from __future__ import annotations

import gc
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import types

from icvi.kernels.compiler.announcing import announced
from icvi.kernels.compiler.disk_cache import with_cache

#: Whether kernels do without what reaches into Numba where they can: slower, but the same numbers.
PLAIN = os.environ.get("ICVI_PLAIN_KERNELS", "") not in ("", "0")

#: How all kernels are compiled. Division by zero gives inf or nan.
_ALL: dict[str, Any] = {"error_model": "numpy", "no_rewrites": True}
if not PLAIN:
    from icvi.kernels.compiler.pipeline import Pipeline

    _ALL["pipeline_class"] = Pipeline

#: How functions are compiled that make no arrays. Numba need not count who refers to an array then,
#: and callers need not begin: all indices take 0.3 s less to compile, a call of `update` 1.2 us
#: instead of 1.3. With plain kernels, numbers side by side are new arrays.
MAKES_NO_ARRAYS = {"_nrt": PLAIN}

#: How functions that Python calls are compiled.
OPTIONS: dict[str, Any] = {**_ALL, "nogil": True, "no_cfunc_wrapper": True}

#: Flags for sums: terms may be added in another order, and fused with products. Infinities
#: and nan keep their meaning, but Numba's isfinite does not: it looks at x - x, which
#: reordering makes 0. Compare with infinity instead.
SUMS = {"reassoc", "contract", "nsz"}

#: Flags for minima and maxima of what is never nan: without them, these are not vectorised.
MINIMA = SUMS | {"nnan"}

#: Flags for everything else: a product and a sum may be fused.
FUSED = {"contract"}

#: What compiled functions give each other. An array would be seven to nine arguments: eight indices
#: took 0.212 us instead of 0.206 at k = 15.
DOUBLES = types.CPointer(types.float64)
META = types.CPointer(types.int64)

#: step(meta, parameters) -> value; meta has the addresses of all arrays
STEP = types.float64(META, DOUBLES)

MATRIX = types.float64[:, ::1]
CUBE = types.float64[:, :, ::1]
INTEGERS = types.int64[::1]
PLAN = types.int64[:, ::1]
PAIRS = types.int64[:, ::1]
# Callers' arrays may be read-only; Numba gives those a type of their own.
SAMPLE = types.Array(types.float64, 1, "C", readonly=True)
SAMPLES = types.Array(types.float64, 2, "C", readonly=True)


@cache
def source_key() -> str:
    """Fingerprint of all sources that are compiled.

    Numba's cache looks only at the file of the function it compiles, not at the files of its
    callees; with this key in the name of every cached function a change anywhere counts.
    """
    return fingerprint(Path(__file__).parents[2]) + ("_plain" if PLAIN else "")


def fingerprint(package: Path) -> str:
    """Digest of the kernels and indices below a package."""
    digest = hashlib.sha256()
    for path in sorted([*package.glob("kernels/**/*.py"), *package.glob("indices/**/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@contextmanager
def _compilation() -> Iterator[None]:
    """Announce it if it takes long, and do without the garbage collector."""
    # Compiling and loading make many objects that stay: looking for garbage finds none.
    collecting = gc.isenabled()
    gc.disable()
    try:
        with announced():
            yield
    finally:
        if collecting:
            gc.enable()


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a helper that other kernels call."""
    if function is None:
        return lambda function: kernel(function, **options)
    options = {**OPTIONS, "fastmath": FUSED, "no_cpython_wrapper": True, **options}
    return numba.njit(function, **options)


class EntryPoint:
    """A function that Python calls, or whose address it asks for; compiled when that first happens.

    A call of this object is a call of a Python function, after which signal handlers may run.
    Where that matters (see `icvi.transactions`), call ``compiled`` instead.
    """

    def __init__(self, function: Callable[..., Any], compile: Callable[[], Any]) -> None:
        self.module, self.name = function.__module__, function.__name__
        self._compile = compile

    #: What Numba made of the function, now or before; it may be in the cache on disk.
    compiled: Any

    def __getattr__(self, name: str) -> Any:
        # Asked for what is not there: from the second time on ``compiled`` is an attribute like
        # any other, which single samples are quicker to get than a property.
        if name != "compiled":
            raise AttributeError(f"an entry point has no attribute {name!r}")
        with _one_at_a_time:
            if "compiled" not in vars(self):
                with _compilation():
                    self.compiled = self._compile()
        return vars(self)["compiled"]

    @property
    def address(self) -> int:
        """Where the machine code of a step begins."""
        return step_address(self.compiled)

    def __call__(self, *arguments: Any) -> Any:  # noqa: D102
        return self.compiled(*arguments)


_one_at_a_time = threading.RLock()

#: The entry points of all modules that have been imported; `icvi warmup` compiles them.
ENTRY_POINTS: list[EntryPoint] = []


def compiled(
    signature: Any, fastmath: Any = FUSED, calls: Iterable[Any] = (), *, makes_arrays: bool = False
) -> Callable[[Callable[..., Any]], EntryPoint]:
    """Make an entry point of a function that Python calls.

    ``calls`` are the linked functions that it calls; see `linked`. A function ``makes_arrays`` if
    it, or one that it calls, does: not views of what it is given.
    """
    options = OPTIONS if makes_arrays else OPTIONS | MAKES_NO_ARRAYS

    def decorate(function: Callable[..., Any]) -> EntryPoint:
        def made(cache: bool) -> Any:
            if not PLAIN:
                for linked in calls:
                    linked.load()
            return numba.njit(signature, cache=cache, fastmath=fastmath, **options)(function)

        return entry_point(function, made)

    return decorate


def step(
    function: Callable[..., Any] | None = None, *, cached: bool = True, fastmath: Any = FUSED
) -> Any:
    """Make an entry point of a function of (meta, parameters), for plans to call.

    A user's function is not ``cached``, and may do what Numba allows.
    """
    if function is None:
        return lambda function: step(function, cached=cached, fastmath=fastmath)
    options = {**_ALL, **MAKES_NO_ARRAYS} if cached else {"error_model": "numpy"}

    def made(cache: bool) -> Any:
        return numba.cfunc(STEP, nopython=True, fastmath=fastmath, cache=cache, **options)(function)

    return entry_point(function, made) if cached else EntryPoint(function, lambda: made(False))


def step_address(compiled: Any) -> int:
    """Where to call a compiled step.

    Not where C would: that is a wrapper, of which eight indices need eleven (0.30 us, else 0.29).
    """
    if PLAIN:
        return int(compiled.address)
    library, wrapper = compiled._library, compiled._wrapper_name  # noqa: SLF001 - there is no other way
    return int(library.get_pointer_to_function(wrapper.removeprefix("cfunc.")))


def entry_point(function: Callable[..., Any], compile: Callable[[bool], Any]) -> EntryPoint:
    """An entry point that is cached on disk, and registered."""
    function.__qualname__ += f"_{source_key()}"
    entry = EntryPoint(function, lambda: with_cache(compile))
    ENTRY_POINTS.append(entry)
    return entry
