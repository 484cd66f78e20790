"""The streaming indices in extended precision, to measure how many digits a reading keeps.

``exact`` works with 60 decimal digits (mpmath) on samples taken as exact numbers and rounds once,
at the end. ``extended`` does the same with numpy.longdouble for streams of millions of samples; it
is more precise than float64 only where longdouble is wider than float64, as on x86.

Both fill the same record of moments, computed in several passes around the mean, and read it with
the same formulas; only the arithmetic differs. UndefinedError readings are nan.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from mpmath import mp

DIGITS = 60
BLOCK = 1 << 18

Number = Any
Vector = list[Number]
Matrix = list[Vector]


class UndefinedError(ArithmeticError):
    """The formula has no finite value here."""


@dataclass(frozen=True)
class Arithmetic:
    """A number type: how to make one, its functions, and the pivot that counts as singular."""

    number: Callable[[Any], Number]
    log: Callable[[Number], Number]
    exp: Callable[[Number], Number]
    sqrt: Callable[[Number], Number]
    pi: Number
    # Relative to the diagonal. Far above the rounding of the moments, far below any pivot that
    # float64 samples in general position can produce.
    singular: float


@dataclass(frozen=True)
class Cluster:
    """Weight n, mean v and scatter S = sum (x - v)(x - v)'."""

    n: Number
    v: Vector
    S: Matrix
    #: sum of c f^2 over samples that came c times and have faded to f; n where none has
    squares: Number | None = None

    @property
    def degrees(self) -> Number:
        """What S is divided by for a covariance: n - 1 where nothing fades."""
        return self.n - (1 if self.squares is None else self.squares / self.n)

    @property
    def CP(self) -> Number:
        return sum(self.S[t][t] for t in range(len(self.v)))

    @property
    def var(self) -> Number:
        return self.CP / self.n


@dataclass(frozen=True)
class Moments:
    """The clusters, and all samples together as one cluster."""

    clusters: list[Cluster]
    whole: Cluster
    arithmetic: Arithmetic

    @property
    def k(self) -> int:
        return len(self.clusters)

    @property
    def W(self) -> Number:
        return sum(c.CP for c in self.clusters)

    @property
    def B(self) -> Number:
        return sum(c.n * squared(c.v, self.whole.v) for c in self.clusters)

    @property
    def D(self) -> list[Number]:
        """||v_i - v_j||^2 for all i < j."""
        return [squared(a.v, b.v) for a, b in combinations(self.clusters, 2)]

    def each_with_others(self) -> Iterator[tuple[Cluster, list[Cluster]]]:
        for i, c in enumerate(self.clusters):
            yield c, self.clusters[:i] + self.clusters[i + 1 :]


def squared(a: Vector, b: Vector) -> Number:
    return sum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def ratio(a: Number, b: Number) -> Number:
    """a / b for every b > 0."""
    if not b > 0:
        raise UndefinedError
    return a / b


# --- moments ---


def mp_arithmetic() -> Arithmetic:
    return Arithmetic(mp.mpf, mp.log, mp.exp, mp.sqrt, +mp.pi, 1e-40)


def mp_cluster(rows: list[Vector], w: Vector, f: Vector | None = None) -> Cluster:
    """Moments of one cluster; mpmath's fsum and fdot round only once."""
    n = mp.fsum(w)
    columns = list(zip(*rows, strict=True))
    v = [mp.fdot(w, x) / n for x in columns]
    e = [[a - vt for a in x] for x, vt in zip(columns, v, strict=True)]
    we = [[wi * a for wi, a in zip(w, et, strict=True)] for et in e]
    squares = None if f is None else mp.fdot(w, f)
    return Cluster(n, v, [[mp.fdot(a, b) for b in e] for a in we], squares)


def moments_exact(
    X: np.ndarray,
    labels: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    fades: Sequence[float] | None = None,
) -> Moments:
    """Moments with the digits of the surrounding mpmath context; samples may have faded."""
    rows = [[mp.mpf(a) for a in x] for x in np.asarray(X, dtype=float).tolist()]
    w = [mp.mpf(float(a)) for a in (np.ones(len(rows)) if weights is None else weights)]
    f = None if fades is None else [mp.mpf(float(a)) for a in fades]
    if f is not None:
        w = [a * b for a, b in zip(w, f, strict=True)]
    groups: dict[Hashable, list[int]] = {}
    for i, (label, wi) in enumerate(zip(labels, w, strict=True)):
        if wi > 0:
            groups.setdefault(label, []).append(i)
    if not groups:
        raise UndefinedError

    def gather(members: list[int]) -> Cluster:
        shares = None if f is None else [f[i] for i in members]
        return mp_cluster([rows[i] for i in members], [w[i] for i in members], shares)

    everything = [i for members in groups.values() for i in members]
    return Moments([gather(g) for g in groups.values()], gather(everything), mp_arithmetic())


def longdouble_arithmetic() -> Arithmetic:
    wide = np.longdouble
    pi = wide("3.14159265358979323846264338327950288")
    return Arithmetic(wide, np.log, np.exp, np.sqrt, pi, 1e-16)


def blocks(
    X: np.ndarray, codes: np.ndarray, origin: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Pairs (cluster, its samples - origin as columns), block after block of the stream."""
    for start in range(0, len(X), BLOCK):
        rows, code = X[start : start + BLOCK], codes[start : start + BLOCK]
        order = np.argsort(code, kind="stable")
        present, first = np.unique(code[order], return_index=True)
        for i, members in zip(present, np.split(order, first[1:]), strict=True):
            # numpy sums pairwise only along contiguous memory, hence features as rows.
            yield int(i), np.ascontiguousarray(rows[members].T, np.longdouble) - origin[:, None]


def longdouble_clusters(
    X: np.ndarray, codes: np.ndarray, k: int, origin: np.ndarray
) -> list[Cluster]:
    """Moments of k clusters: two passes for the means, one for the scatter around them."""
    d = X.shape[1]
    n = np.bincount(codes, minlength=k).astype(np.longdouble)
    v = np.zeros((k, d), dtype=np.longdouble)
    # The second pass takes out the rounding of the first.
    for _ in range(2):
        shift = np.zeros_like(v)
        for i, x in blocks(X, codes, origin):
            shift[i] += (x - v[i][:, None]).sum(axis=1)
        v += shift / n[:, None]
    S = np.zeros((k, d, d), dtype=np.longdouble)
    for i, x in blocks(X, codes, origin):
        e = x - v[i][:, None]
        for a in range(d):
            S[i, a, a:] += (e[a] * e[a:]).sum(axis=1)
    S += np.triu(S, 1).swapaxes(1, 2)
    return [Cluster(n[i], list(v[i]), [list(row) for row in S[i]]) for i in range(k)]


def moments_longdouble(X: np.ndarray, labels: Sequence[Hashable] | np.ndarray) -> Moments:
    """Moments in numpy.longdouble, means relative to the median; the labels must be sortable."""
    X = np.asarray(X, dtype=float)
    if len(X) == 0:
        raise UndefinedError
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    # No index depends on the origin, but far from it the distances of the means lose digits.
    origin = np.median(X, axis=0)
    clusters = longdouble_clusters(X, codes, len(names), origin)
    (whole,) = longdouble_clusters(X, np.zeros(len(X), dtype=np.int8), 1, origin)
    return Moments(clusters, whole, longdouble_arithmetic())


# --- readings ---


def read_ch(m: Moments) -> Number:
    """(B / (k - 1)) / (W / (N - k))."""
    N, k = m.whole.n, m.k
    return ratio(m.B / (k - 1), ratio(m.W, N - k))


def read_i(m: Moments, p: float = 2) -> Number:
    """(Dmax CP_0 / (k W))^p."""
    return ratio(max(m.D) * m.whole.CP, m.k * m.W) ** m.arithmetic.number(p)


def read_sil(m: Moments) -> Number:
    """Mean of (b_i - a_i) / max(a_i, b_i), a_i = var_i, b_i = min_{j != i} var_j + D_ij."""
    total = m.arithmetic.number(0)
    for c, others in m.each_with_others():
        a, b = c.var, min(o.var + squared(o.v, c.v) for o in others)
        total += ratio(b - a, max(a, b))
    return total / m.k


def read_xb(m: Moments) -> Number:
    """W / (N Dmin)."""
    return ratio(m.W, m.whole.n * min(m.D))


def read_db(m: Moments) -> Number:
    """Mean over i of max_{j != i} (var_i + var_j) / D_ij."""
    worst = [
        max(ratio(c.var + o.var, squared(c.v, o.v)) for o in others)
        for c, others in m.each_with_others()
    ]
    return sum(worst) / m.k


def read_ps(m: Moments) -> Number:
    """Sum of n_i / max n - exp(-min_{j != i} D_ij / beta_T)."""
    # The mean of the centroids would round; the sum of the D_ij is zero exactly when they coincide.
    beta_T = sum(m.D) / m.arithmetic.number(m.k) ** 2
    largest = max(c.n for c in m.clusters)
    return sum(
        c.n / largest - m.arithmetic.exp(-ratio(min(squared(c.v, o.v) for o in others), beta_T))
        for c, others in m.each_with_others()
    )


def read_wb(m: Moments) -> Number:
    """k W / B."""
    return ratio(m.k * m.W, m.B)


def read_gd43(m: Moments) -> Number:
    """sqrt(Dmin) / max 2 var_i."""
    return ratio(m.arithmetic.sqrt(min(m.D)), max(2 * c.var for c in m.clusters))


def read_gd53(m: Moments) -> Number:
    """Minimum over i < j of (CP_i + CP_j) / (n_i + n_j), over max 2 var_i."""
    delta_5 = min((a.CP + b.CP) / (a.n + b.n) for a, b in combinations(m.clusters, 2))
    return ratio(delta_5, max(2 * c.var for c in m.clusters))


def ridge(m: Moments, epsilon: float, delta: float | None) -> Number:
    """10^(-epsilon / d), unless given."""
    number = m.arithmetic.number
    if delta is not None:
        return number(delta)
    return number(10) ** (-number(epsilon) / len(m.whole.v))


def covariance(c: Cluster, delta: Number) -> Matrix:
    """S / (n - 1) + delta I; delta I alone for one sample."""
    divisor, rounding = c.degrees, 1e-30 * c.n
    if divisor < -rounding:
        raise UndefinedError
    return [
        [
            (s / divisor if divisor > rounding else 0 * s) + (delta if a == b else 0)
            for b, s in enumerate(row)
        ]
        for a, row in enumerate(c.S)
    ]


def cholesky(A: Matrix, m: Moments) -> Matrix:
    """Lower triangle L with A = L L'."""
    L: Matrix = []
    for i, row in enumerate(A):
        new: Vector = []
        for j in range(i):
            rest = row[j] - sum(new[t] * L[j][t] for t in range(j))
            new.append(rest / L[j][j])
        pivot = row[i] - sum(x * x for x in new)
        if not pivot > m.arithmetic.singular * row[i]:
            raise UndefinedError
        L.append([*new, m.arithmetic.sqrt(pivot)])
    return L


def half_log_det(L: Matrix, m: Moments) -> Number:
    """ln |A| / 2 from the Cholesky factor of A."""
    return sum(m.arithmetic.log(row[-1]) for row in L)


def read_ni(m: Moments, epsilon: float = 12, delta: float | None = None) -> Number:
    """Sum of p_i (ln|Sigma_i| / 2 - ln p_i) - ln|Sigma_data| / 2."""
    delta = ridge(m, epsilon, delta)
    total = -half_log_det(cholesky(covariance(m.whole, delta), m), m)
    for c in m.clusters:
        share = c.n / m.whole.n
        entropy = half_log_det(cholesky(covariance(c, delta), m), m)
        total += share * (entropy - m.arithmetic.log(share))
    return total


def cross_entropy(a: Cluster, b: Cluster, delta: Number, m: Moments) -> Number:
    """h_ij = z.z / 2 + ln|Sigma_i + Sigma_j| / 2 + d/2 ln(2 pi), z = L^-1 (v_i - v_j)."""
    pairs = zip(covariance(a, delta), covariance(b, delta), strict=True)
    L = cholesky([[s + t for s, t in zip(p, q, strict=True)] for p, q in pairs], m)
    z: Vector = []
    for row, p, q in zip(L, a.v, b.v, strict=True):
        z.append((p - q - sum(x * y for x, y in zip(row[:-1], z, strict=True))) / row[-1])
    constant = len(z) * m.arithmetic.log(2 * m.arithmetic.pi) / 2
    return sum(t * t for t in z) / 2 + half_log_det(L, m) + constant


def cross_entropies(m: Moments, epsilon: float, delta: float | None) -> Vector:
    """h_ij for all i < j."""
    delta = ridge(m, epsilon, delta)
    return [cross_entropy(a, b, delta, m) for a, b in combinations(m.clusters, 2)]


def read_rcip(
    m: Moments,
    epsilon: float = 12,
    delta: float | None = None,
    log_rcip: bool = False,
    mean: bool = False,
) -> Number:
    """Sum or mean of exp(-h_ij), or its logarithm."""
    h = cross_entropies(m, epsilon, delta)
    least = min(h)
    # Taking out the largest term keeps the logarithm where the sum itself would underflow.
    scaled = sum(m.arithmetic.exp(least - x) for x in h) / (len(h) if mean else 1)
    return m.arithmetic.log(scaled) - least if log_rcip else scaled * m.arithmetic.exp(-least)


def read_rh(
    m: Moments, epsilon: float = 12, delta: float | None = None, mean: bool = False
) -> Number:
    """Sum or mean of h_ij."""
    h = cross_entropies(m, epsilon, delta)
    return sum(h) / (len(h) if mean else 1)


READINGS: dict[str, Callable[..., Number]] = {
    "CH": read_ch,
    "I": read_i,
    "PBM": read_i,
    "SIL": read_sil,
    "NI": read_ni,
    "rCIP": read_rcip,
    "rH": read_rh,
    "XB": read_xb,
    "DB": read_db,
    "PS": read_ps,
    "WB": read_wb,
    "GD43": read_gd43,
    "GD53": read_gd53,
}


def read(name: str, m: Moments, **params: Any) -> float:
    """One reading as float64; nan when undefined or beyond the range of float64."""
    if m.k < 2 and name != "NI":
        return math.nan
    try:
        with np.errstate(all="ignore"):
            value = float(READINGS[name](m, **params))
    except ArithmeticError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def exact(
    name: str,
    X: np.ndarray,
    labels: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    **params: Any,
) -> float:
    """The index with 60 digits, rounded once."""
    with mp.workdps(DIGITS):
        try:
            m = moments_exact(X, labels, weights)
        except UndefinedError:
            return math.nan
        return read(name, m, **params)


def exact_all(
    X: np.ndarray,
    labels: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    fades: Sequence[float] | None = None,
) -> dict[str, float]:
    """Every index with 60 digits and default parameters; the moments are computed once."""
    with mp.workdps(DIGITS):
        try:
            m = moments_exact(X, labels, weights, fades)
        except UndefinedError:
            return dict.fromkeys(READINGS, math.nan)
        return {name: read(name, m) for name in READINGS}


def extended(
    name: str, X: np.ndarray, labels: Sequence[Hashable] | np.ndarray, **params: Any
) -> float:
    """The index in numpy.longdouble, for large streams."""
    try:
        m = moments_longdouble(X, labels)
    except UndefinedError:
        return math.nan
    return read(name, m, **params)


def extended_all(X: np.ndarray, labels: Sequence[Hashable] | np.ndarray) -> dict[str, float]:
    """Every index in numpy.longdouble with default parameters; the moments are computed once."""
    try:
        m = moments_longdouble(X, labels)
    except UndefinedError:
        return dict.fromkeys(READINGS, math.nan)
    return {name: read(name, m) for name in READINGS}
