"""Samples in coordinates where all features have variance 1 and next to no correlation."""

from __future__ import annotations

import math

from numba import float64

from icvi.kernels.compiler.compiling import SUMS
from icvi.kernels.compiler.embedded import embedded

_THIN = 1e-12  # variance at least, of features whose variance is 1 on all samples


@embedded(returns=float64)
def clip(x, low, high):
    """The nearest number from low to high; Numba's min and max take longer to compile."""
    if x < low:
        return low
    return high if x > high else x


@embedded
def copy(a, b):
    """From a to b, which may be shorter: an assignment of arrays takes long to compile."""
    for t in range(len(b)):
        b[t] = a[t]


@embedded(returns=float64)
def hashed(number):
    """A number between 0 and 1 that looks random, the same for the same whole number."""
    h = (number + 1) * 0x5851F42D4C957F2D
    h = (h ^ (h >> 29)) * 0x369DEA0F31A53F85
    h ^= h >> 32
    return (h & 0xFFFFFFFF) / 4294967296.0


@embedded(returns=float64)
def median_step(ordered, t, steps):
    """Between different values of a feature; 0 where it has so many that they need no spreading."""
    n, found = ordered.shape[0], 0
    for i in range(1, n):
        step = ordered[i, t] - ordered[i - 1, t]
        if step > 0.0:
            steps[found] = step
            found += 1
    if 2 * (found + 1) >= n:
        return 0.0
    for i in range(1, found):  # few enough to be sorted by insertion
        step, j = steps[i], i
        while j > 0 and steps[j - 1] > step:
            steps[j] = steps[j - 1]
            j -= 1
        steps[j] = step
    return (steps[(found - 1) // 2] + steps[found // 2]) / 2.0


@embedded(returns=float64, fastmath=SUMS)
def center_and_scale(f):
    """Take the mean out of a row and bring its variance to 1; the width that it had."""
    n, s, ss = len(f), 0.0, 0.0
    for i in range(n):
        s += f[i]
    mean = s / n
    for i in range(n):
        f[i] -= mean
        ss += f[i] * f[i]
    width = math.sqrt(ss / n)
    if width > 0.0:
        for i in range(n):
            f[i] /= width
    return width


@embedded
def scale(X, ordered, F, widths, steps):
    """Features about their means in units of their widths, as rows of F.

    Between whole numbers there is nothing, which is not a valley: features with few values are
    spread over the steps between these.
    """
    n, d = X.shape
    for t in range(d):
        least, reach = ordered[0, t], ordered[n - 1, t] - ordered[0, t]
        step = median_step(ordered, t, steps) / reach
        f = F[t]
        for i in range(n):
            f[i] = (X[i, t] - least) / reach
        if step > 0.0:
            for i in range(n):
                f[i] += (hashed(t * n + i) - 0.5) * step
        width = center_and_scale(f)
        widths[t] = width * reach


@embedded(returns=float64, fastmath=SUMS)
def dot(a, b):
    """Sum of products of two rows, the second of which may be shorter."""
    s = 0.0
    for i in range(len(b)):
        s += a[i] * b[i]
    return s


@embedded
def covariances(F, n, C):
    """Of the rows of F, each n long and about 0; their correlations are shrunk by d/n."""
    d = F.shape[0]
    for t in range(d):
        f = F[t, :n]
        for s in range(t):
            C[t, s] = C[s, t] = dot(F[s], f) / n * (1.0 - d / n)
        C[t, t] = clip(dot(F[t], f) / n, _THIN, math.inf)


@embedded
def factor(C, L):
    """Cholesky's factor: C = L L^T."""
    for t in range(C.shape[0]):
        for s in range(t + 1):
            e = C[t, s]
            for j in range(s):
                e -= L[t, j] * L[s, j]
            L[t, s] = e / L[s, s] if s < t else math.sqrt(e)


@embedded
def whiten(F, n, L, Y):
    """Solve L Y = F."""
    for t in range(F.shape[0]):
        f = Y[t, :n]
        copy(F[t], f)
        for s in range(t):
            g, factor = Y[s], L[t, s]
            for i in range(len(f)):
                f[i] -= factor * g[i]
        for i in range(len(f)):
            f[i] /= L[t, t]


@embedded
def unwhiten(q, L, w):
    """The direction for samples as they were: solve L^T w = q."""
    copy(q, w)
    for t in range(len(q) - 1, -1, -1):
        w[t] /= L[t, t]
        for s in range(t):
            w[s] -= L[t, s] * w[t]
