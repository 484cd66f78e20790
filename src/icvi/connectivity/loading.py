"""A prototype graph from arrays that were saved, which may be damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.arrays import GraphArrays
from icvi.connectivity.counts import Counts, Declared, Sums, put_sums, rebuild
from icvi.connectivity.events import LARGEST_NUMBER
from icvi.kernels.graph import layout as L

#: The two doubles of a number: the rest is what the first one has no room for.
_REST = 2.0**-50
#: Sums of weights stay below this; see `icvi.saving.parts`.
_HEAVIEST = 1e200
#: What rounding may leave of a sum, against the weight of all events, when events are taken back.
_RESIDUE = 1e-6


def load(graph: GraphArrays, arrays: dict[str, NDArray[Any]], n_labels: int) -> None:
    """Fill an empty graph with what `as_arrays` returned; damaged arrays are refused."""
    counts, sums, declared = _checked(arrays)
    columns = np.arange(1, n_labels + 1)
    _check(len(sums.n) == n_labels, f"{len(sums.n)} clusters, got {n_labels} labels")
    known = (counts.owner >= 1) & (counts.owner <= n_labels)
    _check(bool(known.all()), "an owner for every prototype in owner")
    _check_declared(declared, counts, n_labels)
    for name, place in (("decayed", L.DECAYED), ("declares", L.DECLARES)):
        graph.meta[place] = _flag(arrays[name], name)
    _check_sums(sums)
    rebuild(graph, columns, declared, counts)
    _check(graph.n_prototypes == len(counts.prototype), "weight or an edge for every prototype")
    _check(np.array_equal(graph.columns(), columns), "prototypes for every cluster, in order")
    put_sums(graph, columns, sums)


def _checked(arrays: dict[str, NDArray[Any]]) -> tuple[Counts, Sums, Declared]:
    """Arrays that kernels can work on without leaving them."""
    fields = (*Counts._fields, *Sums._fields, *Declared._fields)
    expected = {*fields, "decayed", "declares"}
    _check(set(arrays) == expected, f"the arrays {sorted(expected)}, got {sorted(arrays)}")
    kinds = {**Counts.__annotations__, **Sums.__annotations__, **Declared.__annotations__}
    made: dict[str, Any] = {}
    for name in fields:
        array = np.asarray(arrays[name])
        whole = "Integers" in str(kinds[name])
        _check(array.ndim == 1 and array.dtype.kind == ("i" if whole else "f"), f"{name} as a list")
        made[name] = np.ascontiguousarray(array, dtype=np.int64 if whole else np.float64)
        if not whole:
            _check(bool((np.abs(made[name]) <= _HEAVIEST).all()), f"finite numbers in {name}")
    for name in fields:
        if name.endswith("_rest"):
            high = np.abs(made[name.removesuffix("_rest")])
            _check(len(high) == len(made[name]), "columns of equal length")
            _check(bool((np.abs(made[name]) <= _REST * high).all()), f"{name} to be rounding")
    counts = Counts(**{name: made[name] for name in Counts._fields})
    sums = Sums(**{name: made[name] for name in Sums._fields})
    declared = Declared(**{name: made[name] for name in Declared._fields})
    for group in (counts[:5], counts[5:], sums[:2], sums[2:8], sums[8:12], sums[12:], declared):
        _check(len({len(array) for array in group}) == 1, "columns of equal length")
    _check_counts(counts)
    return counts, sums, declared


def _check_counts(counts: Counts) -> None:
    p, i, j = counts.prototype, counts.winner, counts.runner_up
    _check(_ascend(p), "prototypes in ascending order in prototype")
    second = counts.second
    runs = (second >= -1) & (second <= LARGEST_NUMBER + 1) & (second != p + 1)
    _check(bool(runs.all()), "runners-up that can be in second")
    for name in ("cadj", "pending"):
        _check(bool((getattr(counts, name) >= 0.0).all()), f"counts from 0 on in {name}")
    twins = len(i) % 2 == 0 and (i[::2] == j[1::2]).all() and (j[::2] == i[1::2]).all()
    _check(bool(twins and (i != j).all()), "both directions of every edge in winner and runner_up")
    _check(bool(np.isin(i, p).all()), "known prototypes in winner")
    _check(
        len(set(zip(i.tolist(), j.tolist(), strict=True))) == len(i),
        "every edge once in winner and runner_up",
    )


def _check_declared(declared: Declared, counts: Counts, n_labels: int) -> None:
    numbers, owners = declared
    _check(_ascend(numbers), "declared prototypes in ascending order")
    known = (owners >= 1) & (owners <= n_labels)
    _check(bool(known.all()), "an owner for every prototype in declared_owner")
    _, i, j = np.intersect1d(numbers, counts.prototype, assume_unique=True, return_indices=True)
    _check(np.array_equal(owners[i], counts.owner[j]), "owners as declared")


def _check_sums(sums: Sums) -> None:
    """Sums of weights are not negative, but for what rounding leaves of them."""
    _check(bool((sums.n >= 0.0).all()), "weights from 0 on in n")
    least = -_RESIDUE * float(sums.n.sum())
    for name in ("r", "n_pending", "inside", "c", "X", "Y"):
        _check(bool((getattr(sums, name) >= least).all()), f"sums from 0 on in {name}")


def _flag(array: NDArray[Any], name: str) -> bool:
    array = np.asarray(array)
    fine = array.shape == (1,) and array.dtype.kind == "i" and array[0] in (0, 1)
    _check(fine, f"0 or 1 in {name}")
    return bool(array[0])


def _ascend(numbers: NDArray[np.int64]) -> bool:
    inside = numbers.size == 0 or (numbers[0] >= 0 and numbers[-1] <= LARGEST_NUMBER)
    return bool(inside and (np.diff(numbers) > 0).all())


def _check(fine: bool, expected: str) -> None:
    if not fine:
        raise ValueError(f"expected {expected}; the state is damaged")
