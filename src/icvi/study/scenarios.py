"""Which data are clustered with which vigilance, and the result that the paper reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["correct", "under", "over"]

#: The titles of the data sets.
TITLES = {
    "r15": "R15",
    "d4": "D4",
    "overlapping": "Overlapping",
    "unequal": "Unequal sizes",
    "eight": "Eight dimensions",
}
#: The kinds of partition in words.
KINDS: dict[Kind, str] = {
    "under": "under-partitioned",
    "correct": "high quality",
    "over": "over-partitioned",
}

_DATA = {
    "r15": "Fifteen round clusters of 40 samples in the plane: one in the middle, seven close "
    "around it and seven further out.",
    "d4": "Four clusters of 500 samples in the plane: two small round ones, and two long ones that "
    "lean towards each other.",
    "overlapping": "Five round clusters of 200 samples in the plane that touch their neighbours.",
    "unequal": "Five round clusters in the plane of very different sizes: 600, 300, 150, 75 and "
    "25 samples.",
    "eight": "Six clusters of 150 samples in eight dimensions.",
}
_VIGILANCE: dict[Kind, str] = {
    "under": "The vigilance is too low for the data, so true clusters are merged.",
    "correct": "The vigilance suits the data, so the clusters found should be close to the true "
    "ones.",
    "over": "The vigilance is too high for the data, so true clusters are split.",
}


@dataclass(frozen=True)
class Scenario:
    """A data set and the vigilances that cluster it.

    Attributes
    ----------
    name : str
        Names files and rows.
    data : str
        Name of the data set in `icvi.datasets.GENERATORS`.
    kind : {"correct", "under", "over"}
        What the vigilance leads to: the true clusters, too few, or too many.
    rho_b : float
        Vigilance of the clusters.
    paper_ari : float, optional
        Adjusted Rand index in the paper; None for a scenario that is not in the paper.
    rho_a : float
        Vigilance of the prototypes.
    """

    name: str
    data: str
    kind: Kind
    rho_b: float
    paper_ari: float | None = None
    rho_a: float = 0.9

    @property
    def title(self) -> str:
        """In words, for figures and tables."""
        return f"{TITLES[self.data]}, {KINDS[self.kind]}"


def description(scenario: Mapping[str, Any]) -> str:
    """The data and the vigilance of a scenario, as its record in JSON has them, in sentences."""
    return f"{_DATA.get(scenario['data'], '')} {_VIGILANCE.get(scenario['kind'], '')}".strip()


#: The four scenarios of the paper.
PAPER = (
    Scenario("r15_correct", "r15", "correct", 0.88, 0.9821),
    Scenario("r15_under", "r15", "under", 0.61, 0.2371),
    Scenario("d4_correct", "d4", "correct", 0.69, 1.0),
    Scenario("d4_over", "d4", "over", 0.80, 0.9315),
)

#: Three more data sets, each clustered well, too coarsely and too finely.
BEYOND = (
    Scenario("overlapping_correct", "overlapping", "correct", 0.55),
    Scenario("overlapping_under", "overlapping", "under", 0.40),
    Scenario("overlapping_over", "overlapping", "over", 0.69),
    Scenario("unequal_correct", "unequal", "correct", 0.65),
    Scenario("unequal_under", "unequal", "under", 0.40),
    Scenario("unequal_over", "unequal", "over", 0.72),
    Scenario("eight_correct", "eight", "correct", 0.69),
    Scenario("eight_under", "eight", "under", 0.50),
    Scenario("eight_over", "eight", "over", 0.75),
)

SCENARIOS = {scenario.name: scenario for scenario in (*PAPER, *BEYOND)}
