"""From the options of `icvi watch` to the watch that they ask for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from icvi.cli import options
from icvi.wording import shown_address, without_passwords

if TYPE_CHECKING:
    from icvi.watching.command import Job

_ART = ("rho", "rho_a", "rho_b", "alpha", "beta")
#: Options of servers, and the beginnings of their addresses.
_SERVERS = {
    "group": ("redis://", "rediss://", "kafka://"),
    "consumer": ("redis://", "rediss://"),
    "patience": ("redis://", "rediss://", "kafka://"),
    "wait": ("kafka://",),
}
_TEXT = ("csv", "ndjson")


def watch_job(given: dict[str, Any]) -> Job:
    """Check the options against each other, and make what they name."""
    _check_together(given)
    optional = {name: given.pop(name) for name in (*_SERVERS, "distinct")}
    given |= options.scaling(given)
    given["bounds"] = _bounds(given["bounds"])
    clusterer = _clusterer(given)
    from icvi.watching.command import Job

    # With --overwrite, the command would start from scratch instead of resuming.
    typed = _without_passwords([part for part in sys.argv[1:] if part != "--overwrite"])
    return Job(
        source=given.pop("source"),
        clusterer=clusterer,
        model=given.pop("save_model"),
        quiet=given.pop("quiet"),
        log=given.pop("log"),
        fail_on_alert=given.pop("fail_on_alert"),
        command=shlex.join(["icvi", *typed]),
        options={
            "noise_label": _label(given.pop("noise")),
            "learn": not given.pop("no_learn"),
            "columns": given.pop("columns") or None,
            "exclude": given.pop("exclude") or None,
            "indices": list(given.pop("indices")),
            "alerts": list(given.pop("alerts")),
            **given,
            **{name: value for name, value in optional.items() if value is not None},
        },
    )


def _check_together(given: dict[str, Any]) -> None:
    """Refuse options that need others, or contradict each other."""
    if (given["clusterer"] is None) == (given["label"] is None):
        raise click.UsageError("give either --labels COL or --clusterer NAME")
    for option in ("save_model", "no_learn", "params", "seed", *_ART):
        if given[option] not in (None, False, ()) and given["clusterer"] is None:
            raise click.UsageError(f"{_typed(option)} needs a --clusterer")
    _check_stream(given)
    if isinstance(given["every"], float):
        raise click.UsageError("--every is a number of samples, or a time such as 1s")
    if isinstance(given["every"], timedelta) and given["time"] is None:
        raise click.UsageError("--every is a time: it needs --time COL")
    if isinstance(given["trace_roll"], timedelta) and given["time"] is None:
        raise click.UsageError("--trace-roll is a time: it needs --time COL, or give rows")
    if isinstance(given["trace_keep"], int | float):
        raise click.UsageError("--trace-keep is a time, such as 30d")
    if given["report_every"] is not None and given["report"] is None:
        raise click.UsageError("--report-every needs a --report")
    if isinstance(given["report_every"], int | float):
        raise click.UsageError("--report-every is a time, such as 30s or 10min")
    if given["serve"] is None:
        # A token in the environment may be for other commands.
        if given["serve_names"] or given["metrics_clusters"]:
            raise click.UsageError("--serve-name and --metrics-clusters need --serve")
        given["token"] = None
    for option in ("alarms", "on_alert", "fail_on_alert"):
        if given[option] and not (given["insight"] or given["alerts"]):
            raise click.UsageError(f"{_typed(option)} needs an --alert, or no --no-insight")


def _check_stream(given: dict[str, Any]) -> None:
    """The same for the options that `icvi compare` has as well."""
    if given["source"] == "-" and given["format"] not in _TEXT:
        raise click.UsageError("standard input needs --format csv or --format ndjson")
    if given["trace"] == "-" and given["trace_format"] not in _TEXT:
        raise click.UsageError("--trace - needs --trace-format csv or --trace-format ndjson")
    if given["trace"] == "-" and given["checkpoint"] is not None:
        raise click.UsageError("--checkpoint needs a --trace that is a file: it may be truncated")
    for option, kinds in _SERVERS.items():
        if given[option] is not None and not given["source"].startswith(kinds):
            place = "kafka://broker:9092/topic" if option == "wait" else "redis://host:port/db/key"
            raise click.UsageError(f"{_typed(option)} is for {place}")
    if given["window"] is not None and given["half_life"] is not None:
        raise click.UsageError("give either --window or --half-life")
    for option in ("window", "half_life"):
        if isinstance(given[option], timedelta) and given["time"] is None:
            raise click.UsageError(f"{_typed(option)} is a time: it needs --time COL")
    options.dialect(given)
    if given["bounds"] and (given["scale"] or "none") != "none":
        raise click.UsageError(
            "give either --bounds or --scale: bounds are in the units of the data and scale each "
            "feature already"
        )
    report = given["report"]
    if report is not None and not report.lower().endswith((".html", ".htm")):
        raise click.UsageError(
            f"--report writes a web page: expected a file that ends with .html, got {report}"
        )


def _typed(option: str) -> str:
    return "--param" if option == "params" else f"--{option.replace('_', '-')}"


def _without_passwords(arguments: list[str]) -> list[str]:
    """Arguments as they may be shown."""
    tokens = [False, *(part == "--token" for part in arguments)]
    arguments = [
        "***" if follows else "--token=***" if part.startswith("--token=") else part
        for part, follows in zip(arguments, tokens)
    ]
    # Of a command for the shell, addresses are only parts.
    on_alert = [False, *(part == "--on-alert" for part in arguments)]
    return [
        without_passwords(part)
        if follows or part.startswith("--on-alert=")
        else shown_address(part)
        for part, follows in zip(arguments, on_alert)
    ]


def _clusterer(given: dict[str, Any]) -> Any:
    """The clusterer that the options name; None where there are labels."""
    text, params, seed = given.pop("clusterer"), _params(given.pop("params")), given.pop("seed")
    from icvi.watching.labellers.names import has_bounds
    from icvi.watching.labellers.specs import parse_one

    art = {option: given.pop(option) for option in _ART}
    art = {option: value for option, value in art.items() if value is not None}
    spec = None if text is None else parse_one(text)
    bounded = spec is not None and has_bounds(spec.name)
    if isinstance(given["bounds"], dict):
        if not bounded:
            raise click.UsageError("--bounds NAME=LOW:HIGH is for --clusterer art or smart")
    elif given["bounds"] and not _tracks_prototypes(given["indices"]):
        if not bounded:
            raise click.UsageError(
                "--bounds is for --clusterer art or smart, and for --indices Conn"
            )
        art["bounds"], given["bounds"] = given["bounds"], None  # for the clusterer alone
    elif given["bounds"] and bounded:
        art["bounds"] = given["bounds"]
    if spec is None:
        return None
    for option in spec.params:
        if option in art or option in params:
            typed = _typed(option) if option in art else "--param"
            raise click.UsageError(f"{option} is given twice: in --clusterer and by {typed}")
    from icvi.watching.labellers import named_clusterer, seed_of
    from icvi.watching.labellers.models import is_model

    clusterer = named_clusterer(spec.name, {**art, **params, **spec.params}, seed or 0)
    if seed is not None and (is_model(spec.name) or seed_of(type(clusterer)) is None):
        raise click.UsageError(f"--seed: {type(clusterer).__name__} takes no random seed here")
    return clusterer


def _bounds(given: Sequence[tuple[str | None, tuple[float, float]]]) -> Any:
    """Bounds of all features, or of each by its name; None where none are given."""
    everywhere = [pair for name, pair in given if name is None]
    named = {name: pair for name, pair in given if name is not None}
    if len(everywhere) > 1 or len(named) + len(everywhere) < len(given):
        raise click.UsageError("--bounds is given twice for the same feature")
    if everywhere and named:
        raise click.UsageError("give --bounds LOW HIGH for all features, or NAME=LOW:HIGH for each")
    return named or (everywhere[0] if everywhere else None)


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
