"""Compile ahead: what `icvi warmup` does."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.progress import progress


def warm_up(indices: Sequence[str], *, clusterers: bool = False) -> float:
    """Compile everything that trackers with these indices run; how many seconds it took.

    Parameters
    ----------
    indices : sequence of str
        Names and groups.
    clusterers : bool, default False
        Whether to compile FuzzyART and FuzzySMART, too, where scikit-learn is there for them.
    """
    from icvi.indices import select
    from icvi.tracker import Tracker

    start = time.perf_counter()
    chosen = select(indices)
    X, labels = np.array([[0.0, 0.0], [1.0, 0.5], [0.2, 1.0], [0.9, 0.1]]), [0, 0, 1, 1]
    prototypes = any(index.on == "prototypes" for index in chosen)
    with progress("icvi: compiling", 5) as advance:
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
        if clusterers:
            _warm_clusterers(X)
        advance(1)
    return time.perf_counter() - start


def _warm_clusterers(X: NDArray[np.float64]) -> None:
    try:
        from icvi.art.fuzzy_art import FuzzyART
        from icvi.art.fuzzy_smart import FuzzySMART
    except ImportError:  # no scikit-learn: nobody will use them
        return
    for clusterer in (FuzzyART(bounds=(0.0, 1.0)), FuzzySMART(bounds=(0.0, 1.0))):
        clusterer.partial_fit(X)
        clusterer.update(X[0])
        clusterer.predict(X)
