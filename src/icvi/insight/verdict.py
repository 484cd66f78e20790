"""A verdict: what is known about a clustering, and the same in at most eight plain sentences."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from icvi.insight.advice import Advice
from icvi.insight.doubts import FEWEST, Doubts
from icvi.insight.reference import Level
from icvi.insight.separation import DISTINCT
from icvi.plots.notebook import Html, paragraphs, table, text
from icvi.wording import number, printable, short

Grade = Literal["distinct", "touching", "overlapping", "unknown"]

#: Separations from which on clusters are touching, and distinct.
TOUCHING, APART = 1.5, 2.2

_NAMED = 3  # clusters, or pairs of them, that a sentence names

_GRADES = {
    "distinct": "The {k} clusters are distinct: the closest two, {pair}, are separated by {S}.",
    "touching": "The {k} clusters touch: the closest two, {pair}, are separated by only {S}.",
    "overlapping": "Some of the {k} clusters overlap: {pair} are separated by only {S}.",
}


@dataclass(frozen=True)
class Weakest:
    """The cluster that is least separated from another one."""

    label: Hashable
    neighbour: Hashable
    separation: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """What is known about a clustering. ``print(verdict)`` says it in a few sentences.

    Attributes
    ----------
    grade : {"distinct", "touching", "overlapping", "unknown"}
        Of the two clusters that are closest to each other, among those large enough to judge.
    readings : dict from str to float
        The indices.
    reference : dict from str to Level
        Low, middle and high of what each index reads on data without clusters, cut into as many.
    advice : list of Advice
        What to merge and what to split, the clearest case first.
    undecided : list of tuple
        Pairs of clusters of which it cannot be told whether they are one or two: they are not
        distinct, and do not look like pieces of one cluster either.
    weakest : Weakest or None
        The weakest cluster; None where no two clusters can be compared.
    structureless : bool
        Data without clusters, cut into pieces, may look like this: every cluster has a neighbour
        from which it is not surely distinct.
    doubts : Doubts
        What cannot be told, and why.
    better, comparable : list of str
        Indices that read better than their reference, of those that have one.
    features : list of str or None
        Names of the features, where they have any.
    """

    grade: Grade
    n_samples: float
    n_clusters: int
    readings: dict[str, float]
    reference: dict[str, Level]
    advice: list[Advice]
    weakest: Weakest | None
    structureless: bool
    doubts: Doubts
    better: list[str] = field(default_factory=list)
    comparable: list[str] = field(default_factory=list)
    features: list[str] | None = None
    undecided: list[tuple[Hashable, Hashable]] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(sentences(self))

    def _repr_html_(self) -> str:
        grade = Html(f"<strong>{text(self.grade)}</strong>")
        rows = [
            [
                name,
                number(value),
                f"{number(self.reference[name].low)} to {number(self.reference[name].high)}",
                "better" if name in self.better else "no better",
            ]
            for name, value in self.readings.items()
            if name in self.reference
        ]
        head = ["index", "reading", "without clusters", "compared"]
        shown = table("Readings", head, rows) if rows else ""
        return f"<div>{grade}{paragraphs(sentences(self))}{shown}</div>"


def sentences(verdict: Verdict) -> list[str]:
    """How good, compared with what, the weakest cluster, what to do, what cannot be told."""
    return [*_how_good(verdict), *_compared(verdict), *_what_to_do(verdict), *_doubts(verdict)][:8]


def _how_good(v: Verdict) -> Iterator[str]:
    if v.n_clusters == 0:
        yield "There are no samples to judge."
    elif v.n_clusters == 1:
        yield "There is one cluster only, so there is nothing to compare it with."
    elif v.doubts.too_few:
        yield (
            f"Cannot tell how good the clustering is: {v.n_clusters:,} clusters for "
            f"{v.n_samples:,.0f} samples are nearly as many clusters as samples."
        )
    elif v.weakest is None:
        yield "Cannot tell how good the clustering is: too few clusters have enough samples."
    else:
        w = v.weakest
        pair = f"{short(w.label)} and {short(w.neighbour)}"
        if v.grade == "unknown":
            yield (
                f"Cannot tell whether the closest two clusters, {pair}, are distinct: their "
                f"separation is between {w.low:.1f} and {w.high:.1f}; more samples would tell."
            )
        else:
            yield _GRADES[v.grade].format(k=v.n_clusters, pair=pair, S=f"{w.separation:.1f}")
            yield (
                f"Pieces of one cluster stay below {DISTINCT:.1f}; above {APART} there is hardly "
                "anything in between."
            )
        if v.structureless:
            yield "Data without clusters, cut into pieces, may look like this."


def _compared(v: Verdict) -> Iterator[str]:
    if not v.comparable:
        return
    n, of = len(v.better), len(v.comparable)
    name = "SIL" if "SIL" in v.comparable else v.comparable[0]
    level = v.reference[name]
    if of == 1:
        how = f"{name} reads {'better' if n else 'no better'}"
    else:
        how = f"{'All' if n == of else 'None of' if n == 0 else f'{n} of'} {of} indices read better"
    yield (
        f"{how} than on data without clusters that are cut into {v.n_clusters} pieces "
        f"({name} {v.readings[name]:.3g}; without clusters {level.low:.3g} to {level.high:.3g})."
    )


def _what_to_do(v: Verdict) -> Iterator[str]:
    merges = [advice for advice in v.advice if advice.action == "merge"]
    splits = [advice for advice in v.advice if advice.action == "split"]
    if merges:
        pairs = [" with ".join(map(short, advice.clusters)) for advice in merges]
        yield f"Merge {_some(pairs, 'pairs')}: {_range(merges)}, like pieces of one cluster."
    if splits:
        names = [short(advice.clusters[0]) for advice in splits]
        looks = "it looks" if len(splits) == 1 else "each looks"
        yield f"Split {_some(names, 'clusters')}: {looks} like two clusters, {_range(splits)}."
    if v.undecided and not v.doubts.too_few:
        named = _some([" and ".join(map(short, pair)) for pair in v.undecided], "pairs", "; ")
        are = "are" if len(v.undecided) == 1 else "are each"
        yield f"Cannot tell whether {named} {are} one cluster or two."
    elif not v.advice and v.weakest is not None and not v.doubts.too_few:
        yield "There is nothing to merge and nothing to split."


def _doubts(v: Verdict) -> Iterator[str]:
    d = v.doubts
    if v.n_clusters == 0:
        return
    if d.small and not d.too_few:
        few = f"{len(d.small)} of {v.n_clusters} clusters" if len(d.small) > 1 else "one cluster"
        names = _listed([short(label) for label in d.small])
        yield f"Cannot tell about {few} with fewer than {FEWEST} samples ({names})."
    if d.dominant is not None:
        yield (
            f"Feature {_feature(v, d.dominant)} carries 99 % of the variance, so the others hardly "
            "count: scale the features if their units differ."
        )
    if d.constant:
        one = len(d.constant) == 1
        names = _listed([_feature(v, number) for number in d.constant])
        says = "says" if one else "say"
        yield f"Feature{'' if one else 's'} {names} never changed and {says} nothing."
    if d.wide:
        yield "Clusters have fewer samples than features, so separations are rough."


def _range(advice: Sequence[Advice]) -> str:
    if len(advice) == 1:
        only = advice[0]
        interval = f"95 % interval {only.low:.1f} to {only.high:.1f}"
        return f"separated by {only.separation:.1f} ({interval})"
    low, high = (f"{end(each.separation for each in advice):.1f}" for end in (min, max))
    return f"separated by {low}" + (f" to {high}" if high != low else "")


def _some(names: Sequence[str], what: str, comma: str = ", ") -> str:
    if len(names) > _NAMED + 1:
        return f"{comma.join(names[:_NAMED])} and {len(names) - _NAMED} more {what}"
    last = " and " if comma == ", " else comma
    return last.join([comma.join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _feature(v: Verdict, number: int) -> str:
    return str(number) if v.features is None else printable(v.features[number])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
