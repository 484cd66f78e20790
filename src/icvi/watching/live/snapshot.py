"""A stream at one moment, for the page, the metrics and the health check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.insight.verdict import Grade
from icvi.watching.live.encoding import State, Table


@dataclass(frozen=True, eq=False, slots=True)
class Cluster:
    """A cluster as the metrics show it."""

    name: str
    count: float
    silhouette: float


@dataclass(frozen=True, eq=False, slots=True)
class Details:
    """What takes longer to find out than readings, and is renewed less often.

    Parameters
    ----------
    grade : str, optional
        The grade of the clustering; None where it is not judged.
    active : int
        Alarms that were raised and not withdrawn.
    clusters : tuple of Cluster
        The clusters, the largest first.
    parts : mapping
        Parts of the page.
    """

    grade: Grade | None = None
    active: int = 0
    clusters: tuple[Cluster, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """A stream at one moment; immutable, so that other threads can read it.

    Parameters
    ----------
    number : int
        Of the snapshot.
    seen, k, skipped, lost : int
        Samples so far, clusters now, rows skipped, samples lost.
    noise : float
        Share of noise.
    rate : float, optional
        Samples per second.
    names : tuple of str
        The columns of readings.
    values : array
        The last readings; empty before the first.
    history, recent : Table
        The curves of the whole stream, and of the last minutes.
    last_sample, checkpoint : float, optional
        When the last samples came, and when the last checkpoint was written: Unix time.
    ended : str, optional
        How the watch has ended, in words.
    """

    number: int
    seen: int
    k: int
    skipped: int
    lost: int
    noise: float
    rate: float | None
    names: tuple[str, ...]
    values: NDArray[np.float64]
    history: Table
    recent: Table
    details: Details
    last_sample: float | None
    checkpoint: float | None
    ended: str | None = None

    def state(self) -> State:
        """The parts of the page."""
        facts = (self.seen, self.k, self.skipped, self.lost)
        times = (self.last_sample, self.checkpoint)
        return {
            "now": [*facts, self.noise, self.rate, *(t and round(t) for t in times), self.ended],
            "values": self.values.tolist(),
            "history": self.history,
            "recent": self.recent,
            **self.details.parts,
        }
