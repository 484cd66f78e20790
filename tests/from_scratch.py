"""A tracker whose caches are computed again: they must not depend on how they came about."""

from __future__ import annotations

import icvi


def from_scratch(tracker: icvi.Tracker) -> icvi.Tracker:
    """A copy that computes all its caches, and its readings, again."""
    copy = tracker.copy()
    copy._clusters.forget_caches()
    copy._stale = True
    return copy
