"""Events of prototypes, checked and counted: the form in which the Conn_Index takes its data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.events import as_winners
from icvi.labels import Labels, as_label_array, plain
from icvi.wording import short


class Counted(NamedTuple):
    """CADJ without its zeros: ``cadj`` samples had winner i and runner-up j.

    Clusters are numbered 0, ..., k - 1.
    """

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    cadj: NDArray[np.float64]
    #: (P,) the cluster of each prototype, -1 for a number that is not used; k and above for
    #: clusters without samples
    owner: NDArray[np.int64]
    #: (k,) how many samples each cluster has
    n: NDArray[np.int64]


def counted(winners: Any, labels: Any, owners: Any) -> Counted:
    """The caller's events; without runners-up when there is one prototype in all."""
    events = as_winners(winners)
    names = as_label_array(labels, len(events))
    known = Labels()
    columns, new = known.encode(names)
    known.remember(new)
    clusters = columns - 1
    owner = _given(owners, known, least=int(events.max()) + 1)
    _infer(owner, events[:, 0], clusters, known.known())
    _check_runners_up(owner, events)
    n = np.bincount(clusters)
    edges = events[events[:, 1] >= 0]
    P = len(owner)
    pairs, cadj = np.unique(edges[:, 0] * P + edges[:, 1], return_counts=True)
    return Counted(pairs // P, pairs % P, cadj.astype(np.float64), owner, n)


def _given(owners: Any, known: Labels, least: int) -> NDArray[np.int64]:
    """The clusters of the prototypes as far as the caller tells."""
    given = [] if owners is None else _as_list(owners)
    owner = np.full(max(least, len(given)), -1, dtype=np.int64)
    for i, label in enumerate(given):
        if label is not None:
            column = known.find(label)
            if column > len(known):
                known.remember([plain(label)])
            owner[i] = column - 1
    return owner


def _as_list(owners: Any) -> list[Any]:
    if isinstance(owners, (str, bytes)) or not np.iterable(owners):
        raise TypeError(
            "expected owners as a sequence, the label of each prototype, "
            f"got {type(owners).__name__}: {short(owners)}"
        )
    return list(owners)


def _infer(
    owner: NDArray[np.int64],
    winner: NDArray[np.int64],
    clusters: NDArray[np.int64],
    labels: list[Any],
) -> None:
    """Give winners the cluster of their samples, which must be one."""
    unknown = np.flatnonzero(owner[winner] < 0)[::-1]  # so that the first sample decides
    owner[winner[unknown]] = clusters[unknown]
    wrong = owner[winner] != clusters
    if wrong.any():
        event = int(np.argmax(wrong))
        p = winner[event]
        raise ValueError(
            f"event {event}: prototype {p} belongs to cluster {short(labels[owner[p]])}, got label "
            f"{short(labels[clusters[event]])}; a prototype belongs to one cluster"
        )


def _check_runners_up(owner: NDArray[np.int64], events: NDArray[np.int64]) -> None:
    missing = events[:, 1] < 0
    prototypes = np.union1d(np.flatnonzero(owner >= 0), events[~missing, 1])
    if missing.any() and len(prototypes) > 1:
        raise ValueError(
            f"event {int(np.argmax(missing))}: expected a runner-up, got none, although there "
            f"are {len(prototypes)} prototypes; give the best of the others"
        )
    unknown = ~missing & (owner[events[:, 1]] < 0)
    if unknown.any():
        event = int(np.argmax(unknown))
        raise ValueError(
            f"event {event}: the cluster of runner-up {events[event, 1]} is unknown, because it "
            "never wins; give owners, the label of each prototype"
        )
