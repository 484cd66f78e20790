"""Whether a watch is well: samples come, the loop works, checkpoints succeed."""

from __future__ import annotations

import math
import time
from typing import Any

from icvi.watching.live.served import Served

#: Seconds without samples, or without a sign of the loop, that are well.
IDLE = 60.0
_LATE = 3.0  # times the interval of checkpoints


def health(live: Served, query: dict[str, list[str]]) -> tuple[bool, dict[str, Any]]:
    """Whether it is well, and why.

    ``idle`` in the query is how many seconds without samples are well.
    """
    now = time.time()
    idle = _seconds(query.get("idle", [""])[0])
    snapshot = live.snapshot
    since_sample = now - (live.last_sample or live.began)
    facts: dict[str, Any] = {
        "samples": 0 if snapshot is None else snapshot.seen,
        "seconds_since_sample": round(since_sample, 1),
        "loop_lag_seconds": round(live.lag, 1),
    }
    wrong = []
    if since_sample > idle:
        wrong.append("no samples come")
    if live.lag > max(idle, IDLE):
        wrong.append("the loop does not answer")
    if live.interval is not None:
        written = live.checkpoint()
        since = now - (written or live.began)
        facts["seconds_since_checkpoint"] = round(since, 1)
        # Where nothing has come since, there is nothing to write.
        unsaved = live.last_sample is not None and live.last_sample > (written or 0.0)
        if unsaved and since > max(IDLE, _LATE * live.interval):
            wrong.append("no checkpoints are written")
    facts = {"well": not wrong, "wrong": wrong, **facts}
    return not wrong, facts


def _seconds(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        return IDLE
    return seconds if seconds > 0.0 and math.isfinite(seconds) else IDLE
