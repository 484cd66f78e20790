"""The data sets: generated families in two halves, and real data.

Needs numpy and scikit-learn only, because the peers live in an environment without icvi.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from insight.families import FAMILIES, Case, Floats, Ints, Order, draw

#: Families on which the defaults of MicroWard were chosen, with other seeds.
CHOSEN_ON = ("gaussian", "student", "elongated")
#: Separation of the closest pair.
KINDS = {"compact": 2.6, "hard": 1.8}
#: Features and clusters.
SIZES = ((2, 5), (10, 3), (5, 8), (3, 12))
ORDERS: tuple[Order, ...] = ("by class", "shuffled")

_FIRST = 90_000  # number of the first case: no other benchmark has it
_SHUFFLE = 5


@dataclass(frozen=True)
class Spec:
    """Which data set: a case of a family, or a name with the folder of its file."""

    half: str  # "held out", "chosen on" or "real"
    kind: str  # "compact" or "hard"
    name: str
    case: Case | None = None
    folder: str = ""


def specs(folder: Path | None, quick: bool) -> list[Spec]:
    """All data sets; those from files where the files are."""
    return [*_generated(SIZES[:1] if quick else SIZES), *_real(folder)]


def load(spec: Spec, order: Order) -> tuple[Floats, Ints]:
    """Samples in order, and the class of each."""
    if spec.case is not None:
        stream = draw(spec.case)
        X, truth = stream.X, stream.truth
    else:
        X, truth = _read(spec)
    if order == "by class":
        at = np.argsort(truth, kind="stable")
    else:
        at = np.random.default_rng(_SHUFFLE).permutation(len(truth))
    return np.ascontiguousarray(X[at], dtype=np.float64), np.asarray(truth[at], dtype=np.int64)


def _generated(sizes: tuple[tuple[int, int], ...]) -> Iterator[Spec]:
    number = _FIRST
    for family in FAMILIES:
        half = "chosen on" if family in CHOSEN_ON else "held out"
        for d, k in sizes:
            number += 1
            for kind, separation in KINDS.items():
                case = Case(family, d, k, separation, "by class", number)
                yield Spec(half, kind, f"{family}, {d} features, {k} clusters", case)


def _real(folder: Path | None) -> Iterator[Spec]:
    for name in ("iris", "wine", "digits"):
        yield Spec("real", "hard", name)
    for name in ("r15", "d4"):
        if folder is not None and (folder / f"{name}.csv").exists():
            yield Spec("real", "compact", name, folder=str(folder))


def _read(spec: Spec) -> tuple[Floats, Ints]:
    if spec.name == "iris":
        X, truth = load_iris(return_X_y=True)
    elif spec.name == "wine":
        X, truth = load_wine(return_X_y=True)
        X = StandardScaler().fit_transform(X)
    elif spec.name == "digits":
        X, truth = load_digits(return_X_y=True)
        X = PCA(10, random_state=0).fit_transform(X)
    else:
        path = Path(spec.folder) / f"{spec.name}.csv"
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        X, truth = table[:, :-1], table[:, -1]
    return np.asarray(X, dtype=np.float64), np.asarray(truth).astype(np.int64)
