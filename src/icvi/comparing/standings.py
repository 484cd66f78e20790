"""The readings of all candidates over the stream, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.comparing.votes import count_votes
from icvi.indices import Index
from icvi.saving.parts import arrays_of
from icvi.watching.history import History
from icvi.watching.step import Kept, Output, Step
from icvi.watching.truth import NAMES as AGREEMENT

#: Of a history: sizes of clusters, which a comparison does not show.
_UNUSED = "arrivals"


class Standings(Output):
    """Curves of every candidate.

    Parameters
    ----------
    candidates : sequence of str
        Their names.
    indices : sequence of Index
        What is read.
    truth : bool
        Whether there are known classes.

    Attributes
    ----------
    curves : dict of str to History
        The readings of each candidate.
    seen : int
        Samples so far.
    """

    def __init__(self, candidates: Sequence[str], indices: Sequence[Index], truth: bool) -> None:
        self.indices = tuple(indices)
        names = [index.name for index in indices] + (list(AGREEMENT) if truth else [])
        self.names = names
        self.curves = {candidate: History(names) for candidate in candidates}
        self.seen = 0

    def take(self, step: Step) -> None:
        """Take the readings of all candidates."""
        self.seen = step.stop
        for name, each in step.candidates.items():
            trace = each.trace
            if len(trace):
                values = np.stack([each.curve(column) for column in self.names], axis=1)
                self.curves[name].take_readings(trace.samples, trace.k, values)

    @property
    def samples(self) -> NDArray[np.int64]:
        """Where the readings of the curves are; the same of all candidates."""
        return next(iter(self.curves.values())).samples

    @property
    def clusters(self) -> list[int]:
        """The number of clusters of every candidate at the last reading."""
        return [int(each.k[-1]) if len(each) else 0 for each in self.curves.values()]

    def last(self) -> NDArray[np.float64]:
        """The last reading of every candidate (rows) by every name (columns)."""
        none = np.full(len(self.names), np.nan)
        return np.array([each.last[-1] if len(each) else none for each in self.curves.values()])

    def leaders(self, silent: Mapping[str, str]) -> list[int | None]:
        """The best candidate at every reading of the curves, by indices that are not `silent`."""
        curves = [*self.curves.values()]
        if not len(curves[0]):
            return []
        p = len(self.indices)
        readings = np.stack([each.last[:, :p] for each in curves], axis=1)
        clusters = np.stack([each.k for each in curves], axis=1).tolist()
        return [count_votes(self.indices, *each, silent).best for each in zip(readings, clusters)]

    def keep(self) -> Kept:
        """The state for a checkpoint."""
        facts: dict[str, Any] = {}
        packed: dict[str, NDArray[Any]] = {}
        for number, (name, history) in enumerate(self.curves.items()):
            facts[name], arrays = history.keep()
            packed |= {f"{number}.{key}": a for key, a in arrays.items() if key != _UNUSED}
        return {"seen": self.seen, "curves": facts}, packed

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a checkpoint."""
        self.seen = facts["seen"]
        for number, (name, history) in enumerate(self.curves.items()):
            history.resume(facts["curves"][name], arrays_of(str(number), arrays))
