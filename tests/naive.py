"""Slow, obvious reference implementations: every index straight from its definition.

Each index is called as ``f(X, labels, weights=None, **params)`` and returns a float: the value of
the published formula where that is finite, otherwise nan. A weight is a frequency, so weight 2
means the sample twice; with ``fades=`` each of these counts only a share of 1. Nothing here shares
code or shortcuts with the library under test.

Symbols: k clusters, n_i weight of cluster i, v_i its mean, N and mu the same for all samples,
D_ij = ||v_i - v_j||^2, CP_i = sum of ||x - v_i||^2 over the samples of cluster i.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import wraps
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

Point = list[float]
Naive = Callable[..., float]


class UndefinedError(ArithmeticError):
    """The formula has no finite value here."""


class Cluster(NamedTuple):
    """Samples x with weights w, their total weight n and weighted mean v."""

    x: list[Point]
    w: list[float]
    n: float
    v: Point
    #: What the scatter is divided by for a covariance: n - 1 where no sample fades
    degrees: float


class Partition(NamedTuple):
    """The clusters, and all samples together as one cluster."""

    clusters: list[Cluster]
    whole: Cluster


def mean_of(x: list[Point], w: list[float]) -> Point:
    """v = sum w x / sum w."""
    n = math.fsum(w)
    v = [math.fsum(map(math.prod, zip(w, xt, strict=True))) / n for xt in zip(*x, strict=True)]
    # The second pass takes out the rounding of the first, so that equal samples are their own mean.
    rest = [
        math.fsum(wi * (a - vt) for wi, a in zip(w, xt, strict=True)) / n
        for xt, vt in zip(zip(*x, strict=True), v, strict=True)
    ]
    return [vt + r for vt, r in zip(v, rest, strict=True)]


def cluster_of(members: list[tuple[Point, float]], fades: list[float] | None = None) -> Cluster:
    x, w = [x for x, _ in members], [w for _, w in members]
    if fades is None:
        n = math.fsum(w)
        return Cluster(x, w, n, mean_of(x, w), n - 1)
    # A sample of weight c is c samples, each of which has faded to the share f.
    exact = [(Fraction(c), Fraction(f)) for c, f in zip(w, fades, strict=True)]
    total = sum(c * f for c, f in exact)
    degrees = float(total - sum(c * f * f for c, f in exact) / total)
    w = [c * f for c, f in zip(w, fades, strict=True)]
    return Cluster(x, w, math.fsum(w), mean_of(x, w), degrees)


def partition_of(
    X: np.ndarray,
    labels: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    fades: Sequence[float] | None = None,
) -> Partition:
    """Sort the samples of positive weight into clusters."""
    X = np.asarray(X, dtype=float)
    if len(X) == 0:
        raise UndefinedError
    # No index depends on the origin, but float64 does: far from it the distances lose digits.
    rows = (X - np.median(X, axis=0)).tolist()
    if not np.isfinite(rows).all():
        raise UndefinedError
    w = [1.0] * len(rows) if weights is None else [float(a) for a in weights]
    f = None if fades is None else [float(a) for a in fades]
    groups: dict[Hashable, list[int]] = {}
    for i, label in enumerate(labels):
        if w[i] > 0 and (f is None or f[i] > 0):
            groups.setdefault(label, []).append(i)
    if not groups:
        raise UndefinedError

    def gather(members: list[int]) -> Cluster:
        shares = None if f is None else [f[i] for i in members]
        return cluster_of([(rows[i], w[i]) for i in members], shares)

    everything = sorted(i for members in groups.values() for i in members)
    return Partition([gather(members) for members in groups.values()], gather(everything))


def finite(f: Naive) -> Naive:
    """Return nan for whatever has no finite value; Python itself raises on a zero denominator."""

    @wraps(f)
    def guarded(*args: Any, **params: Any) -> float:
        try:
            with np.errstate(all="ignore"):
                value = float(f(*args, **params))
        except ArithmeticError:
            return math.nan
        return value if math.isfinite(value) else math.nan

    return guarded


def reading(least_k: int) -> Callable[[Naive], Naive]:
    """Turn a function of a partition into ``f(X, labels, weights=None, **params)``."""

    def decorate(f: Naive) -> Naive:
        @finite
        @wraps(f)
        def read(
            X: np.ndarray,
            labels: Sequence[Hashable],
            weights: Sequence[float] | None = None,
            fades: Sequence[float] | None = None,
            **params: Any,
        ) -> float:
            partition = partition_of(X, labels, weights, fades)
            if len(partition.clusters) < least_k:
                raise UndefinedError
            return f(partition, **params)

        return read

    return decorate


def squared(a: Point, b: Point) -> float:
    """||a - b||^2."""
    return math.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def around(c: Cluster, point: Point) -> float:
    """Sum over the samples of c of w ||x - point||^2."""
    return math.fsum(w * squared(x, point) for x, w in zip(c.x, c.w, strict=True))


def compactness(c: Cluster) -> float:
    """CP = sum ||x - v||^2."""
    return around(c, c.v)


def variance(c: Cluster) -> float:
    """Var = CP / n."""
    return compactness(c) / c.n


def within(p: Partition) -> float:
    """W = sum_i sum_{x in i} ||x - v_i||^2."""
    return math.fsum(compactness(c) for c in p.clusters)


def between(p: Partition) -> float:
    """B = sum_i n_i ||v_i - mu||^2."""
    return math.fsum(c.n * squared(c.v, p.whole.v) for c in p.clusters)


def separations(p: Partition) -> list[float]:
    """D_ij for all i < j."""
    return [squared(a.v, b.v) for a, b in combinations(p.clusters, 2)]


def each_with_others(p: Partition) -> Iterator[tuple[Cluster, list[Cluster]]]:
    """Every cluster, together with the list of all others."""
    for i, c in enumerate(p.clusters):
        yield c, p.clusters[:i] + p.clusters[i + 1 :]


@reading(least_k=2)
def CH(p: Partition) -> float:
    """Calinski-Harabasz: (B / (k - 1)) / (W / (N - k))."""
    k = len(p.clusters)
    if p.whole.n <= k:
        raise UndefinedError
    return (between(p) / (k - 1)) / (within(p) / (p.whole.n - k))


@reading(least_k=2)
def I(partition: Partition, p: float = 2) -> float:  # noqa: E743 - the paper's name
    """I index with squared norms: (Dmax CP_0 / (k W))^p."""
    k = len(partition.clusters)
    total = compactness(partition.whole)
    return float((max(separations(partition)) * total / (k * within(partition))) ** p)


def PBM(X: np.ndarray, labels: Sequence[Hashable], weights: Sequence[float] | None = None) -> float:
    """The I index with p = 2."""
    return I(X, labels, weights, p=2)


@reading(least_k=2)
def SIL(p: Partition) -> float:
    """Centroid silhouette: mean over i of (b_i - a_i) / max(a_i, b_i).

    s_ij is the mean over x in cluster j of ||x - v_i||^2; a_i = s_ii, b_i = min_{j != i} s_ij.
    """
    coefficients = []
    for c, others in each_with_others(p):
        a = around(c, c.v) / c.n
        b = min(around(o, c.v) / o.n for o in others)
        coefficients.append((b - a) / max(a, b))
    return math.fsum(coefficients) / len(coefficients)


def ridge(d: int, epsilon: float, delta: float | None) -> float:
    """delta = 10^(-epsilon / d), unless given."""
    return 10.0 ** (-epsilon / d) if delta is None else delta


def covariance(c: Cluster, delta: float) -> np.ndarray:
    """Sigma = sum w (x - v)(x - v)' / (n - 1) + delta I; delta I alone for one sample."""
    d = len(c.v)
    if c.degrees < 0:
        raise UndefinedError
    if c.degrees == 0:
        return delta * np.eye(d)
    S = np.zeros((d, d))
    for x, w in zip(c.x, c.w, strict=True):
        e = np.subtract(x, c.v)
        S += w * np.outer(e, e)
    return S / c.degrees + delta * np.eye(d)


def log_determinant(Sigma: np.ndarray) -> float:
    """ln |Sigma| of a covariance matrix."""
    sign, value = np.linalg.slogdet(Sigma)
    if not sign > 0:
        raise UndefinedError
    return float(value)


@reading(least_k=1)
def NI(p: Partition, epsilon: float = 12, delta: float | None = None) -> float:
    """Negentropy increment: sum_i p_i (ln|Sigma_i| / 2 - ln p_i) - ln|Sigma_data| / 2."""
    delta = ridge(len(p.whole.v), epsilon, delta)
    terms = []
    for c in p.clusters:
        share = c.n / p.whole.n
        terms.append(share * (0.5 * log_determinant(covariance(c, delta)) - math.log(share)))
    return math.fsum(terms) - 0.5 * log_determinant(covariance(p.whole, delta))


def cross_entropies(p: Partition, epsilon: float, delta: float | None) -> list[float]:
    """h_ij for all i < j.

    h_ij = (v_i-v_j)' Sigma_ij^-1 (v_i-v_j) / 2 + ln|Sigma_ij| / 2 + d/2 ln(2 pi),
    Sigma_ij = Sigma_i + Sigma_j.
    """
    d = len(p.whole.v)
    delta = ridge(d, epsilon, delta)
    h = []
    for a, b in combinations(p.clusters, 2):
        Sigma = covariance(a, delta) + covariance(b, delta)
        log_det = log_determinant(Sigma)
        e = np.subtract(a.v, b.v)
        mahalanobis = float(e @ np.linalg.solve(Sigma, e))
        h.append(0.5 * mahalanobis + 0.5 * log_det + 0.5 * d * math.log(2 * math.pi))
    return h


@reading(least_k=2)
def rCIP(
    p: Partition,
    epsilon: float = 12,
    delta: float | None = None,
    log_rcip: bool = False,
    mean: bool = False,
) -> float:
    """Sum (or mean) over i < j of exp(-h_ij); with log_rcip its natural logarithm."""
    h = cross_entropies(p, epsilon, delta)
    pairs = len(h) if mean else 1
    if not log_rcip:
        return math.fsum(math.exp(-hij) for hij in h) / pairs
    # The largest term is taken out first, because the sum itself underflows for clusters far apart.
    return math.log(math.fsum(math.exp(min(h) - hij) for hij in h) / pairs) - min(h)


@reading(least_k=2)
def rH(p: Partition, epsilon: float = 12, delta: float | None = None, mean: bool = False) -> float:
    """Sum (or mean) over i < j of h_ij."""
    h = cross_entropies(p, epsilon, delta)
    return math.fsum(h) / (len(h) if mean else 1)


@reading(least_k=2)
def XB(p: Partition) -> float:
    """Xie-Beni for hard partitions: W / (N Dmin)."""
    return within(p) / (p.whole.n * min(separations(p)))


@reading(least_k=2)
def DB(p: Partition) -> float:
    """Davies-Bouldin, squared form: mean over i of max_{j != i} (var_i + var_j) / D_ij."""
    worst = [
        max((variance(c) + variance(o)) / squared(c.v, o.v) for o in others)
        for c, others in each_with_others(p)
    ]
    return math.fsum(worst) / len(worst)


@reading(least_k=2)
def PS(p: Partition) -> float:
    """Partition separation: sum_i [n_i / max_j n_j - exp(-min_{j != i} D_ij / beta_T)].

    beta_T is the mean of ||v_i - vbar||^2, vbar the unweighted mean of the centroids.
    """
    k = len(p.clusters)
    vbar = mean_of([c.v for c in p.clusters], [1.0] * k)
    beta_T = math.fsum(squared(c.v, vbar) for c in p.clusters) / k
    largest = max(c.n for c in p.clusters)
    return math.fsum(
        c.n / largest - math.exp(-min(squared(c.v, o.v) for o in others) / beta_T)
        for c, others in each_with_others(p)
    )


@reading(least_k=2)
def WB(p: Partition) -> float:
    """WB: k W / B."""
    return len(p.clusters) * within(p) / between(p)


@reading(least_k=2)
def GD43(p: Partition) -> float:
    """Generalised Dunn, toolbox form: sqrt(Dmin) / max_i 2 var_i, unsquared over squared."""
    return math.sqrt(min(separations(p))) / max(2 * variance(c) for c in p.clusters)


@reading(least_k=2)
def GD53(p: Partition) -> float:
    """Generalised Dunn, toolbox form: min_{i<j} (CP_i + CP_j) / (n_i + n_j) / max_i 2 var_i."""
    delta_5 = [
        (compactness(a) + compactness(b)) / (a.n + b.n) for a, b in combinations(p.clusters, 2)
    ]
    return min(delta_5) / max(2 * variance(c) for c in p.clusters)


def silhouette_of(own: list[float], others: list[list[float]]) -> float:
    """(b - a) / max(a, b) from distances to the own cluster (itself included) and to the others."""
    if len(own) == 1:
        return 0.0
    a = math.fsum(own) / (len(own) - 1)
    b = min(math.fsum(o) / len(o) for o in others)
    return (b - a) / max(a, b) if max(a, b) > 0 else 0.0


@finite
def full_silhouette(
    X: np.ndarray, labels: Sequence[Hashable], squared: bool = False, average: str = "samples"
) -> float:
    """Silhouette from all pairs of samples: mean of (b - a) / max(a, b), 0 for a singleton.

    a is the mean distance to the other members of the cluster, b the least mean distance to another
    cluster. The mean runs over samples, or over the clusters' means.
    """
    p = partition_of(X, labels)
    if len(p.clusters) < 2:
        raise UndefinedError
    power = 2 if squared else 1
    values = []
    for c, others in each_with_others(p):
        distances = [[[math.dist(x, y) ** power for y in g.x] for g in (c, *others)] for x in c.x]
        values.append([silhouette_of(own, rest) for own, *rest in distances])
    if average == "clusters":
        return math.fsum(math.fsum(v) / len(v) for v in values) / len(values)
    return math.fsum(s for v in values for s in v) / p.whole.n


@finite
def full_davies_bouldin(
    X: np.ndarray, labels: Sequence[Hashable], p: float = 2, q: float = 1
) -> float:
    """Mean over i of max_{j != i} (S_i + S_j) / M_ij.

    S_i = (mean ||x - v_i||^q)^(1/q), M_ij the Minkowski-p distance of v_i and v_j.
    """
    partition = partition_of(X, labels)
    if len(partition.clusters) < 2:
        raise UndefinedError

    def spread(c: Cluster) -> float:
        return float((math.fsum(math.dist(x, c.v) ** q for x in c.x) / c.n) ** (1 / q))

    def distance(a: Cluster, b: Cluster) -> float:
        return float(np.linalg.norm(np.subtract(a.v, b.v), ord=p))

    worst = [
        max((spread(c) + spread(o)) / distance(c, o) for o in others)
        for c, others in each_with_others(partition)
    ]
    return math.fsum(worst) / len(worst)


@finite
def unsquared_i(X: np.ndarray, labels: Sequence[Hashable], p: float = 2) -> float:
    """The I index as first published: ((E_1 / E_k) D_k / k)^p with plain Euclidean norms.

    E_1 = sum ||x - mu||, E_k = sum_i sum_{x in i} ||x - v_i||, D_k = max ||v_i - v_j||.
    """
    partition = partition_of(X, labels)
    k = len(partition.clusters)
    if k < 2:
        raise UndefinedError
    E_1 = math.fsum(math.dist(x, partition.whole.v) for x in partition.whole.x)
    E_k = math.fsum(math.dist(x, c.v) for c in partition.clusters for x in c.x)
    D_k = max(math.dist(a.v, b.v) for a, b in combinations(partition.clusters, 2))
    return float((E_1 / E_k * D_k / k) ** p)


NAIVE: dict[str, Naive] = {
    "CH": CH,
    "I": I,
    "PBM": PBM,
    "SIL": SIL,
    "NI": NI,
    "rCIP": rCIP,
    "rH": rH,
    "XB": XB,
    "DB": DB,
    "PS": PS,
    "WB": WB,
    "GD43": GD43,
    "GD53": GD53,
}
