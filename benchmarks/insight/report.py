"""What is printed about verdicts and alarms: tables, missed targets, and the same as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from insight.clusterers import CLUSTERERS, Labelled
from insight.families import Case
from insight.faults import KINDS
from insight.measuring import NoStructure, Outcome, Real

#: Separation to targets in percent: false alarms at most, faults found at least.
TARGETS: dict[float, dict[str, float]] = {
    2.4: {"right": 3.0, "under": 97.0, "cut": 97.0, "late": 97.0},
    2.1: {"right": 5.0, "under": 80.0, "cut": 95.0, "late": 95.0},
}
_FALSE_ON_STREAMS = 5.0
_LESS_ON_STREAMS = 3.0  # points of recall
_DISTINCT = 1.0
_ARI = 0.99
_WHAT = {
    "right": "right labels, any advice",
    "under": "two clusters with one label: split advised",
    "cut": "one cluster halved: merge advised",
    "late": "two labels in one place: merge advised",
}


@dataclass(frozen=True)
class Row:
    """One number: ``count`` of ``of`` cases in percent, or a value of its own."""

    part: str
    name: str  # by which a page refers to it
    what: str
    value: float | None
    unit: str = "%"
    count: int | None = None
    of: int | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target or a value."""
        if self.value is None or (self.at_least is None and self.at_most is None):
            return None
        enough = self.at_least is None or self.value >= self.at_least
        return enough and (self.at_most is None or self.value <= self.at_most)

    @property
    def target(self) -> str:
        """The target in words."""
        bound = self.at_most if self.at_least is None else self.at_least
        sign = "<=" if self.at_least is None else ">="
        return "" if bound is None else f"{sign} {bound:.3g} {self.unit}".rstrip()

    @property
    def text(self) -> str:
        """The value with its unit."""
        if self.value is None:
            return "–"
        digits = f"{self.value:.1f}" if self.unit == "%" else f"{self.value:.3g}"
        return f"{digits} {self.unit}".rstrip()

    @property
    def cases(self) -> str:
        """How many of how many."""
        if self.of is None:
            return ""
        return f"{self.of:,}" if self.count is None else f"{self.count:,} of {self.of:,}"


def share(
    part: str,
    name: str,
    what: str,
    cases: Iterable[bool],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Row:
    """The share of cases that are true."""
    known = list(cases)
    count, of = sum(known), len(known)
    value = 100.0 * count / of if of else None
    return Row(part, name, what, value, "%", count, of, at_least, at_most)


def slug(separation: float) -> str:
    """A separation in the name of a row: 24 for 2.4."""
    return f"{round(10 * separation)}"


def known_rows(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """All data at hand, known clusters."""
    for S in sorted({each.case.separation for each in outcomes}, reverse=True):
        part = f"all data, closest pair at S = {S:g}"
        here = [each for each in outcomes if each.case.separation == S]
        targets = TARGETS.get(S, {})
        yield from _by_kind(part, f"all_{slug(S)}", here, targets)
        faulty = [bool(each.wrong) for each in here if each.kind != "right"]
        name = f"all_{slug(S)}"
        yield share(part, f"{name}_beside", "wrong labels, other advice as well", faulty)
        right = [each for each in here if each.kind == "right"]
        if targets:
            aris = [each.ari for each in right]
            for how, ari in (("mean", statistics.fmean(aris)), ("least", min(aris))):
                what = f"right labels after all merges advised: {how} ARI"
                at_least = _ARI if how == "mean" else None
                yield Row(part, f"{name}_ari_{how}", what, ari, "", None, len(aris), at_least)
        told = [each.undecided for each in right]
        what = "right labels: cannot tell whether the closest two are one cluster"
        yield share(part, f"{name}_undecided", what, told)
        for grade in ("distinct", "touching", "overlapping", "unknown"):
            graded = [each.grade == grade for each in right]
            yield share(part, f"{name}_{grade}", f"right labels graded {grade}", graded)


def streaming_rows(outcomes: Sequence[Outcome], all_data: Sequence[Outcome]) -> Iterator[Row]:
    """Alarms, compared with what all data at hand told about the same streams."""
    found = {(each.case, each.kind): each.found for each in all_data}
    for S in sorted({each.case.separation for each in outcomes}, reverse=True):
        part = f"while streaming, closest pair at S = {S:g}"
        here = [each for each in outcomes if each.case.separation == S]
        targets = {"right": _FALSE_ON_STREAMS}
        for kind in KINDS[1:]:
            same = [(each.case, each.kind) for each in here if each.kind == kind]
            if same and all(key in found for key in same):
                recall = 100.0 * sum(found[key] for key in same) / len(same)
                targets[kind] = recall - _LESS_ON_STREAMS
        yield from _by_kind(part, f"stream_{slug(S)}", here, targets)
        for kind in KINDS[1:]:
            last = [each.at_end for each in here if each.kind == kind]
            name = f"stream_{slug(S)}_{kind}_at_end"
            yield share(part, name, f"{kind}: found by the look at the end of the stream", last)
        for kind in KINDS[1:]:
            delays = [e.delay for e in here if e.kind == kind and e.delay is not None]
            middle = statistics.median(delays) if delays else None
            what = f"{kind}: median delay of the alarm"
            name = f"stream_{slug(S)}_{kind}_delay"
            yield Row(part, name, what, middle, "samples", None, len(delays))


def _by_kind(
    part: str, name: str, outcomes: Sequence[Outcome], targets: dict[str, float]
) -> Iterator[Row]:
    for kind in KINDS:
        here = [each for each in outcomes if each.kind == kind]
        if kind == "right":
            wrong = [bool(each.wrong) for each in here]
            bound = targets.get(kind)
            yield share(part, f"{name}_{kind}", _WHAT[kind], wrong, at_most=bound)
            for action in ("merge", "split"):
                said = [any(w.startswith(action) for w in each.wrong) for each in here]
                yield share(part, f"{name}_{kind}_{action}", f"  of which {action}", said)
        else:
            hits = [each.found for each in here]
            bound = targets.get(kind)
            yield share(part, f"{name}_{kind}", _WHAT[kind], hits, at_least=bound)


def clusterer_rows(found: Sequence[Labelled]) -> Iterator[Row]:
    """Labels of clusterers."""
    part = "labels of clusterers, S = 2.4"
    for number, name in enumerate(CLUSTERERS):
        here = [each for each in found if each.clusterer == name]
        for action in ("merge", "split"):
            helped = [good for each in here for good in each.helped[action]]
            what = f"{name}: {action} advised that raises ARI"
            if helped:
                yield share(part, f"clusterer_{number}_{action}", what, helped)
            faults = [noticed for each in here for noticed in each.faults[action]]
            what = f"{name}: large faults that ask for a {action}, named"
            if faults:
                yield share(part, f"clusterer_{number}_{action}_found", what, faults)


def structureless_rows(found: Sequence[NoStructure]) -> Iterator[Row]:
    """Data without clusters."""
    part = "no clusters, cut by k-means"
    distinct = [each.grade == "distinct" for each in found]
    yield share(part, "none_distinct", "graded distinct", distinct, at_most=_DISTINCT)
    unknown = [each.grade == "unknown" for each in found]
    yield share(part, "none_unknown", "graded unknown", unknown)
    told = [each.structureless for each in found]
    yield share(part, "none_structureless", "called structureless", told)
    splits = [each.splits > 0 for each in found]
    yield share(part, "none_split", "a split of a piece advised", splits)


def real_rows(found: Sequence[Real]) -> Iterator[Row]:
    """Real data sets."""
    for each in found:
        said = "; ".join(each.advice) or "no advice"
        wrong = [advice.startswith("merge") for advice in each.advice]
        yield Row(
            "real data, true labels",
            f"real_{each.name.split(',')[0]}",
            f"{each.name}: {each.grade}; {said}",
            float(sum(wrong)),
            "merges",
            at_most=0.0,
        )


def breakdown(outcomes: Sequence[Outcome]) -> dict[str, dict[str, list[int]]]:
    """Failures by what streams differ in: group to "kind S" to failures and cases.

    Where separations have targets; below, one or two is a matter of definition.
    """
    groups: dict[str, Callable[[Case], object]] = {
        "family": lambda case: case.family,
        "d": lambda case: case.d,
        "k": lambda case: case.k,
        "d, k": lambda case: f"{case.d}, {case.k}",
        "order": lambda case: case.order,
    }
    table: dict[str, dict[str, list[int]]] = {}
    judged = sorted(
        (each for each in outcomes if each.case.separation in TARGETS),
        key=lambda each: (-each.case.separation, each.case.d, each.case.k),
    )
    for group, key in groups.items():
        for each in judged:
            row = table.setdefault(f"{group}: {key(each.case)}", {})
            cell = row.setdefault(f"{each.kind} {each.case.separation:g}", [0, 0])
            failed = bool(each.wrong) if each.kind == "right" else not each.found
            cell[0] += failed
            cell[1] += 1
    return table


def show(rows: Sequence[Row], failures: dict[str, Any], console: Console) -> None:
    """Print all rows, where failures concentrate, and the missed targets."""
    table = Table(title="verdicts and alarms on known clusters")
    table.add_column("what")
    for column in ("measured", "cases", "target", "met"):
        table.add_column(column, justify="right", no_wrap=True)
    for number, row in enumerate(rows):
        if number == 0 or rows[number - 1].part != row.part:
            table.add_section()
            table.add_row(f"[bold]{row.part}[/]")
        met = {None: "", True: "[green]yes[/]", False: "[bold red]no[/]"}[row.met]
        table.add_row(row.what, row.text, row.cases, row.target, met)
    console.print(table)
    for part, groups in failures.items():
        console.print(_failures(part, groups))
    missed = [row for row in rows if row.met is False]
    for row in missed:
        text = f"[bold red]missed[/] {row.part}: {row.what}: {row.text}, target {row.target}"
        console.print(text, highlight=False)
    if not any(row.met is not None for row in rows):
        console.print("nothing with a target was measured")
    elif not missed:
        console.print("every target measured here is met")


def _failures(part: str, groups: dict[str, dict[str, list[int]]]) -> Table:
    table = Table(title=f"{part}: false alarms on right labels, and faults that were missed")
    table.add_column("", no_wrap=True)
    columns = sorted({name for row in groups.values() for name in row}, key=_column)
    for name in columns:
        table.add_column(name, justify="right")
    for group, row in groups.items():
        cells = [row.get(name, [0, 0]) for name in columns]
        if any(bad for bad, _ in cells):
            table.add_row(group, *(f"{bad} of {of}" if bad else "" for bad, of in cells))
    return table


def _column(name: str) -> tuple[float, int]:
    kind, separation = name.split()
    return -float(separation), [str(each) for each in KINDS].index(kind)


def save(rows: Sequence[Row], failures: dict[str, Any], about: dict[str, Any], path: Path) -> None:
    """Write rows and failures as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = {
        "about": about,
        "rows": [
            asdict(row) | {"text": row.text, "cases": row.cases, "target": row.target}
            for row in rows
        ],
        "failures": failures,
    }
    path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
