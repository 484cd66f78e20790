"""Validity indices of many groups of labelled data: a row per group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.batch.groups.codes import Codes, encode, encode_several, is_noise
from icvi.batch.groups.frames import framed, resolved, taken
from icvi.batch.scoring import moments, streamed
from icvi.errors import IndexCompilationError, UndefinedIndexError
from icvi.indices import Index, select
from icvi.indices.from_moments.evaluate import evaluate, wanted
from icvi.indices.undefined import Undefined, UndefinedPolicy, reasons
from icvi.inputs import as_samples, as_weights
from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY, why
from icvi.labels import as_label_array, check_label, plain
from icvi.state.moments import sorted_by_cluster
from icvi.streams.tables import is_table
from icvi.tracking.table import Table
from icvi.wording import short

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FEW = 256  # groups that numpy scores in less time than it takes to load compiled code


class GroupScores(Table):
    """Scores of groups: key, n_samples, n_clusters and one column per index.

    Examples
    --------
    >>> import icvi
    >>> keys = ["pump", "pump", "pump", "fan", "fan"]
    >>> table = icvi.scores_by(keys, [[0.0], [1.0], [9.0], [5.0], [6.0]], [0, 0, 1, 0, 0], ["CH"])
    >>> table
    key   n_samples  n_clusters     CH
    pump          3           2  96.33
    fan           2           1    nan
    >>> table.why("CH")
    [None, 'k<2']
    """

    def why(self, name: str) -> list[str | None]:
        """For every group None, or the reason why an index is undefined."""
        return reasons(self[name])


def scores_by(
    keys: Any,
    X: Any,
    labels: Any,
    indices: str | Index | Iterable[str | Index] = "paper",
    *,
    weights: Any = None,
    noise_label: Hashable = None,
    undefined: Undefined = "nan",
    features: Any = None,
) -> Any:
    """Several validity indices of every group of labelled data, from one sort and one pass.

    Each row of the result is what `scores` returns for the samples of a group: devices, customers,
    days, runs. Groups share no clusters, even where they share labels.

    Parameters
    ----------
    keys : sequence of length n, str, or list of str
        The group of each sample, any hashable. Where X is a frame, a str names its column of keys,
        and a list of names of columns several of them: rows with the same values are a group.
    X : array-like of shape (n, d), or frame
        Samples; a frame of pandas, polars or pyarrow may hold keys, labels and weights as well.
    labels : sequence of length n, or str
        Cluster of each sample, any hashable, or the name of a column of X.
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, or a list of names and index objects.
    weights : array-like of length n, or str, optional
        Weight 2 counts a sample twice; values, or the name of a column of X.
    noise_label : hashable, optional
        Label that marks noise; samples with it are left out.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What to return where a formula has no finite value, as in `scores`.
    features : list of str, optional
        Columns of the frame X that are features; by default all that hold numbers and are not
        named by ``keys``, ``labels`` or ``weights``.

    Returns
    -------
    GroupScores or frame
        The keys (column ``key``, or named as in X), ``n_samples`` (the total weight without noise),
        ``n_clusters``, and a column per index. Groups are in order of first appearance. For a frame
        X a frame of the same package, else a table with ``to_pandas()`` and ``to_arrow()``.
        `icvi.reasons` tells why values are nan.

    Notes
    -----
    A few hundred groups are scored with numpy alone, like `scores` does. With more of them, code
    that is compiled on first use takes some microseconds for a group of 100 samples, where `scores`
    takes hundreds. Indices on prototypes, such as Conn, are read group by group from a stream,
    which takes milliseconds.

    Examples
    --------
    >>> import icvi
    >>> keys = ["pump", "fan", "pump", "fan", "pump", "pump", "fan"]
    >>> X = [[0.0], [5.0], [1.0], [6.0], [8.0], [9.0], [1.0]]
    >>> table = icvi.scores_by(keys, X, labels=[0, 0, 0, 0, 1, 1, 1], indices=["CH", "XB"])
    >>> table
    key   n_samples  n_clusters   CH        XB
    pump          4           2  128  0.003906
    fan           3           2   27   0.00823
    >>> table["CH"].tolist(), table[1]["key"]
    ([128.0, 27.0], 'fan')

    >>> import pandas
    >>> label = [0, 0, 0, 0, 1, 1, 1]
    >>> frame = pandas.DataFrame({"device": keys, "x": [x for (x,) in X], "label": label})
    >>> icvi.scores_by("device", frame, "label", ["CH"])
      device  n_samples  n_clusters     CH
    0   pump        4.0           2  128.0
    1    fan        3.0           2   27.0
    """
    chosen = select(indices)
    policy = UndefinedPolicy(chosen, undefined)
    if noise_label is not None:
        check_label(noise_label)
    given = resolved(keys, X, labels, weights, features)
    samples = as_samples(given.X)
    n = len(samples)
    groups = encode_several([*given.keys.values()], n, "keys")
    clusters = _clusters(encode(given.labels, n, "labels"), given.labels, n, noise_label)
    w = None if given.weights is None else as_weights(given.weights, n)
    totals, ks, values = _read(chosen, samples, groups, clusters, w)
    names = _names([*given.keys], chosen)
    firsts = [_keys(column, groups.first, n) for column in given.keys.values()]
    _resolve(policy, values, firsts)
    columns = [*firsts, totals, ks, *(values[:, i].copy() for i in range(len(chosen)))]
    table = dict(zip(names, columns, strict=True))
    return framed(table, X) if is_table(X) else GroupScores(table)


def _clusters(codes: Codes, labels: Any, n: int, noise_label: Hashable) -> Integers:
    """Labels as numbers from 1, 0 for noise."""
    if noise_label is None:
        return codes.codes + 1
    distinct = _keys(labels, codes.first, n)
    noise = np.array([is_noise(_python(label), noise_label) for label in distinct])
    numbers = np.where(noise, 0, np.cumsum(~noise))
    return np.asarray(numbers[codes.codes])


def _python(value: Any) -> Any:
    return value.as_py() if hasattr(value, "as_py") else value


def _keys(column: Any, first: Integers, n: int) -> Any:
    """The distinct values of a column; of an array, or anything else, as an array."""
    if hasattr(column, "iloc") or hasattr(column, "gather") or hasattr(column, "dictionary_encode"):
        return taken(column, first)
    return as_label_array(column, n)[first]


def _names(keys: list[Any], indices: Sequence[Index]) -> list[Any]:
    names = [*keys, "n_samples", "n_clusters", *(index.name for index in indices)]
    for name in keys:
        if names.count(name) > 1:
            raise ValueError(f"the result has a column {short(name)} of its own; rename that of X")
    return names


def _resolve(policy: UndefinedPolicy, values: Floats, keys: Sequence[Any]) -> None:
    """Replace undefined values in place by what the user chose."""
    for position, index in enumerate(policy.indices):
        undefined = np.flatnonzero(np.isnan(values[:, position]))
        if policy.undefined == "raise" and undefined.size:
            row = int(undefined[0])
            key = ", ".join(short(plain(_python(column[row]))) for column in keys)
            reason = why(values[row, position])
            raise UndefinedIndexError(f"{index.name} is undefined in group {key}: {reason}")
        values[:, position] = policy.column(position, values[:, position])


# -- readings --------------------------------------------------------------------------------


def _read(
    indices: Sequence[Index], X: Floats, groups: Codes, labels: Integers, w: Floats | None
) -> tuple[Floats, Integers, Floats]:
    """Total weight, number of clusters and all values of each group."""
    on_clusters = [index for index in indices if index.on == "clusters"]
    on_prototypes = [index for index in indices if index.on == "prototypes"]
    found = None
    if len(groups) > _FEW and on_clusters:
        found = _compiled(on_clusters, X, groups, labels, w)
    totals, ks, values = found or _one_by_one(on_clusters, X, groups, labels, w)
    values[ks == 0] = EMPTY
    if on_prototypes:
        streams = np.full((len(groups), len(on_prototypes)), EMPTY)
        for group, rows in _rows(groups):
            if ks[group]:
                weights = None if w is None else w[rows]
                read = streamed(X[rows], labels[rows], on_prototypes, weights, noise_label=0)
                streams[group] = [read[index.name] for index in on_prototypes]
        order = [index.name for index in (*on_clusters, *on_prototypes)]
        values = np.concatenate([values, streams], axis=1)
        values = values[:, [order.index(index.name) for index in indices]]
    return totals, ks, np.ascontiguousarray(values)


def _compiled(
    indices: Sequence[Index], X: Floats, groups: Codes, labels: Integers, w: Floats | None
) -> tuple[Floats, Integers, Floats] | None:
    """All groups in a compiled pass; None where a user's own index cannot be compiled."""
    # Here, because they load Numba.
    from icvi.batch.groups.compiled_pass import Samples, read_groups
    from icvi.tracking.index_reader import IndexReader

    try:
        reader = IndexReader(indices)
    except IndexCompilationError:
        return None
    return read_groups(indices, Samples(X, groups.codes, labels, w, len(groups)), reader)


def _one_by_one(
    indices: Sequence[Index], X: Floats, groups: Codes, labels: Integers, w: Floats | None
) -> tuple[Floats, Integers, Floats]:
    """All groups one after the other, with numpy alone."""
    totals, ks = np.zeros(len(groups)), np.zeros(len(groups), dtype=np.int64)
    values = np.full((len(groups), len(indices)), EMPTY)
    scatter = bool(wanted(indices) & L.WANT_SCATTER)
    for group, rows in _rows(groups):
        weights = None if w is None else w[rows]
        found = moments(X[rows], labels[rows], weights, 0, scatter=scatter)
        if found is not None:
            totals[group], ks[group] = found.n.sum(), len(found.n)
            read: Mapping[str, float] = evaluate(indices, found)
            values[group] = [read[index.name] for index in indices]
    return totals, ks, values


def _rows(groups: Codes) -> Iterable[tuple[int, Integers]]:
    """Each group with its rows, in order."""
    order, bounds = sorted_by_cluster(groups.codes, len(groups))
    for group in range(len(groups)):
        yield group, order[bounds[group] : bounds[group + 1]]
