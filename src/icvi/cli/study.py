"""`icvi study`: the comparative study of incremental cluster validity indices."""

from __future__ import annotations

from pathlib import Path

import click

from icvi.cli.exits import reported_errors
from icvi.wording import for_terminal


@click.command(short_help="Reproduce the comparative study.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Output directory for figures, traces, findings and report.html.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory with r15.csv and d4.csv (columns x1, x2, label).  [default: generated data]",
)
@click.option(
    "--orders",
    type=click.IntRange(1),
    help="Random orders of presentation per scenario.  [default: 100]",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option("--jobs", type=click.IntRange(1), help="Number of processes.  [default: all cores]")
@click.option(
    "--quick", is_flag=True, help="Only the paper's scenarios, with few orders: 20 seconds."
)
@click.option(
    "--overwrite", is_flag=True, help="Start from scratch if --out contains another study."
)
def study(
    out: Path,
    data: Path | None,
    orders: int | None,
    seed: int,
    jobs: int | None,
    quick: bool,
    overwrite: bool,
) -> None:
    """Reproduce the comparative study of incremental cluster validity indices.

    Clusters streams with too low, right and too high vigilance, reads ten indices after every
    sample, repeats this for many orders of presentation, and writes a page that explains the
    results. After Ctrl-C, rerun the command to resume.
    """
    stopped = f"stopped; finished results are in {out}, rerun the command to resume"
    with reported_errors(stopped):
        from icvi.study.runner import run_study
        from icvi.study.tasks import Settings

        settings = Settings(
            seed=seed,
            orders=orders or (5 if quick else 100),
            data=None if data is None else str(data),
            quick=quick,
        )
        report = run_study(out, settings, jobs=jobs, overwrite=overwrite)
    click.echo(f"open {for_terminal(str(report))}")
