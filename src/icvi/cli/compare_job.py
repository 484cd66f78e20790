"""From the options of `icvi compare` to the comparison that they ask for."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from icvi.cli import options
from icvi.cli.watch_job import _SERVERS, _bounds, _check_stream, _label, _without_passwords

if TYPE_CHECKING:
    from icvi.comparing.command import CompareJob


def compare_job(given: dict[str, Any]) -> CompareJob:
    """Check the options against each other."""
    _check_stream(given)
    if not isinstance(given["every"], int):
        raise click.UsageError("--every is a number of samples")
    servers = {name: given.pop(name) for name in _SERVERS}
    given |= options.scaling(given)
    given["bounds"] = _bounds(given["bounds"])
    if given["seed"] is not None:
        _check_seed(given)
    from icvi.comparing.command import CompareJob

    # With --overwrite, the command would start from scratch instead of resuming.
    typed = _without_passwords([part for part in sys.argv[1:] if part != "--overwrite"])
    return CompareJob(
        source=given.pop("source"),
        clusterer=list(given.pop("clusterers")),
        model=None,
        quiet=given.pop("quiet"),
        fail_on_alert=False,
        command=shlex.join(["icvi", *typed]),
        options={
            "noise_label": _label(given.pop("noise")),
            "columns": given.pop("columns") or None,
            "exclude": given.pop("exclude") or None,
            "indices": list(given.pop("indices")),
            "seed": given.pop("seed") or 0,
            **given,
            **{name: value for name, value in servers.items() if value is not None},
        },
    )


def _check_seed(given: dict[str, Any]) -> None:
    """Refuse a seed that no candidate takes."""
    from icvi.comparing.candidates import candidates_of, takes_seed

    if not takes_seed(candidates_of(list(given["clusterers"]), seed=given["seed"])):
        raise click.UsageError("--seed: none of the clusterers takes a random seed")
