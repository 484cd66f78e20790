"""A prototype graph from arrays that were saved, which may be damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.events import LARGEST_NUMBER
from icvi.graph_state import Counts, Sums, clusters_of, lay, put_sums
from icvi.kernels import graph_layout as L
from icvi.prototype_graph import PrototypeGraph


def build(graph: PrototypeGraph, arrays: dict[str, NDArray[Any]], n_labels: int) -> None:
    """Fill an empty graph with what `as_arrays` gave; damaged arrays are refused."""
    counts, sums = _checked(arrays)
    columns = np.arange(1, n_labels + 1)
    _check(len(sums.n) == n_labels, f"{len(sums.n)} clusters, got {n_labels} labels")
    owned = (counts.owner >= 1) & (counts.owner <= n_labels)
    _check(bool(owned.all()), "an owner for every prototype")
    graph.meta[L.DECAYED] = bool(arrays["decayed"][0])
    lay(graph, columns, counts)
    _check(graph.n_prototypes == len(counts.prototype), "weight or an edge for every prototype")
    _check(np.array_equal(clusters_of(graph), columns), "prototypes for every cluster, in order")
    put_sums(graph, columns, sums)


def _checked(arrays: dict[str, NDArray[Any]]) -> tuple[Counts, Sums]:
    """Arrays that kernels can work on without leaving them."""
    expected = {*Counts._fields, *Sums._fields, "decayed"}
    _check(set(arrays) == expected, f"the arrays {sorted(expected)}, got {sorted(arrays)}")
    kinds = {**Counts.__annotations__, **Sums.__annotations__}
    made: dict[str, Any] = {}
    for name in (*Counts._fields, *Sums._fields):
        array = np.asarray(arrays[name])
        whole = "Integers" in str(kinds[name])
        _check(array.ndim == 1 and array.dtype.kind == ("i" if whole else "f"), f"{name} as a list")
        made[name] = np.ascontiguousarray(array, dtype=np.int64 if whole else np.float64)
        _check(bool(np.isfinite(made[name]).all()), f"finite numbers in {name}")
    counts = Counts(**{name: made[name] for name in Counts._fields})
    sums = Sums(**{name: made[name] for name in Sums._fields})
    for part in (counts[:5], counts[5:], sums[:2], sums[2:8], sums[8:12], sums[12:]):
        _check(len({len(array) for array in part}) == 1, "columns of equal length")
    _check_counts(counts)
    return counts, sums


def _check_counts(counts: Counts) -> None:
    p, i, j = counts.prototype, counts.winner, counts.runner_up
    inside = p.size == 0 or (p[0] >= 0 and p[-1] <= LARGEST_NUMBER)
    _check(inside and bool((np.diff(p) > 0).all()), "prototypes in ascending order")
    _check(bool((np.abs(counts.second) <= LARGEST_NUMBER + 1).all()), "runners-up that can be")
    _check(bool((counts.cadj >= 0.0).all() and (counts.pending >= 0.0).all()), "counts from 0 on")
    twins = len(i) % 2 == 0 and (i[::2] == j[1::2]).all() and (j[::2] == i[1::2]).all()
    _check(bool(twins and (i != j).all()), "both directions of every edge")
    _check(bool(np.isin(i, p).all()), "edges between known prototypes")
    _check(len(set(zip(i.tolist(), j.tolist(), strict=True))) == len(i), "every edge once")


def _check(fine: bool, expected: str) -> None:
    if not fine:
        raise ValueError(f"expected {expected}; the state is damaged")
