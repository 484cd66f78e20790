"""`icvi compare`: its options and its help."""

from __future__ import annotations

from typing import Any

import click

from icvi.cli import options
from icvi.cli.watch import run_stoppable, watch

#: The options under headings; most are those of `icvi watch`.
_GROUPS = {
    "Source": "columns exclude time bad_rows follow on_data_loss format sep decimal header group "
    "consumer patience wait",
    "Candidates": "clusterers seed bounds batch truth",
    "Units": "scale scale_from",
    "Indices": "indices every noise window half_life insight",
    "Output": "trace trace_format report overwrite quiet",
    "Checkpoints": "checkpoint checkpoint_every",
}
_OWN = ("clusterers", "every", "insight", "trace", "report")


def _shared() -> list[click.Parameter]:
    """The options that `icvi watch` has as well."""
    names = {"source", *" ".join(_GROUPS.values()).split()} - {*_OWN}
    return [each for each in watch.params if each.name in names]


@click.command(
    cls=options.GroupedCommand,
    groups=_GROUPS,
    params=_shared(),
    short_help="Compare clusterers, or values of a parameter, on a stream.",
)
@click.option(
    "--clusterer",
    "clusterers",
    multiple=True,
    required=True,
    metavar="SPEC",
    shell_complete=options.complete_clusterer,
    help="A clusterer as in icvi watch, then its parameters, of which some may be ranges: "
    "'minibatch-kmeans n_clusters=2..12', 'smart rho_a=0.9 rho_b=0.5..0.8/0.05'. One without "
    "partial_fit, such as sklearn.cluster.KMeans, is fitted on all samples of a file first. "
    "Repeat for several.",
)
@click.option(
    "--every",
    type=options.Span(),
    metavar="M",
    default="1",
    show_default=True,
    help="Read the indices after every M-th sample.",
)
@click.option(
    "--insight/--no-insight",
    default=True,
    show_default=True,
    help="Give a verdict on the best candidate. Keeps covariances and at most 256 samples of every "
    "cluster of every candidate.",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Write all readings, with a column that names the candidate: .parquet, .csv, .ndjson, or "
    "- for standard output.",
)
@click.option(
    "--report",
    metavar="PAGE.html",
    help="Write an HTML page with the answer, the table, and the curves of all candidates.",
)
def compare(**given: Any) -> None:
    """Compare clusterers, or one over a range of a parameter, over one pass of a stream.

    SOURCE is a CSV, NDJSON or Parquet file with one row per sample, a quoted pattern such as
    'day-*.csv', - for standard input, a Redis stream (redis://host:port/db/key), or a Kafka topic
    (kafka://broker:port/topic):

    \b
      icvi compare data.csv --clusterer 'minibatch-kmeans n_clusters=2..12'
      icvi compare data.csv --clusterer 'smart rho_a=0.9 rho_b=0.5..0.8/0.05'
      icvi compare data.csv --clusterer 'art rho=0.7' --clusterer 'birch n_clusters=4'
      icvi compare data.csv --clusterer 'sklearn.cluster.KMeans n_clusters=2..12' --report p.html

    Every candidate labels the same samples, and the indices vote: each for the candidate at which
    it reads best. rH and rCIP are sums over pairs of clusters, which grow with their number; they
    are shown in brackets and do not vote.

    Ctrl-C stops and leaves complete files behind. With --checkpoint DIR, rerun the same command to
    resume after it was stopped or killed; the trace is the same as without the stop. Checkpoints of
    clusterers other than auto, art and smart hold pickles: see icvi watch --help.

    Exit codes: 0 the stream ended, 1 the input or a file is invalid, 2 invalid options, 130 stopped
    by Ctrl-C (143 by SIGTERM, 129 because the terminal was closed).
    """  # noqa: D301  click's mark for lines that stay as they are

    def job() -> Any:
        from icvi.cli.compare_job import compare_job

        return compare_job(given)

    run_stoppable(job)
