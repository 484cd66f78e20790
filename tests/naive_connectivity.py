"""Conn_Index straight from its definition: dense matrices, all of them anew after every event.

An event is (winner, runner_up, label, weight), runner_up -1 for none. Nothing here shares code
or shortcuts with the library under test.
"""

import math
from collections.abc import Hashable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

Event = tuple[int, int, Hashable, float]


class Naive(NamedTuple):
    """The index and its parts; clusters in order of first appearance."""

    value: float
    intra: float
    inter: float
    intra_per_cluster: np.ndarray
    inter_matrix: np.ndarray
    cadj: np.ndarray
    counts: np.ndarray
    labels: list[Hashable]


def conn_index(
    events: Sequence[Event],
    convention: str = "paper",
    border: str = "CONN",
    owners: dict[int, Hashable] | None = None,
) -> Naive:
    """The index of all events together."""
    events = [event for event in events if event[3] > 0]
    labels = list(dict.fromkeys(label for _, _, label, _ in events))
    owner = (owners or {}) | {winner: label for winner, _, label, _ in events}
    P = max(owner, default=-1) + 1
    cadj = counted(events, P)
    conn = cadj + cadj.T
    members = [[i for i in range(P) if i in owner and owner[i] == label] for label in labels]
    n = np.array([math.fsum(w for *_, c, w in events if c == label) for label in labels])
    k = len(labels)
    intra = np.array([intra_of(cadj, own, n_l, convention) for own, n_l in zip(members, n)])
    inter = np.zeros((k, k))
    for a, b in permutations(range(k), 2):
        inter[a, b] = inter_of(cadj, conn, members[a], members[b], convention, border)
    parts = intra, inter, cadj, n, labels
    if k == 0:
        return Naive(math.nan, math.nan, math.nan, *parts)
    if k == 1:
        return Naive(0.0, float(intra[0]), 0.0 if convention == "toolbox" else 1.0, *parts)
    mean_intra, mean_inter = intra.mean(), inter.max(axis=1).mean()
    return Naive(mean_intra * (1 - mean_inter), mean_intra, mean_inter, *parts)


def counted(events: Sequence[Event], P: int) -> np.ndarray:
    """CADJ. Events of the time when there was one prototype get the second as runner-up."""
    cadj = np.zeros((P, P))
    second = next((winner for winner, _, _, _ in events if winner != events[0][0]), None)
    for winner, runner_up, _, w in events:
        if runner_up >= 0:
            cadj[winner, runner_up] += w
        elif second is not None:
            cadj[winner, second] += w
    return cadj


def intra_of(cadj: np.ndarray, own: list[int], n: float, convention: str) -> float:
    """Intra(l) of the cluster with the prototypes ``own``."""
    inside = sum(cadj[i, j] for i in own for j in own)
    if convention == "toolbox":
        leaving = sum(cadj[i].sum() for i in own)
        return inside / leaving if leaving > 0 else 0.0
    return 1.0 if len(own) == 1 else inside / n


def inter_of(
    cadj: np.ndarray,
    conn: np.ndarray,
    own: list[int],
    other: list[int],
    convention: str,
    border: str,
) -> float:
    """Inter(l, m) of the clusters with the prototypes ``own`` and ``other``."""
    decides = conn if border == "CONN" else cadj
    V = [i for i in own if any(decides[i, j] > 0 for j in other)]
    if not V:
        return 0.0
    numerator = sum(conn[i, j] for i in V for j in other)
    if convention == "paper":
        return numerator / sum(conn[i].sum() for i in V)
    inside = sum(conn[i, j] for i in own for j in own if i < j and (i in V or j in V))
    return numerator / (numerator + inside)
