"""The answer: is this clustering any good, compared with what, and what should be done."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select
from icvi.indices.from_moments.evaluate import evaluate
from icvi.inputs import as_number, as_samples, as_weights
from icvi.insight.doubts import Doubts, doubts
from icvi.insight.reference import Level, reference
from icvi.insight.separation import DISTINCT, Groups, nearest_pairs, separation
from icvi.insight.split import find_split, gap_between
from icvi.insight.verdict import APART, TOUCHING, Advice, Grade, Verdict, Weakest
from icvi.labels import NOISE, Labels, as_label_array
from icvi.progress import progress
from icvi.state.moments import gather
from icvi.wording import short

Array = NDArray[np.float64]

#: Merging is advised where the separation is surely below this, about 2 for true neighbours.
_TOGETHER = 2.0
#: Below this clusters lie in the same place, and there is no gap to look into.
_COINCIDENT = 1.0
#: How full the gap between pieces of one cluster is at least; between true neighbours about 0.3.
_FULL = 0.6
_SURE, _INTERVAL = 2.33, 1.96  # standard errors: one-sided 1 %, two-sided 5 %

#: Samples of a cluster that are searched for two clusters.
MOST_SAMPLES = 512


@dataclass(frozen=True)
class Evidence:
    """What a verdict is based on: moments of all clusters, and some samples of each."""

    labels: Sequence[Hashable]
    groups: Groups
    samples: Sequence[Array]
    seed: int = 0


def verdict(
    X: Any,
    labels: Any,
    indices: str | Index | Iterable[str | Index] = "paper",
    *,
    weights: Any = None,
    noise_label: Hashable = None,
    distinct: float = DISTINCT,
    feature_names: Sequence[str] | None = None,
    seed: int = 0,
) -> Verdict:
    """Is this clustering any good, and what should be done? With all data at hand.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    labels : sequence of length n
        The cluster of each.
    indices : str or list, default "paper"
        What is read, and compared with data without clusters; those of clusters only, not Conn.
    weights : array-like of shape (n,), optional
        How often each sample counts.
    noise_label : hashable, optional
        Label that marks noise; those samples are left out.
    distinct : float, default sqrt(3)
        Separation that two clusters must exceed. The default is what a uniform density gives
        wherever it is cut; a larger value merges more and splits less.
    feature_names : sequence of str, optional
        What features are called; by default the columns of a frame.
    seed : int
        Random seed; the same seed gives the same verdict.

    Returns
    -------
    Verdict
        Its ``grade``, ``reference``, ``advice``; print it to read the answer.

    Examples
    --------
    >>> import numpy as np
    >>> import icvi
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(600) % 3
    >>> X = rng.normal(size=(600, 2)) + 8.0 * np.eye(3)[truth, :2]
    >>> v = icvi.verdict(X, truth)
    >>> v.grade, v.advice
    ('distinct', [])
    >>> icvi.verdict(X, truth == 2).advice[0].action
    'split'
    """
    chosen = [index for index in select(indices) if index.on == "clusters"]
    distinct = as_number(distinct, "distinct")
    if not 0.0 < distinct < np.inf:
        raise ValueError(f"expected distinct to be a positive number, got {short(distinct)}")
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"expected seed to be an integer of at least 0, got {short(seed)}")
    features = _feature_names(X, feature_names)
    X = as_samples(X)
    if features is not None and len(features) != X.shape[1]:
        raise ValueError(f"expected {X.shape[1]} feature names, got {len(features)}")
    label_array = as_label_array(labels, len(X))
    w = None if weights is None else as_weights(weights, len(X))
    names = Labels(noise_label)
    columns, _ = names.encode(label_array)
    counted = columns != NOISE if w is None else (columns != NOISE) & (w > 0.0)
    X, label_array, w = X[counted], label_array[counted], None if w is None else w[counted]
    columns, known = names.encode(label_array)
    moments = gather(X, columns - 1, len(known), w, scatter=True)
    assert moments.S is not None
    groups = Groups(moments.n, moments.high, moments.S / moments.n[:, None, None])
    rng = np.random.default_rng(seed)
    samples = [_some(X[columns == number + 1], rng) for number in range(len(known))]
    readings = evaluate(chosen, moments) if len(X) else {}
    return judge(Evidence(known, groups, samples, seed), chosen, readings, distinct, features)


def judge(
    evidence: Evidence,
    indices: Sequence[Index],
    readings: dict[str, float],
    distinct: float = DISTINCT,
    features: list[str] | None = None,
) -> Verdict:
    """The verdict on clusters whose moments, and some of whose samples, are known."""
    groups, k = evidence.groups, len(evidence.labels)
    N = float(groups.counts.sum())
    covariance = total_covariance(groups)
    doubt = doubts(evidence.labels, groups, covariance)
    splits = _splits(evidence, doubt.judged, distinct)
    weakest, merges, structureless = _pairs(evidence, doubt.judged, distinct)
    # A cluster that is two is wider than either, and looks close to what lies beside them.
    two = {advice.clusters[0] for advice in splits}
    merges = [advice for advice in merges if not two.intersection(advice.clusters)]
    levels = reference(indices, N, covariance, k, evidence.seed)
    comparable = [i for i in indices if i.name in levels and readings[i.name] == readings[i.name]]
    better = [i.name for i in comparable if _is_better(i, readings[i.name], levels[i.name])]
    return Verdict(
        grade=_grade(weakest, doubt, distinct),
        n_samples=N,
        n_clusters=k,
        readings=readings,
        reference=levels,
        advice=merges + splits,
        weakest=weakest,
        structureless=structureless,
        doubts=doubt,
        better=better,
        comparable=[index.name for index in comparable],
        features=features,
    )


def total_covariance(groups: Groups) -> Array:
    """Covariance of all samples."""
    n, d = groups.counts, groups.centers.shape[1]
    if not n.size:
        return np.zeros((d, d))
    share = n / n.sum()
    e = groups.centers - share @ groups.centers
    within = np.einsum("i,ijk->jk", share, groups.covariances)
    return np.asarray(within + (share[:, None] * e).T @ e)


def _pairs(
    evidence: Evidence, judged: NDArray[np.int64], distinct: float
) -> tuple[Weakest | None, list[Advice], bool]:
    """The weakest cluster, the pairs to merge, closest first, and whether all may be pieces."""
    if len(judged) < 2:
        return None, [], False
    groups = Groups(*(part[judged] for part in evidence.groups))
    labels = [evidence.labels[number] for number in judged]
    first, second = nearest_pairs(groups)
    value, error = separation(groups, first, second)
    low, high = np.maximum(value - _INTERVAL * error, 0.0), value + _INTERVAL * error
    together = (value < distinct) & (value + _SURE * error < _TOGETHER * distinct / DISTINCT)
    for p in np.flatnonzero(together & (value > _COINCIDENT)):
        together[p] = _looks_like_one(evidence, judged[first[p]], judged[second[p]])
    order = np.argsort(value)  # undefined last
    merges = [
        Advice(
            "merge",
            (labels[first[p]], labels[second[p]]),
            float(value[p]),
            float(low[p]),
            float(high[p]),
        )
        for p in order
        if together[p]
    ]
    p = order[0]
    if np.isnan(value[p]):
        return None, merges, False
    # Every cluster has a neighbour from which it is not surely distinct.
    unclear = low < distinct
    pieces = len({*first[unclear], *second[unclear]}) == len(judged)
    pair = first[p], second[p]
    small, large = sorted(pair, key=lambda i: groups.counts[i])
    interval = float(value[p]), float(low[p]), float(high[p])
    return Weakest(labels[small], labels[large], *interval), merges, pieces


def _looks_like_one(evidence: Evidence, i: int, j: int) -> bool:
    """Whether no valley lies between two clusters; samples tell what moments cannot."""
    a, b = evidence.samples[i], evidence.samples[j]
    first = np.arange(len(a) + len(b)) < len(a)
    return gap_between(np.concatenate([a, b]), first, evidence.seed) > _FULL


def _splits(evidence: Evidence, judged: NDArray[np.int64], distinct: float) -> list[Advice]:
    """Clusters that look like two, the clearest first."""
    found = []
    with progress("icvi: looking for clusters that are two", len(judged)) as advance:
        for number in judged:
            split = find_split(evidence.samples[number], evidence.seed)
            if split is not None and split.holds(distinct):
                label, S, ends = evidence.labels[number], split.separation, _INTERVAL * split.error
                found.append(Advice("split", (label,), S, S - ends, S + ends))
            advance(1)
    return sorted(found, key=lambda advice: -advice.separation)


def _grade(weakest: Weakest | None, doubt: Doubts, distinct: float) -> Grade:
    if weakest is None or doubt.too_few:
        return "unknown"
    if weakest.separation >= APART:
        return "distinct" if weakest.low > distinct else "unknown"
    if weakest.low < TOUCHING and weakest.high > APART:
        return "unknown"
    return "overlapping" if weakest.separation < TOUCHING else "touching"


def _is_better(index: Index, value: float, level: Level) -> bool:
    return value > level.high if index.direction == "max" else value < level.low


def _feature_names(X: Any, given: Sequence[str] | None) -> list[str] | None:
    names = getattr(X, "columns", None) if given is None else given
    if isinstance(names, str):
        raise TypeError(f"expected feature_names to be a sequence of names, got {short(names)}")
    return None if names is None else [str(name) for name in names]


def _some(X: Array, rng: np.random.Generator) -> Array:
    return X if len(X) <= MOST_SAMPLES else X[rng.choice(len(X), MOST_SAMPLES, replace=False)]
