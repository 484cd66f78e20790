"""No memory left: the call is refused, the error says for what, and the tracker is what it was."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

import icvi
import processes

GROWING = """
    import resource
    import numpy as np
    import icvi

    rng = np.random.default_rng(0)
    X, labels = rng.random((300, 2)), rng.integers(0, 10, 300).tolist()
    t = icvi.Tracker(["rH", "CH"])
    t.update_many(X, labels)
    before = t.values
    n, k, centers = t.n_samples, t.n_clusters, t.centers.tobytes()
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = used + 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    many = rng.random((20_000, 2))
    for call in CALLS:
        try:
            call(t, many)
        except MemoryError as error:
            message = str(error)
        else:
            raise SystemExit("there was memory")
        assert "rH" in message and "GiB" in message and "clusters" in message, message
        assert t.values == before, (t.values, before)
        assert (t.n_samples, t.n_clusters) == (n, k)
        assert t.centers.tobytes() == centers
    t.update_many(X, labels)
    t.update(X[0], "one more")
    fresh = icvi.Tracker(["rH", "CH"])
    fresh.update_many(X, labels)
    fresh.update_many(X, labels)
    fresh.update(X[0], "one more")
    assert t.values == fresh.values
    print("as it was")
"""
ONE_BY_ONE = """
    def one_by_one(t, many):
        saved = t.copy()
        try:
            for number, x in enumerate(many):
                t.update(x, f"new {number}")
                n = t.n_clusters
        except MemoryError:
            assert t.n_clusters == n
            t.values
            for number in range(n - saved.n_clusters):
                t.remove(many[number], f"new {number}")
            raise
"""
CALLS = {
    "many": "[lambda t, X: t.update_many(X, list(range(20_000)))] * 3",
    "relabelled": "[lambda t, M: t.relabel_many(np.repeat(X[:1], 20_000, 0), labels[:1] * 20_000,"
    " list(range(100, 20_100)), np.full(20_000, 1e-5))]",
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set as on Linux")
@pytest.mark.parametrize("call", ["many", "relabelled"])
def test_a_tracker_that_cannot_grow_is_what_it_was(call):
    code = textwrap.dedent(GROWING).replace("CALLS", CALLS[call])
    assert run(code) == "as it was"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set as on Linux")
def test_a_tracker_that_cannot_grow_by_one_more_cluster_is_what_it_was():
    code = textwrap.dedent(GROWING).replace("for call in CALLS", "for call in [one_by_one]")
    code = code.replace(
        "assert t.values == before", "assert np.allclose(*map(list, values(t, before)))"
    )
    code = code.replace("assert t.centers.tobytes() == centers", "")
    code = code.replace(
        "assert t.values == fresh.values", "assert np.allclose(*map(list, values(t, fresh.values)))"
    )
    helpers = "\n\ndef values(t, other):\n    return t.values.values(), other.values()\n"
    code = textwrap.dedent(ONE_BY_ONE) + helpers + code
    assert run(code) == "as it was"


def run(code):
    done = processes.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-2000:])
    return done.stdout.strip()


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
