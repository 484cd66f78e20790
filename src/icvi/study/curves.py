"""The curves of a stream, cut where clusters emerge: the input of the rules of the study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from icvi.plots.traces import spans_decades
from icvi.study.experiment import INDICES, Experiment


@dataclass(frozen=True)
class Curve:
    """One index over the stream, larger is better, in units of its usual range."""

    values: NDArray[np.float64]

    @classmethod
    def of(cls, readings: NDArray[np.float64], direction: str) -> Curve:
        """Readings with the sign changed so that up is better, divided by their robust range."""
        values = np.array(readings, dtype=float)
        values[~np.isfinite(values)] = np.nan
        if spans_decades([values]):
            values = np.log10(values)
        if direction == "min":
            values = -values
        return cls(values / _range(values))


def _range(values: NDArray[np.float64]) -> float:
    """From the 5th to the 95th percentile, so that spikes do not count."""
    known = values[~np.isnan(values)]
    if known.size == 0:
        return 1.0
    low, high = np.percentile(known, [5, 95])
    return float(high - low) or float(np.ptp(known)) or 1.0


@dataclass(frozen=True)
class Stream:
    """The input of a rule: curves, the number of clusters and the true cluster over time."""

    curves: Mapping[str, Curve]
    k: NDArray[np.int64]
    truth: NDArray[np.int64]

    @classmethod
    def of(cls, experiment: Experiment) -> Stream:
        """The stream of an experiment."""
        trace = experiment.trace
        # With one cluster there is nothing to compare; the zeros that some indices read then
        # would stretch their range.
        compared = np.where(trace.k >= 2, 1.0, np.nan)
        curves = {name: Curve.of(compared * trace[name], trace.direction(name)) for name in INDICES}
        return cls(curves, trace.k, experiment.truth)

    @cached_property
    def emergences(self) -> list[int]:
        """Samples that create a cluster, from the third cluster on.

        Before, most indices are undefined.
        """
        return [int(t) for t in np.flatnonzero(np.diff(self.k)) + 1 if self.k[t - 1] >= 2]

    def stretches(self) -> Iterator[tuple[int, int]]:
        """Stretches [start, end) of one true cluster and one number of clusters, at least two."""
        cuts = np.flatnonzero((np.diff(self.k) != 0) | (np.diff(self.truth) != 0)) + 1
        edges = [0, *cuts.tolist(), len(self.k)]
        for start, end in pairwise(edges):
            if self.k[start] >= 2:
                yield start, end

    def unnoticed(self) -> Iterator[tuple[int, int]]:
        """Stretches from a true cluster that goes unnoticed to the next cluster, or the end."""
        edges = [0, *(np.flatnonzero(np.diff(self.k)) + 1).tolist(), len(self.k)]
        for start, end in pairwise(edges):
            begins = np.flatnonzero(np.diff(self.truth[start:end]))
            if self.k[start] >= 2 and begins.size:
                yield start + int(begins[0]) + 1, end

    def splits(self) -> Iterator[tuple[int, int]]:
        """Stretches that begin with a cluster that emerges inside a true cluster."""
        for start, end in self.stretches():
            if start in self.emergences and self.truth[start] == self.truth[start - 1]:
                yield start, end
