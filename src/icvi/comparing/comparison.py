"""Comparison: which of several clusterings is the best, by which indices, and how sure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icvi.comparing.result import Result
from icvi.comparing.sentences import sentences
from icvi.plots.notebook import paragraphs
from icvi.wording import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(Result):
    """The result of `icvi.compare`; ``print(comparison)`` says it in a few sentences.

    Attributes
    ----------
    best : str or None
        The candidate that the indices prefer; None where no index is defined for any.
    votes : dict from str to int
        How many indices read best at each candidate. Of equal readings each gets the vote.
    sure : {"clear", "likely", "open"}
        How sure the choice is: clear if all voting indices that weigh all clusters (CH, PBM, I, NI,
        WB), at least two of them, prefer it; likely if more than half of them do; open otherwise.
    table : Table
        A row per candidate: the parameter that varies, the number of clusters, the share of noise
        where there is some, the readings, ARI and AMI where classes are known, and the votes.
    silent : dict from str to str
        Indices that do not vote, and why.
    verdict : Verdict or None
        The verdict on the best candidate; it takes a second or two, but only once.
    trackers, clusterers : dict from str
        The tracker and the clusterer of each candidate, as they are at the end.

    Examples
    --------
    >>> import icvi
    >>> from icvi.datasets import make_rings
    >>> from sklearn.cluster import KMeans
    >>> X, _ = make_rings()
    >>> c = icvi.compare(X, [KMeans(k, random_state=0) for k in (2, 3)], ["CH", "rH"])
    >>> c.best in c.votes, c.silent["rH"]
    (True, 'sums over pairs of clusters, which grow with their number')
    """

    def __str__(self) -> str:
        return "\n".join(sentences(self, self.verdict))

    def __repr__(self) -> str:
        return f"Comparison({len(self.names)} candidates, {self.seen} samples; best: {self.best})"

    def _repr_html_(self) -> str:
        return f"<div>{paragraphs(sentences(self, self.verdict))}{self.table._repr_html_()}</div>"

    def plot(self, names: Sequence[str] | None = None, **options: Any) -> Figure:
        """Every index over the parameter that varies, or over the stream. Needs matplotlib.

        Parameters
        ----------
        names : sequence of str, optional
            The indices to draw; all by default.
        **options
            See `icvi.plots.comparisons.plot_comparison`.
        """
        from icvi.plots.comparisons import plot_comparison

        known = [index.name for index in self.indices]
        for name in names or ():
            if name not in known:
                raise KeyError(f"{short(name)} was not read; there are {known}")
        return plot_comparison(self, names=list(names or known), **options)

    def report(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, note: str | None = None
    ) -> None:
        """Write a page for a browser: the answer, the table, the elbow and all curves.

        Parameters
        ----------
        path : path
            The page: ``.html``.
        overwrite : bool, default False
            Whether to replace a page that exists.
        note : str, optional
            Why the comparison ended before the stream did.
        """
        from icvi.comparing.report.output import write_comparison

        write_comparison(path, self, overwrite=overwrite, note=note)
