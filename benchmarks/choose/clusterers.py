"""The clusterers, each as a function of samples in order and, where it is told, the true k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from river.cluster import DBSTREAM, DenStream
from sklearn.cluster import HDBSCAN, Birch, KMeans, MiniBatchKMeans
from sklearn.metrics import silhouette_score

import icvi
from insight.families import Floats, Ints

Cluster = Callable[[Floats, int], Ints]

_CHUNK = 256
_MOST = 20  # clusters among which silhouette chooses
_SAMPLED = 500  # samples of a silhouette
_QUANTILES = (0.02, 0.05, 0.1)


def _micro_ward(**options: Any) -> Cluster:
    return lambda X, _: icvi.MicroWard(**options).fit(X).labels_


def _micro_ward_online(X: Floats, _: int) -> Ints:
    return icvi.MicroWard().partial_fit(X).labels_


def _fuzzy_art(X: Floats, _: int) -> Ints:
    return icvi.FuzzyART(rho=0.75).fit(X).labels_


def _birch(X: Floats, k: int) -> Ints:
    scaled = X / X.std(axis=0)
    made = Birch(n_clusters=k, threshold=0.1 * np.sqrt(X.shape[1]))
    return np.asarray(made.fit_predict(scaled))


def _mini_batch(X: Floats, k: int) -> Ints:
    made = MiniBatchKMeans(k, n_init=3, random_state=0)
    for start in range(0, len(X), _CHUNK):
        if len(X) - start >= k:
            made.partial_fit(X[start : start + _CHUNK])
    return np.asarray(made.predict(X))


def _k_means(X: Floats, k: int) -> Ints:
    return np.asarray(KMeans(k, n_init=3, random_state=0).fit_predict(X))


def _k_means_by_silhouette(X: Floats, _: int) -> Ints:
    found = [_k_means(X, k) for k in range(2, _MOST + 1)]
    size = min(_SAMPLED, len(X))
    scores = [silhouette_score(X, labels, sample_size=size, random_state=0) for labels in found]
    return found[int(np.argmax(scores))]


def _hdbscan(X: Floats, _: int) -> Ints:
    return np.asarray(HDBSCAN(copy=True).fit_predict(X))


def _radius(X: Floats, quantile: float) -> float:
    some = X[np.random.default_rng(0).choice(len(X), min(300, len(X)), replace=False)]
    distances = np.sqrt(((some[:, None] - some) ** 2).sum(axis=2))
    return float(np.quantile(distances[distances > 0.0], quantile))


def _learnt(made: Any, X: Floats) -> Ints:
    rows = [dict(enumerate(row)) for row in X.tolist()]
    for row in rows:
        made.learn_one(row)
    return np.array([made.predict_one(row) for row in rows], dtype=np.int64)


def _dbstream(quantile: float) -> Cluster:
    def cluster(X: Floats, _: int) -> Ints:
        radius = _radius(X, quantile)
        return _learnt(
            DBSTREAM(clustering_threshold=radius, fading_factor=1e-4, minimum_weight=2.0), X
        )

    return cluster


def _denstream(quantile: float) -> Cluster:
    def cluster(X: Floats, _: int) -> Ints:
        radius = _radius(X, quantile)
        made = DenStream(decaying_factor=1e-4, epsilon=radius, n_samples_init=100, mu=2.5, beta=0.5)
        return _learnt(made, X)

    return cluster


#: Those that see samples in one pass; of several settings, the best is shown.
ONLINE: dict[str, dict[str, Cluster]] = {
    "MicroWard": {"": _micro_ward()},
    "MicroWard, labels as they came": {"": _micro_ward_online},
    "MicroWard, by DB alone": {"": _micro_ward(by="DB")},
    "MicroWard, by CH alone": {"": _micro_ward(by="CH")},
    "FuzzyART, vigilance 0.75": {"": _fuzzy_art},
    "DBSTREAM of river, best of three radii": {str(q): _dbstream(q) for q in _QUANTILES},
    "DenStream of river, best of three radii": {str(q): _denstream(q) for q in _QUANTILES},
    "Birch, given the true k": {"": _birch},
    "MiniBatchKMeans, given the true k": {"": _mini_batch},
}
#: Those that see all samples at once.
BATCH: dict[str, dict[str, Cluster]] = {
    "KMeans, given the true k": {"": _k_means},
    "KMeans, k by silhouette": {"": _k_means_by_silhouette},
    "HDBSCAN": {"": _hdbscan},
}
OURS = next(iter(ONLINE))
PEER = "iCVIFuzzyART of artlib, vigilance 0.75"
