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

from icvi.insight.alarms import Alarm
from icvi.saving.parts import Part, arrays_of
from icvi.streams import Batch, Position, Source
from icvi.tracking.reading_times import ReadingTimes
from icvi.tracking.saved import tracker as saved_tracker
from icvi.tracking.trace import Trace, no_readings
from icvi.tracking.tracker import Tracker
from icvi.watching.alarms.rules import Rules
from icvi.watching.alarms.sending import Sending, warn
from icvi.watching.beginning import Beginning, read_ahead
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.first_look import FirstLook
from icvi.watching.history import CurveReadings
from icvi.watching.labellers import Labelled, Labeller
from icvi.watching.messages import described
from icvi.watching.rebatching import Rebatched, rebatch
from icvi.watching.scaling import FeatureScaling
from icvi.watching.step import Kept, Output, Step
from icvi.watching.step_size import STEP, StepSize
from icvi.watching.trace_files.trace_rows import as_time
from icvi.watching.truth import Agreed, Agreement, KnownClasses

_SHARE = 0.05  # of the run time that checkpoints may take
#: Outputs that checkpoints of earlier versions lack: such a watch resumes without them.
_LATER = ("alarms", "alarm_log")
#: Outputs that a run may have although the one before had not: they begin with this one.
_ADDED = ("live",)
#: So many classes are refused, unless every second sample has one that came before.
_MOST_CLASSES = 5000
_END: Any = object()  # of a source
#: Seconds without samples after which the loop does what is due.
IDLE = 1.0


class Lane:
    """One clustering of a stream: its labels, its readings, and how it agrees with known classes.

    Parameters
    ----------
    labeller : Labeller
        Assigns each sample to a cluster.
    tracker : Tracker
        Reads the indices.
    every : int, ReadingTimes or CurveReadings
        Read the indices after every m-th sample, by time, or where a curve has a point.
    timed : bool
        Whether the tracker needs the times of samples.
    agreement : Agreement, optional
        Compares the clusters with known classes.
    classes : KnownClasses, optional
        The classes, where they are not in the source.
    """

    def __init__(
        self,
        labeller: Labeller,
        tracker: Tracker,
        *,
        every: int | ReadingTimes | CurveReadings = 1,
        timed: bool = False,
        agreement: Agreement | None = None,
        classes: KnownClasses | None = None,
    ) -> None:
        self.labeller, self.tracker, self.agreement = labeller, tracker, agreement
        self._every, self._timed, self._classes = every, timed, classes
        self._prototypes = any(index.on == "prototypes" for index in tracker.indices)

    def label(self, batch: Batch) -> Labelled:
        """Label samples."""
        try:
            return self.labeller.label(batch)
        except (ImportError, TypeError, ValueError, OSError, RuntimeError):
            raise
        except Exception as error:  # of a user's own clusterer
            raise RuntimeError(
                f"{self.labeller.name} failed at samples {batch.first + 1} to {batch.stop} of the "
                f"stream: {error!r}"
            ) from error

    def track(self, batch: Batch, labelled: Labelled) -> Trace:
        """Read the indices after labelled samples; merge clusters that the clusterer has merged."""
        trace = self._read(batch, labelled)
        for gone, stays in labelled.merged:
            if {gone, stays} <= {*self.tracker.labels}:  # a window may have forgotten either
                self.tracker.merge_clusters(stays, gone)
        return trace

    def _read(self, batch: Batch, labelled: Labelled) -> Trace:
        winners = labelled.winners if self._prototypes else None
        try:
            if isinstance(self._every, ReadingTimes):
                assert batch.time is not None
                return self._every.update_many(
                    self.tracker,
                    batch.X,
                    labelled.labels,
                    time=batch.time,
                    winners=winners,
                    timed=self._timed,
                )
            time = batch.time if self._timed else None
            if isinstance(self._every, CurveReadings):
                return self._every.update_many(
                    self.tracker, batch.X, labelled.labels, time=time, winners=winners
                )
            return self.tracker.update_many(
                batch.X, labelled.labels, winners=winners, time=time, every=self._every
            )
        except ValueError as error:
            error.add_note(f"row 0 of this batch is sample {batch.first + 1:,}")
            raise

    def step(
        self, batch: Batch, labelled: Labelled, trace: Trace, rules: Rules | None = None
    ) -> Step:
        """The step that these samples make."""
        agreed = self._agree(batch, labelled)
        alerts = () if rules is None else rules.take(trace)
        parts = batch.X, labelled.labels, batch.time, batch.first, trace, self.tracker
        return Step(*parts, alerts, agreed)

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

    def keep(self) -> Kept:
        """The state for a checkpoint."""
        tracker, arrays = saved_tracker.pack(self.tracker)
        packed = {f"tracker.{name}": array for name, array in arrays.items()}
        labeller, arrays = self.labeller.keep()
        packed |= {f"labeller.{name}": array for name, array in arrays.items()}
        facts: dict[str, Any] = {"tracker": tracker, "labeller": labeller}
        if self.agreement is not None:
            facts["truth"], arrays = self.agreement.keep()
            packed |= {f"truth.{name}": array for name, array in arrays.items()}
        return facts, packed

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state that `keep` returned."""
        own = [index for index in self.tracker.indices if index.own]
        part = Part(facts["tracker"], arrays_of("tracker", arrays), "the checkpoint")
        self.tracker = saved_tracker.unpack(part, own)
        self.labeller.resume(*_labeller_state(facts, arrays))
        if self.agreement is not None:
            self.agreement.resume(facts["truth"], arrays_of("truth", arrays))


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
    every : int, ReadingTimes or CurveReadings
        Read the indices after every m-th sample, by time, or where a curve has a point.
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
    resting : callable
        Makes a context like `waiting`, in which another thread may read the state of the loop.
    checkpointed : float or None
        When the last checkpoint was written: Unix time.
    warn : callable
        Called with the text of a warning that cannot wait for the end.
    alive : callable
        Called after every step, and now and then while the loop waits.
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
        every: int | ReadingTimes | CurveReadings = 1,
        first: int = 0,
        beginning: Beginning,
        agreement: Agreement | None = None,
        classes: KnownClasses | None = None,
        timed: bool = False,
        interval: float = 10.0,
        scaling: FeatureScaling | None = None,
    ) -> None:
        self.source, self.labeller, self.agreement = source, labeller, agreement
        self.outputs = outputs
        self._lane = Lane(
            labeller, tracker, every=every, timed=timed, agreement=agreement, classes=classes
        )
        source.pause = STEP
        self._rules, self.sending = rules, sending
        self._checkpoint, self.every, self.beginning = checkpoint, every, beginning
        self._first, self._timed = first, timed
        self._interval = interval
        self._scaling = scaling or FeatureScaling()
        self._look = FirstLook(scaled=self._scaling.scale != "none")
        self.news: list[str] = []  # warnings about the features that were not reported yet
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext
        self.working: Callable[[], AbstractContextManager[None]] = nullcontext
        self.resting: Callable[[], AbstractContextManager[None]] = nullcontext
        self.checkpointed: float | None = None
        self.warn: Callable[[str], None] = warn
        self.alive: Callable[[], object] = lambda: None
        self._size = StepSize()
        self._batches: Rebatched | None = None
        self.seen = self.resumed = 0
        self.began: int | None = None
        self._position: Position = {}
        self._committed: Position = {}
        self._consistent = True  # whether labeller, tracker and outputs have the same samples
        self._interrupted = False
        self._sent = False  # whether there were alarms in the last step, and they were sent
        self._last_time: NDArray[Any] | None = None  # of the last sample
        self._ended = False  # whether the last look has begun, which no checkpoint may contain
        self._looked: int | None = None  # samples at the last look whose alarms were sent
        #: Returns seconds.
        self.clock: Callable[[], float] = time.monotonic
        self._committed_at = self._came = self._acted = self.clock()
        self._new = False  # whether samples were processed since the last checkpoint
        self._aged: Tracker | None = None  # the tracker after the time without samples

    @property
    def tracker(self) -> Tracker:
        """The tracker as it is now."""
        return self._lane.tracker

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
            if batch is None:
                yield from self._idle()
                continue
            rest: Batch | None = self._prepared(batch)
            while rest is not None:
                step, rest = self._timed_step(rest)
                self.alive()
                yield step
                # Commit what was sent, so that another run does not send it again.
                due = self.clock() - self._committed_at >= self._interval
                if begins or (first and rest is None) or self._sent or due:
                    self.commit()
                begins, first = False, first and rest is not None
        if not self._look.done and self.source.chosen is not None:
            none = np.empty((0, len(self.source.columns)))
            self.news += self._look.take(none, self.source.chosen, last=True)
        if self._interrupted:
            raise KeyboardInterrupt
        if (last := self._last_look()) is not None:
            yield last

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
        if not self._consistent or self._ended:
            return
        start = self.clock()
        for output in self.outputs.values():
            output.flush()
        if self._checkpoint is not None:
            self._checkpoint.write(self._state())
            self.checkpointed = time.time()
        if self._position and self._position != self._committed:
            self.source.commit(self._position)
            self._committed = self._position
        self._new, self._committed_at = False, self.clock()
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
        batches = read_ahead(self.source) if ahead else self.source.batches(IDLE)
        while True:
            try:
                with self.resting(), self.waiting():
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
                part, found = self._cluster(part)
                most = len(part)  # a labeller may stop before the end
        except KeyboardInterrupt:
            # Readings are all or nothing if they are after every m-th sample; what a clusterer has
            # learnt cannot be taken back.
            learnt = self.labeller.learns or self.labeller.pickles
            self._consistent = not learnt and isinstance(self.every, int)
            raise
        step = self._made(part, found)
        for output in self.outputs.values():
            output.take(step)
        self._sent = self.sending is not None and self.sending.send(step)
        if not before:
            self.began = self.beginning.began(part.stop)
        self.seen = part.stop
        self._new, self._came, self._aged = True, self.clock(), None
        self._last_time = None if part.time is None else as_time(part.time[-1:])
        rest = None
        if most < len(batch):
            rest = batch.slice(most)  # the source cannot be sent to the middle of its batch
        else:
            self._position = batch.position
        self._consistent = True
        for text in self.labeller.questions():
            self.warn(text)
        return step, rest

    def _idle(self) -> Iterator[Step]:
        """What is due while nothing comes, and a step without samples, for views."""
        self.alive()
        now = self.clock()
        if now - max(self._came, self._acted) < IDLE:
            return
        self._acted = now
        if self._new and now - self._committed_at >= self._interval:
            self.commit()
        if self.seen:
            yield self._without_samples(self._passed_time(now - self._came), [])

    def _passed_time(self, seconds: float) -> Tracker:
        """The tracker when so much time has passed since the last sample.

        A copy: the next sample may be late, and readings must not depend on when samples come.
        """
        if not self._timed or self._last_time is None:
            return self.tracker
        if self._aged is None:
            self._aged = self.tracker.copy()
        if self._last_time.dtype.kind == "f":
            self._aged.advance(float(self._last_time[0]) + seconds)
        else:
            passed = np.timedelta64(int(seconds * 1e9), "ns")
            self._aged.advance(self._last_time[0] + passed)
        return self._aged

    def _last_look(self) -> Step | None:
        """A step without samples: the alarms of a last look at all clusters.

        The stream may have grown when another run resumes, whose alarms must be those of a run that
        has never stopped. So checkpoints are of the state before the look, and each run looks.
        """
        if not (self.tracker.insight and self.tracker.n_clusters):
            return None
        self.commit()
        before = self._state() if self.sending is not None else ({}, {})
        # Not inside `working`: it takes a moment, and a second signal interrupts it.
        alarms = self.tracker.look_again()
        if not alarms:
            return None
        self._ended = True
        step = self._without_samples(self.tracker, alarms)
        for output in self.outputs.values():
            output.take(step)
        if self.sending is not None and self._looked != self.seen:
            self.sending.send(step)
            if self._checkpoint is not None:
                facts, arrays = before
                self._checkpoint.write(({**facts, "looked": self.seen}, arrays))
        return step

    def _without_samples(self, tracker: Tracker, alarms: list[Alarm]) -> Step:
        X = np.empty((0, tracker.n_features or 0))
        time = None if self._last_time is None else self._last_time[:0]
        trace = no_readings(tracker.indices, alarms)
        return Step(X, trace.labels, time, self.seen, trace, tracker, before=self._last_time)

    def _prepared(self, batch: Batch) -> Batch:
        """The batch with scaled features."""
        if not self._look.done:
            self.news += self._look.take(batch.X, self.source.chosen)
        X = self._scaling.scaled(batch.X, self.source.columns)
        return batch if X is batch.X else replace(batch, X=X)

    def _cluster(self, batch: Batch) -> tuple[Batch, Any]:
        """Label and read samples; those that the labeller got to, and what `_made` needs."""
        labelled = self._lane.label(batch)
        n = len(labelled.labels)
        batch = batch if n == len(batch) else batch.slice(0, n)
        return batch, (labelled, self._lane.track(batch, labelled))

    def _made(self, batch: Batch, found: Any) -> Step:
        """The step of samples that were labelled and read."""
        labelled, trace = found
        return self._lane.step(batch, labelled, trace, self._rules)

    def _keep_clusters(self) -> Kept:
        return self._lane.keep()

    def _resume_clusters(
        self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        self._lane.resume(facts, arrays)

    def _state(self) -> Kept:
        clusters, packed = self._keep_clusters()
        outputs = {}
        for name, output in self.outputs.items():
            outputs[name], arrays = output.keep()
            packed |= {f"{name}.{part}": array for part, array in arrays.items()}
        scaling, arrays = self._scaling.keep()
        packed |= {f"scaling.{name}": array for name, array in arrays.items()}
        facts = {"seen": self.seen, "position": self._position, **clusters}
        facts |= {"scaling": scaling} if scaling else {}
        facts |= {"outputs": outputs, "alerts": self._rules.keep()}
        facts |= {} if self.began is None else {"began": self.began}
        facts |= {"read": self.every.keep()} if isinstance(self.every, ReadingTimes) else {}
        facts |= {} if self._looked is None else {"looked": self._looked}
        if self._last_time is not None:
            # As a whole number of nanoseconds, or as seconds with decimals.
            seconds = self._last_time.dtype.kind == "f"
            facts["time"] = self._last_time.view("f8" if seconds else "i8").item()
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
        self._resume_clusters(facts, arrays)
        self._scaling.resume(facts.get("scaling", {}), arrays_of("scaling", arrays))
        self._look.done = bool(facts["seen"])
        kept = facts["outputs"]
        left_out = [name for name in _LATER if name not in kept]
        self.outputs = {name: self.outputs[name] for name in self.outputs if name not in left_out}
        for name, output in self.outputs.items():
            if name in kept or name not in _ADDED:
                output.resume(kept[name], arrays_of(name, arrays))
        if "alerts" in facts:
            self._rules.resume(facts["alerts"])
        self.seen = self.resumed = facts["seen"]
        if isinstance(self.every, ReadingTimes):
            self.every.resume(facts["read"])
        self.began, self._looked = facts.get("began"), facts.get("looked")
        if (time := facts.get("time")) is not None:
            self._last_time = np.array([time], "f8" if isinstance(time, float) else "M8[ns]")
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
