"""The loop: samples from a source, labels, readings, outputs, and checkpoints in between."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.saving.parts import Part, arrays_of
from icvi.streams import Batch, Position, Source
from icvi.tracking.saved import tracker as saved_tracker
from icvi.tracking.trace import Trace
from icvi.tracking.tracker import Tracker
from icvi.watching.alarms.rules import Rules
from icvi.watching.alarms.sending import Sending, warn
from icvi.watching.beginning import Beginning, read_ahead
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.first_look import FirstLook
from icvi.watching.labellers import Labelled, Labeller
from icvi.watching.messages import described
from icvi.watching.rebatching import Rebatched, rebatch
from icvi.watching.scaling import FeatureScaling
from icvi.watching.step import Kept, Output, Step
from icvi.watching.step_size import STEP, StepSize
from icvi.watching.truth import Agreed, Agreement, KnownClasses

_SHARE = 0.05  # of the run time that checkpoints may take
#: Outputs that checkpoints of earlier versions lack: such a watch resumes without them.
_LATER = ("alarms", "alarm_log")
#: So many classes are refused, unless every second sample has one that came before.
_MOST_CLASSES = 5000
_END: Any = object()  # of a source


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
    rules : Rules
        Rules of the user, which raise alarms.
    sending : Sending, optional
        Who is told about alarms.
    checkpoint : Checkpoint, optional
        Where to save the state.
    every : int
        Read the indices after every m-th sample.
    first : int
        Samples that must come together at first, whatever the labeller; 0 if any number will do.
    beginning : Beginning
        The size of the first batch, where the result depends on it.
    agreement : Agreement, optional
        Compares the clusters with known classes.
    classes : KnownClasses, optional
        The classes, where they are not in the source.
    timed : bool
        Whether the tracker needs the times of samples.
    interval : float
        Minimum seconds between checkpoints.
    scaling : FeatureScaling, optional
        How features are scaled before anything sees them.

    Attributes
    ----------
    seen : int
        Samples processed so far.
    resumed : int
        How many of them earlier runs have processed.
    began : int or None
        Samples of the first step, where they were fewer than a full batch on request.
    waiting : callable
        Makes a context that the loop enters while it waits for samples; only inside it may the
        loop be interrupted at any point.
    working : callable
        Makes a context that the loop enters while samples are labelled and read. If it is
        interrupted there, these samples are as if they had not come, unless a clusterer has learnt
        them: then the last checkpoint counts.
    warn : callable
        Called with the text of a warning that cannot wait for the end.
    """

    def __init__(
        self,
        source: Source,
        labeller: Labeller,
        tracker: Tracker,
        outputs: Mapping[str, Output],
        *,
        rules: Rules,
        sending: Sending | None = None,
        checkpoint: Checkpoint | None = None,
        every: int = 1,
        first: int = 0,
        beginning: Beginning,
        agreement: Agreement | None = None,
        classes: KnownClasses | None = None,
        timed: bool = False,
        interval: float = 10.0,
        scaling: FeatureScaling | None = None,
    ) -> None:
        self.source, self.labeller, self.tracker, self.outputs = source, labeller, tracker, outputs
        source.pause = STEP
        self._rules, self.sending = rules, sending
        self._checkpoint, self.every, self._timed = checkpoint, every, timed
        self.beginning, self.agreement, self._classes = beginning, agreement, classes
        self._first = first
        self._prototypes = any(index.on == "prototypes" for index in tracker.indices)
        self._interval = interval
        self._scaling = scaling or FeatureScaling()
        self._look = FirstLook(scaled=self._scaling.scale != "none")
        self.news: list[str] = []  # warnings about the features that were not reported yet
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext
        self.working: Callable[[], AbstractContextManager[None]] = nullcontext
        self.warn: Callable[[str], None] = warn
        self._size = StepSize()
        self._batches: Rebatched | None = None
        self.seen = self.resumed = 0
        self.began: int | None = None
        self._position: Position = {}
        self._committed: Position = {}
        self._consistent = True  # whether labeller, tracker and outputs have the same samples
        self._interrupted = False
        self._sent = False  # whether there were alarms in the last step, and they were sent
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

    def steps(self) -> Generator[Step, None, None]:
        """Process the samples, step by step."""
        size, position, fewer = self._batch_size, self._position, self._fewer
        self._batches = batches = rebatch(
            self._read(), size, start=self.seen, position=position, fewer=fewer
        )
        # Commit the first step at once, and the first batch: the bytes read identify a file that is
        # rotated later, and what was begun with counts from now on.
        begins = first = not self.seen
        for batch in batches:
            rest: Batch | None = self._prepared(batch)
            while rest is not None:
                step, rest = self._timed_step(rest)
                yield step
                # Commit what was sent, so that another run does not send it again.
                due = time.monotonic() - self._committed_at >= self._interval
                if begins or (first and rest is None) or self._sent or due:
                    self.commit()
                begins, first = False, first and rest is not None
        if not self._look.done and self.source.chosen is not None:
            none = np.empty((0, len(self.source.columns)))
            self.news += self._look.take(none, self.source.chosen, last=True)
        if self._interrupted:
            raise KeyboardInterrupt

    @property
    def gathering(self) -> tuple[int, int] | None:
        """How many samples wait until there are enough, and how many that is."""
        if self._batches is None or self._batches.needed is None:
            return None
        return self._batches.gathered, self._batches.needed

    @property
    def consistent(self) -> bool:
        """Whether labeller, tracker and outputs have the same samples."""
        return self._consistent

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

    def _read(self) -> Iterator[Batch | None]:
        ahead = self.beginning.timed and not self.seen
        batches = read_ahead(self.source) if ahead else iter(self.source)
        while True:
            try:
                with self.waiting():
                    batch = next(batches, _END)
            except KeyboardInterrupt:
                if self._checkpoint is not None:
                    raise
                # No later run can resume: process the samples that wait for a full batch now.
                self._interrupted = True
                return
            if batch is _END:
                return
            if batch is not None:
                self.beginning.came()
                if batch.first <= self.seen:
                    self.labeller.expect(self.source.columns)
            yield batch

    def _batch_size(self, seen: int) -> int | None:
        """The size of the next batch, where the result depends on it."""
        if seen:
            return self.labeller.chunk
        # A labeller may have bounds by name for all features, which it knows by now.
        needed = self._first or self.labeller.chunk or self.labeller.first
        return self.beginning.size if needed else None

    def _fewer(self) -> bool:
        return not self.seen and self.beginning.over()

    def _timed_step(self, batch: Batch) -> tuple[Step, Batch | None]:
        """A step with as many samples as there is time for, and the samples that are left."""
        start = time.monotonic()
        most = len(batch)
        if self._batch_size(self.seen) is None and self.labeller.enough is None:
            most = min(most, self._size.most)
        if self.labeller.enough is not None:
            self.labeller.enough = lambda: time.monotonic() - start >= STEP
        step, rest = self._step(batch, most)
        self._size.took(len(step.labels), time.monotonic() - start)
        return step, rest

    def _step(self, batch: Batch, most: int) -> tuple[Step, Batch | None]:
        self._consistent, before = False, self.seen
        part = batch if most == len(batch) else batch.slice(0, most)
        try:
            with self.working():
                labelled = self._label(part)
                most = len(labelled.labels)  # a labeller may stop before the end
                part = batch if most == len(batch) else batch.slice(0, most)
                trace = self._track(part, labelled)
                for gone, stays in labelled.merged:
                    self._merge(gone, stays)
        except KeyboardInterrupt:
            # Readings are all or nothing; what a clusterer has learnt cannot be taken back.
            self._consistent = not (self.labeller.learns or self.labeller.pickles)
            raise
        agreed = self._agree(part, labelled)
        parts = part.X, labelled.labels, part.time, part.first, trace, self.tracker
        step = Step(*parts, self._rules.take(trace), agreed)
        for output in self.outputs.values():
            output.take(step)
        self._sent = self.sending is not None and self.sending.send(step)
        if not before:
            self.began = self.beginning.began(part.stop)
        self.seen = part.stop
        rest = None
        if most < len(batch):
            rest = batch.slice(most)  # the source cannot be sent to the middle of its batch
        else:
            self._position = batch.position
        self._consistent = True
        for text in self.labeller.questions():
            self.warn(text)
        return step, rest

    def _prepared(self, batch: Batch) -> Batch:
        """The batch with scaled features."""
        if not self._look.done:
            self.news += self._look.take(batch.X, self.source.chosen)
        X = self._scaling.scaled(batch.X, self.source.columns)
        return batch if X is batch.X else replace(batch, X=X)

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
                every=self.every,
            )
        except ValueError as error:
            error.add_note(f"row 0 of this batch is sample {batch.first + 1:,}")
            raise

    def _merge(self, gone: int, stays: int) -> None:
        """Merge clusters that the clusterer has merged; a window may have forgotten either."""
        if {gone, stays} <= {*self.tracker.labels}:
            self.tracker.merge_clusters(stays, gone)

    def _agree(self, batch: Batch, labelled: Labelled) -> Agreed | None:
        if self.agreement is None:
            return None
        truth = batch.truth if self._classes is None else self._classes.of(batch)
        if truth is None:
            raise ValueError("the source has no known classes: give truth= (--truth COL)")
        agreed = self.agreement.add(batch.first, truth, labelled.labels)
        if self.agreement.n_classes > max(_MOST_CLASSES, batch.stop // 2):
            raise ValueError(
                f"{self.agreement.n_classes:,} different classes in {batch.stop:,} samples: truth "
                f"(--truth) is not a column of classes, but a number or a name of every sample"
            )
        return agreed

    def _state(self) -> Kept:
        tracker, arrays = saved_tracker.pack(self.tracker)
        packed = {f"tracker.{name}": array for name, array in arrays.items()}
        outputs = {}
        for name, output in self.outputs.items():
            outputs[name], arrays = output.keep()
            packed |= {f"{name}.{part}": array for part, array in arrays.items()}
        labeller, arrays = self.labeller.keep()
        packed |= {f"labeller.{name}": array for name, array in arrays.items()}
        scaling, arrays = self._scaling.keep()
        packed |= {f"scaling.{name}": array for name, array in arrays.items()}
        facts = {"seen": self.seen, "position": self._position, "tracker": tracker}
        facts |= {"scaling": scaling} if scaling else {}
        facts |= {"labeller": labeller, "outputs": outputs, "alerts": self._rules.keep()}
        facts |= {} if self.began is None else {"began": self.began}
        if self.agreement is not None:
            facts["truth"], arrays = self.agreement.keep()
            packed |= {f"truth.{name}": array for name, array in arrays.items()}
        return facts, packed

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
        own = [index for index in self.tracker.indices if index.own]
        part = Part(facts["tracker"], arrays_of("tracker", arrays), "the checkpoint")
        self.tracker = saved_tracker.unpack(part, own)
        self.labeller.resume(*_labeller_state(facts, arrays))
        self._scaling.resume(facts.get("scaling", {}), arrays_of("scaling", arrays))
        self._look.done = bool(facts["seen"])
        kept = facts["outputs"]
        left_out = [name for name in _LATER if name not in kept]
        self.outputs = {name: self.outputs[name] for name in self.outputs if name not in left_out}
        for name, output in self.outputs.items():
            output.resume(kept[name], arrays_of(name, arrays))
        if "alerts" in facts:
            self._rules.resume(facts["alerts"])
        if self.agreement is not None:
            self.agreement.resume(facts["truth"], arrays_of("truth", arrays))
        self.seen = self.resumed = facts["seen"]
        self.began = facts.get("began")
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
        return facts["labeller"], arrays_of("labeller", arrays)
    return {}, {"pickle": arrays["labeller"]} if len(arrays["labeller"]) else {}
