"""What is said about a stream as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.view import Outcome
from icvi.watching.terminal.wording import count, duration, per_second, percent

_ENDED: dict[Outcome, str] = {
    "done": "",
    "interrupted": "interrupted after ",
    "failed": "failed after ",
}


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended.

    Parameters
    ----------
    outcome : {"done", "interrupted", "failed"}
        How.
    message : str, optional
        What else there is to say.
    seconds : float
        How long it took.
    before : int
        Samples of an earlier run that this one went on from.
    """

    outcome: Outcome
    message: str | None
    seconds: float
    before: int


def clusters(snapshot: Snapshot) -> list[str]:
    """How many there are, and what belongs to none."""
    noise = [] if snapshot.noise is None else [f"{percent(snapshot.noise)} noise"]
    return [count(snapshot.k, "cluster"), *noise]


def summary(snapshot: Snapshot, end: End) -> str:
    """What was done, in how much time."""
    done = snapshot.samples - end.before
    text = f"{_ENDED[end.outcome]}{count(snapshot.samples, 'sample')}"
    text += f", {done:,} of them" if end.before else ""
    text += f" in {duration(end.seconds)}"
    if done and end.seconds > 0.0:
        text += f" ({per_second(done / end.seconds)} per second)"
    return ", ".join([text, *clusters(snapshot)])


def last_cluster(snapshot: Snapshot, label: str | None) -> str:
    """When the last new cluster came; nothing before the first.

    Parameters
    ----------
    snapshot : Snapshot
        The stream.
    label : str, optional
        How to call that cluster, if its name is known.
    """
    if not snapshot.since:
        return ""
    ago = snapshot.samples - snapshot.since
    when = f"{count(ago, 'sample')} ago" if ago else "just now"
    if label is None:
        return f"last new cluster at sample {snapshot.since:,}, {when}"
    return f"cluster {label} founded at sample {snapshot.since:,}, {when}"


def left_out(snapshot: Snapshot) -> str:
    """How many rows could not be used, and how many were lost; nothing if all were read."""
    skipped = [f"{count(snapshot.skipped, 'row')} left out"] if snapshot.skipped else []
    lost = [f"{count(snapshot.lost, 'sample')} lost"] if snapshot.lost else []
    return ", ".join(skipped + lost)
