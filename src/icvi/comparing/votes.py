"""Which candidate the indices prefer, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.tracking.coarsening.choice import sums_over_pairs

Array = NDArray[np.float64]

#: How sure a choice is.
Sure = Literal["clear", "likely", "open"]

#: Indices that weigh the scatter of all clusters. The others look at the closest ones, prefer few
#: clusters far apart, and were wrong together on streams of known clusters: see docs/how-many.md.
WEIGH_ALL = ("CH", "I", "PBM", "NI", "WB")
#: So many of those must have voted for a clear choice.
_FEWEST = 2
#: Readings that differ by less, relative to their size, are equal: they are exact to that.
_EQUAL = 1e-9

SUMS = "sums over pairs of clusters, which grow with their number"


def abstaining(indices: Sequence[Index], table: Array) -> dict[str, str]:
    """Indices that do not vote, and why.

    Parameters
    ----------
    indices : sequence of Index
        The columns of the table.
    table : array of shape (candidates, indices)
        Readings.
    """
    why: dict[str, str] = {}
    for column, index in enumerate(indices):
        if sums_over_pairs(index):
            why[index.name] = SUMS
            continue
        for other in range(column):
            same = np.array_equal(table[:, other], table[:, column], equal_nan=True)
            if same and not np.isnan(table[:, column]).all() and indices[other].name not in why:
                why[index.name] = f"reads the same as {indices[other].name}"
                break
    return why


@dataclass(frozen=True, eq=False)
class Votes:
    """The votes of the indices.

    Attributes
    ----------
    best : int or None
        The candidate that the indices prefer; None where no index is defined for any.
    counts : array of int
        The votes of each candidate: indices that read best there. Of equals each gets the vote.
    marked : bool array of shape (candidates, indices)
        Where an index reads best, also one that does not vote.
    ranks : array
        Mean rank of each candidate among all, 0 the best, by the voting indices.
    voting : int
        Indices that have voted.
    weighing, agreeing : int
        Those of them that weigh all clusters, and how many of these read best at the best.
    equals : list of int
        Other candidates with the same number of clusters and the same readings as the best.
    """

    best: int | None
    counts: NDArray[np.int64]
    marked: NDArray[np.bool_]
    ranks: Array
    voting: int
    equals: list[int]
    weighing: int = 0
    agreeing: int = 0

    @property
    def sure(self) -> Sure:
        """How sure the choice is.

        It is clear if all indices that weigh all clusters prefer the best, at least two of them;
        likely if more than half of them do; and open otherwise.
        """
        if self.agreeing == self.weighing >= _FEWEST:
            return "clear"
        return "likely" if 2 * self.agreeing > self.weighing else "open"

    @property
    def next(self) -> int | None:
        """The candidate with the most votes after the best; None where no other has any."""
        rest = [i for i in self._others if self.counts[i]]
        return min(rest, key=lambda i: (-self.counts[i], self.ranks[i]), default=None)

    @property
    def _others(self) -> list[int]:
        left_out = {self.best, *self.equals}
        return [i for i in range(len(self.counts)) if i not in left_out]


def count_votes(
    indices: Sequence[Index],
    table: Array,
    clusters: Sequence[int],
    silent: Mapping[str, str] | None = None,
) -> Votes:
    """Count the votes of indices.

    The candidate with the most votes is the best; of several the one with the least mean rank, then
    the one with the fewest clusters, then the first.

    Parameters
    ----------
    indices : sequence of Index
        The columns of the table.
    table : array of shape (candidates, indices)
        Readings; nan where they are undefined.
    clusters : sequence of int
        The number of clusters of each candidate.
    silent : mapping, optional
        Indices that do not vote, as `abstaining` finds them.

    Examples
    --------
    >>> from icvi.indices import select
    >>> readings = np.array([[10.0, 0.5], [30.0, 0.2], [20.0, 0.1]])
    >>> votes = count_votes(select("CH, XB"), readings, [2, 3, 4])
    >>> votes.counts.tolist(), votes.best, votes.sure
    ([0, 1, 1], 1, 'likely')
    """
    silent = abstaining(indices, table) if silent is None else silent
    m = len(table)
    marked = np.zeros(table.shape, dtype=bool)
    ranks = np.full(table.shape, float(m))
    votes = np.array([index.name not in silent for index in indices], dtype=bool)
    for column, index in enumerate(indices):
        defined = ~np.isnan(table[:, column])
        better = _better(table[defined, column] * (1.0 if index.direction == "max" else -1.0))
        marked[defined, column] = better == 0
        ranks[defined, column] = better
    voting = int((marked.any(axis=0) & votes).sum())
    counts = marked[:, votes].sum(axis=1)
    mean = ranks[:, votes].mean(axis=1) if votes.any() else np.zeros(m)
    if not voting:
        return Votes(None, counts, marked, mean, 0, [])
    best = min(range(m), key=lambda i: (-counts[i], mean[i], clusters[i], i))
    equals = [
        i
        for i in range(m)
        if i != best
        and clusters[i] == clusters[best]
        and np.allclose(table[i], table[best], rtol=_EQUAL, atol=0.0, equal_nan=True)
    ]
    weigh = votes & marked.any(axis=0) & [index.family in WEIGH_ALL for index in indices]
    agreeing = int(marked[best, weigh].sum())
    return Votes(best, counts, marked, mean, voting, equals, int(weigh.sum()), agreeing)


def _better(values: Array) -> NDArray[np.int64]:
    """How many values are larger than each, by more than rounding.

    >>> _better(np.array([1.0, 1.0 + 1e-12, 2.0, np.inf])).tolist()
    [2, 2, 1, 0]
    """
    with np.errstate(invalid="ignore"):  # inf - inf
        above = values[None, :] - values[:, None]
        size = np.maximum(np.abs(values)[None, :], np.abs(values)[:, None])
        by_more = above > _EQUAL * np.where(np.isfinite(size), size, 0.0)
    found: NDArray[np.int64] = by_more.sum(axis=1)
    return found
