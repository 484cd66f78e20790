"""Compile ahead: what `icvi warmup` does."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from icvi.progress import progress


def warm_up(indices: Sequence[str]) -> float:
    """Compile everything that trackers with these indices run; how many seconds it took."""
    from icvi.indices import select
    from icvi.tracker import Tracker

    start = time.perf_counter()
    chosen = select(indices)
    X, labels = np.array([[0.0, 0.0], [1.0, 0.5], [0.2, 1.0], [0.9, 0.1]]), [0, 0, 1, 1]
    prototypes = any(index.on == "prototypes" for index in chosen)
    with progress("icvi: compiling", 4) as advance:
        tracker = Tracker(list(chosen), bounds=(0.0, 1.0) if prototypes else None)
        advance(1)
        tracker.update_many(X, labels)
        advance(1)
        tracker.update(X[0], 0)
        tracker.values  # noqa: B018  reading it is what compiles
        advance(1)
        if not prototypes:
            tracker.remove(X[0], 0)
            tracker.remove_many(X[1:2], labels[1:2])
        advance(1)
    return time.perf_counter() - start
