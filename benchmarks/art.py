"""Fuzzy ART, measured the same way whoever's it is: all samples at once, and one per call.

Needs numpy only, because the peers live in an environment without icvi.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from clock import Job, Result, cpu, parts, serve, summary
from data import Floats, Ints, fingerprint, unit_stream


class Model(Protocol):
    """What icvi's class and artlib's have in common; the last of ``labels_`` is the newest."""

    labels_: Ints

    def fit(self, X: Floats) -> Any:
        """Forget everything, then learn all samples."""

    def partial_fit(self, X: Floats) -> Any:
        """Learn more samples."""


#: Makes a model for a job, and from its samples what the model expects.
Prepare = Callable[[Job, Floats], tuple[Model, Floats]]


def searched(found: Ints) -> float:
    """Return how many categories a sample met on average; they are numbered as they emerge."""
    return float((np.maximum.accumulate(found) + 1)[:-1].sum() / len(found))


def fit(job: Job, prepare: Prepare) -> Result:
    """Measure ``fit`` on all samples, which begins without categories each time."""
    X, labels = unit_stream(job["seed"], job["d"], job["k"], job["n"], job["spread"])
    model, prepared = prepare(job, X)
    model.fit(prepared[[0, 0]])  # founds and learns: whatever the first calls prepare
    seconds = [cpu(model.fit, prepared) for _ in range(job["repeats"])]
    found = np.asarray(model.labels_, dtype=np.int64)
    return summary(seconds, job["n"]) | {
        "fingerprint": fingerprint(X, labels),
        "found": fingerprint(X, found),
        "categories": int(found.max()) + 1,
        "searched": searched(found),
    }


def feed(model: Model, X: Floats, found: list[int]) -> None:
    """Have the samples learnt one by one, and note the category of each."""
    for x in X[:, None]:
        model.partial_fit(x)
        found.append(model.labels_[-1])


def single(job: Job, prepare: Prepare) -> Result:
    """Measure ``partial_fit`` of one sample, after a warm-up in which the categories emerged."""
    warm, n = job["warm"], job["warm"] + job["n"] * job["repeats"]
    X, labels = unit_stream(job["seed"], job["d"], job["k"], n, job["spread"])
    model, prepared = prepare(job, X)
    model.fit(prepared[: warm - 10])
    found: list[int] = list(model.labels_)
    feed(model, prepared[warm - 10 : warm], found)  # whatever the first calls prepare
    seconds = [cpu(feed, model, prepared[part], found) for part in parts(job, warm)]
    return summary(seconds, job["n"]) | {
        "fingerprint": fingerprint(X, labels),
        "found": fingerprint(X, np.array(found, dtype=np.int64)),
        "categories": int(max(found)) + 1,
    }


def serve_with(prepare: Prepare) -> None:
    """Answer a job with the models that ``prepare`` makes."""
    serve({"fit": lambda job: fit(job, prepare), "single": lambda job: single(job, prepare)})
