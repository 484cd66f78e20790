"""Conn_Index of all events at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.batch.event_counts import EventCounts, count_events
from icvi.connectivity.conventions import Border, Convention, check_form
from icvi.wording import short

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


def conn_index(
    winners: Any,
    labels: Any,
    *,
    owners: Any = None,
    convention: Convention = "paper",
    border: Border = "CONN",
) -> float:
    """Conn_Index: how well prototypes are connected inside clusters, and separated between them.

    Parameters
    ----------
    winners : array_like of shape (n_samples, 2)
        Numbers of the prototypes nearest and second nearest to each sample, from 0. If there is
        one prototype in all, the second is -1.
    labels : sequence of n_samples hashables
        The cluster of each sample, which is the cluster of its winner.
    owners : sequence of n_prototypes hashables, optional
        The cluster of each prototype. Needed for prototypes that never win; the others (and
        those with None) are in the cluster of their samples.
    convention : {"paper", "toolbox"}
        The published definition, or the numbers of the code that the paper's authors published.
    border : {"CONN", "CADJ"}
        Which prototypes form the border to another cluster, as in `icvi.Connectivity`.

    Returns
    -------
    float
        A number in [0, 1]; larger is better. 0 for a single cluster.

    See Also
    --------
    icvi.Connectivity : The same for a stream.

    Notes
    -----
    `icvi.Connectivity` has the definitions and the references. The k clusters are those with
    samples; prototypes of other clusters still count as neighbours. The order of the samples does
    not matter. In a stream it does, because the first samples meet few prototypes.

    Examples
    --------
    >>> from icvi.batch import conn_index
    >>> winners = [[0, 1], [1, 0], [1, 2], [2, 3], [3, 2], [2, 3]]
    >>> round(conn_index(winners, ["left"] * 3 + ["right"] * 3), 6)
    0.590278
    """
    check_form(convention, border)
    events = count_events(winners, labels, owners)
    if len(events.n) == 1:
        return 0.0
    toolbox = convention == "toolbox"
    intra = float(_intra(events, toolbox).mean())
    return intra * (1.0 - float(_largest_inter(events, toolbox, border).mean()))


def conn_index_score(
    X: Any,
    labels: Any,
    quantizer: Any,
    *,
    convention: Convention = "paper",
    border: Border = "CONN",
) -> float:
    """Conn_Index of samples with the prototypes that a clusterer has now.

    Winners and runners-up of all samples are found with these prototypes, and nothing is learnt.
    A stream counts those that each sample had when it came.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        Samples.
    labels : sequence of n_samples hashables, or None
        The cluster of each sample. None means ``quantizer.predict(X)``, for `FuzzySMART`.
    quantizer : FuzzySMART or Quantizer
        Fitted; or any object with ``winners(X, labels)`` and ``cluster_of_prototype_``.
    convention, border
        As in `conn_index`.

    Returns
    -------
    float
        A number in [0, 1]; larger is better. 0 for a single cluster.

    Examples
    --------
    >>> import icvi
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> s = icvi.FuzzySMART(rho_a=0.9, rho_b=0.7).fit(X)
    >>> icvi.batch.conn_index_score(X, s.labels_, s)
    1.0
    """
    for name in ("winners", "cluster_of_prototype_"):
        if not hasattr(quantizer, name):
            raise TypeError(
                f"expected a fitted FuzzySMART or Quantizer, got {short(quantizer)}, which has no "
                f"{name}"
            )
    labels = quantizer.predict(X) if labels is None else labels
    return conn_index(
        quantizer.winners(X, labels),
        labels,
        owners=quantizer.cluster_of_prototype_,
        convention=convention,
        border=border,
    )


def _intra(e: EventCounts, toolbox: bool) -> Array:
    """Intra(l): CADJ inside l over the samples of l."""
    k, own = len(e.n), e.owner[e.i]
    inside = _sums(own, np.where(own == e.owner[e.j], e.cadj, 0.0), k)
    if toolbox:
        return inside / np.maximum(_sums(own, e.cadj, k), 1.0)
    single = np.bincount(e.owner[e.owner >= 0], minlength=k)[:k] == 1
    return np.where(single, 1.0, inside / e.n)


def _largest_inter(e: EventCounts, toolbox: bool, border: Border) -> Array:
    """For every l the largest Inter(l, m) over m."""
    k = len(e.n)
    prototype, m, c = _border(e, border)
    pairs, at = np.unique(e.owner[prototype] * k + m, return_inverse=True)
    X = _sums(at, c, len(pairs))
    if toolbox:
        Y = X + _inside_of_border(e, prototype, m, pairs)
    else:
        P = len(e.owner)
        r = _sums(e.i, e.cadj, P) + _sums(e.j, e.cadj, P)
        Y = _sums(at, r[prototype], len(pairs))
    largest = np.zeros(k)
    np.maximum.at(largest, pairs // k, X / Y)
    return largest


def _border(e: EventCounts, border: Border) -> tuple[Integers, Integers, Array]:
    """All i in V_lm, sorted, with m and the sum of CONN(i, j) over j in m."""
    k, own, other = len(e.n), e.owner[e.i], e.owner[e.j]
    out = (own != other) & (other < k)  # a cluster without samples is none of the k
    sent, received = (e.i * k + other)[out], (e.j * k + own)[out]
    contacts, at = np.unique(np.concatenate([sent, received]), return_inverse=True)
    c = _sums(at, np.tile(e.cadj[out], 2), len(contacts))
    if border == "CADJ":
        on_border = np.isin(contacts, sent)
        contacts, c = contacts[on_border], c[on_border]
    return contacts // k, contacts % k, c


def _inside_of_border(e: EventCounts, prototype: Integers, m: Integers, pairs: Integers) -> Array:
    """For every pair l, m the CADJ of all edges inside l that have an end in V_lm, once each."""
    k = len(e.n)
    inside = np.flatnonzero(e.owner[e.i] == e.owner[e.j])
    met = []
    for end in (e.i[inside], e.j[inside]):
        first = np.searchsorted(prototype, end, "left")
        count = np.searchsorted(prototype, end, "right") - first
        # Contacts first, first + 1, ... of every edge, one after the other.
        steps = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        met.append(np.repeat(inside, count) * k + m[np.repeat(first, count) + steps])
    edge, cluster = np.divmod(np.unique(np.concatenate(met)), k)
    at = np.searchsorted(pairs, e.owner[e.i[edge]] * k + cluster)
    return _sums(at, e.cadj[edge], len(pairs))


def _sums(at: Integers, values: Array, size: int) -> Array:
    """Sums of the values that go to each of the places 0..size-1."""
    return np.bincount(at, values, size).astype(np.float64, copy=False)
