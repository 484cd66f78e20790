"""Validity indices of a labelled data set, without a stream.

Nothing is compiled but for indices on prototypes, and for many samples (see `state.labelled`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from icvi.indices import Index, select
from icvi.indices.catalogue import select_one
from icvi.indices.from_moments.evaluate import evaluate, wanted
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.inputs import as_samples, as_table, as_weights, check_entries
from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY
from icvi.labels import NOISE, Labels, as_label_array
from icvi.state.labelled import gather_labelled, gather_numbered
from icvi.state.moments import Moments


def score(
    X: Any,
    labels: Any,
    index: str | Index = "CH",
    *,
    weights: Any = None,
    noise_label: Hashable = None,
    undefined: Undefined = "nan",
) -> float:
    """One validity index of labelled data.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    labels : sequence of length n
        Cluster of each sample, any hashable.
    index : str or Index, default "CH"
        A name of the catalogue or an index object.
    weights : array-like of length n, optional
        Weight 2 counts a sample twice.
    noise_label : hashable, optional
        Label that marks noise; samples with it are left out.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What to return where the formula has no finite value.

    Returns
    -------
    float

    Examples
    --------
    >>> import icvi
    >>> icvi.score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1], "CH")
    50.0
    """
    chosen = select_one(index, several="icvi.scores")
    return scores(X, labels, chosen, weights=weights, noise_label=noise_label, undefined=undefined)[
        chosen.name
    ]


def scores(
    X: Any,
    labels: Any,
    indices: str | Index | Iterable[str | Index] = "paper",
    *,
    weights: Any = None,
    noise_label: Hashable = None,
    undefined: Undefined = "nan",
) -> dict[str, float]:
    """Several validity indices of labelled data, from one pass over it.

    Ten million numbers or more are summed by code that is compiled at first use, on all cores; with
    fewer, nothing is compiled.

    Indices on prototypes, such as Conn, depend on the order of the samples. They are read at the
    end of a stream of the rows of X, with the prototypes of a `Quantizer` that has the bounds of X.

    Parameters
    ----------
    X, labels, weights, noise_label, undefined
        As in `score`.
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, or a list of names and index objects.

    Returns
    -------
    dict
        Index name to value.

    Examples
    --------
    >>> import icvi
    >>> icvi.scores([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1], ["CH", "XB"])
    {'CH': 50.0, 'XB': 0.01}
    """
    chosen = select(indices)
    policy = UndefinedPolicy(chosen, undefined)
    on_clusters = [index for index in chosen if index.on == "clusters"]
    on_prototypes = [index for index in chosen if index.on == "prototypes"]
    scatter = bool(wanted(on_clusters) & L.WANT_SCATTER)
    found = moments(X, labels, weights, noise_label, scatter=scatter)
    if found is None:
        values = dict.fromkeys((index.name for index in chosen), EMPTY)
    else:
        values = evaluate(on_clusters, found)
        if on_prototypes:
            values |= streamed(X, labels, on_prototypes, weights, noise_label)
    names = [index.name for index in chosen]
    return dict(zip(names, policy.all([values[name] for name in names]), strict=True))


def streamed(
    X: Any,
    labels: Any,
    indices: Sequence[Index],
    weights: Any = None,
    noise_label: Hashable = None,
    quantizer: Mapping[str, Any] | None = None,
) -> dict[str, float]:
    """Indices on prototypes, read at the end of a stream of the rows of X."""
    from icvi.tracking.tracker import Tracker  # here, because it loads Numba

    X = as_samples(X)
    bounds = X.min(axis=0), X.max(axis=0)
    t = Tracker(indices, noise_label=noise_label, bounds=bounds, quantizer=quantizer)
    t.update_many(X, labels, weights)
    return t.values


def moments(
    X: Any, labels: Any, weights: Any, noise_label: Hashable, *, scatter: bool
) -> Moments | None:
    """Moments of the clusters; None if every sample is noise or has weight 0."""
    X = as_table(X)
    label_array = as_label_array(labels, len(X))
    names = Labels(noise_label)
    if weights is None:
        found = gather_numbered(X, label_array, noise_label, scatter=scatter)
        if found is not None:
            return found if len(found.n) else None
    check_entries(X)
    w = None if weights is None else as_weights(weights, len(X))
    columns, new = names.encode(label_array)
    if w is not None and not (w > 0.0).all():
        counted = (columns != NOISE) & (w > 0.0)
        X, w, label_array = X[counted], w[counted], label_array[counted]
        columns, new = names.encode(label_array)
    if not new:
        return None
    return gather_labelled(X, columns, len(new), w, scatter=scatter)
