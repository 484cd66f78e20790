"""The peers' side: one measurement per call, inside the peers' own environment.

Reads a job as JSON on standard input, prints the result as one JSON line. Never imports icvi.

``cvi`` is used the way its documentation shows for streams: one object per index, and one
``get_cvi(sample, label)`` per object and sample, which updates the object and returns its value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clock import Job, Result, cpu, parts, serve, summary, wall
from data import Floats, Ints, fingerprint, stream


def feed(objects: list[Any], X: Floats, labels: Ints) -> list[float]:
    """Give every sample to every object, reading each time; return the last readings."""
    readings: list[float] = []
    # Plain integers: hashing numpy integers in cvi's label map would cost it extra.
    for x, label in zip(X, labels.tolist(), strict=True):
        readings = [each.get_cvi(x, label) for each in objects]
    return readings


def streaming(job: Job) -> Result:
    """Measure ``cvi`` objects on a stream, after a warm-up in which every cluster appeared."""
    import cvi  # type: ignore[import-not-found,unused-ignore]

    n, warm = job["n"], job["warm"]
    X, labels = stream(job["seed"], job["d"], job["k"], warm + n * job["repeats"])
    np.seterr(all="ignore")  # cvi divides by zero while its clusters are still single samples
    objects = [getattr(cvi, name)() for name in job["indices"]]
    readings = feed(objects, X[:warm], labels[:warm])
    seconds = [cpu(feed, objects, X[part], labels[part]) for part in parts(job, warm)]
    same = {
        "readings": [float(value) for value in readings],
        "fingerprint": fingerprint(X[:warm], labels[:warm]),
    }
    return summary(seconds, n) | same


def removing(job: Job) -> Result:
    """Measure cvi's ``remove``, which returns the value of each index after it."""
    import cvi

    n, warm = job["n"], job["warm"]
    X, labels = stream(job["seed"], job["d"], job["k"], warm + n)
    np.seterr(all="ignore")
    objects = [getattr(cvi, name)() for name in job["indices"]]
    feed(objects, X[:warm], labels[:warm])

    def take_back() -> None:
        for x, label in zip(X[warm:], labels[warm:].tolist(), strict=True):
            for each in objects:
                each.remove(x, label)

    seconds = []
    for _ in range(job["repeats"]):
        feed(objects, X[warm:], labels[warm:])
        seconds.append(cpu(take_back))
    return summary(seconds, n)


def batch(job: Job) -> Result:
    """Measure scikit-learn's Calinski-Harabasz and Davies-Bouldin scores of one data set."""
    from sklearn.metrics import (  # type: ignore[import-untyped,unused-ignore]
        calinski_harabasz_score,
        davies_bouldin_score,
    )

    X, labels = stream(job["seed"], job["d"], job["k"], job["n"])

    def both() -> list[float]:
        return [calinski_harabasz_score(X, labels), davies_bouldin_score(X, labels)]

    readings = both()
    clock = wall if job["wall"] else cpu
    seconds = [clock(both) for _ in range(job["repeats"])]
    same = {
        "readings": [float(value) for value in readings],
        "fingerprint": fingerprint(X, labels),
    }
    return summary(seconds) | same


def silhouette(job: Job) -> Result:
    """Measure scikit-learn's silhouette of one data set, on all cores."""
    from sklearn.metrics import silhouette_score

    X, labels = stream(job["seed"], job["d"], job["k"], job["n"])
    readings: list[float] = []
    seconds = wall(lambda: readings.append(float(silhouette_score(X, labels))))
    return summary([seconds]) | {"readings": readings, "fingerprint": fingerprint(X, labels)}


def versions(_job: Job) -> Result:
    """Return which peers were measured."""
    from importlib.metadata import version

    names = ("cvi", "artlib", "scikit-learn")
    return {name: version(name) for name in names} | {"numpy": np.__version__}


if __name__ == "__main__":
    serve(
        {
            "streaming": streaming,
            "removing": removing,
            "batch": batch,
            "silhouette": silhouette,
            "versions": versions,
        }
    )
