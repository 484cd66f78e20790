"""Slow, obvious fuzzy ART: plain lists, one category at a time, as the papers tell it.

Samples are scaled, complement coded, and presented to categories in descending choice until one
passes vigilance. Sums run from left to right and the category that was founded first wins a tie.
Nothing here shares code or shortcuts with the library under test.
"""

from collections.abc import Hashable, Sequence

Vector = list[float]


def scaled(x: Vector, low: Vector, high: Vector) -> Vector:
    """Low becomes 0, high becomes 1; what is outside is taken as on the border."""
    result = []
    for value, a, b in zip(x, low, high, strict=True):
        if value <= a:
            result.append(0.0)
        elif value >= b:
            result.append(1.0)
        else:
            result.append((value - a) / (b - a))
    return result


def coded(x: Vector) -> Vector:
    """I = (x, 1 - x)."""
    return x + [1.0 - value for value in x]


def norm(v: Vector) -> float:
    """|v|. The built-in sum is more precise than a plain loop, and ties would not be ties."""
    total = 0.0
    for value in v:
        total += value
    return total


def minimum(v: Vector, w: Vector) -> Vector:
    """The fuzzy and of two vectors."""
    return [min(a, b) for a, b in zip(v, w, strict=True)]


class Module:
    """Categories, each perhaps with an owner."""

    def __init__(self, rho: float, alpha: float, beta: float) -> None:
        self.rho, self.alpha, self.beta = rho, alpha, beta
        self.weights: list[Vector] = []
        self.owners: list[Hashable] = []

    def choice(self, sample: Vector, j: int) -> float:
        w = self.weights[j]
        return norm(minimum(sample, w)) / (self.alpha + norm(w))

    def ranking(self, sample: Vector) -> list[int]:
        """Categories in descending choice; sorting is stable, so the lowest wins a tie."""
        choices = [self.choice(sample, j) for j in range(len(self.weights))]
        return sorted(range(len(choices)), key=lambda j: -choices[j])

    def passes(self, sample: Vector, j: int) -> bool:
        # Complete vigilance must forgive that |I| rounds to less than d.
        d = len(sample) // 2
        size = min(norm(sample), d) if self.rho > 1.0 - 1e-9 else d
        return norm(minimum(sample, self.weights[j])) >= self.rho * size

    def resonant(self, sample: Vector, ranking: list[int]) -> int | None:
        """The first one that passes vigilance."""
        for j in ranking:
            if self.passes(sample, j):
                return j
        return None

    def learn(self, sample: Vector, j: int) -> bool:
        """Move category j towards the sample; whether that changed it."""
        before = self.weights[j]
        self.weights[j] = [
            (1.0 - self.beta) * w + self.beta * x if x < w else w
            for x, w in zip(sample, before, strict=True)
        ]
        return self.weights[j] != before

    def found(self, sample: Vector, owner: Hashable = None) -> int:
        self.weights.append(list(sample))
        self.owners.append(owner)
        return len(self.weights) - 1

    def evaluate(self, sample: Vector, owner: Hashable = None) -> tuple[int, int]:
        """Winner, of this owner if one is given, and runner-up, -1 for none; nothing learnt."""
        ranking = self.ranking(sample)
        own = [j for j in ranking if owner is None or self.owners[j] == owner]
        winner = self.resonant(sample, own)
        if winner is None:
            winner = own[0]
        return winner, runner_up(ranking, winner)


def runner_up(ranking: list[int], winner: int) -> int:
    """The best of the others; -1 where there is none."""
    others = [j for j in ranking if j != winner]
    return others[0] if others else -1


class FuzzyART:
    """Fuzzy ART for samples within the bounds low and high."""

    def __init__(
        self, low: Vector, high: Vector, rho: float, alpha: float = 1e-3, beta: float = 1.0
    ) -> None:
        self.low, self.high = low, high
        self.module = Module(rho, alpha, beta)
        self.changed = False

    def code(self, x: Vector) -> Vector:
        return coded(scaled(x, self.low, self.high))

    def update(self, x: Vector) -> int:
        sample = self.code(x)
        j = self.module.resonant(sample, self.module.ranking(sample))
        if j is None:
            self.changed = True
            return self.module.found(sample)
        if self.module.learn(sample, j):
            self.changed = True
        return j

    def fit(self, X: Sequence[Vector], epochs: int) -> tuple[list[int], int]:
        """Labels of the last pass, and how many passes it took until one changed nothing."""
        passes, self.changed = 0, True
        while self.changed and passes < epochs:
            passes, self.changed = passes + 1, False
            labels = [self.update(x) for x in X]
        return labels, passes

    def evaluate(self, x: Vector) -> tuple[int, int]:
        return self.module.evaluate(self.code(x))


class Quantizer(FuzzyART):
    """Module A: prototypes for labels that somebody else decides on."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.seen: list[Hashable] = []

    def update(self, x: Vector, label: Hashable) -> tuple[int, int]:  # type: ignore[override]
        """Winner and runner-up; the first two samples of every label found a prototype each."""
        sample, a = self.code(x), self.module
        ranking = a.ranking(sample)
        own = [j for j in ranking if a.owners[j] == label]
        winner = a.resonant(sample, own) if self.seen.count(label) >= 2 else None
        self.seen.append(label)
        if winner is None:
            winner = a.found(sample, label)
        else:
            a.learn(sample, winner)
        return winner, runner_up(ranking, winner)

    def evaluate(self, x: Vector, label: Hashable = None) -> tuple[int, int]:
        return self.module.evaluate(self.code(x), label)


class FuzzySMART:
    """Module B decides on the cluster, module A on the prototype."""

    def __init__(
        self,
        low: Vector,
        high: Vector,
        rho_a: float,
        rho_b: float,
        alpha: float = 1e-3,
        beta: float = 1.0,
    ) -> None:
        self.a = Quantizer(low, high, rho_a, alpha, beta)
        self.b = FuzzyART(low, high, rho_b, alpha, beta)

    def update(self, x: Vector) -> tuple[int, int, int]:
        """Cluster, winner and runner-up."""
        label = self.b.update(x)
        return label, *self.a.update(x, label)

    def evaluate(self, x: Vector) -> tuple[int, int, int]:
        label, _ = self.b.evaluate(x)
        return label, *self.a.evaluate(x, label)
