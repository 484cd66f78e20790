"""How many samples a step has, so that it takes about a fifth of a second."""

from __future__ import annotations

#: Seconds that a step should take: a table is up to date, and Ctrl-C acts soon.
STEP = 0.2
_GROWTH = 8  # from one step to the next, at most


class StepSize:
    """The number of samples that can be processed in the time of a step, from the last steps.

    Attributes
    ----------
    most : int
        Samples of the next step, at most.

    Examples
    --------
    >>> size = StepSize()
    >>> for seconds in (0.001, 0.002, 0.02, 0.8):
    ...     size.took(size.most, seconds)
    >>> size.most
    128
    """

    def __init__(self) -> None:
        self.most = 1

    def took(self, samples: int, seconds: float) -> None:
        """Note how long the last step took."""
        # A step that was long because something was compiled is forgotten after a few more.
        fitting = samples * STEP / max(seconds, 1e-6)
        self.most = max(1, int(min(fitting, _GROWTH * samples)))
