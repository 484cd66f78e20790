"""The hand-made floor: how fast one compiled loop can read the eight indices after every sample.

The loop knows exactly these eight indices, a fixed number of clusters and unit weights. It takes no
new cluster, no removal and no undefined value: what a library must do and a floor need not. The
distance to it is the price of that.

Clusters are the fastest axis, padded to whole vectors. A padded cluster lies so far away (``FAR``)
that it is never an extreme and adds nothing, or exactly one, to the sums.

Per row i three minima over the other clusters are kept: D_ij, var_j + D_ij, and the Davies-Bouldin
ratio with its sign turned. Each has its best value, a bound that no other entry is below, and who
gave the best. A sample of cluster J changes row J and column J only, so another row is searched
again only when its best was J and J rose above the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from clock import Job, Result, cpu, parts, serve, summary
from data import Floats, Ints, stream
from direct import eight, moments
from lanes import exp_negative, larger, pick, smaller

Function = TypeVar("Function", bound=Callable[..., Any])

NAMES = ("CH", "SIL", "DB", "GD43", "GD53", "PS", "WB", "XB")
LANES = 4
FAR = 1e140

# Sums may be reordered and comparisons assume numbers: there is no nan here, and no infinity.
FAST = {"reassoc", "contract", "nsz", "nnan"}


def compiled(function: Function) -> Function:
    """Compile a function by itself."""
    return cast(Function, njit(function, fastmath=FAST, error_model="numpy"))


def inlined(function: Function) -> Function:
    """Compile a function into its callers."""
    return cast(Function, njit(function, fastmath=FAST, error_model="numpy", forceinline=True))


@inlined
def distances(v: Floats, x: Floats, D: Floats) -> None:
    """Write ||v_i - x||^2 for every cluster i into ``D``, two features at a time."""
    d, K = v.shape
    for i in range(K):
        a = v[0, i] - x[0]
        D[i] = a * a
    if d % 2 == 0:
        for i in range(K):
            a = v[1, i] - x[1]
            D[i] += a * a
    for t in range(2 - d % 2, d, 2):
        x0, x1 = x[t], x[t + 1]
        for i in range(K):
            a = v[t, i] - x0
            b = v[t + 1, i] - x1
            D[i] += a * a + b * b


@inlined
def lowest(y: Floats, lane: Floats) -> tuple[float, float, float]:
    """Return the smallest value of ``y``, the second smallest, and where the smallest is."""
    best = y[0]
    for i in range(len(y)):
        best = smaller(best, y[i])
    bound, who, equal = FAR * FAR, 0.0, 0.0
    for i in range(len(y)):
        here = y[i] == best
        who = larger(who, pick(here, lane[i], 0.0))
        equal += pick(here, 1.0, 0.0)
        bound = smaller(bound, pick(here, FAR * FAR, y[i]))
    return best, pick(equal > 1.0, best, bound), who


@inlined
def change_column(J: float, c: Floats, best: Floats, bound: Floats, who: Floats) -> float:
    """Let entry J of every row i become ``c[i]``; return more than 0 if a row needs a search."""
    worst = -1.0
    for i in range(len(c)):
        mine = who[i] == J
        b = pick(mine, c[i], smaller(best[i], c[i]))
        z = pick(mine, bound[i], smaller(bound[i], larger(best[i], c[i])))
        who[i] = pick(c[i] < best[i], J, who[i])
        best[i] = b
        bound[i] = z
        worst = larger(worst, b - z)
    return worst


@compiled
def pooled(k: int, n: Floats, CP: Floats, p: int, q: int) -> tuple[int, int]:
    """Return the pair with the smallest (CP_i + CP_j) / (n_i + n_j), starting from one pair.

    Dinkelbach's iteration: with the current ratio r, the two smallest CP_i - r n_i are the best
    pair, or a better one.
    """
    while True:
        ratio = (CP[p] + CP[q]) / (n[p] + n[q])
        low, next_low, a, b = FAR * FAR, FAR * FAR, 0, 0
        for i in range(k):
            y = CP[i] - ratio * n[i]
            if y < low:
                low, next_low, a, b = y, low, i, a
            elif y < next_low:
                next_low, b = y, i
        if not (CP[a] + CP[b]) / (n[a] + n[b]) < ratio:
            return p, q
        p, q = a, b


@compiled
def loop(X: Floats, labels: Ints, k: int, n: Floats, v: Floats, CP: Floats, out: Floats) -> None:
    """Feed every sample; write the eight readings after each into ``out``."""
    d, K = v.shape
    far = FAR * FAR
    lane = np.arange(K).astype(np.float64)
    real = np.where(lane < k, 1.0, 0.0)
    var = np.where(lane < k, CP / np.maximum(n, 1.0), 0.0)
    N, W, n_max = n[:k].sum(), CP[:k].sum(), n[:k].max()
    rows = v.T.copy()  # the centroids again, one after the other, for the update of one of them
    mu, vbar = np.zeros(d), np.zeros(d)
    for t in range(d):
        mu[t] = (n[:k] * v[t, :k]).sum() / N
        vbar[t] = v[t, :k].sum() / k
    D, S, R, C = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
    # A best above its bound asks for a search, so the first sample fills every real row.
    best_D, bound_D, who_D = np.full(K, far), np.full(K, far), np.full(K, -1.0)
    best_S, bound_S, who_S = np.full(K, far), np.full(K, far), np.full(K, -1.0)
    best_R, bound_R, who_R = np.zeros(K), np.zeros(K), np.full(K, -1.0)
    bound_D[:k] = -far
    widest = var[:k].argmax()
    var_max = var[widest]
    p, q = pooled(k, n, CP, 0, 1)

    for s in range(len(labels)):
        J = labels[s]

        # moments of cluster J and of all samples
        N += 1.0
        n[J] += 1.0
        step, step_N = 1.0 / n[J], 1.0 / N
        step_k = step / k
        grown, from_mu, from_vbar = 0.0, 0.0, 0.0
        vJ = rows[J]
        for t in range(d):
            x = X[s, t]
            e = x - vJ[t]
            moved = vJ[t] + e * step
            vJ[t] = moved
            grown += e * (x - moved)
            mu[t] += (x - mu[t]) * step_N
            vbar[t] += e * step_k
            a = moved - mu[t]
            b = moved - vbar[t]
            from_mu += a * a
            from_vbar += b * b
        for t in range(d):
            v[t, J] = vJ[t]
        CP[J] += grown
        W += grown
        var_J = CP[J] * step
        var[J] = var_J
        n_max = max(n_max, n[J])

        # Parallel axes: the moments of the centroids about v_J give B and beta_T. Little cancels,
        # since B >= n_J ||v_J - mu||^2 and k beta_T >= ||v_J - vbar||^2.
        distances(v, vJ, D)
        sum_nD, sum_D = 0.0, 0.0
        for i in range(K):
            sum_nD += n[i] * D[i]
            sum_D += real[i] * D[i]
        B = sum_nD - N * from_mu
        beta = sum_D / k - from_vbar

        # column J, then row J
        D[J] = far
        for i in range(K):
            S[i] = var[i] + D[i]
            C[i] = var_J + D[i]
            R[i] = -real[i] * (var[i] + var_J) / D[i]
        worst_D = change_column(lane[J], D, best_D, bound_D, who_D)
        worst_S = change_column(lane[J], C, best_S, bound_S, who_S)
        worst_R = change_column(lane[J], R, best_R, bound_R, who_R)
        best_D[J], bound_D[J], who_D[J] = lowest(D, lane)
        best_S[J], bound_S[J], who_S[J] = lowest(S, lane)
        best_R[J], bound_R[J], who_R[J] = lowest(R, lane)
        if max(worst_D, worst_S, worst_R) > 0.0:
            for i in range(k):
                if best_D[i] > bound_D[i] or best_S[i] > bound_S[i] or best_R[i] > bound_R[i]:
                    distances(v, rows[i], D)
                    D[i] = far
                    for j in range(K):
                        S[j] = var[j] + D[j]
                        R[j] = -real[j] * (var[i] + var[j]) / D[j]
                    best_D[i], bound_D[i], who_D[i] = lowest(D, lane)
                    best_S[i], bound_S[i], who_S[i] = lowest(S, lane)
                    best_R[i], bound_R[i], who_R[i] = lowest(R, lane)

        # sums and extremes over the rows
        D_min, sum_R, sum_S, sum_E = far, 0.0, 0.0, 0.0
        for i in range(K):
            D_min = smaller(D_min, best_D[i])
            sum_R -= best_R[i]
            sum_S += (best_S[i] - var[i]) / larger(best_S[i], var[i])
        for i in range(K):
            sum_E += exp_negative(best_D[i] * (-1.0 / beta))
        if var_J >= var_max:
            var_max, widest = var_J, J
        elif widest == J:
            widest = var[:k].argmax()
            var_max = var[widest]
        ratio = (CP[p] + CP[q]) / (n[p] + n[q])
        reach = larger(CP[p] - ratio * n[p], CP[q] - ratio * n[q])
        if J in (p, q) or CP[J] - ratio * n[J] < reach:
            p, q = pooled(k, n, CP, p, q)

        width = 2.0 * var_max
        out[s, 0] = B * (N - k) / (W * (k - 1))
        out[s, 1] = (sum_S - (K - k)) / k
        out[s, 2] = sum_R / k
        out[s, 3] = np.sqrt(D_min) / width
        out[s, 4] = (CP[p] + CP[q]) / (n[p] + n[q]) / width
        out[s, 5] = N / n_max - sum_E
        out[s, 6] = k * W / B
        out[s, 7] = W / (N * D_min)


def state(X: Floats, labels: Ints, k: int) -> tuple[Floats, Floats, Floats]:
    """Return n, v and CP of the warm-up samples in the padded layout of the loop."""
    K = -(-k // LANES) * LANES
    n, v, CP = np.zeros(K), np.full((X.shape[1], K), FAR), np.full(K, FAR * FAR)
    n[:k], rows, CP[:k] = moments(X, labels, k)
    v[:, :k] = rows.T
    return n, v, CP


def streaming(job: Job) -> Result:
    """Measure the loop on a stream, after a warm-up in which every cluster appeared."""
    k, n, warm = job["k"], job["n"], job["warm"]
    X, labels = stream(job["seed"], job["d"], k, warm + n * job["repeats"])
    out = np.empty((n, len(NAMES)))
    loop(X[:1], labels[:1], k, *state(X[:warm], labels[:warm], k), out)  # compiles
    arrays = state(X[:warm], labels[:warm], k)
    seconds = [cpu(loop, X[part], labels[part], k, *arrays, out) for part in parts(job, warm)]
    expected = list(eight(X, labels, k).values())
    np.testing.assert_allclose(out[-1], expected, rtol=1e-9)
    return summary(seconds, n)


if __name__ == "__main__":
    serve({"streaming": streaming})
