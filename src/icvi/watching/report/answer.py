"""The answer of the page: the grade, what to do, and the alarms on the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from icvi.insight.advice import Advice
from icvi.insight.alarms import Alarm
from icvi.insight.verdict import Grade, sentences
from icvi.watching.report.page_data import PageData
from icvi.wording import fixed, number, page_text, plural, short

Compared = Literal["better than without clusters", "no better", "cannot tell"]

_GRADES: dict[Grade, str] = {
    "distinct": "distinct",
    "touching": "touching",
    "overlapping": "overlapping",
    "unknown": "cannot tell",
}


@dataclass(frozen=True)
class AdviceRow:
    """Advice, or an alarm, as a row of a table.

    Parameters
    ----------
    what : str
        What to do with which clusters.
    sample : int or None
        Since which sample it holds, or when the alarm came.
    separation : str
        Separation of the two clusters, or of the two halves, with its interval.
    event : str
        Whether an alarm was raised or withdrawn.
    """

    what: str
    sample: int | None
    separation: str
    event: str = ""


class Answer:
    """What a verdict and the alarms say, as the page shows it.

    Attributes
    ----------
    grade : str
        The grade in words; empty where there is no verdict.
    kind : str
        The grade as a class of the style sheet.
    to_do : list of str
        How many clusters to merge and to split.
    sentences : list of str
        The verdict.
    advice, alarms : list of AdviceRow
        What to do now, and the newest alarms, the newest first.
    """

    def __init__(self, data: PageData) -> None:
        verdict, self._data = data.verdict, data
        grade: Grade = "unknown" if verdict is None else verdict.grade
        self.kind, self.grade = grade, "" if verdict is None else _GRADES[grade]
        self.sentences = [] if verdict is None else sentences(verdict)
        advised = [] if verdict is None else verdict.advice
        actions = [advice.action for advice in advised]
        self.to_do = [
            f"{plural(actions.count('merge'), 'pair')} to merge" if "merge" in actions else "",
            f"{plural(actions.count('split'), 'cluster')} to split" if "split" in actions else "",
        ]
        self.advice = [
            AdviceRow(self._what(advice), advice.since, _separation(advice)) for advice in advised
        ]
        self.alarms = self.rows(reversed(data.history.alarms))
        self.n_alarms = data.history.n_alarms

    def rows(self, alarms: Iterable[Alarm]) -> list[AdviceRow]:
        """Alarms as rows of a table."""
        return [
            AdviceRow(self._what(alarm), alarm.sample, _separation(alarm), alarm.event)
            for alarm in alarms
        ]

    def _what(self, about: Advice | Alarm) -> str:
        if isinstance(about, Alarm) and about.rule is not None:
            return page_text(about.rule)
        return f"{about.action} {' with '.join(self._names(about.clusters))}"

    def _names(self, labels: Iterable[Hashable]) -> Iterable[str]:
        """Names as everywhere on the page; a cluster that is forgotten has none."""
        names = self._data.names
        return (names.get(label) or page_text(short(label)) for label in labels)


def compared(data: PageData, name: str) -> Compared:
    """How the reading of an index compares with data without clusters."""
    if data.verdict is None or name not in data.verdict.comparable:
        return "cannot tell"
    return "better than without clusters" if name in data.verdict.better else "no better"


def _separation(about: Advice | Alarm) -> str:
    if isinstance(about, Alarm) and about.rule is not None:
        return "–" if about.value is None else f"reads {number(about.value)}"
    return f"{fixed(about.separation, 1)} ({fixed(about.low, 1)} to {fixed(about.high, 1)})"
