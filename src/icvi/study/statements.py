"""Findings for the page: grouped by statement, with verdicts in words.

Statements that differ in their index alone form a family: "The index changes abruptly when a
cluster emerges", with ten indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from icvi.wording import DASH, number

Finding = Mapping[str, Any]
Family = Sequence[Finding]


class Verdict(NamedTuple):
    """An icon, the words before a statement, and the words after a number of statements."""

    icon: str
    words: str
    tally: str


VERDICTS = {
    "agrees": Verdict("✓", "As in the paper", "came out as in the paper"),
    "mixed": Verdict("±", "Only sometimes", "held only sometimes"),
    "disagrees": Verdict("✗", "Contrary to the paper", "came out contrary to the paper"),
    "not seen": Verdict(DASH, "Not testable in this run", "could not be tested"),
}


def families(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Statements without their index, and the findings of each; a single one keeps its own.

    >>> both = [{"statement": f"{name} falls.", "index": name} for name in ("CH", "XB")]
    >>> list(families(both)), list(families(both[:1]))
    (['The index falls'], ['CH falls'])
    """
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        statement, start = str(finding["statement"]).rstrip("."), f"{finding['index']} "
        if statement.startswith(start):
            statement = f"The index {statement.removeprefix(start)}"
        found.setdefault(statement, []).append(finding)
    return {
        title if len(family) > 1 else str(family[0]["statement"]).rstrip("."): family
        for title, family in found.items()
    }


def alone(findings: Iterable[Finding]) -> list[Finding]:
    """Findings without a family."""
    return [family[0] for family in families(findings).values() if len(family) == 1]


def tally(findings: Sequence[Finding]) -> str:
    """How many statements have each verdict."""
    counts = {
        verdict: sum(finding["verdict"] == verdict for finding in findings) for verdict in VERDICTS
    }
    return ", ".join(f"{n} {VERDICTS[verdict].tally}" for verdict, n in counts.items() if n)


def groups(family: Family) -> list[tuple[str, list[tuple[str, list[Finding]]]]]:
    """The findings of a family by verdict; those of one verdict by whether the statement holds."""
    found = []
    for verdict in VERDICTS:
        mine = [finding for finding in family if finding["verdict"] == verdict]
        sides = {"": mine}
        if verdict in ("agrees", "disagrees"):
            holds = {"it does for": verdict == "agrees", "it does not for": verdict != "agrees"}
            sides = {
                words: [finding for finding in mine if finding["expected"] == expected]
                for words, expected in holds.items()
            }
        if mine:
            found.append((verdict, [(words, side) for words, side in sides.items() if side]))
    return found


def together(finding: Finding) -> Finding:
    """In how many orders the statement holds, of how many, over all scenarios."""
    scenarios = finding["scenarios"].values()
    holds, of = (sum(found[key] for found in scenarios) for key in ("holds", "of"))
    return {"holds": holds, "of": of, "share": finding["share"]}


def threshold(finding: Finding) -> str:
    """When the statement counts as true."""
    value = finding["threshold"]
    return number(value) if value is None or isinstance(value, (int, float)) else str(value)


def thresholds(family: Family) -> list[str]:
    """The thresholds of a family, each once."""
    return list(dict.fromkeys(threshold(finding).rstrip(".") for finding in family))


def scenarios_of(family: Family, names: Iterable[str]) -> list[str]:
    """The scenarios that a family is about."""
    return [name for name in names if any(name in finding["scenarios"] for finding in family)]


def shares_in(
    name: str, findings: Sequence[Finding]
) -> tuple[list[str], dict[str, dict[str, Finding]]]:
    """All indices, and per statement about a scenario in how many of its orders it holds."""
    rows = {
        title: {
            str(finding["index"] or ""): finding["scenarios"][name]
            for finding in family
            if finding["scenarios"].get(name, {}).get("of")
        }
        for title, family in families(findings).items()
    }
    indices = list(dict.fromkeys(str(finding["index"] or "") for finding in findings))
    return indices, {title: shares for title, shares in rows.items() if shares}
