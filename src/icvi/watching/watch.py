"""icvi.watch: a stream, a clusterer, the indices and the outputs, in one call."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from icvi.indices import Index
from icvi.inputs import as_every, as_flag, as_number, check_choice, refuse_unknown
from icvi.streams import Source, open_source
from icvi.streams.opening import REDIS
from icvi.tracking.tracker import Tracker
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.history import History
from icvi.watching.labellers import labeller_for
from icvi.watching.loop import Loop
from icvi.watching.messages import described
from icvi.watching.reading import Reading, readings
from icvi.watching.report import Report
from icvi.watching.settings import about_watch, settings_of
from icvi.watching.step import Output, Step
from icvi.watching.trace_files import TraceFile, open_trace
from icvi.wording import short, without_passwords


class Watch:
    """A stream that is being watched; see `icvi.watch`.

    Iterating gives a `Reading` after every sample. A watch runs once. When it ends, also by
    ``break`` or an error, it completes its files.

    Attributes
    ----------
    source : Source
        Where the samples come from.
    history : History
        The curves so far, in bounded memory.
    """

    def __init__(self, loop: Loop, history: History, report: Report | None = None) -> None:
        self._loop, self.source, self.history, self._report = loop, loop.source, history, report
        self._begun = self._run = False

    @property
    def tracker(self) -> Tracker:
        """The tracker as it is now."""
        return self._loop.tracker

    @property
    def clusterer(self) -> Any:
        """The clusterer as it is now; None where the source has labels."""
        return self._loop.labeller.model

    @property
    def seen(self) -> int:
        """Samples so far, including those of earlier runs."""
        return self._loop.seen

    @property
    def resumed(self) -> int:
        """Samples of earlier runs, from the checkpoint that this one resumed."""
        return self._loop.resumed

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        return self._loop.resumes

    @property
    def readings_written(self) -> int:
        """Number of readings in the trace file; 0 where there is none."""
        trace = self._loop.outputs.get("trace")
        return trace.rows_in_file if isinstance(trace, TraceFile) else 0

    @property
    def warnings(self) -> list[str]:
        """Warnings about the readings."""
        return self._loop.labeller.warnings

    @property
    def waiting(self) -> Callable[[], AbstractContextManager[None]]:
        """Makes a context that is entered while waiting for samples."""
        return self._loop.waiting

    @waiting.setter
    def waiting(self, make: Callable[[], AbstractContextManager[None]]) -> None:
        self._loop.waiting = make

    def begin(self) -> None:
        """Resume from the checkpoint, or start from scratch; iterating does that, too."""
        if not self._begun:
            self._loop.begin()
            self._begun = True

    def __iter__(self) -> Iterator[Reading]:
        for step in self.steps():
            yield from readings(step)

    def steps(self) -> Generator[Step, None, None]:
        """Run step by step: some samples, and the readings after each of them."""
        if self._run:
            raise ValueError("a watch runs only once; call icvi.watch again")
        self._run = True
        with self:
            self.begin()
            try:
                yield from self._loop.steps()
            except GeneratorExit:
                self._finish("stopped before the end of the stream")
                raise
            except BaseException as error:
                # The first error matters; errors in completing the outputs become notes of it.
                try:
                    self._finish(f"stopped before the end of the stream: {_ended_by(error)}")
                except Exception as another:
                    for text in (described(another), *getattr(another, "__notes__", ())):
                        if text != described(error):
                            error.add_note(text)
                raise
            else:
                self._finish(None)

    def _finish(self, note: str | None) -> None:
        """Complete all outputs; `note` is why the watch ends before the stream does."""
        if self._report is not None:
            self._report.note, self._report.tracker = note, self.tracker
            about = self._report.run
            about.columns = self.source.columns if self.seen else ()
            about.skipped, about.reasons = self.source.skipped, self.source.reasons
            about.lost, about.losses = self.source.lost, self.source.losses
        self._loop.finish()

    def run(self) -> Self:
        """Run to the end of the stream."""
        for _ in self.steps():
            pass
        return self

    def close(self) -> None:
        """Close files and connections."""
        self._run = True
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Watch({self.seen} samples, {self.tracker!r})"


def _ended_by(error: BaseException) -> str:
    """The reason for the end, for the report."""
    return without_passwords(str(error)).rstrip(".") or type(error).__name__


def watch(
    source: Any,
    clusterer: Any = None,
    indices: str | Index | Iterable[str | Index] = "paper",
    *,
    columns: Any = None,
    label: Any = None,
    time: Any = None,
    bad_rows: str = "error",
    follow: bool = False,
    on_data_loss: str = "stop",
    format: str | None = None,
    rows: int = 8192,
    batch: int = 1024,
    learn: bool = True,
    every: int = 1,
    noise_label: Hashable = None,
    undefined: Literal["nan", "limit"] = "nan",
    window: Any = None,
    half_life: Any = None,
    bounds: Any = None,
    quantizer: Any = None,
    trace: str | os.PathLike[str] | None = None,
    trace_format: str | None = None,
    report: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 10.0,
    overwrite: bool = False,
    **redis: Any,
) -> Watch:
    r"""Watch how good the clustering of a stream is.

    Parameters
    ----------
    source : anything that `icvi.streams.open_source` opens, or a Source
        A file, a pattern, a pipe, a Redis stream, a table, an array, an iterable.
    clusterer : object, optional
        Labels the samples: `FuzzyART`, `FuzzySMART`, an estimator of scikit-learn with
        ``partial_fit`` and ``predict`` (or ``predict`` alone, when it is fitted), a clusterer of
        river, or a function from an (n, d) array to n labels. By default the source has labels:
        in the column `label`, or beside the samples.
    indices : str or list, default "paper"
        As in `Tracker`.
    columns, label, time, bad_rows, follow, on_data_loss, format, rows
        How to read the source; see `icvi.streams.open_source`.
    batch : int, default 1024
        Samples that a scikit-learn estimator learns at once. Where ART has no ``bounds``, the first
        batch gives them.
    learn : bool, default True
        Whether the clusterer learns; if not, it only predicts.
    every : int, default 1
        Read the indices after every m-th sample.
    noise_label, undefined, window, half_life, bounds, quantizer
        As in `Tracker`. A window or half-life that is a timedelta needs a `time` column.
    trace : path, optional
        File for all readings: ``.parquet``, ``.csv`` or ``.ndjson``; ``"-"`` is standard output,
        which needs `trace_format`.
    report : path, optional
        Page with curves, clusters and the partition, written at the end.
    checkpoint : path, optional
        Checkpoint directory: repeat the same call to resume after the watch was stopped or killed.
        The trace is then the same, byte for byte, as without the stop; a trace that was altered
        in between is refused. A new directory is private (mode 0700). Checkpoints of labels in the
        source, of `FuzzyART`, `FuzzySMART` and plain functions hold no pickle. Those of any other
        clusterer do, and a pickle can run any code: use only your own. A directory or file that
        another user owns or can write is refused.
    checkpoint_every : float, default 10
        Minimum seconds between checkpoints.
    overwrite : bool, default False
        Whether to replace the files `trace` and `report`, and to ignore an existing checkpoint.
    **redis
        For a Redis stream: ``group``, ``consumer`` and ``patience``.

    Returns
    -------
    Watch
        Iterate it to get a `Reading` after every sample; nothing is read before.

    Examples
    --------
    >>> import icvi
    >>> from icvi.datasets import make_rings
    >>> X, _ = make_rings()
    >>> with icvi.watch(X, clusterer=icvi.FuzzyART(rho=0.88), indices=["CH", "SIL"]) as w:
    ...     last = [reading for reading in w][-1]
    >>> last.sample, last.k == w.tracker.n_clusters, last["SIL"] == w.tracker["SIL"]
    (600, True, True)
    """
    refuse_unknown(watch, redis, REDIS)
    check_choice(undefined, "undefined", ("nan", "limit"))
    learn, overwrite = as_flag(learn, "learn"), as_flag(overwrite, "overwrite")
    if not as_number(checkpoint_every, "checkpoint_every") >= 0.0:
        raise ValueError(
            f"expected checkpoint_every as seconds from 0 on, got {short(checkpoint_every)}"
        )
    for path in (trace, report, checkpoint):
        if path is not None:
            os.fspath(path)  # raises unless it is a path
    tracking: dict[str, Any] = {"noise_label": noise_label, "undefined": undefined}
    tracking |= {"window": window, "half_life": half_life, "bounds": bounds, "quantizer": quantizer}
    reading = {"columns": columns, "label": label, "time": time, "bad_rows": bad_rows}
    settings = {**tracking, "columns": columns, "label": label, "time": time}
    settings |= {"batch": batch, "learn": learn, "every": as_every(every)}
    settings |= {"trace": trace is not None, "report": report is not None}
    labeller = labeller_for(clusterer, batch=batch, learn=learn)
    if noise_label is None:
        tracking["noise_label"] = labeller.unassigned
    tracker = Tracker(indices, insight=True, **tracking)
    timed = any(isinstance(span, (timedelta, np.timedelta64)) for span in (window, half_life))
    prototypes = any(index.on == "prototypes" for index in tracker.indices)
    with contextlib.ExitStack() as opened:  # closed again if anything below is refused
        about = about_watch(source, clusterer, label, settings)
        if not isinstance(source, Source):
            reading |= {"follow": follow, "on_data_loss": on_data_loss}
            source = open_source(source, **reading, rows=rows, format=format, **redis)
        opened.callback(source.close)
        _refuse_own_source(source, trace, report)
        saved = None
        if checkpoint is not None:
            saved = Checkpoint(
                checkpoint,
                settings_of(clusterer, tracker.indices, settings),
                pickles=labeller.pickles,
            )
            opened.callback(saved.close)
            if overwrite:
                saved.clear()
        outputs: dict[str, Output] = {}
        history = History([index.name for index in tracker.indices])
        if trace is not None:
            outputs["trace"] = open_trace(
                trace,
                names=history.names,
                time=None if time is None else True,
                format=trace_format,
                journal=None if saved is None else saved.folder,
                overwrite=overwrite,
            )
        outputs["history"] = history
        page = None
        if report is not None:
            page = Report(report, tracker, history=history, run=about, overwrite=overwrite)
            outputs["report"] = page
        loop = Loop(
            source,
            labeller,
            tracker,
            outputs,
            checkpoint=saved,
            every=every,
            first=batch if prototypes and bounds is None else None,
            timed=timed,
            interval=checkpoint_every,
        )
        opened.pop_all()
    return Watch(loop, history, page)


def _refuse_own_source(source: Source, *written: str | os.PathLike[str] | None) -> None:
    """Refuse to overwrite the source."""
    read = [file for file in getattr(source, "_files", ()) if os.path.exists(file)]
    for path in written:
        if path is not None and os.path.exists(path):
            for file in read:
                if os.path.samefile(path, file):
                    raise ValueError(f"{file} is the source; write to another file")
