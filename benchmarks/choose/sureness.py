"""How often `icvi.compare` names the best candidate where it says clear, likely or open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import icvi
from choose.streams import CHOSEN_ON, KINDS, SIZES
from insight.families import FAMILIES, Case, Floats, Order, draw

WORDS = ("clear", "likely", "open")
#: What is compared, in which order of samples.
QUESTIONS: dict[str, Order] = {
    "k of KMeans": "shuffled",
    "vigilance of FuzzyART": "by class",
    "clusterers": "shuffled",
}

_FIRST = 95_000  # number of the first case: no other benchmark has it
_REPEATS = 3
_AS_GOOD = 0.02  # an adjusted Rand index that is less by no more is as good as the best
_MOST = 14  # clusters that KMeans is asked for


@dataclass(frozen=True)
class Answer:
    """What a comparison has named, and whether it was right."""

    half: str
    question: str
    sure: str
    right: bool


def cases(quick: bool) -> list[tuple[Case, str]]:
    """Streams of all families, each with a question."""
    found, number = [], _FIRST
    for _ in range(1 if quick else _REPEATS):
        for family in FAMILIES:
            for d, k in SIZES:
                number += 1
                for separation in KINDS.values():
                    for question, order in QUESTIONS.items():
                        found.append((Case(family, d, k, separation, order, number), question))
    return found


def answer(job: tuple[Case, str]) -> Answer:
    """Ask a question about a stream."""
    case, question = job
    stream = draw(case)
    X, truth = np.ascontiguousarray(stream.X), stream.truth
    options: dict[str, Any] = {"insight": False, "every": len(X), "truth": truth}
    made = icvi.compare(X, _candidates(question, X), **options)
    aris = np.array([made.agreement[name]["ARI"] for name in made.names])
    best = made.counted.best
    right = best is not None and bool(aris[best] >= aris.max() - _AS_GOOD)
    half = "chosen on" if case.family in CHOSEN_ON else "held out"
    return Answer(half, question, made.sure, right)


def _candidates(question: str, X: Floats) -> Any:
    if question == "k of KMeans":
        return [KMeans(k, n_init=3, random_state=0) for k in range(2, _MOST + 1)]
    if question == "vigilance of FuzzyART":
        bounds = X.min(axis=0), X.max(axis=0)
        return [icvi.FuzzyART(rho, bounds=bounds) for rho in np.arange(0.4, 0.91, 0.05).round(2)]
    return [
        "auto",
        "art rho=0.75",
        "minibatch-kmeans n_clusters=3..12/3",
        "birch n_clusters=5",
        "birch n_clusters=8",
        "dbstream",
    ]


def shares(answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    """For every half and word: how many answers, and how many of them were right."""
    for half in ("held out", "chosen on"):
        for question in (*QUESTIONS, None):
            for word in WORDS:
                own = [
                    each
                    for each in answers
                    if (each.half, each.sure) == (half, word) and question in (None, each.question)
                ]
                right = sum(each.right for each in own)
                yield {
                    "half": half,
                    "question": question or "all",
                    "sure": word,
                    "answers": len(own),
                    "right": right,
                }
