"""What the server asks a stream."""

from __future__ import annotations

from typing import Protocol

from icvi.watching.live.hub import Hub
from icvi.watching.live.snapshot import Snapshot
from icvi.watching.report.page_data import Measure, RunInfo


class Served(Protocol):
    """A stream that is served; `icvi.watching.live.recording.Live` is one."""

    @property
    def hub(self) -> Hub:
        """What viewers get."""

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot; None before the first."""

    @property
    def run(self) -> RunInfo:
        """Facts about the run."""

    @property
    def measures(self) -> list[Measure]:
        """What is read, in the order of the columns."""

    @property
    def lag(self) -> float:
        """Seconds since the loop was last seen to work; 0 while it waits for samples."""

    @property
    def began(self) -> float:
        """When it was opened: Unix time."""

    @property
    def last_sample(self) -> float | None:
        """When the last samples came: Unix time."""

    @property
    def interval(self) -> float | None:
        """Seconds between checkpoints; None where there are none."""

    @property
    def metrics_clusters(self) -> int:
        """Clusters with metrics of their own."""

    def checkpoint(self) -> float | None:
        """When the last checkpoint was written: Unix time."""
