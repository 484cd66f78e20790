"""The command line: parses and delegates."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from icvi import __version__
from icvi.cli.signals import raising
from icvi.cli.watch import complete_index, watch
from icvi.errors import INTERRUPTED
from icvi.wording import for_terminal


class Commands(click.Group):
    """Commands that Ctrl-C ends as shells expect it, also while one is being loaded."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read what comes before the command."""
        with _errors_for_terminal():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with raising(), _errors_for_terminal():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@contextmanager
def _errors_for_terminal() -> Iterator[None]:
    """Have errors quote files, arguments and servers without passwords and escape sequences."""
    try:
        yield
    except click.ClickException as error:
        shown = for_terminal(error.format_message())
        # Some kinds of error put their message together when it is shown.
        error.format_message = lambda: shown  # type: ignore[method-assign]
        raise


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="icvi")
def main() -> None:
    """Tell whether a clustering is any good, while the data are still streaming in."""


@main.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per index instead.")
def list_(as_json: bool) -> None:
    """List every index: which direction is better, its range, and its formula in words."""
    from rich.console import Console

    from icvi.cli.list import as_lines, print_table

    if as_json:
        for line in as_lines():
            click.echo(line)
    else:
        print_table(Console())


@main.command()
@click.argument("file")
@click.option("--labels", "label", required=True, metavar="COL", help="Column with the labels.")
@click.option("--columns", multiple=True, metavar="COL", help="Features.  [default: all numbers]")
@click.option(
    "--indices",
    multiple=True,
    metavar="NAME",
    default=("all",),
    show_default=True,
    shell_complete=complete_index,
    help="Names or groups, as in icvi list; several times for several.",
)
@click.option(
    "--noise",
    metavar="LABEL",
    help="Label of samples that belong to no cluster; '\"7\"' in quotes is text.",
)
@click.option(
    "--bad-rows",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="What to do about rows that cannot be used.",
)
@click.option("--format", type=click.Choice(["csv", "ndjson"]), help="Of standard input (FILE -).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def score(
    file: str,
    label: str,
    columns: tuple[str, ...],
    indices: tuple[str, ...],
    noise: str | None,
    bad_rows: str,
    format: str | None,
    as_json: bool,
) -> None:
    """Print the validity indices of a finished clustering.

    FILE is a CSV, NDJSON or Parquet file with a row per sample, a quoted glob of several, or - for
    standard input.
    """
    from rich.console import Console

    try:
        from icvi.cli.score import ScoredFile

        scored = ScoredFile(
            file,
            label=label,
            columns=columns,
            indices=indices,
            noise_label=noise,
            bad_rows=bad_rows,
            format=format,
        )
    except (ImportError, TypeError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    if as_json:
        click.echo(scored.as_json())
    else:
        scored.print(Console())
    if scored.skipped:
        click.echo(f"{scored.skipped} rows could not be used and were left out:", err=True)
        for reason in scored.reasons:
            click.echo(f"  {for_terminal(reason)}", err=True)


main.add_command(watch)


@main.command()
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


@main.command()
@click.argument("indices", nargs=-1, shell_complete=complete_index)
def warmup(indices: tuple[str, ...]) -> None:
    """Compile ahead what INDICES need, for the next runs to load.

    By default that is everything: all indices, all clusterers, whatever is done with them. After
    that nothing is compiled any more, except for indices of your own.

    Names and groups as in `icvi list` and Tracker: CH, paper, all, Conn.

    The compiled code is kept beside the installed package, or in the cache directory of your home
    where that cannot be written. The environment variable NUMBA_CACHE_DIR names another directory.
    """
    from icvi.cli.warmup import warm_up

    try:
        seconds = warm_up(indices)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("stopped; what was compiled stays compiled", err=True)
        sys.exit(INTERRUPTED)
    click.echo(f"ready in {seconds:.1f} s")


@main.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for figures, traces, findings and report.html.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with r15.csv and d4.csv (columns x1, x2, label); generated data otherwise.",
)
@click.option(
    "--orders", type=click.IntRange(1), help="Random orders per scenario.  [default: 100]"
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all chance.")
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one per core]")
@click.option("--quick", is_flag=True, help="The paper's scenarios only, few orders: 20 seconds.")
@click.option("--overwrite", is_flag=True, help="Start anew where --out holds another study.")
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
    sample, repeats it in many orders of presentation, and writes a page that explains what it
    found. Stopped by Ctrl-C, the same command goes on where it was.
    """
    try:
        from icvi.study.runner import run_study
        from icvi.study.tasks import Settings

        settings = Settings(
            seed=seed,
            orders=orders or (5 if quick else 100),
            data=None if data is None else str(data),
            quick=quick,
        )
        report = run_study(out, settings, jobs=jobs, overwrite=overwrite)
    except (ImportError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        where = for_terminal(str(out))
        click.echo(f"stopped; what is finished is in {where}, the same command goes on", err=True)
        sys.exit(INTERRUPTED)
    click.echo(f"open {for_terminal(str(report))}")
