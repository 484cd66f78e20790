"""The result of a comparison in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from icvi.comparing.result import Result
from icvi.comparing.votes import SUMS, WEIGH_ALL, Sure, Votes
from icvi.insight.verdict import Verdict
from icvi.insight.verdict import sentences as verdict_sentences
from icvi.wording import listed, plural, printable

_NAMED = 4  # candidates that a sentence names
_SURE: dict[Sure, str] = {
    "clear": "The choice is clear",
    "likely": "The choice is likely, not clear",
    "open": "The choice is open",
}


def sentences(comparison: Result, verdict: Verdict | None = None) -> list[str]:
    """Which candidate, by which indices, how sure, and what the verdict says about it.

    Parameters
    ----------
    comparison : Result
        The result.
    verdict : Verdict, optional
        The verdict on the best candidate.
    """
    votes, names = comparison.counted, comparison.names
    if votes.best is None:
        return [*_nothing(comparison), *_silent(comparison.silent)]
    first = [_which(comparison, votes), *_equals(votes, names), _how_sure(comparison, votes)]
    return [*first, *_truth(comparison), *_silent(comparison.silent), *_judged(comparison, verdict)]


def _nothing(comparison: Result) -> Iterator[str]:
    most = max(comparison.clusters, default=0)
    if not comparison.seen:
        yield "There are no samples to compare the candidates on."
    elif most < 2:
        yield (
            f"None of {plural(len(comparison.names), 'candidate')} has found two clusters, so "
            "there is nothing that an index could compare."
        )
    else:
        yield "No index that can compare the candidates is defined for any of them."


def _which(comparison: Result, votes: Votes) -> str:
    assert votes.best is not None
    best = votes.best
    by = comparison.preferring(best)
    of = len(comparison.names)
    clusters = plural(comparison.clusters[best], "cluster")
    front = f"{printable(comparison.names[best])} ({clusters})"
    prefer = "prefers" if votes.voting == 1 else "prefer"
    count = "all" if len(by) == votes.voting > 1 else f"{len(by)} of"
    if votes.voting == 1:
        count = "the only voting index"
        return f"{front} is the best of {plural(of, 'candidate')}: {by[0]}, {count}, {prefer} it."
    of_them = "both" if len(by) == votes.voting == 2 else f"{count} {votes.voting}"
    how = f"{of_them} voting indices {prefer} it ({', '.join(by)})"
    return f"{front} is the best of {plural(of, 'candidate')}: {how}."


def _equals(votes: Votes, names: Sequence[str]) -> Iterator[str]:
    if votes.equals:
        some = [printable(names[i]) for i in votes.equals[:_NAMED]]
        more = len(votes.equals) - len(some)
        some += [f"{more} more"] if more else []
        reads = "reads" if len(votes.equals) == 1 else "read"
        yield f"{listed(some)} {reads} the same."


def _why(comparison: Result, votes: Votes) -> str:
    """Who of the indices that weigh all clusters prefers the best."""
    if not votes.weighing:
        return ": no voting index weighs all clusters"
    weigh = [
        index.name
        for index, marked in zip(comparison.indices, votes.marked.T)
        if index.family in WEIGH_ALL and marked.any() and index.name not in comparison.silent
    ]
    if len(weigh) == 1:
        prefers = "prefers it" if votes.agreeing else "prefers another"
        return f": {weigh[0]}, the only voting index that weighs all clusters, {prefers}"
    count = {votes.weighing: "all prefer", 0: "none prefers", 1: "one prefers"}
    prefer = count.get(votes.agreeing, f"{votes.agreeing} prefer")
    return f": of {listed(weigh)}, which weigh all clusters, {prefer} it"


def _how_sure(comparison: Result, votes: Votes) -> str:
    text = f"{_SURE[votes.sure]}{_why(comparison, votes)}"
    if votes.next is not None:
        n = int(votes.counts[votes.next])
        text += f"; next is {printable(comparison.names[votes.next])} with {plural(n, 'vote')}"
        text += f" ({', '.join(comparison.preferring(votes.next))})"
    elif len(comparison.names) > 1 + len(votes.equals):
        text += "; no other has a vote"
    since = comparison.since
    if since is not None and since > 1:
        text += f". It has led since sample {since:,} of {comparison.seen:,}"
    elif since is not None and comparison.seen > 1:
        text += ". It has led from the beginning"
    return f"{text}."


def _truth(comparison: Result) -> Iterator[str]:
    found = comparison.agreement
    if not found or comparison.best is None:
        return
    best = max(found, key=lambda name: found[name]["ARI"])
    here = found[comparison.best]["ARI"]
    text = f"Its agreement with the known classes is ARI {here:.3g}"
    if found[best]["ARI"] > here:
        yield f"{text}; the highest of all is that of {printable(best)}, {found[best]['ARI']:.3g}."
    else:
        yield f"{text}, the highest of all."


def _silent(silent: Mapping[str, str]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for name, why in silent.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        one = len(names) == 1
        if why == SUMS:
            are = "it is a sum" if one else "they are sums"
            grow = "grows" if one else "grow"
            text = f"{are} over pairs of clusters, which {grow} with their number"
        else:
            text = f"it {why}"
        yield f"{listed(names)} {'does' if one else 'do'} not vote: {text}."


def _judged(comparison: Result, verdict: Verdict | None) -> Iterator[str]:
    if verdict is None or comparison.best is None:
        return
    first, *rest = verdict_sentences(verdict)
    yield f"The verdict on {printable(comparison.best)}: {first}"
    yield from rest
