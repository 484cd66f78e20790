"""Options that several commands have, completion of names, and help under headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])

_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def complete_index(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names and groups of indices that begin with a text."""
    del context, parameter
    from icvi.indices import catalogue

    named = [CompletionItem(index.name, help=index.title) for index in catalogue()]
    groups = [CompletionItem("paper", help="those of the paper"), CompletionItem("all")]
    return [item for item in groups + named if item.value.startswith(incomplete)]


def complete_clusterer(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of clusterers that begin with a text; files otherwise."""
    del context, parameter
    from icvi.watching.labellers.names import CLUSTERERS

    found = [CompletionItem(name) for name in CLUSTERERS if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


columns = click.option(
    "--columns",
    multiple=True,
    metavar="COL",
    help="Feature column; repeat for several.  [default: all numeric columns]",
)
bad_rows = click.option(
    "--bad-rows",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="Invalid rows: stop with an error, or skip and count them.",
)
noise = click.option(
    "--noise", metavar="LABEL", help="Label that marks noise; '\"7\"' in quotes is text."
)


def indices(default: str) -> Callable[[Command], Command]:
    """The option for names and groups of indices."""
    return click.option(
        "--indices",
        multiple=True,
        metavar="NAME",
        default=(default,),
        show_default=True,
        shell_complete=complete_index,
        help="Index or group of indices, see icvi list; repeat for several.",
    )


def number(name: str, help: str) -> Callable[[Command], Command]:
    """An option for a number."""
    return click.option(name, type=float, metavar="NUMBER", help=help)


class Span(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """A number of samples, or a duration with its unit.

    >>> [Span().convert(text) for text in ("1000", "90s", "1.5h")]
    [1000, datetime.timedelta(seconds=90), datetime.timedelta(seconds=5400)]
    """

    name = "span"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None = None,
        ctx: click.Context | None = None,
    ) -> int | float | timedelta:
        """Parse a span."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", value.strip())
        if found is None or found[2] not in ("", *_UNITS):
            self.fail(
                f"expected a number of samples, or a time such as 90s, 15min, 2h or 1d, "
                f"got {value!r}",
                param,
                ctx,
            )
        number, unit = found.groups()
        if not float(number):
            self.fail("must be greater than zero", param, ctx)
        if unit:
            return timedelta(seconds=float(number) * _UNITS[unit])
        return float(number) if "." in number else int(number)


class GroupedCommand(click.Command):
    """A command whose help lists the options under headings.

    Parameters
    ----------
    groups : dict of str to str
        Headings, and the names of the options below each, separated by blanks.
    """

    def __init__(self, *args: Any, groups: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        left = {each.name: each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        for heading, names in self._groups.items():
            _write(heading, [left.pop(name) for name in names.split()], ctx, formatter)
        _write("Help", [*left.values()], ctx, formatter)


def _write(
    heading: str,
    options: Sequence[click.Option],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    records = [option.get_help_record(ctx) for option in options]
    with formatter.section(heading):
        formatter.write_dl([record for record in records if record is not None])
