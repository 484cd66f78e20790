"""Options that several commands have, completion of names, and help under headings."""

from __future__ import annotations

import csv
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
    done, comma, last = incomplete.rpartition(",")
    found = [item for item in groups + named if item.value.startswith(last)]
    if not found:  # case does not matter
        found = [item for item in named if item.value.lower().startswith(last.lower())]
    return [CompletionItem(f"{done}{comma}{item.value}", help=item.help) for item in found]


def complete_clusterer(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of clusterers that begin with a text; files otherwise."""
    del context, parameter
    from icvi.watching.labellers.names import CLUSTERERS

    names = [*CLUSTERERS, "kmeans"]
    found = [CompletionItem(name) for name in names if name.startswith(incomplete.lower())]
    return found or [CompletionItem(incomplete, type="file")]


def _names(context: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> list[str]:
    """Names in lists that are separated by commas; one with a comma in it is quoted."""
    del context
    names = [name.strip() for text in texts for name in next(csv.reader([text]), [])]
    if "" in names:
        raise click.BadParameter(
            f"expected names of columns, such as a,b,c, got {', '.join(texts)!r}", param=parameter
        )
    return names


columns = click.option(
    "--columns",
    multiple=True,
    callback=_names,
    metavar="COLS",
    help="Feature columns: a,b,c or patterns such as 'pixel_*'; may be repeated.  [default: all "
    "numeric columns that do not look like labels]",
)
exclude = click.option(
    "--exclude",
    multiple=True,
    callback=_names,
    metavar="COLS",
    help="Columns that are not features: a,b,c or patterns; may be repeated.",
)
sep = click.option(
    "--sep",
    metavar="MARK",
    help="CSV: separator of the fields: , ; | tab or space.  [default: found out]",
)
decimal = click.option(
    "--decimal", metavar="MARK", help="CSV: decimal mark, . or ,.  [default: found out]"
)
header = click.option(
    "--header/--no-header",
    default=None,
    help="CSV: whether the first line has the names of the columns; they are x1, x2, ... "
    "otherwise.  [default: found out]",
)
scale = click.option(
    "--scale",
    type=click.Choice(["none", "standard", "minmax", "robust"]),
    default=None,
    metavar="HOW",
    help="Scale the features: standard (mean and standard deviation), minmax, robust (median and "
    "quartiles), or none.  [default: none]",
)
scale_from = click.option(
    "--scale-from",
    metavar="FILE",
    help="Learn the scale from the samples of this file.",
)


def reading(command: Command) -> Command:
    """The options that say how a source is read."""
    for option in (header, decimal, sep, exclude, columns):
        command = option(command)
    return command


def dialect(given: dict[str, Any]) -> None:
    """Refuse what is no separator and no decimal mark."""
    from icvi.streams.dialects.dialect import Given

    for option in ("sep", "decimal"):
        try:
            Given.of(**{option: given[option]})
        except ValueError as error:
            raise click.BadParameter(
                str(error).replace(f"{option} to be ", ""), param_hint=f"--{option}"
            ) from None


def scaling(given: dict[str, Any]) -> dict[str, Any]:
    """How to scale: the standard way where only a file is given."""
    scale, other = given["scale"], given["scale_from"]
    if other is not None and scale == "none":
        raise click.UsageError("--scale-from needs --scale standard, minmax or robust")
    return {"scale": scale or ("none" if other is None else "standard"), "scale_from": other}


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
        metavar="NAMES",
        default=(default,),
        show_default=True,
        shell_complete=complete_index,
        help="Indices and groups of indices, such as SIL,CH; see icvi list. May be repeated.",
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; ``--bounds`` may have two."""
        return super().parse_args(ctx, Bounds.joined(args))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        left = {each.name: each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        for heading, names in self._groups.items():
            _write(heading, [left.pop(name) for name in names.split()], ctx, formatter)
        _write("Help", [*left.values()], ctx, formatter)


class Bounds(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """Bounds of all features, LOW:HIGH, or of one of them, NAME=LOW:HIGH.

    >>> [Bounds().convert(text) for text in ("-5:13", "temp=0:40")]
    [(None, (-5.0, 13.0)), ('temp', (0.0, 40.0))]
    """

    name = "bounds"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None = None,
        ctx: click.Context | None = None,
    ) -> tuple[str | None, tuple[float, float]]:
        """Parse bounds."""
        name, equals, span = value.rpartition("=")
        low, colon, high = span.partition(":")
        try:
            pair = float(low), float(high)
        except ValueError:
            colon = ""
        if not colon or (equals and not name.strip()):
            self.fail(
                f"expected LOW HIGH, such as 0 100, or NAME=LOW:HIGH, such as temp=0:40, got "
                f"{value!r}",
                param,
                ctx,
            )
        if not pair[0] <= pair[1]:
            self.fail(f"expected the lower bound first, got {value!r}", param, ctx)
        return (name.strip() if equals else None), pair

    @staticmethod
    def joined(arguments: Sequence[str]) -> list[str]:
        """Arguments with ``--bounds LOW HIGH`` as one: ``--bounds=LOW:HIGH``.

        >>> Bounds.joined(["a.csv", "--bounds", "-5", "13", "--bounds", "t=0:1"])
        ['a.csv', '--bounds=-5:13', '--bounds', 't=0:1']
        """
        rest, done = list(arguments), list[str]()
        while rest:
            if rest[0] == "--bounds" and len(rest) > 2 and all(map(_is_number, rest[1:3])):
                done.append(f"--bounds={rest[1]}:{rest[2]}")
                rest = rest[3:]
            elif rest[0] == "--":
                return done + rest
            else:
                done.append(rest.pop(0))
        return done


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _write(
    heading: str,
    options: Sequence[click.Option],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    records = [option.get_help_record(ctx) for option in options]
    with formatter.section(heading):
        formatter.write_dl([record for record in records if record is not None])
