"""Conn_Index straight from its definition: dense matrices, computed from scratch after every event.

An event is (winner, runner_up, label, weight), runner_up -1 for none yet and NEVER for none at
all. Nothing here shares code or shortcuts with the library under test.
"""

import math
from collections.abc import Hashable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

Event = tuple[int, int, Hashable, float]
NEVER = -2


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
        elif second is not None and runner_up != NEVER:
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


class Survivors:
    """The events that are left, one by one, and the rules by which prototypes and clusters stay.

    An event is [winner, runner_up, weight], runner_up NEVER for none.
    """

    def __init__(self) -> None:
        self.events: list[list] = []
        self.owner: dict[int, Hashable] = {}
        self.labels: list[Hashable] = []
        self.seconds: dict[int, set[int]] = {}
        self.declared: dict[int, Hashable] = {}

    def add(self, winner: int, runner_up: int | None, label: Hashable, weight: float) -> None:
        if weight == 0:
            return
        runner_up = NEVER if runner_up is None else runner_up
        fresh = [p for p in (winner, runner_up) if p >= 0 and p not in self.owner]
        if len(self.owner) == 1 and fresh:
            (alone,) = self.owner
            for event in self.events:
                event[1] = fresh[0]
            self.seconds[alone] = {fresh[0]}
        self.events.append([winner, runner_up, weight])
        self.owner[winner] = label
        if runner_up in fresh:
            self.owner[runner_up] = self.declared[runner_up]
        self.drop_unused()

    def take(self, number: int, share: float = 1.0) -> None:
        self.events[number][2] -= share * self.events[number][2]
        if self.events[number][2] == 0:
            del self.events[number]
        self.drop_unused()

    def drop_unused(self) -> None:
        """Prototypes stay while they have weight or an edge, clusters while they have weight."""
        met = {i for event in self.events for i in event[:2]}
        self.owner = {i: label for i, label in self.owner.items() if i in met}
        self.seconds = {i: js for i, js in self.seconds.items() if i in met}
        heavy = list(dict.fromkeys(self.owner[winner] for winner, _, _ in self.events))
        self.labels = [label for label in self.labels if label in heavy]
        self.labels += [label for label in heavy if label not in self.labels]

    def merge(self, into: Hashable, source: Hashable) -> None:
        self.owner = {i: into if c == source else c for i, c in self.owner.items()}
        self.declared = {i: into if c == source else c for i, c in self.declared.items()}
        self.drop_unused()

    def move(self, prototype: int, label: Hashable) -> None:
        if prototype in self.owner:
            self.owner[prototype] = label
        if prototype in self.declared:
            self.declared[prototype] = label
        self.drop_unused()

    def decay(self, factor: float) -> None:
        for event in self.events:
            event[2] *= factor

    def combine(self, other: "Survivors") -> None:
        self.events += [list(event) for event in other.events]
        self.labels += [label for label in other.labels if label not in self.labels]
        self.owner |= other.owner
        self.declared |= other.declared
        for i, js in other.seconds.items():
            self.seconds[i] = self.seconds.get(i, set()) | js
        self.drop_unused()

    def clone(self) -> "Survivors":
        twin = Survivors()
        twin.combine(self)
        return twin

    def read(self, convention: str, border: str) -> Naive:
        """The index from the definition."""
        events = [(i, j, self.owner[i], w) for i, j, w in self.events]
        events.sort(key=lambda event: self.labels.index(event[2]))
        return conn_index(events, convention, border, self.owner)
