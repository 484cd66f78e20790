"""Samples per second, and the time left."""

from __future__ import annotations

from collections import deque

_WINDOW = 10.0  # seconds that a rate is averaged over
_APART = 0.1  # minimum seconds between marks


class Pace:
    """Samples per second and the time left, from the progress of the last seconds.

    Rich's own tasks have no rate for a source that is slower than their window, and one total for
    both numbers; here samples give the rate, and bytes may give the time left.

    Examples
    --------
    >>> pace = Pace()
    >>> for second in range(5):
    ...     pace.mark(float(second), 1000 * second, second / 8)
    >>> pace.rate, pace.left
    (1000.0, 4.0)
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int, float | None]] = deque()

    def mark(self, time: float, samples: int, share: float | None) -> None:
        """Note the progress.

        Parameters
        ----------
        time : float
            Seconds on any clock.
        samples : int
            Samples so far.
        share : float, optional
            Share of the stream, where it is known.
        """
        marks = self._marks
        if marks and time - marks[-1][0] < _APART:
            return
        marks.append((time, samples, share))
        # Keep one mark before the window: sources may be slower than that.
        while len(marks) > 2 and marks[1][0] <= time - _WINDOW:
            marks.popleft()

    @property
    def rate(self) -> float | None:
        """Samples per second; None before the second mark."""
        if len(self._marks) < 2:
            return None
        (start, before, _), (end, after, _) = self._marks[0], self._marks[-1]
        return (after - before) / (end - start)

    @property
    def left(self) -> float | None:
        """Seconds to the end of the stream; None where that is unknown."""
        if len(self._marks) < 2:
            return None
        (start, _, before), (end, _, after) = self._marks[0], self._marks[-1]
        if before is None or after is None or after <= before:
            return None
        return (1.0 - after) * (end - start) / (after - before)
