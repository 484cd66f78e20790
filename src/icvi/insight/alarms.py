r"""Alarms on a stream: advice that begins to hold, and advice that no longer does.

A cluster is looked at when it has got 25 samples, and again whenever it has grown by a share: is it
two, and is it a piece of another one? Looking again and again finds something by chance sooner or
later. So a cluster of n samples may err with a level of only :math:`\alpha / t^2`, where :math:`t =
1 + \ln(n / 50)`: looks while it grows from one size to e times that size see much the same samples
and count as one, and over all sizes, however large, levels add up to :math:`\alpha \pi^2 / 6`.

Advice that holds is withdrawn when the same test fails without this correction, and with some
slack: readings around a threshold do not raise one alarm after another. A split that stands is kept
without that test where a quick look agrees: on a stream of 60,000 samples in 62 clusters, 38 of
which should be split, looks take 2 seconds instead of 18. A merge that stands is kept where moments
agree, and the samples are looked at again when a cluster has grown fourfold.

Looks happen at round moments of the stream, and at all clusters together for which one is due by
then: what they have in common is computed once, and chunks are cut in few places.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

from icvi.insight.advice import (
    Action,
    Advice,
    Evidence,
    Key,
    Numbers,
    Strictness,
    merges,
    pairs,
    split,
)
from icvi.insight.doubts import FEWEST
from icvi.insight.quick_look import may_be_two
from icvi.insight.separation import DISTINCT, along_centers
from icvi.insight.split import LEVEL, may_split
from icvi.wording import short

Event = Literal["raised", "withdrawn"]

#: Samples after which a cluster is looked at for the first time.
FIRST = 25
#: Growth until a cluster is looked at again: if it may be two; if that is settled; if it also is
#: too small for the question, or so large that the samples that are kept hardly change.
_SOON, _LATER, _LATE = 1.25, 1.6, 2.0
_FEW, _MANY = 50, 256  # samples below which a cluster is small, and above which it is large
_RENEWED = 2000  # samples after which it is looked at again where old samples leave or fade
_MERGE_LEVEL = 0.01  # of looks at small clusters: alpha above
#: The same for splits, as far as the level of a single look allows. It is nominal: the test for a
#: valley errs far less often than its level says, because clusters with one peak are fullest in the
#: middle; see `LEVEL`.
_SPLIT_LEVEL = 0.5
#: Samples between two moments for looks, at most this share of the stream, or this many; and where
#: old samples leave or fade.
_SHARE, _STEP, _FORGETTING_STEP = 10, 1000, 20
#: How much of its samples a cluster must have got to be looked at together with others: 25 instead
#: of 77 moments in the first 100,000 samples of 20 clusters.
_NEARLY = 0.75
_CLEARLY = 0.5  # by how much clusters are apart that need no closer look
_SLACK = 0.1  # of a separation, before advice is withdrawn
_STILL_FULL, _STILL_SHARP = 0.55, 0.75  # a gap and a border, likewise

#: Parts of a rule's text.
_COMPARISON, _DURATION = re.compile(r" [<>]=? "), re.compile(r" for \d+$")


@dataclass(frozen=True)
class Alarm:
    """Advice or a rule of the user that has begun to hold, or no longer does.

    Attributes
    ----------
    sample : int
        How many samples had come.
    event : {"raised", "withdrawn"}
        Whether it has begun to hold.
    action : {"merge", "split", "alert"}
        What to do; "alert" for a rule of the user.
    clusters : tuple
        The labels: two to merge, or one to split; none for a rule.
    separation, low, high : float or None
        Separation of the two clusters, or of the two halves, with a 95 % interval; of an alarm
        that is withdrawn, as it was last found. None for a rule.
    rule : str or None
        The rule, such as ``"SIL < 0.5 for 100"``.
    value : float or None
        The reading that the rule is about; None where it is undefined.
    """

    sample: int
    event: Event
    action: Action | Literal["alert"]
    clusters: tuple[Hashable, ...] = ()
    separation: float | None = None
    low: float | None = None
    high: float | None = None
    rule: str | None = None
    value: float | None = None

    def __str__(self) -> str:
        if self.rule is not None:
            return f"sample {self.sample:,}: {self._rule_text(self.rule)}"
        what = f"{self.action} {' with '.join(map(short, self.clusters))}"
        if self.event == "withdrawn":
            return f"sample {self.sample:,}: no longer advised: {what}"
        interval = f"separated by {self.separation:.1f} ({self.low:.1f} to {self.high:.1f})"
        looks = "like pieces of one cluster" if self.action == "merge" else "like two clusters"
        return f"sample {self.sample:,}: {what}: {interval}, {looks}"

    def _rule_text(self, rule: str) -> str:
        condition = _DURATION.sub("", rule)
        name = _COMPARISON.split(condition)[0]
        value = f"({name} {'undefined' if self.value is None else f'{self.value:.4g}'})"
        if self.event == "withdrawn":
            return f"no longer: {condition} {value}"
        return f"{rule}{' samples' if rule != condition else ''} {value}"

    def to_dict(self) -> dict[str, Any]:
        """The alarm as a dictionary; clusters are a list."""
        return {**asdict(self), "clusters": list(self.clusters)}


class Watched(NamedTuple):
    """How many samples a cluster has got since the last look, of how many, and before it."""

    entered: int
    due: int
    total: int


_NEW = Watched(entered=0, due=FIRST, total=0)
_NEVER = 1 << 60  # samples


class Alarms:
    """When to look at clusters, and the advice that holds.

    Parameters
    ----------
    distinct : float
        Separation that two clusters must exceed.
    forgets : bool
        Whether old samples leave or fade.
    silent : bool
        Whether no look is ever due, so that no alarm is raised unless one asks for a look.
    """

    def __init__(
        self, distinct: float = DISTINCT, forgets: bool = False, silent: bool = False
    ) -> None:
        self.distinct, self.silent = distinct, silent
        self._longest = _RENEWED if forgets else None
        self._step = _FORGETTING_STEP if forgets else _STEP
        self.watched: dict[Hashable, Watched] = {}
        self.due: frozenset[Hashable] = frozenset()  # clusters to look at in the next moment
        self.standing: dict[Key, Advice] = {}

    # -- when to look ----------------------------------------------------------------------

    def remaining(self, label: Hashable) -> int:
        """How many more samples of a cluster make a look due."""
        watched = self.watched.get(label, _NEW)
        return _NEVER if self.silent else watched.due - watched.entered

    def moment(self, sample: int) -> int:
        """The first moment for looks that is not before a sample."""
        step = 0
        while step < (step := _step(sample, self._step)):
            sample = -(-sample // step) * step
        return sample

    def enter(self, label: Hashable, n: int = 1) -> None:
        """Count n more samples of a cluster."""
        entered, due, total = self.watched.get(label, _NEW)
        entered += n
        self.watched[label] = Watched(entered, due, total)
        if entered >= due and not self.silent and label not in self.due:
            self.due |= {label}

    def nearly_due(self) -> list[Hashable]:
        """Clusters for which a look is due now, or soon: many are looked at in one moment."""
        watched = self.watched.items()
        return [label for label, its in watched if its.entered >= _NEARLY * its.due]

    def find_due(self) -> None:
        """Find the clusters for which a look is due, from what is counted."""
        self.due = frozenset(label for label in self.watched if self.remaining(label) <= 0)

    def has_grown(self, label: Hashable) -> bool:
        """Whether a cluster has got samples since the last look, and has enough for one."""
        watched = self.watched.get(label, _NEW)
        return watched.entered > 0 and watched.total + watched.entered >= FIRST

    # -- looking ---------------------------------------------------------------------------

    def look(
        self,
        label: Hashable,
        evidence: Evidence,
        sample: int,
        labels: Collection[Hashable] | None = None,
        patient: bool = False,
        near: Numbers | None = None,
    ) -> list[Alarm]:
        """Look at a cluster: alarms for advice that it gives or takes back.

        Parameters
        ----------
        label : hashable
            The cluster.
        evidence : Evidence
            The cluster, and those that it may be a piece of.
        sample : int
            How many samples have come.
        labels : collection of hashable, optional
            All clusters; by default those of the evidence.
        patient : bool
            Whether to take the time to search for directions that the quick look does not find.
        near : ndarray of int, optional
            What `not_apart` has found for this cluster.
        """
        alive = set(evidence.labels if labels is None else labels)
        known = self.watched.get(label, _NEW)
        total, suspicious = known.total + known.entered, False
        # Advice about this cluster is given again, or not; about clusters that are gone, never.
        before = {
            key: advice
            for key, advice in self.standing.items()
            if label in key[1] or not key[1].issubset(alive)
        }
        standing = {key: self.standing[key] for key in self.standing if key not in before}
        alarms = []
        if label in alive:
            number = [*evidence.labels].index(label)
            suspicious = total >= _FEW and (
                may_be_two(evidence.samples[number], self.distinct)
                or (patient and may_split(evidence.samples[number], distinct=self.distinct))
            )
            if near is None:
                near = self.not_apart(evidence, [number], [np.arange(len(evidence.labels))])[0]
            again = _power(total) > _power(known.total)
            advised = self._advice(
                evidence, number, near, total, suspicious, patient, again, standing
            )
            for advice in advised:
                if advice.key in before:
                    standing[advice.key] = replace(advice, since=before.pop(advice.key).since)
                else:
                    standing[advice.key] = replace(advice, since=sample)
                    alarms.append(_alarm("raised", advice, sample))
        alarms += [_alarm("withdrawn", advice, sample) for advice in before.values()]
        watched = {each: its for each, its in self.watched.items() if each in alive}
        if label in alive:
            settled = ("split", frozenset([label])) in standing or not suspicious
            due = _next_due(total, not settled or bool(alarms), self._longest)
            watched[label] = Watched(0, due, total)
        self.watched, self.standing = watched, standing
        self.due = (self.due - {label}) & alive
        return alarms

    def not_apart(
        self, evidence: Evidence, numbers: Sequence[int], others: Sequence[Numbers]
    ) -> list[Numbers]:
        """For each of some clusters those among others that may be pieces of the same one.

        Most are clearly apart along the line through their centroids, without a look for the best
        direction.
        """
        large, near = evidence.groups.counts >= FEWEST, []
        for number, among in zip(numbers, others):
            near.append(among[large[among] & (large[number] & (among != number))])
        lengths = [len(each) for each in near]
        first, second = np.repeat(np.asarray(numbers), lengths), np.concatenate(near)
        apart = along_centers(evidence.groups, first, second) > self.distinct + _CLEARLY
        parts = np.split(apart, np.cumsum(lengths)[:-1])
        return [each[~part] for each, part in zip(near, parts)]

    def _advice(
        self,
        evidence: Evidence,
        number: int,
        near: Numbers,
        total: int,
        suspicious: bool,
        patient: bool,
        again: bool,
        others: Mapping[Key, Advice],
    ) -> Iterator[Advice]:
        """Advice about a cluster that holds; ``others`` stands about other clusters.

        ``suspicious`` is whether it may be two, ``patient`` whether to search for that thoroughly,
        ``again`` whether samples are to be looked at even where a merge stands.
        """
        share = (1.0 + math.log(max(1.0, total / _FEW))) ** -2
        sure = NormalDist().inv_cdf(1.0 - _MERGE_LEVEL * share)
        new = Strictness(self.distinct, min(LEVEL, _SPLIT_LEVEL * share), sure)
        label, labels = evidence.labels[number], evidence.labels
        advice = self.standing.get(("split", frozenset([label])))
        if advice is None and suspicious:
            advice = split(evidence, number, new, patient)
        elif advice is not None and not suspicious:
            advice = split(evidence, number, self._lenient("split"))
        if advice is not None:
            # A cluster that is two is wider than either, and looks close to what lies beside it.
            yield advice
            return
        near = near[[("split", frozenset([labels[j]])) not in others for j in near.tolist()]]
        old = np.array([self._stands("merge", label, labels[j]) for j in near.tolist()], bool)
        lenient = self._lenient("merge")
        if not again:
            lenient = lenient._replace(full=0.0)
        for chosen, strict in ((near[old], lenient), (near[~old], new)):
            if chosen.size:
                found = pairs(evidence.groups, np.full_like(chosen, number), chosen)
                yield from merges(evidence, found, strict)

    def _stands(self, action: Action, *labels: Hashable) -> bool:
        return (action, frozenset(labels)) in self.standing

    def _lenient(self, action: Action) -> Strictness:
        """What advice must meet that stands already."""
        slack = -_SLACK if action == "split" else _SLACK
        return Strictness(self.distinct + slack, full=_STILL_FULL, mixed=_STILL_SHARP)

    # -- changes by the caller -------------------------------------------------------------

    def forget(self, *labels: Hashable) -> None:
        """Clusters have been changed as a whole: advice about them is out of date."""
        keys = [key for key in self.standing if not key[1].isdisjoint(labels)]
        self.standing = {key: self.standing[key] for key in self.standing if key not in keys}

    def combine(self, other: Alarms) -> None:
        """Another stream's clusters have joined those of the same labels."""
        watched = dict(self.watched)
        for label, theirs in other.watched.items():
            ours = watched.get(label, Watched(0, 0, 0))
            entered, total = ours.entered + theirs.entered, ours.total + theirs.total
            watched[label] = Watched(entered, max(ours.due, theirs.due), total)
        self.watched, self.standing = watched, {**other.standing, **self.standing}
        self.find_due()

    # -- undoing ---------------------------------------------------------------------------

    def snapshot(self, labels: Iterable[Hashable]) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on, if only these clusters grow."""
        watched = self.watched
        return watched, {label: watched.get(label) for label in labels}, self.standing, self.due

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        self.watched, before, self.standing, self.due = saved
        for label, watched in before.items():
            if watched is not None:
                self.watched[label] = watched
            elif label in self.watched:
                del self.watched[label]


def _power(total: int) -> int:
    """One more whenever a number has grown fourfold."""
    return total.bit_length() // 2


def _step(sample: int, most: int) -> int:
    """Samples between two moments for looks: 1, 2, 5, 10, 20 and so on, as the stream grows."""
    step = max(1, min(sample // _SHARE, most))
    unit: int = 10 ** (len(str(step)) - 1)
    return unit * (5 if step >= 5 * unit else 2 if step >= 2 * unit else 1)


def _next_due(total: int, soon: bool, longest: int | None) -> int:
    """How many more samples a cluster must get until it is looked at again."""
    growth = _SOON if soon else _LATER if _FEW <= total < _MANY else _LATE
    due = max(1, math.ceil((growth - 1.0) * total))
    return due if longest is None else min(due, longest)


def _alarm(event: Event, advice: Advice, sample: int) -> Alarm:
    found = advice.separation, advice.low, advice.high
    return Alarm(sample, event, advice.action, advice.clusters, *found)
