"""The answer: is this clustering any good, compared with what, and what should be done."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select
from icvi.indices.from_moments.evaluate import evaluate
from icvi.inputs import as_number, as_samples, as_weights
from icvi.insight.advice import (
    Advice,
    Evidence,
    Pairs,
    Strictness,
    merges,
    pairs,
    split,
)
from icvi.insight.doubts import Doubts, doubts
from icvi.insight.reference import Level, reference
from icvi.insight.separation import DISTINCT, Groups, nearest_pairs
from icvi.insight.split import may_split
from icvi.insight.verdict import APART, TOUCHING, Grade, Verdict, Weakest
from icvi.labels import NOISE, Labels, as_label_array
from icvi.progress import progress
from icvi.state.labelled import gather_labelled
from icvi.state.one_thread import one_thread
from icvi.wording import short

Array = NDArray[np.float64]

_PAIRS, _QUICK_PAIRS = 20_000, 2_000  # of clusters that are compared, where these are many

#: Samples of a cluster that are searched for two clusters.
MOST_SAMPLES = 1024


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
    distinct = as_distinct(distinct)
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
    if not counted.all():
        X, label_array, w = X[counted], label_array[counted], None if w is None else w[counted]
    columns, known = names.encode(label_array)
    moments = gather_labelled(X, columns, len(known), w, scatter=True)
    assert moments.S is not None
    groups = Groups(moments.n, moments.high, moments.S / moments.n[:, None, None])
    rng = np.random.default_rng(seed)
    samples = [_some(X[columns == number + 1], rng) for number in range(len(known))]
    readings = evaluate(chosen, moments) if len(X) else {}
    return judge(Evidence(known, groups, samples, seed), chosen, readings, distinct, features)


def as_distinct(distinct: float) -> float:
    """The separation that two clusters must exceed, checked."""
    distinct = as_number(distinct, "distinct")
    if not 0.0 < distinct < np.inf:
        raise ValueError(f"expected distinct to be a positive number, got {short(distinct)}")
    return distinct


@one_thread()
def judge(
    evidence: Evidence,
    indices: Sequence[Index],
    readings: dict[str, float],
    distinct: float = DISTINCT,
    features: list[str] | None = None,
    standing: Sequence[Advice] = (),
    quick: bool = False,
) -> Verdict:
    """The verdict on clusters whose moments, and some of whose samples, are known.

    ``standing`` is advice that looks at a stream have given, and knows since when it holds. Where
    it must be ``quick``, that is the advice, and there is no reference.
    """
    groups, k = evidence.groups, len(evidence.labels)
    N = float(groups.counts.sum())
    covariance = total_covariance(groups)
    doubt = doubts(evidence.labels, groups, covariance)
    strict, judged = Strictness(distinct), doubt.judged
    splits = [] if quick else _splits(evidence, judged, strict)
    weakest, together, structureless, close = None, [], False, []
    if len(judged) > 1:
        most = _QUICK_PAIRS if quick else _PAIRS
        first, second = nearest_pairs(Groups(*(part[judged] for part in groups)), most)
        found = pairs(groups, judged[first], judged[second])
        weakest = _weakest(evidence, found)
        structureless = weakest is not None and _may_be_pieces(found, judged, distinct)
        together = [] if quick else merges(evidence, found, strict)
        close = [] if quick else _too_close(evidence, found, distinct)
    # A cluster that is two is wider than either, and looks close to what lies beside them.
    two = {advice.clusters[0] for advice in splits}
    together = [advice for advice in together if not two.intersection(advice.clusters)]
    merged = {each.key[1] for each in together}
    close = [pair for pair in close if {*pair} not in merged and not two.intersection(pair)]
    since = {each.key: each.since for each in standing}
    advice = [replace(each, since=since.get(each.key)) for each in [*together, *splits]]
    levels = {} if quick or doubt.too_few else reference(indices, N, covariance, k, evidence.seed)
    comparable = [i for i in indices if i.name in levels and readings[i.name] == readings[i.name]]
    better = [i.name for i in comparable if _is_better(i, readings[i.name], levels[i.name])]
    return Verdict(
        grade=_grade(weakest, doubt, distinct),
        n_samples=N,
        n_clusters=k,
        readings=readings,
        reference=levels,
        advice=[*standing] if quick else advice,
        undecided=close,
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


def _weakest(evidence: Evidence, found: Pairs) -> Weakest | None:
    """The cluster that is least separated from another one."""
    p = int(np.argsort(found.value)[0])  # undefined last
    if np.isnan(found.value[p]):
        return None
    pair = int(found.first[p]), int(found.second[p])
    small, large = sorted(pair, key=lambda i: evidence.groups.counts[i])
    interval = (float(part[p]) for part in (found.value, found.low, found.high))
    return Weakest(evidence.labels[small], evidence.labels[large], *interval)


def _too_close(
    evidence: Evidence, found: Pairs, distinct: float
) -> list[tuple[Hashable, Hashable]]:
    """Pairs of clusters that are not distinct, the closest first."""
    order = np.argsort(found.value)
    close = order[found.value[order] < distinct]
    pairs = zip(found.first[close].tolist(), found.second[close].tolist())
    return [(evidence.labels[i], evidence.labels[j]) for i, j in pairs]


def _may_be_pieces(found: Pairs, judged: NDArray[np.int64], distinct: float) -> bool:
    """Whether every cluster has a neighbour from which it is not surely distinct."""
    unclear = found.low < distinct
    return len({*found.first[unclear], *found.second[unclear]}) == len(judged)


def _splits(evidence: Evidence, judged: NDArray[np.int64], strict: Strictness) -> list[Advice]:
    """Clusters that look like two, the clearest first."""
    found: list[Advice] = []
    with progress("icvi: looking for clusters that are two", len(judged)) as advance:
        for number in judged.tolist():
            # The quick look of streams is compiled: data at hand do without the compiler.
            if may_split(evidence.samples[number], evidence.seed, strict.distinct):
                advice = split(evidence, number, strict)
                found += [] if advice is None else [advice]
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
