"""What a comparison has found: readings, votes, and the verdict on the best candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.comparing.candidates import Candidate, Sweep, sweep_of
from icvi.comparing.standings import Standings
from icvi.comparing.votes import Sure, Votes, abstaining, count_votes
from icvi.indices import Index
from icvi.insight.verdict import Verdict
from icvi.tracking.table import Table
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History

_WIDTH = 60  # letters of a name in a table


class CandidateTrace:
    """The readings of a candidate over the stream; of a long one at most 1,024."""

    def __init__(self, indices: Sequence[Index], history: History) -> None:
        self._indices = {index.name: (i, index) for i, index in enumerate(indices)}
        self._history = history

    @property
    def names(self) -> list[str]:
        """The indices."""
        return [*self._indices]

    @property
    def samples(self) -> NDArray[np.int64]:
        """Samples so far at each reading."""
        return self._history.samples

    @property
    def k(self) -> NDArray[np.int64]:
        """The number of clusters at each reading."""
        return self._history.k

    def direction(self, name: str) -> str:
        """Whether larger or smaller is better."""
        return self._indices[name][1].direction

    def range(self, name: str) -> tuple[float, float]:
        """The smallest and the largest value that an index can take."""
        return self._indices[name][1].range

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The readings of an index."""
        return self._history.last[:, self._indices[name][0]]


@dataclass(frozen=True, eq=False)
class Result:
    """The candidates, their readings and their votes; `icvi.Comparison` shows them.

    Parameters
    ----------
    candidates : sequence of Candidate
        What is compared, with the clusterers as they are now.
    standings : Standings
        The readings over the stream.
    trackers : mapping from str to Tracker
        The tracker of each candidate.
    agreement : mapping from str to mapping
        ARI and AMI of each candidate, where classes are known.
    source : str
        Where the samples come from.
    columns : sequence of str
        What features are called.
    consistent : bool
        Whether all candidates have the same samples: not if it was interrupted while one learnt.
    """

    candidates: Sequence[Candidate]
    standings: Standings
    trackers: Mapping[str, Tracker]
    agreement: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    source: str = "a stream"
    columns: Sequence[str] = ()
    consistent: bool = True

    # -- the choice ------------------------------------------------------------------------

    @property
    def best(self) -> str | None:
        """The candidate that the indices prefer."""
        return None if self.counted.best is None else self.names[self.counted.best]

    @property
    def votes(self) -> dict[str, int]:
        """How many indices read best at each candidate."""
        return dict(zip(self.names, self.counted.counts.tolist()))

    @property
    def sure(self) -> Sure:
        """How sure the choice is."""
        return self.counted.sure

    @cached_property
    def table(self) -> Table:
        """A row per candidate."""
        columns: dict[str, Any] = {"candidate": self.names}
        if self.sweep is not None and self.sweep.parameter not in ("candidate", "k", "votes"):
            columns[self.sweep.parameter] = np.array(self.sweep.values)
        columns["k"] = np.array(self.clusters)
        if any(self.noise):
            columns["noise"] = np.array(self.noise)
        columns |= {index.name: self.readings[:, i] for i, index in enumerate(self.indices)}
        for name in next(iter(self.agreement.values()), {}):
            columns[name] = np.array([self.agreement[each][name] for each in self.names])
        return Table({**columns, "votes": self.counted.counts}, width=_WIDTH)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict on the best candidate; None without insight, and after an interrupt."""
        if self.best is None or not self.consistent:
            return None
        history = self.standings.curves[self.best]
        return history.verdict(self.trackers[self.best], self.columns)

    # -- what it is made from --------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The candidates."""
        return [each.name for each in self.candidates]

    @property
    def indices(self) -> tuple[Index, ...]:
        """The indices that were read."""
        return self.standings.indices

    @property
    def clusterers(self) -> dict[str, Any]:
        """The clusterer of each candidate, as it is at the end."""
        return {each.name: each.clusterer for each in self.candidates}

    @property
    def curves(self) -> dict[str, History]:
        """The readings of each candidate over the stream."""
        return self.standings.curves

    @property
    def traces(self) -> dict[str, CandidateTrace]:
        """The same as `icvi.plots.plot_traces` draws them, one column per candidate."""
        return {
            name: CandidateTrace(self.indices, history) for name, history in self.curves.items()
        }

    @property
    def seen(self) -> int:
        """Samples of the stream."""
        return self.standings.seen

    @cached_property
    def sweep(self) -> Sweep | None:
        """The parameter that is all that the candidates differ in."""
        return sweep_of(self.candidates)

    @cached_property
    def clusters(self) -> list[int]:
        """The number of clusters of each candidate."""
        if not self.consistent:
            return self.standings.clusters
        return [self.trackers[name].n_clusters for name in self.names]

    @cached_property
    def noise(self) -> list[float]:
        """The share of noise of each candidate."""
        return [float(self.trackers[name].noise_share) for name in self.names]

    @cached_property
    def readings(self) -> NDArray[np.float64]:
        """The readings: a row per candidate, a column per index."""
        if not self.consistent:
            return self.standings.last()[:, : len(self.indices)]
        return np.array(
            [[self.trackers[name][index] for index in self.indices] for name in self.names]
        )

    @cached_property
    def silent(self) -> dict[str, str]:
        """Indices that do not vote, and why."""
        return abstaining(self.indices, self.readings)

    @cached_property
    def counted(self) -> Votes:
        """The votes in detail."""
        return count_votes(self.indices, self.readings, self.clusters, self.silent)

    @cached_property
    def since(self) -> int | None:
        """The sample since which the best has been the best at every reading of the curves."""
        leaders, samples = self.standings.leaders(self.silent), self.standings.samples
        best, since = self.counted.best, None
        alike = {best, *self.counted.equals}
        for leader, sample in zip(reversed(leaders), reversed(samples.tolist())):
            if leader not in alike and leader is not None:
                break
            since = sample if leader is not None else since
            if leader is None:
                return 1  # before, nothing could be compared
        else:
            return 1 if since is not None else None
        return since

    def preferring(self, candidate: int) -> list[str]:
        """The voting indices that read best at a candidate."""
        marked = self.counted.marked[candidate]
        names = [index.name for index, mark in zip(self.indices, marked) if mark]
        return [name for name in names if name not in self.silent]
