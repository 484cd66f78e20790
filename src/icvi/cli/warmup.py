"""Compile ahead: what `icvi warmup` does."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from icvi.indices import Index, select
from icvi.progress import progress

#: Modules with the entry points that any tracker calls sooner or later.
_TRACKER = ("icvi.kernels.moments", "icvi.kernels.splits", "icvi.kernels.linkage")

#: Those that it calls besides where an index compares prototypes.
_PROTOTYPES = (
    "icvi.kernels.graph",
    *(f"icvi.kernels.art.{name}" for name in ("coding", "fuzzy_art", "quantizer")),
)


def warm_up(indices: Sequence[str] = ()) -> float:
    """Compile everything that trackers with these indices run; how many seconds it took.

    Parameters
    ----------
    indices : sequence of str, optional
        Names and groups. By default everything that is ever compiled, clusterers included, except
        for indices of a user's own.
    """
    start = time.perf_counter()
    if indices:
        todo = _what_trackers_run(select(indices))
    else:
        todo = [*_entry_points("icvi.kernels"), *_all_readings()]
    with progress("icvi: compiling", len(todo)) as advance:
        for compile_one in todo:
            compile_one()
            advance(1)
    return time.perf_counter() - start


def _what_trackers_run(indices: Sequence[Index]) -> list[Callable[[], object]]:
    modules = list(_TRACKER)
    if any(index.on == "prototypes" for index in indices):
        modules += _PROTOTYPES
    return [*_entry_points(*modules), *(partial(_compile_plan, index) for index in indices)]


def _entry_points(*modules: str) -> Iterator[Callable[[], object]]:
    """How to compile the kernels of modules and packages that Python calls."""
    import icvi.kernels
    from icvi.kernels.compiler.compiling import ENTRY_POINTS

    for module in pkgutil.walk_packages(icvi.kernels.__path__, "icvi.kernels."):
        importlib.import_module(module.name)
    for entry in ENTRY_POINTS:
        if f"{entry.module}.".startswith(tuple(f"{module}." for module in modules)):
            yield partial(getattr, entry, "compiled")


def _all_readings() -> Iterator[Callable[[], object]]:
    """Every reading that an index can have, whatever its options: each is in one of the modules."""
    import icvi.indices

    for module in pkgutil.walk_packages(icvi.indices.__path__, "icvi.indices."):
        for entry in vars(importlib.import_module(module.name)).values():
            if isinstance(entry, Index):
                yield partial(_compile_plan, entry)


def _compile_plan(index: Index) -> None:
    """Compile the reading of an index, and what refreshes the caches that it looks at."""
    from icvi.indices.conn_index import ConnIndex
    from icvi.tracking.plan import make_plan, sweep_address

    if not isinstance(index, ConnIndex):  # that one is read by the kernels of the graph
        make_plan([index], [index.regularisation] if index.regularisation else [])
        sweep_address(index.want, sys.maxsize)  # whatever the number of clusters
