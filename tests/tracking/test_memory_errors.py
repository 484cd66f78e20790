"""No memory left: the call is refused, the error says for what, and the tracker is what it was."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import icvi
import processes

resource = pytest.importorskip("resource")
RNG = np.random.default_rng(0)
X, LABELS = RNG.random((300, 2)), RNG.integers(0, 10, 300).tolist()
MANY = RNG.random((20_000, 2))
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")


def fed(times=1):
    t = icvi.Tracker(["rH", "CH"])
    for _ in range(times):
        t.update_many(X, LABELS)
    return t


def limit_memory(more):
    """Leave this process so many bytes."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))


def add_many(t):
    t.update_many(MANY, np.arange(len(MANY)))


def relabel_many(t):
    n = len(MANY)
    t.relabel_many(np.repeat(X[:1], n, 0), LABELS[:1] * n, range(100, 100 + n), np.full(n, 1e-5))


def add_one_by_one(t):
    """Clusters come until there is no memory for one more; then they leave again."""
    grown = 0
    try:
        for number, x in enumerate(MANY):
            t.update(x, f"new {number}")
            grown += 1
    except MemoryError:
        for number in range(grown):
            t.remove(MANY[number], f"new {number}")
        raise


CALLS = {call.__name__: call for call in (add_many, relabel_many, add_one_by_one)}


def refuse_and_continue(call):
    """In a child process: a call without the memory for it, twice, and what comes after."""
    t, expected = fed(), fed(2)
    expected.update(X[0], "one more")
    before = t.values, t.n_samples, t.labels
    t.update(MANY[0], "new")
    t.remove(MANY[0], "new")  # what it takes is compiled now
    limit_memory(2**28)
    for _ in range(2):
        with pytest.raises(MemoryError, match=r"clusters: .*rH compare: [\d.,]+ GiB"):
            CALLS[call](t)
        assert t.values == pytest.approx(before[0], rel=1e-12)
        assert (t.n_samples, t.labels) == before[1:]
    t.update_many(X, LABELS)
    t.update(X[0], "one more")
    assert t.values == pytest.approx(expected.values, rel=1e-12)


@on_linux
@pytest.mark.parametrize("call", CALLS)
def test_a_tracker_that_cannot_grow_is_what_it_was(call):
    code = f"import test_memory_errors as t; t.refuse_and_continue({call!r})"
    done = processes.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_covariances_of_too_many_features_are_refused_by_name():
    t = icvi.Tracker(["NI", "CH"])
    with pytest.raises(MemoryError, match=r"covariances, which NI needs: [\d,.]+ GiB"):
        t.update(np.zeros(200_000), "a")
    assert (t.n_samples, t.n_clusters, t.n_features) == (0.0, 0, None)
    t.update([0.0, 1.0], "a")
    assert t.n_samples == 1.0


def test_pairs_of_too_many_clusters_are_refused_by_name():
    t = icvi.Tracker(["rCIP", "rH"])
    t.update([0.0], "a")
    X = np.arange(400_000.0)[:, None]
    with pytest.raises(MemoryError, match=r"all pairs of clusters, which rCIP and rH compare"):
        t.update_many(X, np.arange(len(X)))
    assert t.labels == ["a"]
    assert t.n_samples == 1.0
