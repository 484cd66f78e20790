"""icvi.watch: a stream, a clusterer, the indices and the outputs, in one call."""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.inputs import as_every, as_flag, as_number, check_choice, refuse_unknown
from icvi.insight.alarms import Alarm
from icvi.insight.judge import as_distinct
from icvi.insight.separation import DISTINCT
from icvi.optional import check
from icvi.streams import Source, open_source
from icvi.streams.opening import SERVERS
from icvi.tracking.reading_times import ReadingTimes
from icvi.tracking.tracker import Tracker
from icvi.watching.alarms.alarm_file import AlarmFile, beside
from icvi.watching.alarms.alarm_log import AlarmLog
from icvi.watching.alarms.rules import Rules
from icvi.watching.alarms.sending import Sending
from icvi.watching.beginning import Beginning, Gathering
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.first_look import left_out_labels
from icvi.watching.history import CurveReadings, History
from icvi.watching.labellers import SAMPLED, clusterer_from, hints, labeller_for
from icvi.watching.loop import Loop
from icvi.watching.messages import described
from icvi.watching.reading import Reading, readings
from icvi.watching.report import Report
from icvi.watching.scaling import FeatureScaling
from icvi.watching.settings import about_watch, settings_of, source_name
from icvi.watching.step import Output, Step
from icvi.watching.trace_files import TraceFile, open_trace
from icvi.watching.truth import NAMES as AGREEMENT
from icvi.watching.truth import Agreement, KnownClasses, known_classes
from icvi.wording import short, without_passwords

if TYPE_CHECKING:
    from icvi.watching.live import Live

_MOST_CLUSTERS = 1000  # with metrics of their own


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

    def __init__(
        self,
        loop: Loop,
        history: History,
        report: Report | None = None,
        log: AlarmLog | None = None,
        live: Live | None = None,
    ) -> None:
        self._loop, self.source, self.history, self._report = loop, loop.source, history, report
        self._live = live
        if live is not None:
            loop.resting, live.checkpoint = live.resting, lambda: loop.checkpointed
        self._log = log or AlarmLog()
        self._begun = self._run = False
        self._note: Callable[[str], object] | None = None
        self._warn: Callable[[str], object] = _warn
        #: Whether warnings go to a function; else only the gravest are given.
        self._listening = False
        self._noted = False  # whether the notes of the source were reported
        self._sample = np.empty((0, 0))  # the last samples, for hints

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
    def alarms(self) -> list[Alarm]:
        """The alarms so far, including those of earlier runs; of more than 1,000 the newest."""
        return list(self._log.newest)

    @property
    def raised(self) -> dict[str, int]:
        """How many alarms were raised so far, also in earlier runs, by action."""
        return dict(self._log.raised)

    @property
    def alarm_file(self) -> str | None:
        """The file of alarms; None where there is none, or no alarm in it."""
        file = self._loop.outputs.get("alarms")
        return file.path if isinstance(file, AlarmFile) and file.rows else None

    @property
    def url(self) -> str | None:
        """The address of the live page; None where there is none."""
        return None if self._live is None else self._live.url

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

    @property
    def working(self) -> Callable[[], AbstractContextManager[None]]:
        """Makes a context that is entered while samples are labelled and read."""
        return self._loop.working

    @working.setter
    def working(self, make: Callable[[], AbstractContextManager[None]]) -> None:
        self._loop.working = make

    @property
    def gathering(self) -> Gathering | None:
        """Samples that wait until there are enough of them; None where none has to wait."""
        found = self._loop.gathering
        if found is None:
            return None
        first = not self.seen
        return Gathering(*found, first, self._loop.beginning.left if first else None)

    @property
    def began(self) -> int | None:
        """Samples that it began with, where ``begin`` was given."""
        return self._loop.began

    @property
    def consistent(self) -> bool:
        """Whether the clusterer has learnt just the samples that have been read."""
        return self._loop.consistent

    @property
    def agreement(self) -> dict[str, float]:
        """ARI and AMI over all samples so far; empty without ``truth``."""
        return {} if self._loop.agreement is None else self._loop.agreement.values

    def hints(self) -> list[str]:
        """What to do about a single cluster, or about very many; nothing otherwise."""
        # A source that has read nothing might wait for its first rows.
        columns = self.source.columns if len(self._sample) else ()
        return hints(self._loop.labeller, self.tracker, self._sample, columns)

    def on_warning(self, warn: Callable[[str], None]) -> None:
        """Give warnings that cannot wait to a function instead of `warnings.warn`."""
        self._warn, self._listening = warn, True
        self._loop.warn = warn
        if self._loop.sending is not None:
            self._loop.sending.warn = warn

    def on_alive(self, alive: Callable[[], object]) -> None:
        """Have a function called after every step, and now and then while nothing comes."""
        self._loop.alive = alive
        self.source.while_waiting(alive)

    def on_note(self, note: Callable[[str], None]) -> None:
        """Give notes on how the source is read, and on what comes, to a function."""
        self._note = note

    def begin(self) -> None:
        """Resume from the checkpoint, or start from scratch; iterating does that, too."""
        if not self._begun:
            self._loop.begin()
            self._begun = True
            if self._live is not None:
                self._live.start(self.tracker)
                self._take_note([f"live page: {self._live.url}"])

    def __iter__(self) -> Iterator[Reading]:
        pending: list[Alarm] | None = None
        for step in self.steps():
            if pending is None:
                # A run before this one may have stopped between two readings.
                last = self._last_read
                pending = [alarm for alarm in self.alarms if last < alarm.sample <= self.resumed]
            yield from readings(step, pending)

    @property
    def _last_read(self) -> int:
        """The last sample of earlier runs after which the indices were read."""
        every = self._loop.every
        return self.resumed // every * every if isinstance(every, int) else every.last

    def steps(self) -> Generator[Step, None, None]:
        """Run step by step: some samples, and the readings after each of them.

        While nothing comes there is a step without samples now and then, whose tracker is a copy
        for which the time has passed. The last step may have none, either: it has the alarms of a
        last look at the clusters.
        """
        if self._run:
            raise ValueError("a watch runs only once; call icvi.watch again")
        self._run = True
        with self:
            self.begin()
            try:
                if not self.resumed:
                    self._take_note(self._loop.labeller.notes)
                with contextlib.closing(self._loop.steps()) as steps:
                    for step in steps:
                        self._report_news()
                        self._remember(step.X)
                        if self._report is not None:
                            self._report.tracker = step.tracker
                        yield step
                        self._refresh()
                self._report_news()
            except GeneratorExit:
                self._finish("stopped before the end of the stream")
                raise
            except BaseException as error:
                # The first error matters; errors in completing the outputs become notes of it.
                self._report_source()
                try:
                    self._finish(f"stopped before the end of the stream: {_ended_by(error)}")
                except Exception as another:
                    for text in (described(another), *getattr(another, "__notes__", ())):
                        if text != described(error):
                            error.add_note(text)
                raise
            else:
                self._finish(None)

    def _take_note(self, notes: Iterable[str]) -> None:
        if self._note is not None:
            for note in notes:
                self._note(note)

    def _report_source(self) -> None:
        """Report once how the source is read; only what was never reported in an earlier run."""
        if self._noted or self.resumed:
            return
        self._noted = self.source.chosen is not None
        self._take_note(self.source.notes)
        if self._noted and self.source.chosen is not None:
            for text in left_out_labels(self.source.chosen):
                self._warn(text)

    def _report_news(self) -> None:
        """Report what was found out since the last time."""
        self._report_source()
        found, self._loop.news = self._loop.news, []
        for text in (*found, *self._loop.labeller.news()):
            if self._listening:
                self._warn(text)

    def _remember(self, X: NDArray[np.float64]) -> None:
        """Keep the last samples, for hints."""
        if len(X) < SAMPLED and len(self._sample):
            X = np.concatenate([self._sample, X])
        self._sample = X[-SAMPLED:]

    def _finish(self, note: str | None) -> None:
        """Complete all outputs; `note` is why the watch ends before the stream does."""
        if self._report is not None:
            self._report.note, self._report.tracker = note, self.tracker
            self._tell_report(self._report)
        if self._live is not None:
            self._live.end(note)
        self._loop.finish()

    def _refresh(self) -> None:
        """Write the report of what there is, if it is time to."""
        if self._report is not None and self._report.every is not None:
            self._tell_report(self._report)
            self._report.refresh()

    def _tell_report(self, report: Report) -> None:
        """Facts that only the source knows."""
        about = report.run
        about.columns = self.source.columns if self.seen else ()
        about.skipped, about.reasons = self.source.skipped, self.source.reasons
        about.lost, about.losses = self.source.lost, self.source.losses

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


def _warn(text: str) -> None:
    # The level of the loop over readings or steps that a user writes.
    warnings.warn(text, stacklevel=5)


def _ended_by(error: BaseException) -> str:
    """The reason for the end, for the report."""
    return without_passwords(str(error)).rstrip(".") or type(error).__name__


def watch(
    source: Any,
    clusterer: Any = None,
    indices: str | Index | Iterable[str | Index] = "paper",
    *,
    columns: Any = None,
    exclude: Any = None,
    label: Any = None,
    time: Any = None,
    truth: Any = None,
    bad_rows: str = "error",
    follow: bool = False,
    on_data_loss: str = "stop",
    format: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    rows: int = 8192,
    scale: str = "none",
    scale_from: Any = None,
    batch: int = 1024,
    begin: int | timedelta | None = None,
    learn: bool = True,
    every: int | timedelta | None = 1,
    noise_label: Hashable = None,
    undefined: Literal["nan", "limit"] = "nan",
    window: Any = None,
    half_life: Any = None,
    bounds: Any = None,
    quantizer: Any = None,
    insight: bool = True,
    distinct: float = DISTINCT,
    alerts: Iterable[str] = (),
    on_alert: str | Callable[[Alarm], object] | None = None,
    trace: str | os.PathLike[str] | None = None,
    trace_format: str | None = None,
    trace_roll: int | timedelta | None = None,
    trace_keep: timedelta | None = None,
    alarms: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    report_every: float | timedelta | None = None,
    serve: str | int | None = None,
    token: str | None = None,
    serve_names: Iterable[str] = (),
    metrics_clusters: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 10.0,
    overwrite: bool = False,
    **source_options: Any,
) -> Watch:
    r"""Watch how good the clustering of a stream is.

    Parameters
    ----------
    source : anything that `icvi.streams.open_source` opens, or a Source
        A file, a pattern, a pipe, a Redis stream, a topic of Kafka, a table, an array, an iterable.
    clusterer : object or str, optional
        Labels the samples: `MicroWard`, `FuzzyART`, `FuzzySMART`, an estimator of scikit-learn with
        ``partial_fit`` and ``predict`` (or ``predict`` alone, when it is fitted), a clusterer of
        river, or a function from an (n, d) array to n labels; or a text with the name of one and
        its parameters as on the command line, ``"minibatch-kmeans n_clusters=5"``. By default the
        source has labels: in the column `label`, or beside the samples.
    indices : str or list, default "paper"
        As in `Tracker`.
    columns, exclude, label, time, bad_rows, follow, on_data_loss, rows
        How to read the source; see `icvi.streams.open_source`.
    format, sep, decimal, header
        What kind of text it is, and how it is spelt; the same.
    scale : {"none", "standard", "minmax", "robust"}
        How to scale features before they are clustered and read: by mean and standard deviation,
        minimum and range, or median and interquartile range. Learnt from the first batch, then
        frozen.
    scale_from : path or other source, optional
        Samples from which the scale is learnt instead.
    truth : name or position, or sequence, optional
        Known classes, to compare the clusters with: a column of the source, or one class per
        sample. Adds the adjusted Rand index and the adjusted mutual information, ARI and AMI, over
        all samples so far, to readings, trace and report; not with a window or half-life. Samples
        without a cluster count as one more cluster. The ARI is in every reading. The AMI takes
        longer: it is nan in all but the first 32 readings, every second up to the 64th, every
        fourth up to the 128th, and so on.
    batch : int, default 1024
        Samples that a scikit-learn estimator learns at once. Where ART has no ``bounds``, the first
        batch gives them.
    begin : int or timedelta, optional
        Begin with fewer samples than a batch: with so many, or with those that have come when so
        much time has passed since the first. After a start by time, the trace depends on when
        samples came; in all other cases it is the same however they come.
    learn : bool, default True
        Whether the clusterer learns; if not, it only predicts.
    every : int, timedelta or None, default 1
        Read the indices after every m-th sample; or, by the times of samples, after the first one
        of every such period. That needs a `time` column. None, the default of ``icvi watch``, is 1
        where a trace, a page, rules, known classes or a checkpoint take the readings; else a few
        readings make the curves of the table, 0.6 % of those of a million samples.
    noise_label, undefined, window, half_life, bounds, quantizer
        As in `Tracker`. A window or half-life that is a timedelta needs a `time` column. For ART,
        ``bounds={"temp": (0, 40)}`` gives those of some features, the first batch the others.
    insight : bool, default True
        Whether to raise alarms about clusters that should be merged or split, and to keep what
        ``tracker.verdict`` needs, as in `Tracker`.
    distinct : float, default sqrt(3)
        With insight: separation that two clusters must exceed, as in `icvi.verdict`.
    alerts : list of str, optional
        Your own rules: ``"SIL < 0.5 for 100"`` raises an alarm when SIL has been below 0.5 for 100
        consecutive samples, and withdraws it when that no longer holds; without ``for``, at once.
        The name is an index, or ``k``, the number of clusters; ``<``, ``<=``, ``>`` and ``>=``
        compare. An undefined reading is no such reading. With ``every``, only samples after which
        there is a reading are compared.
    on_alert : str or callable, optional
        What to do about alarms that are raised or withdrawn. A function gets the alarm; its errors
        end the watch. A command is run by the shell, with the alarm as a line of JSON on its
        standard input; one that takes longer than 60 s is killed, and one that fails gives a
        warning. After a kill, alarms since the last checkpoint come again.
    trace : path, optional
        File for all readings: ``.parquet``, ``.csv`` or ``.ndjson``; ``"-"`` is standard output,
        which needs `trace_format`. A path that ends in ``/`` is a folder, which gets
        ``date=YYYY-MM-DD/part-N.parquet``: each part is complete when the next one begins.
    trace_roll : int or timedelta, optional
        For a folder: when the next part begins, after so many rows, or with each period of the
        times of samples, such as an hour. By default with each day (UTC) where there are times, and
        after 1,000,000 rows otherwise.
    trace_keep : timedelta, optional
        For a folder: remove parts when all of their rows are older than that.
    alarms : path, optional
        File for all alarms, one JSON object per line (``.ndjson``). By default it is beside the
        trace: ``run.alarms.ndjson`` for ``trace="run.csv"``. None without a trace.
    report : path, optional
        Page with curves, clusters and the partition, written at the end: ``.html``.
    report_every : float or timedelta, optional
        Seconds after which the page is written again while the stream runs; the one before stays
        until the new one is complete. If writing takes long, it is written less often.
    serve : str or int, optional
        ``"PORT"`` or ``"HOST:PORT"`` of a live page, with ``/metrics`` for Prometheus and
        ``/healthz``; on 127.0.0.1 by default. Port 0 is any free one; `Watch.url` names it.
    token : str, optional
        With serve: what a browser or a scraper must know; needed on any address that other
        machines can reach.
    serve_names : list of str, optional
        With serve: further names of the server that a request may use, such as that of a proxy.
    metrics_clusters : int, default 0
        With serve: how many clusters, the largest, get metrics of their own.
    checkpoint : path, optional
        Checkpoint directory: repeat the same call to resume after the watch was stopped or killed.
        The trace and the alarms are then the same, byte for byte, as without the stop; files that
        were altered in between are refused. A new directory is private (mode 0700). Checkpoints of
        labels in the source, of `FuzzyART`, `FuzzySMART` and plain functions hold no pickle. Those
        of any other clusterer do, and a pickle can run any code: use only your own. A directory or
        file that another user owns or can write is refused.
    checkpoint_every : float, default 10
        Minimum seconds between checkpoints.
    overwrite : bool, default False
        Whether to replace the files `trace`, `alarms` and `report`, and to ignore an existing
        checkpoint.
    **source_options
        For a Redis stream: ``group``, ``consumer`` and ``patience``; for a topic of Kafka:
        ``group``, ``patience`` and ``wait``.

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
    refuse_unknown(watch, source_options, SERVERS)
    check_choice(undefined, "undefined", ("nan", "limit"))
    learn, overwrite = as_flag(learn, "learn"), as_flag(overwrite, "overwrite")
    if not as_number(checkpoint_every, "checkpoint_every") >= 0.0:
        raise ValueError(
            f"expected checkpoint_every as seconds from 0 on, got {short(checkpoint_every)}"
        )
    for path in (trace, alarms, report, checkpoint):
        if path is not None:
            os.fspath(path)  # raises unless it is a path
    scaling = FeatureScaling(scale, scale_from)
    interval = _seconds(report_every)
    if trace is None and (trace_roll is not None or trace_keep is not None):
        raise ValueError("trace_roll and trace_keep need a trace: give trace='runs/'")
    if interval is not None and report is None:
        raise ValueError("report_every needs a report: give report='page.html'")
    _check_serving(serve, token, serve_names, metrics_clusters)
    tracking: dict[str, Any] = {"noise_label": noise_label, "undefined": undefined}
    tracking |= {"window": window, "half_life": half_life, "bounds": bounds, "quantizer": quantizer}
    tracking |= {"insight": as_flag(insight, "insight"), "distinct": as_distinct(distinct)}
    reading = {"columns": columns, "label": label, "time": time, "bad_rows": bad_rows}
    reading |= {"exclude": exclude, "sep": sep, "decimal": decimal, "header": header}
    settings = {**tracking, "columns": columns, "label": label, "time": time}
    classes = classes_beside(truth, window, half_life, bad_rows)
    settings |= {"truth": truth if classes is None else classes.setting, "begin": begin}
    kept = (trace, report, serve, truth, checkpoint)
    on_demand = every is None and not alerts and all(each is None for each in kept)
    every = 1 if every is None else every
    if isinstance(every, timedelta):
        _check_every(time, truth)
        settings["every"] = every
    else:
        settings["every"] = as_every(every)
    settings |= {"batch": batch, "learn": learn, "trace_roll": trace_roll}
    settings |= {"trace": trace is not None, "report": report is not None}
    # None is what earlier versions stored: nothing.
    settings |= {"exclude": exclude, "scale": None if scale == "none" else scale}
    settings |= {"scale_from": None if scale_from is None else source_name(scale_from)}
    if isinstance(clusterer, (str, os.PathLike)):
        clusterer = clusterer_from(clusterer)
    labeller = labeller_for(clusterer, batch=batch, learn=learn, label=label)
    if isinstance(bounds, Mapping):
        labeller.take_bounds(bounds)
        tracking["bounds"] = None
    if noise_label is None:
        tracking["noise_label"] = labeller.unassigned
    tracker = Tracker(indices, **tracking)
    names = [index.name for index in tracker.indices]
    if truth is not None:
        refuse_names(names)
    rules = Rules(alerts, names)
    sending = None if on_alert is None else Sending(on_alert)
    alarmed = tracking["insight"] or bool(rules.rules)
    if not alarmed and (alarms is not None or on_alert is not None):
        raise ValueError("alarms and on_alert need insight=True, or alerts: there are no alarms")
    # Where the default is, the other settings say.
    settings |= {"alerts": rules.texts or None, "alarms": True if alarms is not None else None}
    if alarms is None and alarmed and trace is not None and os.fspath(trace) != "-":
        alarms = beside(os.fspath(trace))
    timed = any(isinstance(span, (timedelta, np.timedelta64)) for span in (window, half_life))
    prototypes = any(index.on == "prototypes" for index in tracker.indices)
    learnt = batch if (prototypes and bounds is None) or scaling.needs_batch else 0
    first = max(learnt, labeller.chunk or 0, labeller.first or 0) or None
    with contextlib.ExitStack() as opened:  # closed again if anything below is refused
        about = about_watch(source, clusterer, label, settings)
        if not isinstance(source, Source):
            reading |= {"follow": follow, "on_data_loss": on_data_loss}
            reading |= {"truth": truth if classes is None else None}
            source = open_source(source, **reading, rows=rows, format=format, **source_options)
        opened.callback(source.close)
        refuse_own_source(source, trace, alarms, report)
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
        history = History(names if truth is None else [*names, *AGREEMENT])
        history.on_demand = on_demand
        if trace is not None:
            outputs["trace"] = open_trace(
                trace,
                names=history.names,
                time=None if time is None else True,
                format=trace_format,
                journal=None if saved is None else saved.folder,
                overwrite=overwrite,
                roll=trace_roll,
                keep=trace_keep,
            )
        log = AlarmLog()
        if alarms is not None:
            _refuse_same(alarms, trace)
            outputs["alarms"] = AlarmFile(alarms, overwrite=overwrite)
        if alarmed:
            outputs["alarm_log"] = log
        outputs["history"] = history
        page = None
        if report is not None:
            page = Report(
                report, tracker, history=history, run=about, overwrite=overwrite, every=interval
            )
            outputs["report"] = page
        live = None
        if serve is not None:
            from icvi.watching.live import Live, parse_address

            live = Live(
                parse_address(serve, token, serve_names),
                source,
                history,
                log,
                about,
                interval=None if saved is None else checkpoint_every,
                metrics_clusters=metrics_clusters,
            )
            outputs["live"] = live
            opened.callback(live.close)
        loop = Loop(
            source,
            labeller,
            tracker,
            outputs,
            rules=rules,
            sending=sending,
            checkpoint=saved,
            every=CurveReadings() if on_demand else _readings(every),
            first=learnt,
            beginning=Beginning(first, begin),
            agreement=None if truth is None else Agreement(as_every(every)),
            classes=classes,
            timed=timed,
            interval=checkpoint_every,
            scaling=scaling,
        )
        opened.pop_all()
    return Watch(loop, history, page, log, live)


def _check_serving(
    serve: str | int | None, token: str | None, names: Iterable[str], clusters: int
) -> None:
    """Refuse a live page that could not be served; without one, nothing is imported for it."""
    if not 0 <= as_number(clusters, "metrics_clusters") <= _MOST_CLUSTERS:
        raise ValueError(
            f"expected metrics_clusters from 0 to {_MOST_CLUSTERS}, got {short(clusters)}"
        )
    if serve is not None:
        check("bokeh", "report", "serve (--serve)")
        check("jinja2", "report", "serve (--serve)")
    elif token is not None or clusters or tuple(names):
        raise ValueError("token, serve_names and metrics_clusters need serve (--serve)")


def _readings(every: int | timedelta) -> int | ReadingTimes:
    return ReadingTimes(every) if isinstance(every, timedelta) else as_every(every)


def _check_every(time: Any, truth: Any) -> None:
    """Refuse readings by time where there are no times, or where the agreement is read, too."""
    if time is None:
        raise ValueError("every (--every) is a time: it needs time=COL (--time COL)")
    if truth is not None:
        raise ValueError(
            "truth (--truth) is read after every m-th sample; give every (--every) as a number"
        )


def classes_beside(truth: Any, window: Any, half_life: Any, bad_rows: str) -> KnownClasses | None:
    """Known classes that are not in the source; refuse options that leave samples out."""
    classes = known_classes(truth)
    if truth is not None and (window is not None or half_life is not None):
        raise ValueError(
            "truth (--truth) compares all samples so far with their clusters; leave out the window "
            "or the half-life"
        )
    if classes is not None and bad_rows == "skip":
        raise ValueError(
            "truth has one class per sample, so no row can be skipped; give truth as a column, or "
            "leave out bad_rows='skip'"
        )
    return classes


def refuse_names(names: list[str]) -> None:
    """Refuse indices that are called like the agreement with known classes."""
    for name in AGREEMENT:
        if name in names:
            raise ValueError(
                f"an index is called {name}, and so is what truth adds; give it another name"
            )


def _seconds(every: float | timedelta | None) -> float | None:
    """The interval between two pages."""
    if every is None:
        return None
    given = every.total_seconds() if isinstance(every, timedelta) else every
    seconds = as_number(given, "report_every")
    if not 0.0 < seconds < math.inf:
        raise ValueError(f"expected report_every as seconds above 0, got {short(every)}")
    return seconds


def _refuse_same(alarms: str | os.PathLike[str], trace: str | os.PathLike[str] | None) -> None:
    """Refuse one file for two outputs."""
    if trace is not None and os.path.realpath(alarms) == os.path.realpath(trace):
        raise ValueError(f"{os.fspath(trace)} is the trace; write alarms to another file")


def refuse_own_source(source: Source, *written: str | os.PathLike[str] | None) -> None:
    """Refuse to overwrite the source."""
    read = [file for file in getattr(source, "_files", ()) if os.path.exists(file)]
    for path in written:
        if path is not None and os.path.exists(path):
            for file in read:
                if os.path.samefile(path, file):
                    raise ValueError(f"{file} is the source; write to another file")
