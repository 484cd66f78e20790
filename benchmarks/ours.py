"""Our side: the peers' measurements through icvi's public interface, plus memory.

Reads a job as JSON on standard input, prints the result as one JSON line.
"""

from __future__ import annotations

import resource

import icvi
from clock import Job, Result, cpu, parts, serve, summary, wall
from data import Floats, Ints, fingerprint, stream
from icvi.batch import silhouette_score


def warmed(job: Job) -> tuple[icvi.Tracker, Floats, Ints, Result]:
    """Return a tracker that has seen every cluster, the samples still to come, and its readings."""
    warm = job["warm"]
    X, labels = stream(job["seed"], job["d"], job["k"], warm + job["n"] * job["repeats"])
    tracker = icvi.Tracker(job["indices"])
    tracker.update_many(X[:warm], labels[:warm])
    values = tracker.values
    same = {
        "readings": [float(values[name]) for name in job["indices"]],
        "fingerprint": fingerprint(X[:warm], labels[:warm]),
    }
    return tracker, X[warm:], labels[warm:], same


def chunked(job: Job) -> Result:
    """Measure ``update_many``: every reading after every sample, one call per chunk."""
    tracker, X, labels, same = warmed(job)
    seconds = [cpu(tracker.update_many, X[part], labels[part]) for part in parts(job)]
    return summary(seconds, job["n"]) | same


def feed(tracker: icvi.Tracker, X: Floats, labels: Ints) -> None:
    """Give the samples one by one and read everything after each."""
    for x, label in zip(X, labels.tolist(), strict=True):
        tracker.update(x, label)
        tracker.values  # noqa: B018  a property: reading it is what costs


def single(job: Job) -> Result:
    """Measure one Python call per sample, with all readings after each."""
    tracker, X, labels, same = warmed(job)
    feed(tracker, X[:10], labels[:10])  # whatever the first call prepares
    seconds = [cpu(feed, tracker, X[part], labels[part]) for part in parts(job)]
    return summary(seconds, job["n"]) | same


def batch(job: Job) -> Result:
    """Measure ``scores`` of one data set."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["n"])
    values = icvi.scores(X, labels, "paper")
    clock = wall if job["wall"] else cpu
    seconds = [clock(icvi.scores, X, labels, "paper") for _ in range(job["repeats"])]
    reading = summary([clock(X.sum) for _ in range(job["repeats"])])["us"]
    same = {"readings": [float(values["CH"])], "fingerprint": fingerprint(X, labels)}
    return summary(seconds) | same | {"reading": reading}


def many_clusters(job: Job) -> Result:
    """Measure a stream that brings all clusters before its one reading."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["warm"])
    # Compiled, with what is used for many clusters only.
    icvi.Tracker(job["indices"]).update_many(X[:2000], labels[:2000], every=2000)
    tracker = icvi.Tracker(job["indices"])
    return summary([cpu(lambda: tracker.update_many(X, labels, every=len(X)))])


def silhouette(job: Job) -> Result:
    """Measure the silhouette of one data set, on all cores."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["n"])
    silhouette_score(X[:1000], labels[:1000])  # compiled
    readings: list[float] = []
    seconds = wall(lambda: readings.append(silhouette_score(X, labels)))
    return summary([seconds]) | {"readings": readings, "fingerprint": fingerprint(X, labels)}


def insight(job: Job) -> Result:
    """Measure chunks of a stream with insight and without, from its first sample on."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["n"] * 2)
    best: dict[bool, list[float]] = {}
    for _ in range(job["repeats"]):
        for kept in (False, True):
            tracker = icvi.Tracker("paper", insight=kept)
            seconds = []
            for first in (0, job["n"]):
                halves = range(first, first + job["n"], 1_000)
                parts = [slice(start, start + 1_000) for start in halves]
                seconds.append(sum(cpu(tracker.update_many, X[p], labels[p]) for p in parts))
            best[kept] = [*map(min, seconds, best.get(kept, seconds))]
    return {"without": best[False], "with": best[True]}


def peak() -> float:
    """Return the largest resident size of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(job: Job) -> Result:
    """Feed ten chunks, then a hundred more; return by how much the peak grew meanwhile."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["n"])
    tracker = icvi.Tracker(job["indices"])
    for _ in range(10):
        tracker.update_many(X, labels)
    before = peak()
    for _ in range(100):
        tracker.update_many(X, labels)
    return {"mib": peak() - before, "samples": [10 * job["n"], 110 * job["n"]]}


if __name__ == "__main__":
    serve(
        {
            "chunked": chunked,
            "single": single,
            "batch": batch,
            "many_clusters": many_clusters,
            "silhouette": silhouette,
            "memory": memory,
            "insight": insight,
        }
    )
