"""`icvi report`: a page from a trace."""

from __future__ import annotations

import os

import click

from icvi.cli.exits import reported_errors
from icvi.wording import for_terminal


@click.command(short_help="Write a page from the readings of a trace.")
@click.argument("trace")
@click.option(
    "--out",
    metavar="PAGE.html",
    help="The page to write.  [default: beside the trace, run.html for run.parquet]",
)
@click.option(
    "--alarms",
    metavar="FILE",
    help="Alarms to show.  [default: run.alarms.ndjson beside run.parquet, if it exists]",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "ndjson", "parquet"]),
    metavar="FORMAT",
    help="Format of a trace whose name does not show it: csv, ndjson or parquet.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing page.")
def report(
    trace: str, out: str | None, alarms: str | None, format: str | None, overwrite: bool
) -> None:
    """Write a page for a browser from TRACE, the readings that icvi watch --trace has written.

    The page has the curves of all indices, the number of clusters, the cluster sizes (if there is a
    reading after every sample) and the alarms. A trace holds no samples, so there is no picture of
    the partition and no verdict; icvi watch --report writes a page with both.

    A trace of any length can be read, also one that is still growing: a .csv or .ndjson file, the
    complete parts of a folder (runs/), and of a .parquet file what is in its journal (with
    --checkpoint DIR, name it: DIR/trace.arrows).
    """
    with reported_errors():
        from icvi.watching.alarms.alarm_file import beside
        from icvi.watching.report.trace_page import write_trace_file

        name = trace.rstrip(f"/{os.sep}") or "."
        page = out if out is not None else f"{os.path.splitext(name)[0]}.html"
        if alarms is None and os.path.isfile(beside(trace)):
            alarms = beside(trace)
        write_trace_file(trace, page, format=format, alarms=alarms, overwrite=overwrite)
    click.echo(f"report: {for_terminal(page)}")
