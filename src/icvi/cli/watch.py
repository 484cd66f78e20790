"""`icvi watch`: its options and its help."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from icvi.cli import options
from icvi.cli.options import number

_CLUSTERERS = (
    "auto (finds the number of clusters), art, smart, kmeans (minibatch-kmeans), birch, dbstream, "
    "denstream, clustream, streamkmeans, "
    "a class or an estimator object (package.module.Class; importing a module runs its code), or "
    "the file of a saved model (.icvi, .pkl, .joblib; .pkl and .joblib hold pickles)"
)

#: The options under headings, in the order in which a user decides on them.
_GROUPS = {
    "Source": "columns exclude time bad_rows follow on_data_loss format sep decimal header group "
    "consumer patience wait",
    "Labels": "label clusterer rho rho_a rho_b alpha beta params seed bounds batch begin no_learn "
    "truth",
    "Units": "scale scale_from",
    "Indices": "indices every noise window half_life",
    "Alarms": "insight distinct alerts alarms on_alert fail_on_alert",
    "Output": "trace trace_format trace_roll trace_keep report report_every save_model overwrite "
    "quiet log",
    "Live page": "serve token serve_names metrics_clusters",
    "Checkpoints": "checkpoint checkpoint_every",
}


@click.command(
    cls=options.GroupedCommand,
    groups=_GROUPS,
    short_help="Watch how good the clustering of a stream is.",
)
@click.argument("source", shell_complete=lambda *_: [CompletionItem("", type="file")])
@options.reading
@click.option("--time", metavar="COL", help="Column with the times: ISO timestamps or seconds.")
@options.bad_rows
@click.option(
    "--follow",
    is_flag=True,
    help="At the end of the file or stream, wait for more. A rotated file is followed.",
)
@click.option(
    "--on-data-loss",
    type=click.Choice(["stop", "continue"]),
    default="stop",
    show_default=True,
    help="Samples that are gone before they were read (trimmed from a Redis stream, or in a file "
    "rotated away): stop with an error, or continue and count them.",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "ndjson", "parquet"]),
    metavar="FORMAT",
    help="Format of standard input (csv or ndjson), or of files whose names do not show it (also "
    "parquet).",
)
@click.option("--group", metavar="NAME", help="Redis, Kafka: consumer group.  [default: icvi]")
@click.option("--consumer", metavar="NAME", help="Redis: consumer name.  [default: icvi]")
@click.option(
    "--patience",
    type=float,
    metavar="SECONDS",
    help="Redis, Kafka: how long to retry while no server can be reached.  [default: 30]",
)
@click.option(
    "--wait",
    type=float,
    metavar="SECONDS",
    help="Kafka, --follow: how long messages wait for those of other partitions, which are merged "
    "by time.  [default: 1]",
)
@click.option("--labels", "label", metavar="COL", help="Column with the labels.")
@click.option(
    "--clusterer",
    metavar="SPEC",
    shell_complete=options.complete_clusterer,
    help=f"Clusterer that labels the samples: {_CLUSTERERS}. Parameters may follow the name, in "
    "quotes: 'minibatch-kmeans n_clusters=5', 'auto by=DB'. For ranges of them: icvi compare.",
)
@number("--rho", "art: vigilance from 0 to 1; larger values give smaller clusters.")
@number("--rho-a", "smart: vigilance of the prototypes.")
@number("--rho-b", "smart: vigilance of the clusters, less than --rho-a.")
@number("--alpha", "art, smart: choice parameter.")
@number("--beta", "art, smart: learning rate.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any parameter of the clusterer, such as n_clusters=5, as within --clusterer; repeat for "
    "several.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="Random seed of the clusterer, if it has one.  [default: 0]",
)
@click.option(
    "--bounds",
    multiple=True,
    type=options.Bounds(),
    metavar="LOW HIGH",
    help="art, smart, Conn: range of all features; or NAME=LOW:HIGH, such as temp=0:40, for one of "
    "them, which may be repeated.  [default: that of the first --batch samples]",
)
@options.scale
@options.scale_from
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    default=1024,
    show_default=True,
    help="Samples that a scikit-learn clusterer learns at once; the first so many give the bounds "
    "of art and smart, the scale of --scale, and the first labels of auto.",
)
@click.option(
    "--begin",
    type=options.Span(),
    metavar="SPAN",
    help="Begin with fewer samples than --batch: 100, or as many as have come after 5s. After a "
    "start by time, the trace depends on when samples came.",
)
@click.option("--no-learn", is_flag=True, help="Only predict; the saved model does not learn.")
@click.option(
    "--truth",
    metavar="COL",
    help="Column with known classes: adds ARI and AMI, the agreement of clusters and classes, to "
    "table, trace and report.",
)
@options.indices("paper")
@click.option(
    "--every",
    type=options.Span(),
    metavar="M",
    help="Read the indices after every M-th sample; or, with --time, after the first one of every "
    "1s, 5min, ...  [default: 1; where only the table shows them, as often as its curves need]",
)
@options.noise
@click.option(
    "--window",
    type=options.Span(),
    metavar="SPAN",
    help="Sliding window, such as 1000 (samples) or 15min.",
)
@click.option(
    "--half-life",
    type=options.Span(),
    metavar="SPAN",
    help="Half-life of the weight of samples, such as 1000 (samples) or 15min.",
)
@click.option(
    "--insight/--no-insight",
    default=True,
    show_default=True,
    help="Raise an alarm when two clusters should be merged or one should be split, and withdraw "
    "it when that no longer holds. Keeps covariances and at most 256 samples of every cluster.",
)
@click.option(
    "--distinct",
    type=float,
    metavar="NUMBER",
    help="Separation that two clusters must exceed; clusters that are closer should be merged.  "
    "[default: 1.73, the square root of 3]",
)
@click.option(
    "--alert",
    "alerts",
    multiple=True,
    metavar="RULE",
    help="Your own alarm, such as 'SIL < 0.5 for 100': an index (or k, the number of clusters), "
    "< <= > or >=, a number, and for how many consecutive samples that must hold (by default one). "
    "Quote it; repeat for several.",
)
@click.option(
    "--alarms",
    metavar="FILE",
    help="Write all alarms, one JSON object per line.  [default: run.alarms.ndjson beside --trace "
    "run.csv]",
)
@click.option(
    "--on-alert",
    metavar="COMMAND",
    help="Command for the shell to run when an alarm is raised or withdrawn, with the alarm as a "
    "line of JSON on its standard input. It is killed after 60 seconds; if it fails, the watch "
    "continues with a warning. After a kill, alarms since the last checkpoint are sent again.",
)
@click.option(
    "--fail-on-alert",
    is_flag=True,
    help="End with exit code 3 if any alarm was raised, also one that was withdrawn later, or in "
    "an earlier run of the checkpoint.",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Write all readings: .parquet, .csv, .ndjson, or - for standard output; or runs/, a "
    "folder that gets date=YYYY-MM-DD/part-N.parquet.",
)
@click.option(
    "--trace-format",
    type=click.Choice(["csv", "ndjson", "parquet"]),
    metavar="FORMAT",
    help="Format of --trace - (csv or ndjson), or of a file whose name does not show it (also "
    "parquet).",
)
@click.option(
    "--trace-roll",
    type=options.Span(),
    metavar="SPAN",
    help="Of a folder: begin the next part every 1d or 1h (by --time), or after so many rows.  "
    "[default: 1d with --time, else 1000000]",
)
@click.option(
    "--trace-keep",
    type=options.Span(),
    metavar="TIME",
    help="Of a folder: remove parts when they are older than 30d, or another time.",
)
@click.option(
    "--report", metavar="PAGE.html", help="Write an HTML page with all curves and the clusters."
)
@click.option(
    "--report-every",
    type=options.Span(),
    metavar="TIME",
    help="Write the page of --report again while the stream runs, such as every 10min.",
)
@click.option(
    "--save-model", metavar="FILE", help="Save the clusterer at the end: .icvi, .pkl, .joblib."
)
@click.option("--overwrite", is_flag=True, help="Replace existing files and start from scratch.")
@click.option("--quiet", is_flag=True, help="Print warnings and errors only.")
@click.option(
    "--log",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="json: instead of a table, one JSON object per line on standard error, for programs that "
    "collect logs.",
)
@click.option(
    "--serve",
    metavar="[HOST:]PORT",
    help="Serve a live page, with /metrics for Prometheus and /healthz: --serve 8080 for this "
    "machine alone; 0.0.0.0:8080 for others, which needs a --token. Port 0 is any free one.",
)
@click.option(
    "--token",
    envvar="ICVI_TOKEN",
    metavar="TEXT",
    help="What a browser (http://host:port/?token=TEXT) or a scraper must know. Better in the "
    "environment variable ICVI_TOKEN: other users of the machine can see options.",
)
@click.option(
    "--serve-name",
    "serve_names",
    multiple=True,
    metavar="NAME",
    help="Name of the server that a request may use besides its address, such as that of a proxy; "
    "repeat for several.",
)
@click.option(
    "--metrics-clusters",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    metavar="N",
    help="Clusters with metrics of their own in /metrics: the N largest.",
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Checkpoint directory; rerun the command to resume. It is created private, and holds "
    "pickles of clusterers other than auto, art and smart.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0.0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Minimum time between two checkpoints.",
)
def watch(**given: Any) -> None:
    """Watch how good the clustering of a stream is, while it comes in.

    SOURCE is a CSV, NDJSON or Parquet file with one row per sample, a quoted pattern such as
    'day-*.csv', - for standard input, a Redis stream (redis://host:port/db/key), or a topic of
    Kafka (kafka://broker:port/topic). The labels are in a column (--labels), or a clusterer gives
    them (--clusterer):

    \b
      icvi watch data.csv --clusterer auto
      icvi watch data.csv --clusterer 'kmeans n_clusters=5' --scale standard
      icvi watch data.csv --labels cluster
      icvi watch data.csv --clusterer smart --rho-a 0.9 --rho-b 0.7 --trace t.csv
      icvi watch data.csv --clusterer 'birch threshold=0.3' --report p.html
      tail -f log.ndjson | icvi watch - --format ndjson --clusterer dbstream
      icvi watch data.csv --labels cluster --alert 'SIL < 0.5 for 100'

    Ctrl-C stops the watch and leaves complete files behind. With --checkpoint DIR, rerun the same
    command to resume after it was stopped or killed; the trace and the alarms are the same as
    without the stop.

    A pickle can run any code when it is read. .pkl and .joblib models are pickles, and checkpoints
    of clusterers other than auto, art and smart hold some: use only your own. Files that another
    user owns or can write are refused. Checkpoints of --labels, auto, art and smart and .icvi
    models hold no pickles.

    Exit codes: 0 the stream ended, 1 the input or a file is invalid, 2 invalid options, 3 the
    stream ended and there were alarms (--fail-on-alert), 130 stopped by Ctrl-C (143 by SIGTERM, 129
    because the terminal was closed).
    """  # noqa: D301  click's mark for lines that stay as they are

    def job() -> Any:
        from icvi.cli.watch_job import watch_job

        return watch_job(given)

    run_stoppable(job, given["log"])


def run_stoppable(make: Callable[[], Any], log: str = "text") -> None:
    """Make a job and run it to its end; a signal ends it cleanly.

    ``log`` is what errors look like, as lines of text or of JSON.
    """
    from icvi.kernels.compiler.announcing import compile_spinner
    from icvi.watching.stopping import Stopping

    # An interrupted import would make its package look broken: stop before or after it.
    with Stopping() as stopping:
        try:
            with compile_spinner():
                job = make()
                from icvi.watching.command import run

            code = run(job, stopping)
        except KeyboardInterrupt:
            code = stopping.exit_code
        except (ImportError, TypeError, ValueError, OSError, RuntimeError) as error:
            if stopping.asked is None or not isinstance(error, ImportError):
                raise _reported(error, log) from error
            code = stopping.exit_code  # a second signal interrupted an import after all
    sys.exit(code)


class _LoggedError(click.ClickException):
    """An error as lines of JSON."""

    def show(self, file: Any = None) -> None:
        """Write it to the log."""
        from icvi.watching.service.json_log import JsonLog

        JsonLog(file or sys.stderr).message(self.format_message(), "error")


def _reported(error: Exception, log: str) -> click.ClickException:
    """The error as it is shown."""
    from icvi.watching.messages import error_text

    _discard_output()
    return (_LoggedError if log == "json" else click.ClickException)(error_text(error))


def _discard_output() -> None:
    """Discard what standard output refused: Python would try to write it again at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
