"""Findings on a page: what holds and what does not in sentences, then all shares in tables.

Statements that differ in their index alone are told together: "The index changes abruptly when a
cluster emerges", with ten indices.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from icvi.study.markup import DASH, Markup, join, number, percent, table, tag

Finding = Mapping[str, Any]
Family = Sequence[Finding]

# Verdict -> icon, words in a sentence, words in the count of statements.
_VERDICTS = {
    "agrees": ("✓", "As the paper says", "came out as the paper says"),
    "mixed": ("±", "Only sometimes", "held only sometimes"),
    "disagrees": ("✗", "Otherwise than the paper says", "came out otherwise"),
    "not seen": (DASH, "Could not be seen in this run", "could not be seen"),
}


def orders(count: int) -> str:
    """A number of orders in words."""
    return f"{count:,} {'order' if count == 1 else 'orders'}"


def families(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Statements without their index, to the findings that make them; one alone keeps its own.

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


def summary(findings: Sequence[Finding]) -> Markup:
    """What holds and what does not, in sentences."""
    if not findings:
        return tag("p", "This run has no findings.")
    told = families(findings)
    pieces = [tag("p", _tally(findings))]
    for title, family in told.items():
        if len(family) > 1:
            pieces.append(tag("h3", title))
            pieces.append(tag("ul", join(_groups(family), "\n"), class_="verdicts"))
    alone = [family[0] for family in told.values() if len(family) == 1]
    if alone:
        pieces.append(tag("h3", "Statements about one index"))
        pieces.append(tag("ul", join(map(_sentence, alone), "\n"), class_="verdicts"))
    return join(pieces, "\n")


def _tally(findings: Sequence[Finding]) -> Markup:
    counts = {
        verdict: sum(finding["verdict"] == verdict for finding in findings) for verdict in _VERDICTS
    }
    parts = [f"{n} {_VERDICTS[verdict][2]}" for verdict, n in counts.items() if n]
    return join(["Of ", tag("strong", f"{len(findings)} statements"), f", {', '.join(parts)}."])


def _groups(family: Family) -> Iterable[Markup]:
    """One line for each verdict: the indices that have it, with shares."""
    for verdict, (_, words, _) in _VERDICTS.items():
        group = [finding for finding in family if finding["verdict"] == verdict]
        if not group:
            continue
        if verdict in ("agrees", "disagrees"):
            sides = {"does": verdict == "agrees", "does not": verdict == "disagrees"}
            parted = {
                word: [f for f in group if f["expected"] == expected]
                for word, expected in sides.items()
            }
            parts = [
                join([f"it {word} for ", join(map(_with_share, side), ", ")])
                for word, side in parted.items()
                if side
            ]
        else:
            parts = [join(map(_with_share, group), ", ")]
        yield tag("li", _icon(verdict), " ", tag("span", f"{words}: ", join(parts, "; "), "."))


def _with_share(finding: Finding) -> Markup:
    name = tag("strong", str(finding["index"]))
    if finding["share"] is None:
        return name
    return join([name, " (", percent(finding["share"]), ")"])


def _sentence(finding: Finding) -> Markup:
    holds, of = counts(finding)
    count = f"holds in {holds:,} of {orders(of)}" if of else "could not be seen in any order"
    expected = "" if finding["expected"] else "; the paper says that it does not hold"
    share = join([" (", percent(finding["share"]), ")"]) if of else ""
    statement = str(finding["statement"]).rstrip(".")
    words = _VERDICTS[finding["verdict"]][1]
    text = tag("span", f"{words}: {statement}: ", tag("strong", count), share, expected, ".")
    return tag("li", _icon(finding["verdict"]), " ", text)


def counts(finding: Finding) -> tuple[int, int]:
    """In how many orders the statement holds, of how many, over all scenarios."""
    scenarios = finding["scenarios"].values()
    return sum(s["holds"] for s in scenarios), sum(s["of"] for s in scenarios)


def details(findings: Sequence[Finding], titles: Mapping[str, str]) -> Markup:
    """Every statement with its threshold, its share in every scenario and the verdict."""
    told = families(findings)
    pieces = [
        join([tag("h3", title), _thresholds(family), _matrix(family, titles)], "\n")
        for title, family in told.items()
        if len(family) > 1
    ]
    alone = [family[0] for family in told.values() if len(family) == 1]
    if alone:
        pieces.append(tag("h3", "Statements about one index"))
        pieces.append(_cards(alone, titles))
    return join(pieces, "\n")


def _thresholds(family: Family) -> Markup:
    given = dict.fromkeys(_threshold(finding["threshold"]).rstrip(".") for finding in family)
    return tag("p", "Counted where ", join(given, "; or "), ".")


def _threshold(value: object) -> str:
    if value is None:
        return DASH
    return number(value) if isinstance(value, (int, float)) else str(value)


def _matrix(family: Family, titles: Mapping[str, str]) -> Markup:
    """Scenarios down, indices across."""
    names = [name for name in titles if any(name in f["scenarios"] for f in family)]
    rows: list[Sequence[str]] = [
        (titles[name], *(_cell(f["scenarios"].get(name)) for f in family)) for name in names
    ]
    if len(names) > 1:
        rows.append(("Together", *(_cell(_together(f)) for f in family)))
    rows.append(("The paper says", *(("it does" if f["expected"] else "not") for f in family)))
    rows.append(("Verdict", *(_verdict(f["verdict"]) for f in family)))
    head = ("Scenario", *(str(f["index"]) for f in family))
    return table("Share of orders in which it holds", head, rows, class_="numbers matrix")


def _together(finding: Finding) -> Finding:
    holds, of = counts(finding)
    return {"holds": holds, "of": of, "share": finding["share"]}


def _cell(counted: Finding | None) -> str:
    if counted is None or not counted["of"]:
        return DASH
    count = f"{counted['holds']:,} of {counted['of']:,}"
    return join([percent(counted["share"]), " ", tag("span", count, class_="of")])


def here(name: str, findings: Sequence[Finding]) -> Markup:
    """The statements about one scenario: in what share of its orders each holds."""
    mine = [f for f in findings if f["scenarios"].get(name, {}).get("of")]
    if not mine:
        return Markup()
    indices = list(dict.fromkeys(str(f["index"] or "") for f in findings))
    rows = []
    for title, family in families(findings).items():
        shares = {str(f["index"] or ""): f["scenarios"][name]["share"] for f in family if f in mine}
        if shares:
            cells = (percent(shares[i]) if i in shares else "" for i in indices)
            rows.append((title, *cells))
    caption = "In what share of the orders of this scenario each statement holds"
    return table(caption, ("Statement", *indices), rows, class_="numbers matrix")


def _icon(verdict: str) -> Markup:
    icon, kind = _VERDICTS[verdict][0], verdict.replace(" ", "-")
    return tag("span", icon, class_=f"icon {kind}", aria_hidden="true")


def _verdict(verdict: str) -> Markup:
    kind = verdict.replace(" ", "-")
    return tag("span", _icon(verdict), " ", verdict, class_=f"verdict {kind}")


def _cards(findings: Sequence[Finding], titles: Mapping[str, str]) -> Markup:
    """A table that becomes a list of cards on a narrow screen; roles survive the change."""
    head = ("Statement", "The paper says", "Holds in", "Verdict")
    names = join(tag("th", name, scope="col", role="columnheader") for name in head)
    lines = []
    for finding in findings:
        threshold = tag("span", _threshold(finding["threshold"]), class_="threshold")
        cells = [
            tag("th", str(finding["statement"]), " ", threshold, scope="row", role="rowheader")
        ]
        row = (
            "it holds" if finding["expected"] else "it does not",
            _shares(finding, titles),
            _verdict(finding["verdict"]),
        )
        for name, cell in zip(head[1:], row, strict=True):
            cells.append(tag("td", tag("div", cell), role="cell", data_label=name))
        lines.append(tag("tr", *cells, role="row"))
    return tag(
        "table",
        tag("caption", "Statements about one index, and in how many orders each holds"),
        tag("thead", tag("tr", names, role="row"), role="rowgroup"),
        tag("tbody", join(lines, "\n"), role="rowgroup"),
        class_="stacked",
        role="table",
    )


def _shares(finding: Finding, titles: Mapping[str, str]) -> str:
    shares = [_bar(titles.get(name, name), s) for name, s in finding["scenarios"].items()]
    if len(shares) > 1:
        shares.append(_bar("Together", _together(finding)))
    return tag("ul", *shares, class_="shares") if shares else DASH


def _bar(title: str, counted: Finding) -> Markup:
    share = counted["share"]
    width = 100.0 * share if share is not None and not math.isnan(share) else 0.0
    bar = tag("span", tag("span", style=f"width:{width:.0f}%"), class_="bar", aria_hidden="true")
    count = f"{counted['holds']:,} of {counted['of']:,}" if counted["of"] else DASH
    return tag(
        "li",
        tag("span", title),
        bar,
        tag("span", percent(share), class_="percent"),
        tag("span", count, class_="count"),
    )
