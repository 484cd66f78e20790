"""What verdicts say with all data at hand: on known clusters, on no clusters, on real data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import icvi
from insight.families import STRUCTURELESS, Case, Floats, Ints, draw, structureless
from insight.faults import Kind, Said, labellings

_INDICES = ["CH"]  # advice and grades depend on no index
_SEED = 90_417


@dataclass(frozen=True)
class Outcome:
    """What was said about one labelling of one stream.

    Attributes
    ----------
    found : bool
        The fault was found and the right clusters were named.
    wrong : list of str
        What was said beside that.
    grade : str
        Of the verdict; empty for alarms.
    ari : float
        Adjusted Rand index of classes and right labels after all merges that are advised.
    delay : int or None
        Samples between the fault and its alarm.
    at_end : bool
        The alarm came from the look at the end of the stream.
    undecided : bool
        It was said that it cannot be told whether the two closest clusters are one or two.
    """

    case: Case
    kind: Kind
    found: bool
    wrong: list[str] = field(default_factory=list)
    grade: str = ""
    ari: float = 1.0
    delay: int | None = None
    at_end: bool = False
    undecided: bool = False


@dataclass(frozen=True)
class NoStructure:
    """The verdict on data without clusters that k-means has cut."""

    family: str
    d: int
    k: int
    n: int
    grade: str
    structureless: bool
    splits: int


@dataclass(frozen=True)
class Real:
    """The verdict on a real data set with its true labels."""

    name: str
    grade: str
    advice: list[str]


def with_all_data(case: Case) -> list[Outcome]:
    """Verdicts on all labellings of a stream."""
    stream = draw(case)
    outcomes = []
    for labelling in labellings(stream):
        v = icvi.verdict(stream.X, labelling.labels, _INDICES)
        outcomes.append(
            Outcome(
                case,
                labelling.kind,
                found=any(labelling.asks_for(advice) for advice in v.advice),
                wrong=[said(advice) for advice in v.advice if not labelling.asks_for(advice)],
                grade=v.grade,
                ari=ari_after(v.advice, labelling.labels, stream.truth),
                undecided=any({*pair} == {*stream.closest} for pair in v.undecided),
            )
        )
    return outcomes


def ari_after(advice: Iterable[Said], labels: Ints, truth: Ints) -> float:
    """Adjusted Rand index with the truth once all advised pairs are merged."""
    merged = labels.copy()
    for each in advice:
        if each.action == "merge":
            merged = merge(merged, labels, each)
    return float(adjusted_rand_score(truth, merged))


def merge(merged: Ints, labels: Ints, advice: Said) -> Ints:
    """Labels after one more merge; ``labels`` are those that the advice is about."""
    a, b = (merged[labels == label][0] for label in advice.clusters)
    return np.where(merged == b, a, merged)


def said(each: Said) -> str:
    """Advice or an alarm in short."""
    return f"{each.action} {' '.join(map(str, each.clusters))}"


def no_structure_jobs(quick: bool) -> list[tuple[str, int, int, int, int]]:
    """Family, features, clusters, samples and seed of data without clusters."""
    cells = product(STRUCTURELESS, (2, 5, 10, 20), (2, 3, 5, 10), (200, 500, 1500, 4000))
    jobs = [(*cell, seed) for seed, cell in enumerate(cells)]
    return jobs[::5] if quick else jobs


def without_structure(job: tuple[str, int, int, int, int]) -> NoStructure:
    """The verdict on data without clusters that k-means has cut."""
    family, d, k, n, seed = job
    X = structureless(family, n, d, np.random.default_rng([_SEED, seed]))
    v = icvi.verdict(X, KMeans(k, n_init=1, random_state=seed).fit_predict(X), _INDICES)
    splits = sum(advice.action == "split" for advice in v.advice)
    return NoStructure(family, d, k, n, v.grade, v.structureless, splits)


def on_real_data(name: str) -> Real:
    """The verdict on a data set of scikit-learn."""
    X, truth = REAL[name]()
    v = icvi.verdict(X, truth, _INDICES)
    return Real(name, v.grade, [f"{said(each)} ({each.separation:.2f})" for each in v.advice])


def _iris() -> tuple[Floats, Ints]:
    X, truth = load_iris(return_X_y=True)
    return X, truth


def _wine() -> tuple[Floats, Ints]:
    X, truth = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), truth


def _digits() -> tuple[Floats, Ints]:
    X, truth = load_digits(return_X_y=True)
    return PCA(10, random_state=0).fit_transform(X), truth


REAL = {
    "iris": _iris,
    "wine, standardised": _wine,
    "digits, 10 principal axes": _digits,
}
