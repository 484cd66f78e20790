"""The loop of a comparison: every batch of a stream goes to all candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.insight.alarms import Alarm
from icvi.saving.parts import arrays_of
from icvi.streams import Batch, Source
from icvi.tracking.trace import Trace, joined
from icvi.tracking.tracker import Tracker
from icvi.watching.alarms.rules import Rules
from icvi.watching.labellers import Labelled, Labeller
from icvi.watching.loop import Lane, Loop
from icvi.watching.step import Kept, Output, Step


class AllLabellers(Labeller):
    """The labellers of all candidates, as far as a loop needs to know them as one.

    Batches have the size that some of them need: all have the same one, or do not care.

    Parameters
    ----------
    labellers : dict of str to Labeller
        Each by the name of its candidate.
    """

    model = None
    #: After an interrupt, some candidates have the samples and others do not.
    learns = True

    def __init__(self, labellers: Mapping[str, Labeller]) -> None:
        self._all = labellers
        self.name = f"{len(labellers)} candidates"
        self.chunk = max((each.chunk or 0 for each in labellers.values()), default=0) or None

    @property
    def first(self) -> int | None:
        """The size of the first batch; None where it matters to none."""
        return max((each.first or 0 for each in self._all.values()), default=0) or None

    @property
    def pickles(self) -> bool:
        """Whether any is kept as a pickle."""
        return any(each.pickles for each in self._all.values())

    @property
    def warnings(self) -> list[str]:
        """The warnings of all; those that are the same once."""
        return self._merged({name: each.warnings for name, each in self._all.items()})

    @property
    def notes(self) -> list[str]:
        """The notes of all; those that are the same once."""
        return self._merged({name: each.notes for name, each in self._all.items()})

    def news(self) -> list[str]:
        """The news of all; those that are the same once."""
        return self._merged({name: each.news() for name, each in self._all.items()})

    def questions(self) -> list[str]:
        """The questions of all; those that are the same once."""
        return self._merged({name: each.questions() for name, each in self._all.items()})

    def expect(self, columns: Sequence[str]) -> None:
        """Take the names of the features."""
        for name, each in self._all.items():
            with _named(name):
                each.expect(columns)

    def label(self, batch: Batch) -> Labelled:
        """Not possible: every candidate has labels of its own."""
        raise NotImplementedError(f"{self.name} label {len(batch)} samples each")

    def _merged(self, texts: Mapping[str, Sequence[str]]) -> list[str]:
        """What candidates say; each with its name, unless all say the same."""
        who: dict[str, list[str]] = {}
        for name, several in texts.items():
            for text in several:
                who.setdefault(text, []).append(name)
        return [
            text if len(names) == len(texts) else f"{', '.join(names)}: {text}"
            for text, names in who.items()
        ]


class ComparingLoop(Loop):
    """A loop with several lanes: all of them get the same samples.

    Parameters
    ----------
    source : Source
        Where samples come from.
    lanes : dict of str to Lane
        The candidates.
    outputs : dict of str to Output
        Files and curves.
    **options
        As in `Loop`.
    """

    def __init__(
        self,
        source: Source,
        lanes: Mapping[str, Lane],
        outputs: Mapping[str, Output],
        **options: Any,
    ) -> None:
        first = next(iter(lanes.values()))
        names = [index.name for index in first.tracker.indices]
        together = AllLabellers({name: lane.labeller for name, lane in lanes.items()})
        super().__init__(
            source, together, first.tracker, outputs, rules=Rules((), names), **options
        )
        self.lanes = lanes

    def _cluster(self, batch: Batch) -> tuple[Batch, Any]:
        found = {}
        for name, lane in self.lanes.items():
            with _named(name):
                found[name] = _label_all(lane, batch)
        return batch, found

    def _made(self, batch: Batch, found: Any) -> Step:
        steps = {name: lane.step(batch, *found[name]) for name, lane in self.lanes.items()}
        return replace(next(iter(steps.values())), candidates=steps)

    def _without_samples(self, tracker: Tracker, alarms: list[Alarm]) -> Step:
        step = super()._without_samples(tracker, alarms)
        return replace(step, candidates=dict.fromkeys(self.lanes, step))

    def _last_look(self) -> None:
        """Candidates raise no alarms."""

    def _keep_clusters(self) -> Kept:
        facts: dict[str, Any] = {}
        packed: dict[str, NDArray[Any]] = {}
        for number, (name, lane) in enumerate(self.lanes.items()):
            with _named(name):
                facts[name], arrays = lane.keep()
            packed |= {f"lane{number}.{part}": array for part, array in arrays.items()}
        return {"lanes": facts}, packed

    def _resume_clusters(
        self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        for number, (name, lane) in enumerate(self.lanes.items()):
            with _named(name):
                lane.resume(facts["lanes"][name], arrays_of(f"lane{number}", arrays))


def _label_all(lane: Lane, batch: Batch) -> tuple[Labelled, Trace]:
    """Label all samples of a batch and read them, also where a labeller stops at every merge."""
    parts: list[tuple[Labelled, Trace]] = []
    rest = batch
    while len(rest):
        labelled = lane.label(rest)
        n = len(labelled.labels)
        parts.append((labelled, lane.track(rest.slice(0, n), labelled)))
        rest = rest.slice(n)
    if len(parts) == 1:
        return parts[0]
    labels = np.concatenate([labelled.labels for labelled, _ in parts])
    return Labelled(labels), joined([trace for _, trace in parts], [])


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Say of which candidate an error is."""
    try:
        yield
    except (ImportError, TypeError, ValueError, OSError, RuntimeError) as error:
        error.add_note(f"in the candidate {name}")
        raise
