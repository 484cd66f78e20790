"""Compile ahead: what `icvi warmup` does."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from icvi.indices import Index, select
from icvi.progress import progress

#: Modules of kernels that any tracker runs sooner or later.
_TRACKER = tuple(
    f"moments.{name}"
    for name in ("change_many", "change_one", "join", "read", "scale", "update", "update_many")
)

#: Those that it runs besides where an index compares prototypes.
_PROTOTYPES = (
    *("graph.events", "graph.rebuild", "graph.hash_table"),
    *("art.fuzzy_art", "art.quantizer", "art.limits"),  # they find the prototypes
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
    todo = _what_trackers_run(select(indices)) if indices else [*_all_kernels(), *_all_readings()]
    with progress("icvi: compiling", len(todo)) as advance:
        for compile_one in todo:
            compile_one()
            advance(1)
    return time.perf_counter() - start


def _what_trackers_run(indices: Sequence[Index]) -> list[Callable[[], object]]:
    names = list(_TRACKER)
    if any(index.on == "prototypes" for index in indices):
        names += _PROTOTYPES
    kernels = [partial(importlib.import_module, f"icvi.kernels.{name}") for name in names]
    return [*kernels, *(partial(_compile_plan, index) for index in indices)]


def _all_kernels() -> Iterator[Callable[[], object]]:
    """Kernels are compiled when they are imported."""
    import icvi.kernels

    for module in pkgutil.walk_packages(icvi.kernels.__path__, "icvi.kernels."):
        yield partial(importlib.import_module, module.name)


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
    from icvi.tracking.plan import make_plan

    if not isinstance(index, ConnIndex):  # that one is read by the kernels of the graph
        make_plan([index], [index.regularisation] if index.regularisation else [])
