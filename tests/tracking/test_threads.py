"""Two threads meet on one state: one of them is refused, and nothing is damaged."""

from __future__ import annotations

import sys
import textwrap
import threading

import numpy as np
import pytest

import icvi
import processes

RNG = np.random.default_rng(3)
X = RNG.random((400, 2))
LABELS = RNG.integers(0, 5, 400)
EVENTS = np.array([[t % 7, (t + 1) % 7] for t in range(7, 300)])
BEGIN = np.array([[0, -1], *([t, 0] for t in range(1, 7))])
OWNERS = np.arange(7) % 3


def tracker(**options):
    t = icvi.Tracker(["CH", "rH"], **options)
    t.update_many(X, LABELS)
    return t


def partition():
    p = icvi.Partition(scatter=True)
    p.add_many(X, LABELS)
    return p


def connectivity():
    c = icvi.Connectivity()
    c.update_many(BEGIN, OWNERS)
    return c


def bank():
    b = icvi.TrackerBank(["CH"], workers=1)
    b.update_many(LABELS % 2, X, LABELS)
    return b


CALLS = {
    "tracker": (
        tracker,
        [
            lambda t: t.update(X[0], 0),
            lambda t: t.update_many(X, LABELS),
            lambda t: t.remove(X[0], int(LABELS[0])),
            lambda t: t.decay(0.5),
            lambda t: t.merge_clusters(0, 1),
            lambda t: t["CH"],
            lambda t: t.values,
            lambda t: t.why("CH"),
            lambda t: t.counts,
            lambda t: t.centers,
            lambda t: t.covariances,
            lambda t: t.labels,
            lambda t: t.n_samples,
            lambda t: t.copy(),
            lambda t: t.diagnose_clusters(),
            lambda t: t.diagnose_pairs(),
            lambda t: tracker().combine(t),
            lambda t: t + t,
        ],
    ),
    "partition": (
        partition,
        [
            lambda p: p.add(X[0], 0),
            lambda p: p.add_many(X, LABELS),
            lambda p: p.counts,
            lambda p: p.copy(),
            lambda p: partition().combine(p),
        ],
    ),
    "connectivity": (
        connectivity,
        [
            lambda c: c.update(0, 1, 0),
            lambda c: c.update_many(EVENTS, EVENTS[:, 0] % 3),
            lambda c: c.value,
            lambda c: c.cadj,
            lambda c: c.copy(),
            lambda c: connectivity().combine(c),
        ],
    ),
    "bank": (
        bank,
        [
            lambda b: b.update(0, X[0], 0),
            lambda b: b.update_many(LABELS % 2, X, LABELS),
            lambda b: b.readings(),
            lambda b: b.drop(0),
        ],
    ),
}
CASES = [(kind, number) for kind, (_, calls) in CALLS.items() for number in range(len(calls))]


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_a_state_that_is_in_use_says_so(kind, number):
    make, calls = CALLS[kind]
    state = make()
    state._busy = True  # as another thread, inside a call, leaves it
    with pytest.raises(RuntimeError, match=r"this \w+ is in use by another thread"):
        calls[number](state)
    state._busy = False
    calls[number](state)
    assert not state._busy


def test_a_handler_that_reads_the_tracker_it_has_interrupted_is_refused(monkeypatch):
    t, seen = tracker(), []

    def look(more):
        try:
            t.values  # noqa: B018
        except RuntimeError as error:
            seen.append(str(error))

    monkeypatch.setattr("icvi.tracking.tracker.progress", Progress(look))
    t.update_many(X, LABELS)
    assert len(seen) == 1
    assert "signal handler" in seen[0]
    assert t.n_samples == 800


class Progress:
    """Progress that runs a handler after every block."""

    def __init__(self, advance):
        self.advance = advance

    def __call__(self, title, total):
        return self

    def __enter__(self):
        return self.advance

    def __exit__(self, *_):
        return None


def test_one_tracker_per_thread_gives_what_one_thread_gives():
    expected = tracker().values
    found = []
    threads = [threading.Thread(target=lambda: found.append(tracker().values)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert found == [expected] * 4


MEETING = """
    import threading, sys
    import numpy as np
    import icvi

    sys.setswitchinterval(1e-6)
    rng = np.random.default_rng(0)
    X, labels = rng.random((3000, 2)), rng.integers(0, 40, 3000)
    t = icvi.Tracker({options})
    t.update_many(X, labels)
    refused = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for turn in range(60):
            n = int(rng.integers(1, 400))
            try:
                what = turn % 4
                if what == 0:
                    t.update_many(X[:n], labels[:n] + 40 * int(rng.integers(0, 3)))
                elif what == 1:
                    for x, label in zip(X[:40], labels[:40].tolist()):
                        t.update(x, label)
                elif what == 2:
                    t.values
                else:
                    t.copy()
            except RuntimeError as error:
                assert "is in use by another thread" in str(error), error
                refused.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    seen = t._seen
    t.update_many(X, labels)
    assert t._seen == seen + len(X)
    assert np.isclose(t.counts.sum(), t.n_samples)
    print("refused", len(refused))
"""


@pytest.mark.parametrize(
    "options", ['["CH", "rH", "SIL"]', '["CH"], window=500', '["CH", "Conn"], bounds=(0, 1)']
)
def test_threads_that_meet_do_not_end_the_process(options):
    code = textwrap.dedent(MEETING).replace("{options}", options)
    done = processes.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("refused")
