"""What `icvi watch` does: a watch, shown in the terminal, stopped in good order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from icvi.watching.labellers import check_savable, save_model
from icvi.watching.stopping import Stopping
from icvi.watching.terminal import View, view_for
from icvi.watching.watch import Watch, watch

#: What a shell expects of a command that a signal has ended: 128 and its number.
_SIGNALLED = 128


@dataclass(frozen=True)
class Job:
    """A watch as it was asked for on the command line.

    Parameters
    ----------
    source : str
        Where the samples are.
    clusterer : object or None
        Who labels them.
    options : dict
        What `icvi.watch` takes besides.
    model : str, optional
        Where to save the clusterer at the end.
    quiet : bool
        Whether to show nothing.
    command : str
        The command itself, to tell how to go on.
    """

    source: str
    clusterer: Any
    options: Mapping[str, Any]
    model: str | None
    quiet: bool
    command: str


class FailedError(RuntimeError):
    """A watch that could not go on, and what helps."""


def run(job: Job, messages: Console) -> int:
    """Watch to the end; the exit code."""
    if job.model is not None:
        check_savable(job.clusterer, job.model)
    shown = messages if job.options.get("trace") == "-" else Console()
    view = view_for(None if job.quiet else shown)
    with Stopping() as stopping, contextlib.closing(view):
        watched = watch(job.source, job.clusterer, **job.options)
        watched.waiting = lambda: _waiting(view, stopping)
        try:
            _follow(watched, view, stopping, "standard input" if job.source == "-" else job.source)
        except KeyboardInterrupt:
            pass
        except BrokenPipeError as error:
            raise FailedError(
                _failure("what reads the output has gone away", watched, job)
            ) from error
        except (ImportError, TypeError, ValueError, OSError, RuntimeError) as error:
            view.finish(outcome="failed")
            reasons = "\n".join([str(error), *getattr(error, "__notes__", ())])
            raise FailedError(_failure(reasons, watched, job)) from error
        view.finish(outcome="done" if stopping.asked is None else "interrupted")
    if job.model is not None:
        save_model(watched.clusterer, job.model)
    _tell(watched, job, messages, stopping.asked is not None)
    return 0 if stopping.asked is None else _SIGNALLED + stopping.asked


@contextlib.contextmanager
def _waiting(view: View, stopping: Stopping) -> Iterator[None]:
    with view.waiting(), stopping.waiting():
        yield


def _follow(watched: Watch, view: View, stopping: Stopping, title: str) -> None:
    """Show every step until the end, or until asked to stop."""
    watched.begin()
    view.begin(title, watched.source, watched.tracker, watched.history)
    with contextlib.closing(watched.steps()) as steps:
        for step in steps:
            view.take(step)
            if stopping.asked is not None:
                break


def _tell(watched: Watch, job: Job, messages: Console, interrupted: bool) -> None:
    """Where the results are, what was left out, and how to go on."""
    lines = []
    if interrupted:
        lines += [f"stopped after sample {watched.seen:,}", _how_to_go_on(watched, job)]
    skipped, reasons = watched.source.skipped, watched.source.reasons
    if skipped:
        rows = "row" if skipped == 1 else "rows"
        lines.append(f"{skipped:,} {rows} could not be used and were left out:")
        lines += [f"  {reason}" for reason in reasons]
    lines += watched.remarks
    if not job.quiet:
        files = {"trace": job.options.get("trace"), "report": job.options.get("report")}
        files["model"] = job.model
        lines += [f"{name}: {file}" for name, file in files.items() if file not in (None, "-")]
    for line in lines:
        messages.print(line, highlight=False, markup=False, soft_wrap=True)


def _failure(reasons: str, watched: Watch, job: Job) -> str:
    where = f"stopped after sample {watched.seen:,}" if watched.seen else "nothing was read"
    return f"{reasons}\n{where}; {_how_to_go_on(watched, job)}"


def _how_to_go_on(watched: Watch, job: Job) -> str:
    if job.options.get("checkpoint") is not None:
        return f"to go on: {job.command}"
    if watched.seen:
        return "with --checkpoint DIR the same command would go on from there"
    return "nothing was written"
