"""What `icvi watch` does: runs a watch, shows it in the terminal, and stops it cleanly."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from icvi.errors import ALARMED
from icvi.files import remove_unfinished
from icvi.kernels.compiler.announcing import compile_spinner
from icvi.streams import Source
from icvi.watching.labellers import check_savable, save_model
from icvi.watching.messages import error_text, with_options
from icvi.watching.service.json_log import JsonLines, JsonLog
from icvi.watching.service.notify import Notifier
from icvi.watching.settings import source_name
from icvi.watching.stopping import Stopping
from icvi.watching.terminal import View, view_for
from icvi.watching.watch import Watch, watch
from icvi.wording import for_terminal, plural

_NO_SAMPLES = "stopped before the first sample was processed"
_NO_CHECKPOINT = "; with --checkpoint DIR, the same command could resume from there"

_ERRORS = (ImportError, TypeError, ValueError, OSError, RuntimeError)


@dataclass(frozen=True)
class Job:
    """A watch as the command line asks for it.

    Parameters
    ----------
    source : str
        Where the samples are.
    clusterer : object or None
        Labels them.
    options : dict
        The other arguments of `icvi.watch`.
    model : str, optional
        Where to save the clusterer at the end.
    quiet : bool
        Whether to print warnings and errors only.
    fail_on_alert : bool
        Whether alarms make the exit code `ALARMED`.
    command : str
        The command itself without its passwords, for the message on how to resume.
    log : {"text", "json"}
        What messages look like.
    """

    source: str
    clusterer: Any
    options: Mapping[str, Any]
    model: str | None
    quiet: bool
    fail_on_alert: bool
    command: str
    log: str = "text"

    def open(self) -> Watch:
        """The watch, before it begins."""
        return watch(self.source, self.clusterer, **self.options)

    def view(self, console: Console) -> View:
        """What shows it."""
        return view_for(console)

    def show(self, view: Any, watched: Any) -> None:
        """Begin to show it."""
        name = source_name(self.source)
        view.begin(name, watched.source, watched.tracker, watched.history, watched)


class FailedError(RuntimeError):
    """A watch ended with an error; the message has the state and how to resume."""


def run(job: Job, stopping: Stopping) -> int:
    """Run a watch to its end; return the exit code."""
    messages: Console | JsonLog = Console(stderr=True)
    if job.log == "json":
        messages = JsonLog(sys.stderr)
    notifier = Notifier.of()
    if job.model is not None:
        check_savable(job.clusterer, job.model)
    with contextlib.closing(_view(job, messages)) as view:
        try:
            # Nothing has been written yet: an interrupt may end it at once.
            with compile_spinner(), stopping.waiting():
                watched = job.open()
        except KeyboardInterrupt:
            _print(messages, _NO_SAMPLES)
            return stopping.exit_code
        with watched:
            watched.waiting = lambda: _waiting(view, stopping)
            watched.working = stopping.working
            watched.on_warning(lambda text: _print_above(messages, text, "warning"))
            if not job.quiet:
                watched.on_note(lambda text: _print_above(messages, text))
            watched.on_alive(notifier.alive)
            try:
                return _run(watched, job, view, stopping, messages, notifier)
            finally:
                notifier.stopping()


def _view(job: Job, messages: Console | JsonLog) -> View:
    """What shows the watch: a table, lines, or nothing."""
    if job.quiet:
        return View()
    if isinstance(messages, JsonLog):
        return JsonLines(messages, time.monotonic)
    return job.view(messages if job.options.get("trace") == "-" else Console())


def _run(
    watched: Watch,
    job: Job,
    view: View,
    stopping: Stopping,
    messages: Console | JsonLog,
    notifier: Notifier,
) -> int:
    begun = ended = False
    try:
        try:
            _begin(watched, job)
            begun = True
            notifier.ready()
            ended = _follow(watched, view, stopping, job)
        except KeyboardInterrupt as stop:
            _check_complete(stop)
        if ended or watched.seen:
            view.finish(outcome="done" if ended else "interrupted")
        else:
            view.close()
    except _ERRORS as error:
        if not begun:
            raise
        if watched.seen and not isinstance(error, BrokenPipeError):
            with contextlib.suppress(OSError):  # the first error matters
                view.finish(outcome="failed")
        raise FailedError(f"{error_text(error)}\n{_state(watched, job, ended)}") from error
    if job.model is not None and watched.seen and watched.consistent:
        _save(watched, job, ended)
    _print(messages, *_messages(watched, job, ended))
    if not ended:
        return stopping.exit_code
    return ALARMED if job.fail_on_alert and watched.raised else 0


def _begin(watched: Watch, job: Job) -> None:
    """Resume from the checkpoint, or start from scratch; refuse to overwrite a model."""
    may_replace = job.options.get("overwrite") or watched.resumes
    if job.model is not None and not may_replace and os.path.lexists(job.model):
        raise FileExistsError(
            errno.EEXIST,
            "the model file exists: choose another, or --overwrite",
            job.model,
        )
    with compile_spinner():
        watched.begin()
    if job.model is not None:
        remove_unfinished(job.model)


def _check_complete(stop: KeyboardInterrupt) -> None:
    """Raise if an output could not be completed when the user stopped the watch."""
    if notes := getattr(stop, "__notes__", ()):
        raise RuntimeError("\n".join(notes)) from stop


def _follow(watched: Watch, view: View, stopping: Stopping, job: Job) -> bool:
    """Show every step until the end (True), or until a signal asks to stop (False)."""
    job.show(view, watched)
    with contextlib.closing(watched.steps()) as steps:
        for step in steps:
            view.take(step)
            if stopping.asked is not None:
                return False
    return True


def _save(watched: Watch, job: Job, ended: bool) -> None:
    assert job.model is not None
    try:
        save_model(watched.clusterer, job.model)
    except _ERRORS as error:
        raise FailedError(
            f"{job.model}: the clusterer could not be saved: {error_text(error)}\n"
            f"{_state(watched, job, ended)}"
        ) from error


@contextlib.contextmanager
def _waiting(view: View, stopping: Stopping) -> Iterator[None]:
    with view.waiting(), stopping.waiting():
        yield


def _messages(watched: Watch, job: Job, ended: bool) -> list[str]:
    """Skipped and lost samples, warnings, where the results are, and how to resume."""
    lines = [] if ended else [_state(watched, job, ended)]
    if job.model is not None and not watched.consistent:
        lines.append(f"{job.model}: the clusterer was stopped while it learnt, and is not saved")
    lines += _skipped(watched.source)
    lines += map(with_options, _lost(watched.source))
    lines += map(with_options, watched.warnings)
    if watched.began is not None:
        lines.append(f"began with {plural(watched.began, 'sample')} (--begin)")
    if not job.quiet:
        files = {"trace": job.options.get("trace"), "alarms": watched.alarm_file}
        files |= {"report": job.options.get("report"), "model": job.model}
        lines += [f"{name}: {file}" for name, file in files.items() if file and _is_file(file)]
    return lines


def _skipped(source: Source) -> list[str]:
    skipped, reasons = source.skipped, source.reasons
    if not skipped:
        return []
    rows = "1 row was" if skipped == 1 else f"{skipped:,} rows were"
    lines = [f"{rows} skipped:" if reasons else f"{rows} skipped"]
    lines += [f"  {reason}" for reason in reasons]
    if reasons and skipped > len(reasons):
        lines.append(f"  and {skipped - len(reasons):,} more")
    return lines


def _lost(source: Source) -> list[str]:
    lost, losses = source.lost, source.losses
    if not losses:
        return []
    samples = "1 sample was lost" if lost == 1 else f"{lost:,} samples were lost"
    if not lost:
        samples = "the source has changed; no sample is known to be lost"
    return [f"{samples}:", *(f"  {loss}" for loss in losses)]


def _state(watched: Watch, job: Job, ended: bool) -> str:
    """How many samples were processed, what the trace holds, and how to resume."""
    samples, trace = f"sample {watched.seen:,}", job.options.get("trace")
    text = f"the stream ended with {samples}" if ended else f"stopped after {samples}"
    if not watched.seen:
        text = _NO_SAMPLES
    elif watched.readings_written and trace != "-":
        text += f"; {trace} holds {watched.readings_written:,} readings"
    return text if ended else text + _to_resume(watched, job)


def _to_resume(watched: Watch, job: Job) -> str:
    if job.options.get("checkpoint") is None:
        return _NO_CHECKPOINT if watched.seen and job.options.get("trace") != "-" else ""
    if job.source == "-":
        return f"\nto resume, with the same stream from its beginning: {job.command}"
    return f"\nto resume: {job.command}"


def _is_file(path: str) -> bool:
    return path != "-" and os.path.exists(path)


def _print_above(messages: Console | JsonLog, text: str, level: str = "info") -> None:
    """Print a message while the table is drawn: on a terminal, above it."""
    if isinstance(messages, JsonLog):
        messages.message(with_options(text), level)
        return
    # Not by a console for standard error: it would write across the table, which replaces
    # sys.stderr while it is drawn.
    if sys.stderr is not None:
        sys.stderr.write(f"{for_terminal(with_options(text))}\n")
        sys.stderr.flush()


def _print(messages: Console | JsonLog, *texts: str) -> None:
    if isinstance(messages, JsonLog):
        messages.message("\n".join(texts))
        return
    for line in filter(None, for_terminal("\n".join(texts)).split("\n")):
        messages.print(line, highlight=False, markup=False, emoji=False, soft_wrap=True)
