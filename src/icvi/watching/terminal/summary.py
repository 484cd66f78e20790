"""Sentences about the stream as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from icvi.watching.terminal.numbers import duration, per_second
from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.view import Outcome
from icvi.wording import percent, plural

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
        Whether the stream ended, a user stopped it, or an error did.
    message : str, optional
        Text below the table.
    seconds : float
        Duration of the run.
    before : int
        Samples of earlier runs that this one resumed.
    """

    outcome: Outcome
    message: str | None
    seconds: float
    before: int


def clusters(snapshot: Snapshot) -> list[str]:
    """How many clusters there are, and the share of noise."""
    noise = [] if snapshot.noise is None else [f"{percent(snapshot.noise)} noise"]
    return [plural(snapshot.k, "cluster"), *noise]


def summary(snapshot: Snapshot, end: End) -> str:
    """How many samples were processed, how fast, and how many clusters there are."""
    return ", ".join([processed(snapshot.samples, end), *clusters(snapshot)])


def processed(samples: int, end: End) -> str:
    """How many samples were processed, and how fast."""
    done = samples - end.before
    text = f"{_ENDED[end.outcome]}{plural(samples, 'sample')}"
    text += f", {done:,} of them" if end.before else ""
    text += f" in {duration(end.seconds)}"
    if done and end.seconds > 0.0:
        text += f" ({per_second(done / end.seconds)} per second)"
    return text


def last_cluster(snapshot: Snapshot, label: str | None) -> str:
    """When the last new cluster was created; nothing before the first.

    Parameters
    ----------
    snapshot : Snapshot
        The stream.
    label : str, optional
        Label of that cluster, if it is known.
    """
    if not snapshot.last_created:
        return ""
    ago = snapshot.samples - snapshot.last_created
    when = f"{plural(ago, 'sample')} ago" if ago else "just now"
    if label is None:
        return f"last new cluster at sample {snapshot.last_created:,}, {when}"
    return f"cluster {label} created at sample {snapshot.last_created:,}, {when}"


def skipped_and_lost(snapshot: Snapshot | Any) -> str:
    """How many rows were skipped and how many samples lost; nothing if all were read."""
    skipped = [f"{plural(snapshot.skipped, 'row')} skipped"] if snapshot.skipped else []
    lost = [f"{plural(snapshot.lost, 'sample')} lost"] if snapshot.lost else []
    return ", ".join(skipped + lost)
