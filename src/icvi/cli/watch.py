"""The options of `icvi watch`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])

_CLUSTERERS = (
    "art, smart, minibatch-kmeans, birch, dbstream, denstream, clustream, streamkmeans, a class or "
    "an estimator object (package.module.Class; naming a module imports it, which runs its code), "
    "or a file with a saved model (.icvi, .pkl, .joblib; .pkl and .joblib hold pickles)"
)

#: The options under headings, in the order in which one decides on them.
_GROUPS = {
    "Where the samples are": "columns time bad_rows follow on_data_loss format "
    "group consumer patience",
    "Who labels them": "label clusterer rho rho_a rho_b alpha beta params bounds batch no_learn",
    "What is read of them": "indices every noise window half_life",
    "Where the results go": "trace trace_format report save_model overwrite quiet",
    "Going on after a stop": "checkpoint checkpoint_every",
}


_ART = ("rho", "rho_a", "rho_b", "alpha", "beta")
_REDIS = ("group", "consumer", "patience")
_TEXT = ("csv", "ndjson")


class Grouped(click.Command):
    """A command whose options are listed under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        left = {each.name: each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        for heading, names in _GROUPS.items():
            self._write(heading, [left.pop(name) for name in names.split()], ctx, formatter)
        self._write("Help", [*left.values()], ctx, formatter)

    def _write(
        self,
        heading: str,
        options: Sequence[click.Option],
        ctx: click.Context,
        formatter: click.HelpFormatter,
    ) -> None:
        records = [option.get_help_record(ctx) for option in options]
        with formatter.section(heading):
            formatter.write_dl([record for record in records if record is not None])


def complete_index(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names and groups of indices that begin like this."""
    del context, parameter
    from icvi.indices import catalogue

    named = [CompletionItem(index.name, help=index.title) for index in catalogue()]
    groups = [CompletionItem("paper", help="those of the paper"), CompletionItem("all")]
    return [item for item in groups + named if item.value.startswith(incomplete)]


def complete_clusterer(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of clusterers that begin like this; files otherwise."""
    del context, parameter
    from icvi.watching.labellers.names import CLUSTERERS

    found = [CompletionItem(name) for name in CLUSTERERS if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def as_span(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """A span of the stream."""
    del context, parameter
    from icvi.watching.spans import parse_span

    try:
        span = None if text is None else parse_span(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if span is not None and not span:
        raise click.BadParameter("expected more than nothing")
    return span


def number(name: str, help: str) -> Callable[[Command], Command]:
    """An option that is a number."""
    return click.option(name, type=float, metavar="NUMBER", help=help)


@click.command(cls=Grouped, short_help="Watch how good the clustering of a stream is.")
@click.argument("source", shell_complete=lambda *_: [CompletionItem("", type="file")])
@click.option(
    "--columns",
    multiple=True,
    metavar="COL",
    help="A feature; several times for several.  [default: all columns of numbers]",
)
@click.option("--time", metavar="COL", help="Column with the times: ISO timestamps or seconds.")
@click.option(
    "--bad-rows",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="What to do about rows that cannot be used: stop there, or leave them out and count them.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="Wait for more at the end of the file or stream; follow a file that is rotated.",
)
@click.option(
    "--on-data-loss",
    type=click.Choice(["stop", "continue"]),
    default="stop",
    show_default=True,
    help="What to do when samples are gone before they were read (trimmed from a Redis stream, a "
    "followed file rotated away): stop with an error, or resume and count them.",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "ndjson", "parquet"]),
    metavar="FORMAT",
    help="csv or ndjson: of standard input. These or parquet: of files whose names do not tell.",
)
@click.option("--group", metavar="NAME", help="Redis: consumer group.  [default: icvi]")
@click.option("--consumer", metavar="NAME", help="Redis: name in the group.  [default: icvi]")
@click.option(
    "--patience",
    type=float,
    metavar="SECONDS",
    help="Redis: how long to try when the server cannot be reached.  [default: 30]",
)
@click.option("--labels", "label", metavar="COL", help="A column: it holds the labels.")
@click.option(
    "--clusterer",
    metavar="NAME",
    shell_complete=complete_clusterer,
    help=f"A clusterer: {_CLUSTERERS}.",
)
@number("--rho", "art: vigilance, 0 to 1; larger makes smaller clusters.")
@number("--rho-a", "smart: vigilance of the prototypes.")
@number("--rho-b", "smart: vigilance of the clusters, below --rho-a.")
@number("--alpha", "art, smart: choice parameter.")
@number("--beta", "art, smart: learning rate.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any parameter of the clusterer, such as n_clusters=5; several times for several.",
)
@click.option(
    "--bounds",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="art, smart, Conn: the range of all features.  [default: that of the first --batch]",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    default=1024,
    show_default=True,
    help="Samples that a scikit-learn clusterer learns at once.",
)
@click.option("--no-learn", is_flag=True, help="The saved model predicts, and learns no more.")
@click.option(
    "--indices",
    multiple=True,
    metavar="NAME",
    default=("paper",),
    show_default=True,
    shell_complete=complete_index,
    help="An index or a group of them, as in icvi list; several times for several.",
)
@click.option(
    "--every",
    type=click.IntRange(1),
    metavar="M",
    default=1,
    show_default=True,
    help="Read the indices after every M-th sample.",
)
@click.option(
    "--noise", metavar="LABEL", help="Label that is no cluster; '\"7\"' in quotes is text."
)
@click.option(
    "--window", callback=as_span, metavar="SPAN", help="Only the last samples: 1000, or 15min."
)
@click.option(
    "--half-life", callback=as_span, metavar="SPAN", help="Old samples fade: 1000, or 15min."
)
@click.option(
    "--trace",
    metavar="FILE",
    help="All readings: .parquet, .csv, .ndjson, or - for standard output.",
)
@click.option(
    "--trace-format",
    type=click.Choice(["csv", "ndjson", "parquet"]),
    metavar="FORMAT",
    help="csv or ndjson: of --trace -. These or parquet: of a file whose name does not tell.",
)
@click.option("--report", metavar="PAGE.html", help="A page with all curves and the clusters.")
@click.option(
    "--save-model", metavar="FILE", help="The clusterer as it is at the end: .icvi, .pkl, .joblib."
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there, and start anew.")
@click.option("--quiet", is_flag=True, help="Show nothing but problems.")
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Checkpoint directory; rerun the command to resume. Made private. Of clusterers other "
    "than art and smart it holds pickles.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0.0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two checkpoints, at least.",
)
def watch(**given: Any) -> None:
    """Watch how good the clustering of a stream is, while it comes in.

    SOURCE is a CSV, NDJSON or Parquet file with a row per sample, a quoted pattern such as
    'day-*.csv', - for standard input, or a Redis stream (redis://host:port/db/key). The labels are
    in a column of it (--labels), or a clusterer gives them (--clusterer):

    \b
      icvi watch data.csv --labels cluster
      icvi watch data.csv --clusterer smart --rho-a 0.9 --rho-b 0.7 --trace t.csv
      icvi watch data.csv --clusterer birch --param threshold=0.3 --report p.html
      tail -f log.ndjson | icvi watch - --format ndjson --clusterer dbstream

    Ctrl-C stops it and leaves complete files behind. With --checkpoint DIR the same command goes on
    after it was stopped or killed, and the trace is what it would have been.

    A pickle can run any code when it is read. Pickles are in .pkl and .joblib models, and in
    checkpoints of clusterers other than art and smart: they must come from you. Those that another
    user owns or can write are refused. Checkpoints of --labels, art and smart and .icvi models hold
    no pickle.

    Exit codes: 0 the stream ended, 1 something was wrong with the input or a file, 2 the options
    make no sense, 130 stopped by Ctrl-C (143 by SIGTERM, 129 by a terminal that was closed).
    """  # noqa: D301  click's mark for lines that stay as they are
    from icvi.kernels.compiler.announcing import announced_in_passing
    from icvi.watching.stopping import Stopping

    # Loading is not interrupted: a package that was would say that it is broken.
    with Stopping() as stopping:
        try:
            with announced_in_passing():
                job = _job(given)
                from icvi.watching.command import Job, run

            code = run(Job(**job), stopping)
        except KeyboardInterrupt:
            code = stopping.exit_code
        except (ImportError, TypeError, ValueError, OSError, RuntimeError) as error:
            if stopping.asked is None or not isinstance(error, ImportError):
                raise _told(error) from error
            code = stopping.exit_code  # asked twice, it was interrupted after all
    sys.exit(code)


def _job(given: dict[str, Any]) -> dict[str, Any]:
    """The watch that the options ask for."""
    from icvi.wording import shown_address

    _check_together(given)
    redis = {name: given.pop(name) for name in _REDIS}
    clusterer = _clusterer(given)
    model, quiet = given.pop("save_model"), given.pop("quiet")
    source = given.pop("source")
    given["noise_label"] = _label(given.pop("noise"))
    given["learn"] = not given.pop("no_learn")
    given["columns"] = list(given["columns"]) or None
    given["indices"] = list(given["indices"])
    given |= {name: value for name, value in redis.items() if value is not None}
    # Starting anew is not going on.
    typed = [shown_address(part) for part in sys.argv[1:] if part != "--overwrite"]
    command = shlex.join(["icvi", *typed])
    return {
        "source": source,
        "clusterer": clusterer,
        "options": given,
        "model": model,
        "quiet": quiet,
        "command": command,
    }


def _check_together(given: dict[str, Any]) -> None:
    """Refuse options that need others, or contradict each other."""
    if (given["clusterer"] is None) == (given["label"] is None):
        raise click.UsageError("give either --labels COL or --clusterer NAME")
    for option in ("save_model", "no_learn", "params", *_ART):
        if given[option] not in (None, False, ()) and given["clusterer"] is None:
            raise click.UsageError(f"{_typed(option)} needs a --clusterer")
    if given["source"] == "-" and given["format"] not in _TEXT:
        raise click.UsageError("standard input needs --format csv or --format ndjson")
    if given["trace"] == "-" and given["trace_format"] not in _TEXT:
        raise click.UsageError("--trace - needs --trace-format csv or --trace-format ndjson")
    if given["trace"] == "-" and given["checkpoint"] is not None:
        raise click.UsageError("--checkpoint needs a --trace that is a file: it may be cut back")
    for option in _REDIS:
        if given[option] is not None and not given["source"].startswith(("redis://", "rediss://")):
            raise click.UsageError(f"{_typed(option)} is for redis://host:port/db/key")
    if given["window"] is not None and given["half_life"] is not None:
        raise click.UsageError("give either --window or --half-life")
    for option in ("window", "half_life"):
        if isinstance(given[option], timedelta) and given["time"] is None:
            raise click.UsageError(f"{_typed(option)} is a time: it needs --time COL")


def _typed(option: str) -> str:
    return "--param" if option == "params" else f"--{option.replace('_', '-')}"


def _clusterer(given: dict[str, Any]) -> Any:
    """The clusterer that the options name; None where there are labels."""
    name, params = given.pop("clusterer"), _params(given.pop("params"))
    art = {option: given.pop(option) for option in _ART}
    art = {option: value for option, value in art.items() if value is not None}
    ours = name is not None and name.lower() in ("art", "smart")
    if given["bounds"] and not _tracks_prototypes(given["indices"]):
        if not ours:
            raise click.UsageError(
                "--bounds is for --clusterer art or smart, and for --indices Conn"
            )
        art["bounds"], given["bounds"] = given["bounds"], None  # for the clusterer alone
    elif given["bounds"] and ours:
        art["bounds"] = given["bounds"]
    if name is None:
        return None
    from icvi.watching.labellers import named_clusterer

    return named_clusterer(name, {**art, **params})


def _params(texts: Sequence[str]) -> dict[str, Any]:
    """Parameters of a clusterer."""
    from icvi.watching.labellers import parse_param

    try:
        return dict(parse_param(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--param") from None


def _label(text: str | None) -> Any:
    from icvi.streams.values import typed_label

    try:
        return None if text is None else typed_label(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--noise") from None


def _tracks_prototypes(indices: Sequence[str]) -> bool:
    from icvi.indices import select

    return any(index.on == "prototypes" for index in select(list(indices)))


def _told(error: Exception) -> click.ClickException:
    """The error as it is shown."""
    from icvi.watching.messages import error_text

    _let_go_of_output()
    return click.ClickException(error_text(error))


def _let_go_of_output() -> None:
    """What standard output refused to take would be tried again when Python exits."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
