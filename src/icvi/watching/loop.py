"""The loop: samples from a source, labels, readings, outputs, and checkpoints in between."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from numpy.typing import NDArray

from icvi.saving.partition import part_of
from icvi.saving.registry import pack_tracker, unpack_tracker
from icvi.streams import Batch, Position, Source
from icvi.tracking.trace import Trace
from icvi.tracking.tracker import Tracker
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.cutting import cut
from icvi.watching.labellers import Labelled, Labeller
from icvi.watching.messages import described
from icvi.watching.step import Kept, Output, Step

_SHARE = 0.05  # of the run time that checkpoints may take


class Loop:
    """Runs samples from a source through a labeller and a tracker to the outputs.

    Parameters
    ----------
    source : Source
        Where samples come from.
    labeller : Labeller
        Assigns each sample to a cluster.
    tracker : Tracker
        Reads the indices.
    outputs : dict of str to Output
        Files and pages; checkpoints store the state of each under its name.
    checkpoint : Checkpoint, optional
        Where to save the state.
    every : int
        Read the indices after every m-th sample.
    first : int, optional
        Size of the first batch: the tracker learns the scaling of its prototypes from it.
    timed : bool
        Whether the tracker needs the times of samples.
    interval : float
        Minimum seconds between checkpoints.

    Attributes
    ----------
    seen : int
        Samples processed so far.
    resumed : int
        How many of them earlier runs have processed.
    waiting : callable
        Makes a context that the loop enters while it waits for samples; only inside it may the
        loop be interrupted at any point.
    """

    def __init__(
        self,
        source: Source,
        labeller: Labeller,
        tracker: Tracker,
        outputs: Mapping[str, Output],
        *,
        checkpoint: Checkpoint | None = None,
        every: int = 1,
        first: int | None = None,
        timed: bool = False,
        interval: float = 10.0,
    ) -> None:
        self.source, self.labeller, self.tracker, self.outputs = source, labeller, tracker, outputs
        self._checkpoint, self._every, self._first, self._timed = checkpoint, every, first, timed
        self._prototypes = any(index.on == "prototypes" for index in tracker.indices)
        self._interval = interval
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext
        self.seen = self.resumed = 0
        self._position: Position = {}
        self._committed: Position = {}
        self._consistent = True  # whether labeller, tracker and outputs have the same samples
        self._interrupted = False
        self._committed_at = time.monotonic()

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        return self._checkpoint is not None and self._checkpoint.begun

    def begin(self) -> None:
        """Resume from the checkpoint, or start from scratch."""
        resumes = self.resumes
        if self._checkpoint is not None and resumes:
            facts, arrays = self._checkpoint.read()
            if "seen" in facts:
                self._resume_whole(facts, arrays)
                return
        elif self._checkpoint is not None:
            for output in self.outputs.values():
                output.check_new()
            # From here on the outputs may replace files: if the process is killed after the next
            # lines have created them, the next run must know that they are its own.
            self._checkpoint.write(({}, {}))
        for output in self.outputs.values():
            output.begin(resumes)
        if self._checkpoint is not None:
            self._position = self._committed = self.source.start()
            self.commit()

    def steps(self) -> Iterator[Step]:
        """Process the samples, step by step."""
        batches = cut(self._batches(), self._batch_size, start=self.seen, position=self._position)
        # Commit the first step at once: the bytes read identify a file that is rotated later.
        first = not self.seen
        for batch in batches:
            yield self._step(batch)
            if first or time.monotonic() - self._committed_at >= self._interval:
                self.commit()
            first = False
        if self._interrupted:
            raise KeyboardInterrupt

    def commit(self) -> None:
        """Flush the outputs, write a checkpoint, then acknowledge the samples to the source."""
        if not self._consistent:
            return
        start = time.monotonic()
        for output in self.outputs.values():
            output.flush()
        if self._checkpoint is not None:
            self._checkpoint.write(self._state())
        if self._position and self._position != self._committed:
            self.source.commit(self._position)
            self._committed = self._position
        self._committed_at = time.monotonic()
        # Write a large state less often.
        self._interval = max(self._interval, (self._committed_at - start) / _SHARE)

    def finish(self) -> None:
        """Commit, and complete all outputs, even where one fails."""
        errors: list[BaseException] = []
        for complete in (self.commit, *(output.finish for output in self.outputs.values())):
            try:
                complete()
            except BaseException as error:
                errors.append(error)
        if errors:
            # Raise an interrupt, or else the first error; the others become notes of it.
            first, *others = sorted(errors, key=lambda error: isinstance(error, Exception))
            for text in dict.fromkeys(map(described, others)):
                if text != described(first):
                    first.add_note(text)
            raise first

    def close(self) -> None:
        """Close the outputs, the source and the checkpoint."""
        with contextlib.ExitStack() as stack:
            if self._checkpoint is not None:
                stack.callback(self._checkpoint.close)
            stack.callback(self.source.close)
            for output in self.outputs.values():
                stack.callback(output.close)

    # -- inside ----------------------------------------------------------------------------

    def _batches(self) -> Iterator[Batch]:
        batches = iter(self.source)
        while True:
            try:
                with self.waiting():
                    batch = next(batches, None)
            except KeyboardInterrupt:
                if self._checkpoint is not None:
                    raise
                # No later run can resume: process the samples that wait for a full batch now.
                self._interrupted = True
                return
            if batch is None:
                return
            if batch.first <= self.seen:
                self.labeller.expect(self.source.columns)
            yield batch

    def _batch_size(self, seen: int) -> int | None:
        """The size of the next batch, where the result depends on it."""
        if self.labeller.chunk is not None:
            return self.labeller.chunk
        if seen:
            return None
        return max(self._first or 0, self.labeller.first or 0) or None

    def _step(self, batch: Batch) -> Step:
        self._consistent = False
        labelled = self._label(batch)
        trace = self._track(batch, labelled)
        step = Step(batch.X, labelled.labels, batch.time, batch.first, trace, self.tracker)
        for output in self.outputs.values():
            output.take(step)
        self.seen, self._position = batch.stop, batch.position
        self._consistent = True
        return step

    def _label(self, batch: Batch) -> Labelled:
        try:
            return self.labeller.label(batch)
        except (ImportError, TypeError, ValueError, OSError, RuntimeError):
            raise
        except Exception as error:  # of a user's own clusterer
            raise RuntimeError(
                f"{self.labeller.name} failed at samples {batch.first + 1} to {batch.stop} of the "
                f"stream: {error!r}"
            ) from error

    def _track(self, batch: Batch, labelled: Labelled) -> Trace:
        try:
            return self.tracker.update_many(
                batch.X,
                labelled.labels,
                winners=labelled.winners if self._prototypes else None,
                time=batch.time if self._timed else None,
                every=self._every,
            )
        except ValueError as error:
            error.add_note(f"row 0 of this batch is sample {batch.first + 1:,}")
            raise

    def _state(self) -> Kept:
        tracker, arrays = pack_tracker(self.tracker)
        packed = {f"tracker.{name}": array for name, array in arrays.items()}
        outputs = {}
        for name, output in self.outputs.items():
            outputs[name], arrays = output.keep()
            packed |= {f"{name}.{part}": array for part, array in arrays.items()}
        labeller, arrays = self.labeller.keep()
        packed |= {f"labeller.{name}": array for name, array in arrays.items()}
        facts = {"seen": self.seen, "position": self._position, "tracker": tracker}
        return {**facts, "labeller": labeller, "outputs": outputs}, packed

    def _resume_whole(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        try:
            self._resume(facts, arrays)
        except (KeyError, IndexError, AttributeError, AssertionError) as error:
            raise ValueError(
                f"the checkpoint is incomplete ({error!r}); give another directory, or "
                f"overwrite=True (--overwrite) to start from scratch"
            ) from error

    def _resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        position = facts["position"]
        if position:
            with self.waiting():  # a pipe has to repeat what was read
                self._seek(position)
        own = {index.name: index for index in self.tracker.indices if index.own}
        self.tracker = unpack_tracker(
            facts["tracker"], part_of(arrays, "tracker."), own, "the checkpoint"
        )
        self.labeller.resume(*_labeller_state(facts, arrays))
        for name, output in self.outputs.items():
            output.resume(facts["outputs"][name], part_of(arrays, f"{name}."))
        self.seen = self.resumed = facts["seen"]
        self._position = self._committed = position

    def _seek(self, position: Position) -> None:
        try:
            self.source.seek(position)
        except ValueError as error:
            error.add_note(
                "the checkpoint belongs to another stream, or this one was changed; give another "
                "directory, or overwrite=True (--overwrite) to start from scratch"
            )
            raise


def _labeller_state(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Kept:
    """The state of a labeller; in checkpoints of earlier versions a pickle, or nothing."""
    if "labeller" in facts:
        return facts["labeller"], part_of(arrays, "labeller.")
    return {}, {"pickle": arrays["labeller"]} if len(arrays["labeller"]) else {}
