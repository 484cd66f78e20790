"""What was watched: facts for the reader that neither samples nor readings tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class About:
    """Facts about a run; those that are known at the end only may be filled in then.

    Parameters
    ----------
    source : str
        Where the samples came from, as the reader knows it: a file, an address.
    columns : sequence of str
        Names of the features; numbered where they are not given.
    clusterer : str
        What gave the labels: the name of a clusterer, or the column that they were read from.
    parameters : mapping
        Its parameters.
    options : mapping
        How it was watched: every, window, half_life, noise_label, ...
    skipped : int
        Rows that were left out.
    reasons : sequence of str
        Why the first of them were.
    lost : int
        Samples that are known to be gone before they were read.
    losses : sequence of str
        What was lost, or changed so that something may be.
    title : str, optional
        Of the page; says what was watched by default.
    """

    source: str = "a stream"
    columns: Sequence[str] = ()
    clusterer: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    skipped: int = 0
    reasons: Sequence[str] = ()
    lost: int = 0
    losses: Sequence[str] = ()
    title: str | None = None

    @property
    def heading(self) -> str:
        """The title of the page."""
        return self.title or f"Clusters of {self.source}"

    def feature(self, number: int) -> str:
        """The name of a feature, counted from 0."""
        return self.columns[number] if number < len(self.columns) else f"feature {number + 1}"
