"""Loads changed files one after the other, in a process of its own, and uses what was accepted.

    python fuzz_saved.py REPORT SEED CASES KIND...

The report gets a line before each case, so that the last one names the case that ended the
process, and a line for each case that went wrong. A case that takes too long ends the process.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import icvi
from mutating import mutant
from saved_objects import LABELS, WINNERS, X

_ROOM = 6 * 2**30  # bytes of addresses: enough for compiled code, not for a lie about sizes
_LONGEST = 120.0  # seconds that a case may take on a busy machine
_REFUSALS = (ValueError, TypeError)


def main(report: str, seed: str, cases: str, *kinds: str) -> None:
    """Run that many cases of each kind."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (_ROOM, _ROOM))
    golden = Path(__file__).parent / "golden" / "saved"
    with open(report, "w", buffering=1) as lines, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.icvi"
        loaded = refused = 0
        for kind in kinds:
            content = (golden / f"{kind}.icvi").read_bytes()
            for number in range(int(cases)):
                case = f"{kind}:{seed}:{number}"
                lines.write(case + "\n")
                path.write_bytes(mutant(content, case))
                faulthandler.dump_traceback_later(_LONGEST, exit=True)
                try:
                    thing = _loaded(path, twice=number % 5 == 0)
                    if thing is None:
                        refused += 1
                    else:
                        loaded += 1
                        use(thing, path)
                except Exception:
                    lines.write(json.dumps({"case": case, "error": traceback.format_exc()}) + "\n")
        faulthandler.cancel_dump_traceback_later()
        lines.write(json.dumps({"loaded": loaded, "refused": refused}) + "\n")


def _loaded(path: Path, twice: bool) -> Any:
    """What a file, and maybe its bytes, hold; None when they are refused as they should be."""
    thing, refusal = _tried(icvi.load, path, str(path))
    if twice:
        twin, same = _tried(icvi.from_bytes, memoryview(path.read_bytes()), "the buffer")
        assert (type(thing), refusal) == (type(twin), same)
        return twin
    return thing


def _tried(load: Any, source: Any, name: str) -> tuple[Any, str | None]:
    try:
        return load(source), None
    except ValueError as error:
        if type(error) is not ValueError or not str(error).startswith(f"{name} "):
            raise
        return None, str(error).removeprefix(name)


# -- what may be done with things ----------------------------------------------------------


def use(thing: Any, path: Path) -> None:
    """Read everything, change everything, save it and load it again; refusals are fine."""
    match thing:
        case icvi.Tracker():
            steps = _tracker_steps(thing)
        case icvi.TrackerBank():
            steps = _bank_steps(thing)
        case icvi.Partition():
            steps = _partition_steps(thing)
        case icvi.Connectivity():
            steps = _connectivity_steps(thing)
        case _:
            steps = _estimator_steps(thing)
    for step in (lambda: _again(thing, path), *steps, lambda: _again(thing, path)):
        try:
            with np.errstate(all="ignore"):
                step()
        except _REFUSALS:
            pass


def _again(thing: Any, path: Path) -> None:
    thing.save(path)
    icvi.load(path)
    if hasattr(thing, "to_bytes"):
        icvi.from_bytes(thing.to_bytes())


def _read(thing: Any, *names: str) -> Any:
    return lambda: [getattr(thing, name) for name in names]


def _label(thing: Any, at: int) -> Any:
    return thing.labels[at] if at < len(thing.labels) else "no such label"


_STATE = ("counts", "centers", "compactness", "noise_share", "n_samples", "labels")


def _tracker_steps(t: Any) -> list[Any]:
    given = t._prototypes is not None and t._prototypes.module is None and t.n_clusters > 0
    moment = [t._forgetting.clock.now / 1e9 if t._forgetting.forgets else 0.0]
    timed = t._forgetting.forgets and t._forgetting.clock.timed
    d = t.n_features or 2

    def sample(n: int) -> Any:
        return np.resize(X[n], d)

    def options(n: int, rows: int | None = None) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if timed:
            moment[0] += 1.0
            made["time"] = moment[0] if rows is None else moment[0] + np.arange(rows)
            moment[0] += rows or 0
        if given:
            made["winners"] = WINNERS[n] if rows is None else WINNERS[n : n + rows]
        return made

    def feed() -> None:
        t.update_many(np.resize(X[40:], (20, d)), LABELS[40:], **options(40, 20))

    def feed_one() -> None:
        for n in (40, 41, 42, 43):
            t.update(sample(n), LABELS[n], **options(n))

    def first(change: Any) -> Any:
        return lambda: [change(label) for label in t.labels[:3]]

    return [
        lambda: t.values,
        _read(t, *_STATE),
        t.diagnose_clusters,
        t.diagnose_pairs,
        first(lambda label: t.remove(t.centers[0], label)),
        lambda: t.remove(sample(39), LABELS[39], **({"winners": WINNERS[39]} if given else {})),
        feed_one,
        lambda: t.values,
        feed,
        lambda: t.relabel(sample(59), LABELS[59], 77, **options(59)),
        lambda: t.merge_clusters(_label(t, 0), _label(t, 1)),
        lambda: t.decay(0.5),
        t.sort_labels,
        lambda: t.connectivity.inter_matrix,
        lambda: t.copy() + t,
        feed,
        lambda: t.update(sample(5), "new", **options(5)),
        lambda: t.values,
    ]


def _bank_steps(bank: Any) -> list[Any]:
    first = next(iter(bank), "new")
    d = bank[first].n_features if first in bank else 2
    return [
        bank.readings,
        lambda: bank.update(first, np.resize(X[40], d or 2), LABELS[40]),
        lambda: bank.update_many(["pump", "new"] * 5, X[40:50], LABELS[40:50]),
        lambda: bank + bank.copy(),
        lambda: [step() for step in _tracker_steps(bank[first])[:4]] if first in bank else None,
        bank.readings,
    ]


def _partition_steps(p: Any) -> list[Any]:
    d = p.n_features or 2
    rows = np.resize(X[40:], (20, d))
    return [
        _read(p, *_STATE),
        lambda: p.covariances,
        lambda: p.add(rows[0], _label(p, 0)),
        lambda: p.remove(rows[0], _label(p, 0)),
        lambda: p.remove(p.centers[:1].ravel(), _label(p, 0)),
        lambda: p.add_many(rows, LABELS[40:]),
        lambda: p.relabel(rows[3], LABELS[43], "new"),
        lambda: p.merge_clusters(_label(p, 0), _label(p, 1)),
        lambda: p.decay(0.5),
        p.sort_labels,
        lambda: p + p.copy(),
        lambda: p.remove_many(rows[5:9], LABELS[45:49]),
        _read(p, *_STATE),
    ]


def _connectivity_steps(c: Any) -> list[Any]:
    events, labels = WINNERS[40:], LABELS[40:]

    def take_all() -> None:
        graph = c.copy()
        for (i, j), owner in zip(np.argwhere(graph.cadj > 0).tolist(), c.owners, strict=False):
            graph.remove(i, j, owner, graph.cadj[i, j])

    small = c.n_prototypes == 0 or c._state.graph.meta[12:20].max() < 2**62
    return [
        _read(c, "value", "intra", "inter", "inter_matrix", "counts", "labels", "known_labels"),
        _read(c, "declared", "owners", "n_events", "intra_per_cluster"),
        lambda: c.update(0, 1, labels[0]),
        lambda: c.update_many(events, labels),
        take_all if small and len(c.owners) < 1000 else lambda: None,
        lambda: c.remove(*WINNERS[0], LABELS[0]),
        lambda: c.remove(100, None, "a"),
        lambda: c.remove_many(events[:4], labels[:4]),
        lambda: c.merge_clusters(_label(c, 0), _label(c, 1)),
        lambda: c.reassign(0, "new"),
        lambda: c.declare([3, 999], ["new", "other"]),
        lambda: c.decay(0.5),
        c.sort_labels,
        lambda: c + c.copy(),
        _read(c, "value", "inter_matrix", "counts"),
    ]


def _estimator_steps(e: Any) -> list[Any]:
    d = getattr(e, "n_features_in_", 2)
    rows = np.resize(X[40:], (20, d))
    targets: list[Any] = [
        (),
        (LABELS[40:],),
        (np.array(["ash", "oak"] * 10),),
        (rows,),
        (rows[:, 0],),
    ]
    shown = ("weights_", "boxes_", "prototypes_", "cluster_of_prototype_", "map_", "classes_")
    return [
        lambda: e.predict(rows),
        *(lambda name=name: getattr(e, name, None) for name in shown),
        *(lambda y=y: e.partial_fit(rows, *y) for y in targets),
        *(lambda y=y: e.update(rows[0], *(column[0] for column in y)) for y in targets),
        lambda: e.predict(rows),
        lambda: e.winners(rows, LABELS[40:]) if hasattr(e, "winners") else None,
        lambda: repr(e),
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
