"""The command line: parses and delegates.

`icvi watch`, `icvi compare`, `icvi report` and `icvi study` are in files of their own; the work of
the others is in `list`, `score` and `warmup`, which are imported when they run, so that
`icvi --help` is quick.
"""

from __future__ import annotations

from typing import Any

import click

from icvi import __version__
from icvi.cli import options
from icvi.cli.compare import compare
from icvi.cli.exits import Commands, reported_errors
from icvi.cli.report import report
from icvi.cli.study import study
from icvi.cli.watch import watch
from icvi.wording import for_terminal


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="icvi")
def main() -> None:
    """Measure how good a clustering is, while the data are still streaming in."""


main.add_command(watch)
main.add_command(compare)
main.add_command(report)
main.add_command(study)


@main.command(name="list", short_help="List all indices.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per index.")
def list_(as_json: bool) -> None:
    """List all indices: which direction is better, the range, and the formula in words."""
    from rich.console import Console

    from icvi.cli.list import as_lines, print_table

    if as_json:
        for line in as_lines():
            click.echo(line)
    else:
        print_table(Console())


@main.command(short_help="Say how good a finished clustering is.")
@click.argument("file")
@click.option("--labels", "label", required=True, metavar="COL", help="Column with the labels.")
@options.reading
@options.scale
@options.scale_from
@options.indices("all")
@options.noise
@options.bad_rows
@click.option(
    "--format",
    type=click.Choice(["csv", "ndjson", "parquet"]),
    metavar="FORMAT",
    help="Format of standard input (csv or ndjson), or of files whose names do not show it (also "
    "parquet).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option(
    "--verdict/--no-verdict",
    default=True,
    show_default=True,
    help="Say how good the clustering is, and what to merge or split.",
)
def score(file: str, noise: str | None, as_json: bool, **given: Any) -> None:
    """Say how good a finished clustering is, and print its validity indices.

    FILE is a CSV, NDJSON or Parquet file with one row per sample, a quoted glob of several files,
    or - for standard input.
    """
    from rich.console import Console

    given |= options.scaling(given)
    options.dialect(given)
    if file == "-" and given["format"] is None:
        raise click.UsageError("standard input needs --format csv or --format ndjson")
    with reported_errors():
        from icvi.cli.score import ScoredFile

        scored = ScoredFile(file, noise_label=noise, **given)
    for note in scored.notes:
        click.echo(for_terminal(note), err=True)
    if as_json:
        click.echo(scored.as_json())
    else:
        scored.print(Console())
    if scored.skipped:
        rows = "1 row was" if scored.skipped == 1 else f"{scored.skipped:,} rows were"
        click.echo(f"{rows} skipped:", err=True)
        for reason in scored.reasons:
            click.echo(f"  {for_terminal(reason)}", err=True)


@main.command(short_help="Compile ahead of time.")
@click.argument("indices", nargs=-1, shell_complete=options.complete_index)
def warmup(indices: tuple[str, ...]) -> None:
    """Compile ahead of time what INDICES need.

    The default is everything: all indices and all clusterers. Later runs load the compiled code
    and compile nothing, except for indices of your own.

    INDICES are names and groups as in `icvi list`: CH, paper, all, Conn.

    The compiled code is stored beside the installed package or, if that directory is not writable,
    in the cache directory of your home. The environment variable NUMBA_CACHE_DIR names another
    directory.
    """
    with reported_errors("stopped; what was compiled stays compiled"):
        from icvi.cli.warmup import warm_up

        seconds = warm_up(indices)
    click.echo(f"ready in {seconds:.1f} s")


@main.command(short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes icvi's commands and options in SHELL.

    \b
      bash   icvi completion bash >> ~/.bashrc
      zsh    icvi completion zsh >> ~/.zshrc
      fish   icvi completion fish > ~/.config/fish/completions/icvi.fish
    """  # noqa: D301  click's mark for lines that stay as they are
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "icvi", "_ICVI_COMPLETE").source())
