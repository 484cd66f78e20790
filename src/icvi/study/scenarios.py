"""Which data are clustered with which vigilance, and what the paper says comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["correct", "under", "over"]


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
        Adjusted Rand index that the paper reports, where the scenario is the paper's.
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
        words = {
            "correct": "high quality",
            "under": "under-partitioned",
            "over": "over-partitioned",
        }
        return f"{TITLES[self.data]}, {words[self.kind]}"


TITLES = {
    "r15": "R15",
    "d4": "D4",
    "overlapping": "Overlapping",
    "unequal": "Unequal sizes",
    "eight": "Eight dimensions",
}

#: The paper's four.
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
