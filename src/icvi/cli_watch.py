"""The options of `icvi watch`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])

_CLUSTERERS = (
    "art, smart, minibatch-kmeans, birch, dbstream, denstream, clustream, streamkmeans, a class "
    "(package.module.Class), or a file with a saved model"
)


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
        return None if text is None else parse_span(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def as_param(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Parameters of a clusterer."""
    del context, parameter
    from icvi.watching.labellers import parse_param

    try:
        return dict(parse_param(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def as_label(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """A label as sources give it: whole numbers are numbers; in quotes it is text."""
    del context, parameter
    from icvi.streams.values import read_label

    if text is not None and len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    return None if text is None else read_label(text)


def number(name: str, help: str) -> Callable[[Command], Command]:
    """An option that is a number."""
    return click.option(name, type=float, metavar="NUMBER", help=help)


@click.command(short_help="Watch how good the clustering of a stream is.")
@click.argument("source", shell_complete=lambda *_: [CompletionItem("", type="file")])
@click.option("--labels", "label", metavar="COL", help="Column with the labels: no clusterer.")
@click.option(
    "--clusterer",
    metavar="NAME",
    shell_complete=complete_clusterer,
    help=f"Who labels the samples: {_CLUSTERERS}.",
)
@number("--rho", "art: vigilance, 0 to 1; larger makes smaller clusters.")
@number("--rho-a", "smart: vigilance of the prototypes.")
@number("--rho-b", "smart: vigilance of the clusters, below --rho-a.")
@number("--alpha", "art, smart: choice parameter.")
@number("--beta", "art, smart: learning rate.")
@click.option(
    "--bounds",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="art, smart, Conn: the range of all features.  [default: that of the first --batch]",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    callback=as_param,
    help="Any other parameter of the clusterer; several times for several.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=1024,
    show_default=True,
    help="Samples that a scikit-learn clusterer learns at once.",
)
@click.option("--no-learn", is_flag=True, help="A saved model only predicts.")
@click.option(
    "--indices",
    multiple=True,
    metavar="NAME",
    default=("paper",),
    show_default=True,
    shell_complete=complete_index,
    help="Names or groups, as in icvi list; several times for several.",
)
@click.option("--columns", multiple=True, metavar="COL", help="Features.  [default: all numbers]")
@click.option("--time", metavar="COL", help="Column with the times: ISO timestamps or seconds.")
@click.option("--noise", metavar="LABEL", callback=as_label, help="Label that is no cluster.")
@click.option("--every", type=click.IntRange(1), default=1, help="Read after every m-th sample.")
@click.option(
    "--window", callback=as_span, metavar="SPAN", help="Only the last samples: 1000, or 15min."
)
@click.option(
    "--half-life", callback=as_span, metavar="SPAN", help="Old samples fade: 1000, or 15min."
)
@click.option(
    "--bad-rows",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="What to do about rows that cannot be used.",
)
@click.option("--format", type=click.Choice(["csv", "ndjson"]), help="Of standard input.")
@click.option("--follow", is_flag=True, help="Wait for more at the end of the file or stream.")
@click.option("--group", metavar="NAME", help="Redis: consumer group.  [default: icvi]")
@click.option("--consumer", metavar="NAME", help="Redis: name in the group.")
@click.option("--patience", type=float, metavar="SECONDS", help="Redis: how long to retry.")
@click.option(
    "--trace", metavar="FILE", help="All readings: .parquet, .csv, .ndjson, or - for the output."
)
@click.option("--trace-format", type=click.Choice(["csv", "ndjson"]), help="Of --trace -.")
@click.option("--report", metavar="PAGE.html", help="A page with all curves and the clusters.")
@click.option("--checkpoint", metavar="DIR", help="Folder to go on from after a stop.")
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0.0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two checkpoints, at least.",
)
@click.option("--save-model", metavar="FILE", help="Save the clusterer at the end.")
@click.option("--overwrite", is_flag=True, help="Replace results that are there; start anew.")
@click.option("--quiet", is_flag=True, help="Show nothing but problems.")
def watch(**given: Any) -> None:
    """Watch how good the clustering of a stream is, while it comes in.

    SOURCE is a CSV, NDJSON or Parquet file with a row per sample, a quoted glob of several, - for
    standard input, or a Redis stream (redis://host:port/db/key). The labels are in a column of it
    (--labels), or a clusterer gives them:

    \b
      icvi watch data.csv --clusterer smart --rho-a 0.9 --rho-b 0.7 --trace trace.parquet
      icvi watch data.csv --labels cluster --report page.html

    With --checkpoint DIR the same command goes on after it was stopped or killed, and the trace is
    what it would have been. Exit codes: 0 done, 1 the input was wrong, 2 usage, 130 interrupted.
    """  # noqa: D301  click's mark for lines that stay as they are
    from rich.console import Console

    messages = Console(stderr=True)
    try:
        from icvi.watching.command import Job, run

        job = Job(**_job(given))
        code = run(job, messages)
    except (ImportError, TypeError, ValueError, OSError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    sys.exit(code)


def _job(given: dict[str, Any]) -> dict[str, Any]:
    """The watch that the options ask for."""
    redis = {name: given.pop(name) for name in ("group", "consumer", "patience")}
    clusterer = _clusterer(given)
    model, quiet = given.pop("save_model"), given.pop("quiet")
    if model is not None and clusterer is None:
        raise click.UsageError("--save-model needs a --clusterer")
    source = given.pop("source")
    given["noise_label"], given["learn"] = given.pop("noise"), not given.pop("no_learn")
    given["columns"] = list(given["columns"]) or None
    given["indices"] = list(given["indices"])
    given |= {name: value for name, value in redis.items() if value is not None}
    command = shlex.join(["icvi", *sys.argv[1:]])
    return {
        "source": source,
        "clusterer": clusterer,
        "options": given,
        "model": model,
        "quiet": quiet,
        "command": command,
    }


def _clusterer(given: dict[str, Any]) -> Any:
    """The clusterer that the options name; None where there are labels."""
    name, params = given.pop("clusterer"), given.pop("params")
    art = {option: given.pop(option) for option in ("rho", "rho_a", "rho_b", "alpha", "beta")}
    art = {option: value for option, value in art.items() if value is not None}
    if (name is None) == (given["label"] is None):
        raise click.UsageError("give either --labels COL or --clusterer NAME")
    if name is None:
        if art or params:
            raise click.UsageError(f"--{[*art, *params][0].replace('_', '-')} is for a --clusterer")
        return None
    from icvi.watching.labellers import named_clusterer

    if given["bounds"] and name in ("art", "smart"):
        art["bounds"] = given["bounds"]
        if not _tracks_prototypes(given["indices"]):
            given["bounds"] = None  # for the clusterer alone
    return named_clusterer(name, {**art, **params})


def _tracks_prototypes(indices: Sequence[str]) -> bool:
    from icvi.indices import select

    return any(index.on == "prototypes" for index in select(list(indices)))
