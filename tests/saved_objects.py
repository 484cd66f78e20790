"""One small object of every kind that can be saved, and how each is used afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

import icvi
from streams import blobs

X, LABELS = blobs(60, d=2, k=4, seed=3)
NAMES = np.array(["ash", "oak", "elm", "fir"])[LABELS]
_QUANTIZER = icvi.Quantizer(rho=0.8).fit(X, LABELS)
WINNERS = _QUANTIZER.winners_
HALF = slice(0, 40)
REST = slice(40, 60)

CONN = ["CH", "Conn", icvi.Conn("toolbox", "CADJ")]
MIXED = [icvi.rCIP(prototypes=True), "Conn", icvi.rH(prototypes=True, delta=0.2)]
FEW = ["CH", "XB", "SIL"]


class Kind(NamedTuple):
    """What makes an object that has seen the first part of a stream, and shows it the rest."""

    make: Callable[[], Any]
    resume: Callable[[Any], dict[str, Any]]


# -- trackers ------------------------------------------------------------------------------


def _feed(t: Any, part: slice, given: bool) -> Any:
    options = {"winners": WINNERS[part]} if given else {}
    if any(isinstance(span, (timedelta, np.timedelta64)) for span in t._spans):
        options["time"] = np.arange(part.start, part.stop).astype(float)
    return t.update_many(X[part], LABELS[part], **options)


def _tracker(indices: Any, *, given: bool = False, changed: bool = False, **options: Any) -> Kind:
    def make() -> Any:
        t = icvi.Tracker(indices, **options)
        _feed(t, HALF, given)
        if changed:
            windowed = t.window is not None
            event = {"winners": WINNERS[39]} if given and not windowed else {}
            t.remove(X[39], LABELS[39], **event)
            t.merge_clusters(1, 2)
            t.decay(0.3)
        return t

    def resume(t: Any) -> dict[str, Any]:
        if changed:
            t.merge_clusters(3, 1)
        values = {"before": list(t.values.values()), "labels": list(map(str, t.labels))}
        if not changed:
            trace = _feed(t, REST, given)
            values |= {name: trace[name] for name in t.values}
        return values | {"counts": t.counts, "centers": t.centers}

    return Kind(make, resume)


def _empty(indices: Any, **options: Any) -> Kind:
    def resume(t: Any) -> dict[str, Any]:
        trace = _feed(t, HALF, False)
        return {name: trace[name] for name in t.values}

    return Kind(lambda: icvi.Tracker(indices, **options), resume)


def _unread() -> Any:
    """A tracker with all that is rare: noise, weights, clusters that came and went."""
    t = icvi.Tracker(["all", icvi.I(p=1.5)], noise_label="none", undefined="limit")
    for n in range(30):
        t.update(X[n], f"cluster {n}", 0.5 + n)
    for n in range(25):
        t.remove(X[n], f"cluster {n}", 0.5 + n)
    t.update(X[0], "none", 2.5)
    return t


def _use_unread(t: Any) -> dict[str, Any]:
    t.update_many(X[30:50], [f"cluster {n % 7}" for n in range(20)])
    return {**t.values, "noise": t.noise_share, "counts": t.counts}


KEYS = np.array(["pump", "fan", "valve"])[np.arange(60) * 7 % 11 % 3].tolist()


def _bank(indices: Any, **options: Any) -> Kind:
    def make() -> Any:
        bank = icvi.TrackerBank(indices, workers=1, **options)
        bank.update_many(KEYS[:40], X[HALF], LABELS[HALF])
        bank.update(("new", 7), X[0], "alone")
        return bank

    def resume(bank: Any) -> dict[str, Any]:
        traces = bank.update_many(KEYS[40:], X[REST], LABELS[REST])
        seen = {str(key): list(t.values.values()) for key, t in bank.items()}
        return seen | {key: trace[FEW[0]] for key, trace in traces.items()}

    return Kind(make, resume)


PIECES, _ = blobs(260, d=2, k=1, seed=5)
APART = PIECES + 6.0 * (np.arange(260) % 2)[:, None]


def _insight(**options: Any) -> Kind:
    """A tracker with advice to merge "left" with "right", and to split "both"."""
    X = np.concatenate([PIECES, APART + 20.0])
    order = np.random.default_rng(0).permutation(len(X))
    labels = np.array([*(["left", "right"] * 130), *(["both"] * 260)])
    X, labels = X[order], labels[order]

    def make() -> Any:
        t = icvi.Tracker(FEW, insight=True, **options)
        t.update_many(X[:400], labels[:400])
        assert {advice.action for advice in t.advice} == {"merge", "split"}
        return t

    def resume(t: Any) -> dict[str, Any]:
        # In whatever order the looks came that found it.
        before = sorted((each.action, str(sorted(each.clusters))) for each in t.advice)
        trace = t.update_many(X[400:], labels[400:])
        t.merge_clusters("left", "right")
        after = [(each.action, str(each.clusters)) for each in t.verdict().advice]
        return {"before": before, "alarms": len(trace.alarms), "after": after, **t.values}

    return Kind(make, resume)


# -- partitions ----------------------------------------------------------------------------

#: Labels of every type that can be saved.
ODD_LABELS = [
    0, -7, 10**30, "a", "", "é\n", b"\x00raw", 2.5, float("inf"), True, None, (1, ("two", b"3")),
    date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5, 6), timedelta(days=-1, microseconds=3),
]  # fmt: skip


def _partition(**options: Any) -> Kind:
    def make() -> Any:
        p = icvi.Partition(**options)
        p.add_many(X[HALF], LABELS[HALF])
        p.remove(X[0], LABELS[0])
        p.decay(0.5)
        return p

    return Kind(make, _use_partition)


def _odd_labels() -> Any:
    p = icvi.Partition(noise_label=("no", "cluster"))
    for x, label in zip(X, ODD_LABELS, strict=False):
        p.add(x, label)
    p.add(X[0], ("no", "cluster"))
    return p


def _only_noise() -> Any:
    p = icvi.Partition(noise_label=-1)
    p.add(X[0], -1, 3.0)
    return p


def _use_partition(p: Any) -> dict[str, Any]:
    labels = list(map(repr, p.labels))
    p.add_many(X[REST], LABELS[REST])
    p.remove(X[40], LABELS[40])
    return {
        "labels": labels,
        "counts": p.counts,
        "centers": p.centers,
        "compactness": p.compactness,
        "noise": p.noise_share,
    }


# -- panes ---------------------------------------------------------------------------------


def _panes(dated: bool = False, **options: Any) -> Kind:
    """Panes of 10 seconds for the samples of a minute, one of which is late."""
    start = np.datetime64("2026-01-01") if dated else 0
    times = np.arange(60).astype("timedelta64[s]") + start if dated else np.arange(60.0)

    def make() -> Any:
        p = icvi.Panes(timedelta(seconds=10) if dated else 10.0, 3, FEW, late="count", **options)
        p.update_many(X[HALF], LABELS[HALF], times[HALF])
        p.update(X[0], 0, times[0])
        return p

    def resume(p: Any) -> dict[str, Any]:
        before = {**p.values, "late": p.n_late, "labels": list(map(str, p.labels))}
        p.update_many(X[REST], LABELS[REST], times[REST])
        table = p.readings()
        return {**before, "start": table["start"], "after": list(p.values.values())}

    return Kind(make, resume)


def _use_panes(p: Any) -> dict[str, Any]:
    p.update_many(X, LABELS, np.arange(60.0))
    return p.values


# -- connectivities ------------------------------------------------------------------------


def _connectivity(*form: Any) -> Kind:
    def make() -> Any:
        c = icvi.Connectivity(*form)
        c.update_many(WINNERS[HALF], LABELS[HALF])
        c.declare([70, 71], ["far", 1])
        c.remove(*WINNERS[39], LABELS[39])
        return c

    return Kind(make, _use_connectivity)


def _combined() -> Any:
    """Events without a runner-up that got different ones, and multiplied counts."""
    a, b = icvi.Connectivity(), icvi.Connectivity()
    for c, second in ((a, 101), (b, 102)):
        c.update(100, None, "a", 0.7)
        c.update(second, 100, "b")
    a.combine(b)
    alone = icvi.Connectivity()
    alone.update(200, None, "alone", 0.1)
    a.combine(alone)
    a.decay(0.3)
    return a


def _use_connectivity(c: Any) -> dict[str, Any]:
    seen = {"value": c.value, "counts": c.counts, "labels": list(map(str, c.known_labels))}
    owners = _QUANTIZER.cluster_of_prototype_
    c.declare(np.arange(len(owners)), owners)
    trace = c.update_many(WINNERS[REST], LABELS[REST])
    return {**seen, "trace": trace, "cadj": c.cadj, "inter": c.inter_matrix}


# -- estimators ----------------------------------------------------------------------------

VECTORS = np.stack([X[:, 0] ** 2, X[:, 1]], axis=1)


def _estimator(estimator: Callable[[], Any], y: Any = None) -> Kind:
    def pairs(part: slice) -> Any:
        return (X[part],) if y is None else (X[part], y[part])

    def resume(e: Any) -> dict[str, Any]:
        seen = {"before": e.predict(X)} if hasattr(e, "n_features_in_") else {}
        e.partial_fit(*pairs(REST))
        return {**seen, "after": e.predict(X)}

    return Kind(lambda: estimator().fit(*pairs(HALF)), resume)


def _new_estimator() -> Kind:
    def make() -> Any:
        bounds = [np.array([-1.0, -2.0]), np.float64(8)]
        return icvi.FuzzyART(np.float32(0.7), max_iter=2, bounds=bounds)

    return Kind(make, lambda e: {"after": e.partial_fit(X).labels_})


KINDS: dict[str, Kind] = {
    "tracker": _tracker("all"),
    "tracker-parameters": _tracker([icvi.I(p=1.5), icvi.rCIP(delta=0.3, log_rcip=True), "NI"]),
    "tracker-noise": _tracker("paper", noise_label=0, undefined="limit"),
    "tracker-changed": _tracker("all", changed=True),
    "tracker-unread": Kind(_unread, _use_unread),
    "tracker-window": _tracker("all", window=25),
    "tracker-window-noise": _tracker(FEW, window=25, noise_label=0, changed=True),
    "tracker-window-time": _tracker(FEW, window=timedelta(seconds=25)),
    "tracker-half-life": _tracker("all", half_life=4.0),
    "tracker-half-life-time": _tracker(FEW, half_life=timedelta(seconds=15)),
    "tracker-empty": _empty("paper"),
    "tracker-empty-window": _empty(FEW, window=7),
    "tracker-empty-half-life": _empty(FEW, half_life=7.0),
    "tracker-empty-conn": _empty(["Conn"], bounds=(0, 9)),
    "tracker-conn": _tracker(CONN, quantizer={"rho": 0.8, "alpha": 0.01}),
    "tracker-conn-bounds": _tracker(CONN, bounds=([-3.0, 0.1], 7)),
    "tracker-conn-given": _tracker(CONN, given=True, noise_label=-1),
    "tracker-conn-changed": _tracker(CONN, given=True, changed=True),
    "tracker-conn-window": _tracker(CONN, window=25, noise_label=0),
    "tracker-conn-window-given": _tracker(CONN, given=True, window=25),
    "tracker-conn-window-changed": _tracker(CONN, given=True, window=25, changed=True),
    "tracker-conn-window-time": _tracker(CONN, window=timedelta(seconds=25)),
    "tracker-conn-half-life": _tracker(CONN, given=True, half_life=3.0),
    "tracker-mixtures": _tracker(MIXED, given=True),
    "tracker-mixtures-window": _tracker(MIXED, window=25),
    "tracker-insight": _insight(),
    "tracker-insight-window": _insight(window=390),
    "tracker-insight-half-life": _insight(half_life=300.0),
    "tracker-insight-empty": _empty(FEW, insight=True, distinct=2.0),
    "bank": _bank(["CH", "NI"], noise_label=2, undefined="limit"),
    "bank-window": _bank(["CH", "Conn"], window=9, bounds=(-30.0, 30.0)),
    "bank-empty": Kind(lambda: icvi.TrackerBank(FEW, half_life=5.0), lambda bank: {"n": len(bank)}),
    "partition": _partition(),
    "partition-scatter": _partition(scatter=True, noise_label="noise"),
    "partition-labels": Kind(_odd_labels, _use_partition),
    "partition-noise": Kind(_only_noise, _use_partition),
    "partition-empty": Kind(icvi.Partition, _use_partition),
    "panes": _panes(),
    "panes-datetimes": _panes(dated=True, noise_label=0, undefined="limit"),
    "panes-empty": Kind(lambda: icvi.Panes(5, 4, "paper"), _use_panes),
    "connectivity": _connectivity(),
    "connectivity-toolbox": _connectivity("toolbox", "CADJ"),
    "connectivity-combined": Kind(_combined, _use_connectivity),
    "connectivity-empty": Kind(icvi.Connectivity, _use_connectivity),
    "fuzzy-art": _estimator(lambda: icvi.FuzzyART(0.85)),
    "fuzzy-art-new": _new_estimator(),
    "fuzzy-smart": _estimator(lambda: icvi.FuzzySMART(0.95, 0.8, beta=0.5)),
    "micro-ward": _estimator(lambda: icvi.MicroWard(max_micro=16, half_life=30.0)),
    "micro-ward-new": Kind(
        lambda: icvi.MicroWard(["CH", "XB"], np.int32(20), scale="none"),
        lambda e: {"after": e.partial_fit(X).labels_},
    ),
    "quantizer": _estimator(lambda: icvi.Quantizer(0.9), NAMES),
    "fuzzy-artmap": _estimator(icvi.FuzzyARTMAP, LABELS),
    "fuzzy-artmap-names": _estimator(lambda: icvi.FuzzyARTMAP(0.5, bounds=(-9, [9, 9.5])), NAMES),
    "fuzzy-artmap-objects": _estimator(icvi.FuzzyARTMAP, NAMES.astype(object)),
    "fuzzy-artmap-vectors": _estimator(lambda: icvi.FuzzyARTMAP(rho_b=0.9), VECTORS),
    "fuzzy-artmap-numbers": _estimator(lambda: icvi.FuzzyARTMAP(rho_b=0.8), X[:, 0] ** 2),
}  # fmt: skip
