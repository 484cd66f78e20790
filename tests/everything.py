"""Call whatever icvi offers, in a process that must not compile anything for it.

    python everything.py tracking|all

With READ_ONLY in the environment, Numba finds that it cannot write its cache, as in a container:
root could write it, whatever its permissions.

Writes nothing but what Numba reports about its cache, and a last line: what was compiled.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import sys
import tempfile
from datetime import timedelta

import numpy as np
from numba.core.event import Listener, install_listener

import icvi

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
X = RNG.normal(size=(60, 2)) * 0.05 + np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.9]])[LABELS]
TIME = np.arange(60).astype("datetime64[s]")
UNIT = (0.0, 1.0)
WINNERS = np.stack([LABELS * 2 + np.arange(60) // 3 % 2, (LABELS * 2 + 2) % 6], axis=1)
OWNERS = (range(6), [0, 0, 1, 1, 2, 2])  # the prototypes, and the cluster of each


class Compilations(Listener):
    """Counts the passes that Numba's compiler makes over a function: none where it only loads."""

    def __init__(self):
        self.passes = []

    def on_start(self, event):
        self.passes.append(str(event.data["name"]))

    def on_end(self, event):
        pass


def track(indices, prototypes=False, **options):
    """One tracker through all that can happen to it."""
    given = {"bounds": UNIT} if prototypes else {}
    won = {"winners": WINNERS[0]} if prototypes else {}
    won_many = {"winners": WINNERS[10:14]} if prototypes else {}
    if prototypes:
        alone = icvi.Tracker(indices, **given)
        alone.update_many(X, LABELS)
        alone.update(X[0], 0)
        assert alone.values
    t = icvi.Tracker(indices, **options)
    if prototypes:
        t.declare_prototypes(*OWNERS)
    many = {"winners": WINNERS} if prototypes else {}
    t.check_many(X, LABELS, **many)
    t.update(X[0], 0, **won)
    assert t.values
    t.update_many(X, LABELS, **many, every=7)
    t.update_many(X, LABELS, np.full(60, 0.5), **many)
    t.remove(X[0], 0, **won)
    t.remove_many(X[10:14], LABELS[10:14], **won_many)
    if not prototypes:
        t.relabel(X[1], 1, 2)
        t.relabel_many(X[20:24], LABELS[20:24], (LABELS[20:24] + 1) % 4)
    t.decay(0.5)
    other = t.copy()
    t.combine(other)
    assert (t + other).values
    t.merge_clusters(0, 1)
    t.save("tracker.icvi")
    icvi.load("tracker.icvi").update(X[0], 0, **won)
    pickle.loads(pickle.dumps(t)).update(X[0], 0, **won)
    if not prototypes:
        t.diagnose_clusters()
        t.diagnose_pairs()
        t.sort_labels()
        other.apply(other.coarsen(by="CH"))
    assert len(t.centers) == len(t.counts) == len(t.compactness) == t.n_clusters


def forget(indices, prototypes=False):
    """Windows and half-lives, counted and timed."""
    for options in (
        {"window": 20},
        {"window": timedelta(seconds=9)},
        {"half_life": 5.0},
        {"half_life": timedelta(seconds=9)},
    ):
        timed = isinstance(next(iter(options.values())), timedelta)
        given = {"bounds": UNIT} if prototypes else {}
        t = icvi.Tracker(indices, **options, **given)
        t.update_many(X, LABELS, time=TIME if timed else None)
        last = TIME[-1] + np.timedelta64(60, "s")
        t.update(X[0], 0, time=last if timed else None)
        assert t.values
        if timed:
            t.advance(last + np.timedelta64(5, "s"))
            assert t.values


def watch_for_faults(indices):
    """A cluster that is two, and large enough for looks."""
    t = icvi.Tracker(indices, insight=True)
    trace = t.update_many(np.tile(X, (3, 1)) + RNG.normal(size=(180, 2)) * 0.01, np.zeros(180))
    assert [alarm.action for alarm in trace.alarms] == ["split"]
    assert t.verdict().advice
    t.look_again()


def many_clusters():
    """So many that they are compared at once."""
    icvi.Tracker("XB").update_many(RNG.normal(size=(600, 2)), np.arange(600), every=600)


def mixtures():
    """rCIP and rH of prototypes, with all options; readings of the same kind."""
    parts = [icvi.rCIP(prototypes=True), icvi.rH(prototypes=True, mean=True)]
    parts.append(icvi.rCIP(log_rcip=True, prototypes=True))
    t = icvi.Tracker(parts, window=30)
    t.declare_prototypes(*OWNERS)
    t.update_many(X, LABELS, winners=WINNERS)
    t = icvi.Tracker(parts)
    t.declare_prototypes(*OWNERS)
    t.update_many(X, LABELS, winners=WINNERS)
    t.update(X[0], 0, winners=WINNERS[0])
    t.remove(X[0], 0, winners=WINNERS[0])
    t.decay(0.9)
    assert t.values


def read_alone():
    """Each index on its own: they share what refreshes their caches, but not always."""
    for index in icvi.catalogue():
        t = icvi.Tracker(index, bounds=UNIT if index.on == "prototypes" else None)
        t.update_many(X, LABELS)
        t.update(X[0], 0)
        assert t.why(index) is None
    options = [icvi.I(p=1), icvi.NI(delta=0.1), icvi.rCIP(log_rcip=True), icvi.rH(mean=True)]
    icvi.Tracker(options).update_many(X, LABELS)


def partition():
    """The state alone."""
    for scatter in (False, True):
        p = icvi.Partition(scatter=scatter)
        p.add_many(X, LABELS)
        p.add(X[0], 0)
        p.relabel(X[0], 0, 1)
        p.relabel_many(X[3:5], LABELS[3:5], [1, 2])
        p.remove_many(X[6:8], LABELS[6:8])
        p.remove(X[9], 0)
        p.decay(0.5)
        p.combine(p.copy())
        p.merge_clusters(0, 1)
        p.save("partition.icvi")
        assert icvi.load("partition.icvi").n_clusters == 2


def panes():
    """Slices of time."""
    p = icvi.Panes(10, 3, "paper")
    p.update_many(X, LABELS, np.arange(60.0))
    p.update(X[0], 0, 60.0)
    p.advance(70.0)
    both = p + icvi.from_bytes(p.to_bytes())
    assert both.values
    assert len(both.readings()) == 2


def connectivity():
    """The graph of prototypes, in both conventions and with both borders."""
    for form in (("paper", "CONN"), ("paper", "CADJ"), ("toolbox", "CONN"), ("toolbox", "CADJ")):
        c = icvi.Connectivity(*form)
        c.declare(*OWNERS)
        c.check_many(WINNERS, LABELS)
        c.update_many(WINNERS, LABELS)
        c.update(0, 1, 0)
        c.remove(0, 1, 0)
        c.remove_many(WINNERS[:5], LABELS[:5])
        c.decay(0.5)
        c.combine(c.copy())
        c.reassign(0, 1)
        c.merge_clusters(1, 2)
        c.edges()
        c.save("graph.icvi")
        icvi.Connectivity.from_arrays(c.to_arrays(), c.known_labels, *form)
        assert icvi.load("graph.icvi").value == c.value
        icvi.Tracker(icvi.Conn(*form), bounds=UNIT).update_many(X, LABELS)
    large = icvi.Connectivity()  # its hash tables grow
    for p in range(3000):
        large.update(p, p - 1 if p else None, p % 7)
    assert large.n_prototypes == 3000


def bank():
    """Many trackers, on threads."""
    keys = np.arange(60) % 4
    b = icvi.TrackerBank(["paper", "Conn"], bounds=UNIT)
    b.update_many(keys, X, LABELS)
    b.update(0, X[0], 0)
    b.readings()
    b.drop(0)


def clusterers():
    """All estimators, and a quantizer that is given."""
    art, smart = icvi.FuzzyART(bounds=UNIT), icvi.FuzzySMART(0.95, 0.8, bounds=UNIT)
    for estimator in (art, smart):
        estimator.fit(X).partial_fit(X)
        estimator.fit_predict(X)
        estimator.update(X[0])
        estimator.predict(X)
    art.predict(X, return_second=True)
    smart.predict(X, return_winners=True)
    smart.winners(X, LABELS)
    auto = icvi.MicroWard(max_micro=12, half_life=20.0)
    auto.fit(X).partial_fit(X)
    auto.update(X[0])
    auto.predict(X)
    icvi.MicroWard("XB", max_micro=12).fit(X)  # an index that chooses outside the kernels
    supervised = icvi.FuzzyARTMAP(bounds=UNIT).fit(X, LABELS).partial_fit(X, LABELS)
    supervised.update(X[0], 0)
    supervised.predict(X)
    supervised.apply(X)
    supervised.score(X, LABELS)
    quantizer = icvi.Quantizer(rho=0.8, bounds=UNIT).fit(X, LABELS).partial_fit(X, LABELS)
    quantizer.update(X[0], 0)
    quantizer.predict(X, return_second=True)
    quantizer.winners(X, LABELS)
    for number, estimator in enumerate((art, smart, auto, supervised, quantizer)):
        estimator.save(f"{number}.icvi")
        icvi.load(f"{number}.icvi")
    t = icvi.Tracker("Conn", quantizer=quantizer, bounds=UNIT)
    t.update_many(X, LABELS)
    icvi.Tracker(["Conn", "CH"], quantizer={"rho": 0.5}).update_many(X, LABELS)


def scores():
    """Data at hand."""
    icvi.score(X, LABELS, "CH")
    icvi.scores(X, LABELS, "all", weights=np.full(60, 2.0))
    icvi.scores(X, LABELS, ["Conn"])
    many = np.arange(5_000_000) % 60  # so many numbers that compiled code sums them
    icvi.scores(X[many], LABELS[many], "paper")
    icvi.scores_by(np.arange(1200) % 400, np.tile(X, (20, 1)), np.tile(LABELS, 20), "all")
    icvi.reasons([icvi.score(X, LABELS, "CH")])
    icvi.verdict(X, LABELS)
    icvi.compare(X, ["art rho=0.5", "auto max_micro=12"], "all")
    many = np.tile(X, (60, 1)) + RNG.normal(size=(3600, 2))  # more than numpy alone is for
    for name in set(icvi.batch.__all__) - {"conn_index", "conn_index_score"}:
        getattr(icvi.batch, name)(X, LABELS)
        getattr(icvi.batch, name)(many, np.tile(LABELS, 60))
    icvi.batch.conn_index(WINNERS, LABELS)
    icvi.batch.conn_index_score(X, LABELS, icvi.Quantizer(bounds=UNIT).fit(X, LABELS))
    for name in icvi.metrics.__all__:
        getattr(icvi.metrics, name)(X, LABELS)


def watching():
    """Streams with every kind of label, with a checkpoint to resume from."""
    smart = icvi.FuzzySMART(0.95, 0.8)
    icvi.watch(X, smart, ["paper", "Conn"], trace="t.csv", checkpoint="kept").run()
    icvi.watch(X, icvi.FuzzyART(), "all", report="p.html", window=20).run()
    table = {"x": X[:, 0].tolist(), "c": LABELS.tolist()}
    with open("s.csv", "w") as file:
        file.writelines(f"{x},{c}\n" for x, c in [tuple(table), *zip(*table.values())])
    for _ in icvi.watch("s.csv", label="c", half_life=9.0, trace="t.parquet"):
        pass
    icvi.Tracker("paper").update_many(X, LABELS).to_pandas()


def watch_live():
    """A stream with everything on: insight, a trace, a checkpoint, a report and a live page."""
    places = {"trace": "live.parquet", "checkpoint": "live", "report": "live.html"}
    with icvi.watch((X, LABELS), indices="CH", window=40, serve=0, **places) as watched:
        watched.run()


TRACKING = [
    watch_live,
    lambda: track("CH"),
    lambda: track(["CH", "Conn"], prototypes=True),
    lambda: forget("CH"),
    lambda: forget(["CH", "Conn"], prototypes=True),
    lambda: watch_for_faults("CH"),
]
ALL = [
    *TRACKING,
    lambda: track("all"),
    lambda: track(["all", "Conn"], prototypes=True),
    lambda: forget("all"),
    many_clusters,
    mixtures,
    read_alone,
    partition,
    panes,
    connectivity,
    bank,
    clusterers,
    scores,
    watching,
]


def refuse_to_write(place):
    """Let no temporary file be created below a folder: so Numba finds out whether it may write."""
    create = tempfile.TemporaryFile

    def refusing(*given, dir=None, **options):
        if str(dir).startswith(place):
            raise PermissionError(errno.EACCES, "read-only, for this test", dir)
        return create(*given, dir=dir, **options)

    tempfile.TemporaryFile = refusing


def main():
    """All calls; a last line says what was compiled."""
    if "READ_ONLY" in os.environ:
        refuse_to_write(os.environ["NUMBA_CACHE_DIR"])
    found = Compilations()
    with install_listener("numba:run_pass", found):
        for call in {"tracking": TRACKING, "all": ALL}[sys.argv[1]]:
            call()
    sys.stdout.write(json.dumps(sorted(set(found.passes))) + "\n")


if __name__ == "__main__":
    main()
