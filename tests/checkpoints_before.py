"""Watches that were stopped half way: what they watch, and how their checkpoints were written.

    python checkpoints_before.py FOLDER

writes them with the version of icvi that is installed. Those under ``golden/checkpoints``,
``golden/pickled`` and ``golden/pickled_states`` are of version 0.1.0, before its modules moved into
folders. They are never written again.
"""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import icvi
from own_indices import mean_radius
from saved_objects import FEW, HALF, KINDS, LABELS, NAMES, X

#: Rows of the stream that a watch had seen when it was stopped.
SEEN = 100


class OwnArt(icvi.FuzzyART):
    """A class of a user, which only a pickle can keep."""


def _k_means() -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(3, random_state=0, n_init=1)


def _db_stream() -> Any:
    from river import cluster

    return cluster.DBSTREAM(clustering_threshold=0.5, fading_factor=0.01)


class Watched(NamedTuple):
    """A clusterer, the options of the watch, and the package whose pickle the checkpoint holds."""

    clusterer: Callable[[], Any]
    options: dict[str, Any]
    package: str | None = None


WATCHED: dict[str, Watched] = {
    "label-column": Watched(
        lambda: None,
        {"label": "label", "indices": "paper", "window": 60, "report": "report.html"},
    ),
    "fuzzy-smart": Watched(
        lambda: icvi.FuzzySMART(0.9, 0.7),
        {"columns": ["x", "y"], "indices": ["CH", "Conn"], "trace": "trace.parquet"},
    ),
    "own-fuzzy-art": Watched(
        lambda: OwnArt(0.7), {"columns": ["x", "y"], "indices": ["CH"], "half_life": 40.0}
    ),
    "mini-batch-k-means": Watched(_k_means, {"columns": ["x", "y"], "indices": ["CH"]}, "sklearn"),
    "db-stream": Watched(_db_stream, {"columns": ["x", "y"], "indices": ["CH"]}, "river"),
}

#: Estimators that were pickled; `saved_objects` has what makes and uses them.
PICKLED = [name for name in KINDS if name.startswith(("fuzzy", "quantizer"))]

#: States that were pickled, and that only `icvi.saving.old_pickles` loads.
_NEWER = ("bank", "insight", "micro-ward", "panes")
PICKLED_STATES = [
    name for name in KINDS if name not in PICKLED and not any(new in name for new in _NEWER)
]


def bank() -> icvi.TrackerBank:
    """Trackers of the first part of the stream, one per name."""
    trackers = icvi.TrackerBank(FEW)
    trackers.update_many(NAMES[HALF], X[HALF], LABELS[HALF])
    return trackers


def trace() -> icvi.Trace:
    """Readings of the first part of the stream."""
    return icvi.Tracker(FEW, undefined="limit").update_many(X[HALF], NAMES[HALF])


def own_index() -> icvi.Tracker:
    """A tracker with an index of a user."""
    tracker = icvi.Tracker(["CH", mean_radius])
    tracker.update_many(X[HALF], LABELS[HALF])
    return tracker


def watch(name: str) -> Any:
    """Watch all of ``stream.csv`` here, and resume from ``kept`` here if something is there."""
    clusterer, options, _ = WATCHED[name]
    options = {"trace": "trace.csv", "batch": 50, "rows": 50, "checkpoint": "kept", **options}
    with closing(icvi.watch("stream.csv", clusterer(), **options)) as watched:
        return watched.run()


def unpack(name: str, golden: Path) -> None:
    """Put a checkpoint and its trace here, private as they were written."""
    shutil.copytree(golden / "checkpoints" / name, ".", dirs_exist_ok=True)
    packed = Path("kept", "watch.icvi.gz")
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    for path in (Path("kept"), *Path("kept").iterdir()):
        path.chmod(0o700 if path.is_dir() else 0o600)  # git keeps no modes


def main(folder: str) -> None:
    """Write all checkpoints and pickles."""
    os.umask(0o077)
    sys.modules["checkpoints_before"] = sys.modules["__main__"]
    OwnArt.__module__ = "checkpoints_before"
    root = Path(folder).resolve()
    lines = (root / "checkpoints" / "stream.csv").read_text().splitlines(keepends=True)
    for name in WATCHED:
        os.makedirs(root / "checkpoints" / name)
        os.chdir(root / "checkpoints" / name)
        Path("stream.csv").write_text("".join(lines[: SEEN + 1]))
        watch(name)
        kept = Path("kept", "watch.icvi")
        kept.with_suffix(".icvi.gz").write_bytes(gzip.compress(kept.read_bytes(), mtime=0))
        for path in (
            "stream.csv",
            "report.html",
            "trace.parquet",
            kept,
            Path("kept", "watch.lock"),
        ):
            Path(path).unlink(missing_ok=True)
    os.makedirs(root / "pickled")
    for name in PICKLED:
        (root / "pickled" / f"{name}.pkl").write_bytes(pickle.dumps(KINDS[name].make()))
    write_states(root / "pickled_states")


def write_states(folder: Path) -> None:
    """Write the pickles of states."""
    os.makedirs(folder)
    makers = {name: KINDS[name].make for name in PICKLED_STATES}
    for name, make in (makers | {"bank": bank, "trace": trace, "own-index": own_index}).items():
        packed = gzip.compress(pickle.dumps(make()), mtime=0)
        (folder / f"{name}.pkl.gz").write_bytes(packed)


if __name__ == "__main__":
    main(sys.argv[1])
