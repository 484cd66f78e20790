"""The loop: samples from a source, labels, readings, outputs, and now and then a checkpoint."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from numpy.typing import NDArray

from icvi.saving.parts import Part, arrays_of
from icvi.streams import Batch, Position, Source
from icvi.tracking.saved import tracker as saved_tracker
from icvi.tracking.trace import Trace
from icvi.tracking.tracker import Tracker
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.cutting import cut
from icvi.watching.labellers import Labelled, Labeller
from icvi.watching.messages import said
from icvi.watching.step import Kept, Output, Step

_SHARE = 0.05  # of the time that checkpoints may take


class Loop:
    """Joins a source, a labeller, a tracker and outputs.

    Parameters
    ----------
    source : Source
        Where samples come from.
    labeller : Labeller
        Who says which cluster a sample belongs to.
    tracker : Tracker
        What reads the indices.
    outputs : dict of str to Output
        What is made of the readings; the names tell them apart in a checkpoint.
    checkpoint : Checkpoint, optional
        Where to write down how to go on.
    every : int
        Read after every m-th sample.
    first : int, optional
        Samples that must come at once at the beginning: the tracker learns the scaling of its
        prototypes from them.
    timed : bool
        Whether the tracker wants the times of samples.
    interval : float
        Seconds between checkpoints, at least.

    Attributes
    ----------
    seen : int
        Samples that have been dealt with.
    resumed : int
        How many of them were before this process began.
    waiting : callable
        Makes a context that is entered while the next samples are waited for, and left when they
        are there: what interrupts the loop may do so within.
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
        self._whole = True  # whether all parts have dealt with the same samples
        self._interrupted = False
        self._settled_at = time.monotonic()

    @property
    def goes_on(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return self._checkpoint is not None and self._checkpoint.begun

    def begin(self) -> None:
        """Go on from the checkpoint, or start anew."""
        again = self.goes_on
        if self._checkpoint is not None and again:
            facts, arrays = self._checkpoint.read()
            if "seen" in facts:
                self._resume_whole(facts, arrays)
                return
        elif self._checkpoint is not None:
            for output in self.outputs.values():
                output.check_new()
            # From here on the files are ours: killed before the next line, they could be there.
            self._checkpoint.write(({}, {}))
        for output in self.outputs.values():
            output.begin(again)
        if self._checkpoint is not None:
            self._position = self._committed = self.source.start()
            self.settle()

    def steps(self) -> Iterator[Step]:
        """Deal with the samples, step by step."""
        batches = cut(self._batches(), self._wish, start=self.seen, position=self._position)
        # The first step is settled at once: a rotated file is recognised by what was read of it.
        first = not self.seen
        for batch in batches:
            yield self._step(batch)
            if first or time.monotonic() - self._settled_at >= self._interval:
                self.settle()
            first = False
        if self._interrupted:
            raise KeyboardInterrupt

    def settle(self) -> None:
        """Have everything on the disk, then tell the source that it is dealt with."""
        if not self._whole:
            return
        start = time.monotonic()
        for output in self.outputs.values():
            output.flush()
        if self._checkpoint is not None:
            self._checkpoint.write(self._kept())
        if self._position and self._position != self._committed:
            self.source.commit(self._position)
            self._committed = self._position
        self._settled_at = time.monotonic()
        # A large state is written less often.
        self._interval = max(self._interval, (self._settled_at - start) / _SHARE)

    def finish(self) -> None:
        """Settle, and leave complete outputs behind: all of them, even where one fails."""
        errors: list[BaseException] = []
        for complete in (self.settle, *(output.finish for output in self.outputs.values())):
            try:
                complete()
            except BaseException as error:
                errors.append(error)
        if errors:
            # An interrupt comes first, then what went wrong first; the others are notes of it.
            first, *others = sorted(errors, key=lambda error: isinstance(error, Exception))
            for text in dict.fromkeys(map(said, others)):
                if text != said(first):
                    first.add_note(text)
            raise first

    def close(self) -> None:
        """Let go of everything."""
        with contextlib.ExitStack() as all_of_them:
            if self._checkpoint is not None:
                all_of_them.callback(self._checkpoint.close)
            all_of_them.callback(self.source.close)
            for output in self.outputs.values():
                all_of_them.callback(output.close)

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
                # Nobody can go on from here: samples that wait for more of them are dealt with now.
                self._interrupted = True
                return
            if batch is None:
                return
            if batch.first <= self.seen:
                self.labeller.expect(self.source.columns)
            yield batch

    def _wish(self, seen: int) -> int | None:
        """How many samples must be dealt with at once, for the outcome not to be chance."""
        if self.labeller.chunk is not None:
            return self.labeller.chunk
        if seen:
            return None
        return max(self._first or 0, self.labeller.first or 0) or None

    def _step(self, batch: Batch) -> Step:
        self._whole = False
        labelled = self._label(batch)
        trace = self._track(batch, labelled)
        step = Step(batch.X, labelled.labels, batch.time, batch.first, trace, self.tracker)
        for output in self.outputs.values():
            output.take(step)
        self.seen, self._position = batch.stop, batch.position
        self._whole = True
        return step

    def _label(self, batch: Batch) -> Labelled:
        try:
            return self.labeller.label(batch)
        except (ImportError, TypeError, ValueError, OSError, RuntimeError):
            raise
        except Exception as error:  # of somebody's own clusterer
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
            error.add_note(f"sample 0 of these is sample {batch.first + 1:,} of the stream")
            raise

    def _kept(self) -> Kept:
        tracker, arrays = saved_tracker.pack(self.tracker)
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
                f"the checkpoint lacks something that every checkpoint of this watch has "
                f"({error!r}); give another folder, or overwrite=True (--overwrite) to start from "
                f"scratch"
            ) from error

    def _resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        position = facts["position"]
        if position:
            with self.waiting():  # a pipe has to bring again what was read
                self._seek(position)
        own = [index for index in self.tracker.indices if index.own]
        part = Part(facts["tracker"], arrays_of("tracker", arrays), "the checkpoint")
        self.tracker = saved_tracker.unpack(part, own)
        self.labeller.resume(*_kept_labeller(facts, arrays))
        for name, output in self.outputs.items():
            output.resume(facts["outputs"][name], arrays_of(name, arrays))
        self.seen = self.resumed = facts["seen"]
        self._position = self._committed = position

    def _seek(self, position: Position) -> None:
        try:
            self.source.seek(position)
        except ValueError as error:
            error.add_note(
                "the checkpoint is of another stream, or this one was changed; give another "
                "folder, or overwrite=True (--overwrite) to start anew"
            )
            raise


def _kept_labeller(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Kept:
    """What a labeller kept; in checkpoints of earlier versions it is a pickle, or nothing."""
    if "labeller" in facts:
        return facts["labeller"], arrays_of("labeller", arrays)
    return {}, {"pickle": arrays["labeller"]} if len(arrays["labeller"]) else {}
