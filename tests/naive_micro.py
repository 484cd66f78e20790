"""Micro-clusters and Ward's path, straight from their definitions; imports nothing of icvi."""

from __future__ import annotations

import itertools

import numpy as np


class Micro:
    """All samples that a micro-cluster has taken: its moments are computed when asked for."""

    def __init__(self, x):
        self.samples = [x]

    @property
    def n(self):
        return len(self.samples)

    @property
    def center(self):
        return np.mean(self.samples, axis=0)

    def variance(self, factors):
        return float((factors * np.var(self.samples, axis=0)).sum())


def union(a, b):
    both = Micro(None)
    both.samples = a.samples + b.samples
    return both


def learn(X, most, scaled=True):
    """The micro-clusters after all samples, in order, and the limit of their variance."""
    micros, limit, factors = [], 0.0, np.ones(X.shape[1])
    for x in X:
        squares = [float((factors * (x - each.center) ** 2).sum()) for each in micros]
        best = int(np.argmin(squares)) if micros else -1
        wider = union(micros[best], Micro(x)).variance(factors) if micros else np.inf
        if micros and (squares[best] == 0.0 or wider <= limit):
            micros[best].samples.append(x)
        else:
            micros.append(Micro(x))
        if len(micros) > most:
            if scaled:
                new = np.array([1.0 / spread(micros, t) for t in range(X.shape[1])])
                limit = converted(micros, limit, factors, new)
                factors = new
            micros, limit = reduced(micros, max(2, 3 * most // 4), limit, factors)
    return micros, limit


def spread(micros, t):
    """The squared scale of a feature: the least k^2 W_k / N over k groups of its values."""
    groups = sorted(([x[t] for x in each.samples] for each in micros), key=np.mean)
    values = np.concatenate(groups)
    least = np.var(values)
    while len(groups) > 2:
        costs = [
            np.var(a + b) * len(a + b) - np.var(a) * len(a) - np.var(b) * len(b)
            for a, b in itertools.pairwise(groups)
        ]
        i = int(np.argmin(costs))
        groups[i : i + 2] = [groups[i] + groups[i + 1]]
        k = len(groups)
        if k <= 8 and 4 * k * min(map(len, groups)) >= len(values):
            W = sum(np.var(group) * len(group) for group in groups)
            least = min(least, k * k * W / len(values))
    return max(least, np.var(values) / 16.0)


def converted(micros, limit, old, new):
    """The limit in new units: in proportion to the spread within micro-clusters."""
    before = sum(each.n * each.variance(old) for each in micros)
    after = sum(each.n * each.variance(new) for each in micros)
    return limit * after / before if before > 0.0 else 0.0


def reduced(micros, target, limit, factors):
    """The two whose union has the least variance merge, until ``target`` are left."""
    micros = list(micros)
    while len(micros) > target:
        variances = {
            (i, j): union(micros[i], micros[j]).variance(factors)
            for i in range(len(micros))
            for j in range(i + 1, len(micros))
        }
        i, j = min(variances, key=variances.get)
        limit = max(limit, variances[i, j])
        micros[i] = union(micros[i], micros.pop(j))
    return micros, limit


def ward(n, V, k):
    """Sets of points, k of them, that Ward's criterion leaves."""
    groups = [[i] for i in range(len(n))]

    def cost(a, b):
        na, nb = n[a].sum(), n[b].sum()
        gap = n[a] @ V[a] / na - n[b] @ V[b] / nb
        return na * nb / (na + nb) * float(gap @ gap)

    while len(groups) > k:
        costs = {
            (i, j): cost(groups[i], groups[j])
            for i in range(len(groups))
            for j in range(i + 1, len(groups))
        }
        i, j = min(costs, key=costs.get)
        groups[i] = groups[i] + groups.pop(j)
    return {frozenset(group) for group in groups}
