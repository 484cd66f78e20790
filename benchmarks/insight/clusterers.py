"""Verdicts on labels of clusterers: whether the advice brings them closer to the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from river.cluster import DBSTREAM
from sklearn.cluster import Birch, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import icvi
from insight.families import Case, Floats, Ints, Stream, cases, draw
from insight.faults import Said
from insight.measuring import merge

_LARGE = 50  # samples of a class in a cluster, from which on it should be noticed there
_MIXED = 0.25  # share of a second class in a cluster that should be split
_PURE = 0.8  # share of one class in clusters that are pieces of it


@dataclass(frozen=True)
class Labelled:
    """What was said about the labels of one clusterer."""

    case: Case
    clusterer: str
    ari: float
    helped: dict[str, list[bool]]  # action to whether each advice raises the ARI
    faults: dict[str, list[bool]]  # action to whether each fault that asks for it was named


def clusterer_cases(quick: bool) -> list[Case]:
    """Fewer cases, of middling size."""
    found = [case for case in cases(2.4, 1) if case.d in (2, 5, 10) and case.k in (3, 5, 8)]
    return found[::9] if quick else found[::2]


def on_clusterers(case: Case) -> list[Labelled]:
    """Verdicts on the labels of all clusterers for one stream."""
    stream = draw(case)
    return [
        _judged(stream, name, np.asarray(cluster(stream))) for name, cluster in CLUSTERERS.items()
    ]


def _judged(stream: Stream, name: str, labels: Ints) -> Labelled:
    v = icvi.verdict(stream.X, labels, ["CH"])
    before = float(adjusted_rand_score(stream.truth, labels))
    helped: dict[str, list[bool]] = {"merge": [], "split": []}
    faults: dict[str, list[bool]] = {"merge": [], "split": []}
    for advice in v.advice:
        after = adjusted_rand_score(stream.truth, _applied(stream.X, labels, advice))
        helped[advice.action].append(bool(after > before))
    for action, clusters in _faults(stream.truth, labels):
        named = (set(each.clusters) for each in v.advice if each.action == action)
        faults[action].append(any(each <= clusters for each in named))
    return Labelled(stream.case, name, before, helped, faults)


def _applied(X: Floats, labels: Ints, advice: Said) -> Ints:
    """Labels after a merge, or after a split by a mixture of two Gaussians."""
    if advice.action == "merge":
        return merge(labels, labels, advice)
    members = np.flatnonzero(labels == advice.clusters[0])
    mixture = GaussianMixture(2, covariance_type="tied", n_init=3, random_state=0)
    applied = labels.copy()
    applied[members[mixture.fit_predict(X[members]) == 1]] = labels.max() + 1
    return applied


def _faults(truth: Ints, labels: Ints) -> Iterator[tuple[str, set[object]]]:
    """Clusters with much of a second class, and classes that lie in several clusters."""
    names, columns = np.unique(labels, return_inverse=True)
    table = np.zeros((truth.max() + 1, len(names)))
    np.add.at(table, (truth, columns), 1.0)
    size = table.sum(axis=0)
    second = np.sort(table, axis=0)[-2]
    for column in np.flatnonzero((second >= _LARGE) & (second >= _MIXED * size)):
        yield "split", {names[column]}
    for row in table:
        pieces = np.flatnonzero((row >= _LARGE) & (row >= _PURE * size))
        if len(pieces) > 1:
            yield "merge", set(names[pieces])


def _mini_batch(extra: int) -> Callable[[Stream], Ints]:
    def cluster(stream: Stream) -> Ints:
        made = MiniBatchKMeans(stream.case.k + extra, n_init=3, random_state=1)
        return np.asarray(made.fit_predict(stream.X))

    return cluster


def _birch(extra: int) -> Callable[[Stream], Ints]:
    def cluster(stream: Stream) -> Ints:
        scaled = stream.X / stream.X.std(axis=0)
        threshold = 0.1 * np.sqrt(scaled.shape[1])
        made = Birch(n_clusters=stream.case.k + extra, threshold=threshold)
        return np.asarray(made.fit_predict(scaled))

    return cluster


def _fuzzy_smart(stream: Stream) -> Ints:
    made = icvi.FuzzySMART(rho_a=0.93, rho_b=0.85)
    return np.asarray(made.fit_predict(stream.X))


def _dbstream(stream: Stream) -> Ints:
    rng = stream.case.generator(3)
    some = stream.X[rng.choice(len(stream.X), min(300, len(stream.X)), replace=False)]
    distances = np.sqrt(((some[:, None] - some) ** 2).sum(axis=2))
    radius = float(np.quantile(distances[distances > 0.0], 0.05))
    made: Any = DBSTREAM(clustering_threshold=radius, fading_factor=1e-4, minimum_weight=2.0)
    rows = [dict(enumerate(row)) for row in stream.X.tolist()]
    for row in rows:
        made.learn_one(row)
    return np.array([made.predict_one(row) for row in rows])


CLUSTERERS: dict[str, Callable[[Stream], Ints]] = {
    "MiniBatchKMeans, k - 1": _mini_batch(-1),
    "MiniBatchKMeans, k + 2": _mini_batch(2),
    "Birch, k - 1": _birch(-1),
    "Birch, k + 2": _birch(2),
    "FuzzySMART": _fuzzy_smart,
    "DBSTREAM": _dbstream,
}
