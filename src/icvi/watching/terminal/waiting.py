"""What a stream waits for, in words."""

from __future__ import annotations

from icvi.watching.terminal.numbers import clock_time
from icvi.watching.terminal.pace import Pace
from icvi.watching.terminal.view import Watched

_PATIENCE = 1.0  # seconds of gathering before it is worth a word


class GatheringPace:
    """How long it takes until there are enough samples, at the pace of the last seconds.

    Parameters
    ----------
    watched : Watched, optional
        Where samples wait.
    """

    def __init__(self, watched: Watched | None) -> None:
        self._watched = watched
        self._pace = Pace()
        self._last: tuple[int, bool] = (0, True)
        self._since: float | None = None

    def text(self, now: float) -> str | None:
        """How many samples there are, how many it takes, and the time left; None if none waits."""
        found = None if self._watched is None else self._watched.gathering
        if found is None or not found.samples:
            self._since = None
            return None
        if self._since is None or (found.samples, found.first) < self._last:
            self._pace, self._since = Pace(), now  # another batch
        self._last = found.samples, found.first
        self._pace.mark(now, found.samples, None)
        if now - self._since < _PATIENCE and not found.first:
            return None
        what = "to begin with" if found.first else "for the next step"
        text = f"{found.samples:,} of {found.needed:,} samples {what} (--batch)"
        rate = self._pace.rate
        left = (found.needed - found.samples) / rate if rate else None
        if found.left is not None:
            left = found.left if left is None else min(found.left, left)
        return text if left is None else f"{text}, {clock_time(left)} left"


def waiting_for(seconds: float) -> str:
    """For how long there has been nothing new.

    >>> waiting_for(12.3), waiting_for(200)
    ('waiting for samples, 12 s', 'waiting for samples, 3:20')
    """
    since = f"{int(seconds)} s" if seconds < 60 else clock_time(seconds)
    return f"waiting for samples, {since}"
