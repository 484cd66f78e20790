"""How many processors there are for this process."""

from __future__ import annotations

import os


def cores() -> int:
    """Processors that this process may use; a container or `taskset` may allow fewer."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
