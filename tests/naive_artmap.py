"""Fuzzy ARTMAP as it is defined: slow, obvious, and independent of icvi.

Samples are in [0, 1] already. Sums run from the first entry to the last, so that ties are ties.
"""

from __future__ import annotations


def complement_code(x):
    return [float(v) for v in x] + [1.0 - float(v) for v in x]


def norm(v):
    total = 0.0
    for entry in v:
        total = total + entry
    return total


def need(coded, rho):
    """rho |I| = rho d; complete vigilance must forgive that |I| rounds to less than d."""
    d = len(coded) // 2
    return rho * (min(norm(coded), d) if rho > 1.0 - 1e-9 else d)


def fuzzy_and(a, b):
    return [min(p, q) for p, q in zip(a, b, strict=True)]


class NaiveModule:
    """Fuzzy ART."""

    def __init__(self, alpha, beta):
        self.alpha, self.beta = alpha, beta
        self.weights = []

    def match(self, coded, j):
        return norm(fuzzy_and(coded, self.weights[j]))

    def choice(self, coded, j):
        return self.match(coded, j) / (self.alpha + norm(self.weights[j]))

    def by_choice(self, coded):
        """Categories, the highest choice first, the first category first where choices tie."""
        return sorted(range(len(self.weights)), key=lambda j: (-self.choice(coded, j), j))

    def add(self, coded):
        self.weights.append(list(coded))
        return len(self.weights) - 1

    def adapt(self, coded, j):
        w, b = self.weights[j], self.beta
        self.weights[j] = [
            (1.0 - b) * old + b * new for old, new in zip(w, fuzzy_and(coded, w), strict=True)
        ]

    def learn(self, coded, rho):
        for j in self.by_choice(coded):
            if self.match(coded, j) >= need(coded, rho):
                self.adapt(coded, j)
                return j
        return self.add(coded)

    def evaluate(self, coded, rho):
        order = self.by_choice(coded)
        resonant = [j for j in order if self.match(coded, j) >= need(coded, rho)]
        return (resonant or order)[0]


class NaiveARTMAP:
    """Module A with a map field; targets are labels, or, with rho_b, categories of module B."""

    def __init__(self, rho, alpha, beta, rho_b=None):
        self.rho, self.rho_b = rho, rho_b
        self.A, self.B = NaiveModule(alpha, beta), NaiveModule(alpha, beta)
        self.map = []

    def learn(self, x, y):
        """Category of the sample in module A."""
        coded = complement_code(x)
        target = y if self.rho_b is None else self.B.learn(complement_code(y), self.rho_b)
        present, raised = need(coded, self.rho), False
        for j in self.A.by_choice(coded):
            match = self.A.match(coded, j)
            if not (match > present if raised else match >= present):
                continue
            if self.map[j] == target:
                self.A.adapt(coded, j)
                return j
            present, raised = match, True
        self.map.append(target)
        return self.A.add(coded)

    def predict(self, x):
        """The label, or the middle of the box of module B."""
        target = self.map[self.A.evaluate(complement_code(x), self.rho)]
        if self.rho_b is None:
            return target
        w = self.B.weights[target]
        m = len(w) // 2
        return [0.5 * (w[t] + (1.0 - w[m + t])) for t in range(m)]
