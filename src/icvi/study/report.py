"""The study as one page for a browser: figures, tables and findings in plain language.

The text is in `templates/`; this module computes what the templates show.
"""

from __future__ import annotations

import base64
import math
import re
import shlex
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from icvi.files import replacing
from icvi.indices import Index, catalogue
from icvi.study import statements
from icvi.study.scenarios import TITLES, description
from icvi.wording import ARROWS, BETTER, number, templates

Record = Mapping[str, Any]
T = TypeVar("T")

#: The indices of the glossary, each in one plain sentence.
GLOSSARY = {
    "Conn": "Conn_Index looks at the two prototypes nearest to every sample: good where both "
    "belong to the same cluster, bad where they connect two clusters.",
    "CH": "How far the clusters lie from the overall mean, relative to their own width.",
    "SIL": "Whether samples are closer to their own cluster's centre than to the next one.",
    "PBM": "The largest distance between two centres times how much the clusters reduce the "
    "scatter of the data, divided by the number of clusters.",
    "rCIP": "How much the clusters overlap, each modelled as a Gaussian, summed over pairs.",
    "rH": "The same overlap on a logarithmic scale, as an entropy: large where clusters lie "
    "far apart.",
    "NI": "Whether each cluster looks more Gaussian than the data as a whole.",
    "XB": "Mean squared distance to the own centre, over the smallest squared distance between "
    "two centres.",
    "DB": "For every cluster the neighbour that is hardest to separate from it: their widths over "
    "the distance of their centres; the mean over clusters.",
    "PS": "For every cluster how populated it is, less how close its nearest neighbour lies; "
    "the sum over clusters.",
}

#: Relative differences up to here are rounding.
_ROUNDING = 1e-6


class Spread(NamedTuple):
    """The smallest, the median and the largest of some values; nan without any."""

    low: float
    median: float
    high: float


def write_report(
    path: Path,
    study: Record,
    results: Mapping[str, Record],
    findings: Sequence[Record],
    figures: Mapping[str, Path],
) -> None:
    """Write the page; an existing one stays until the new one is complete.

    Parameters
    ----------
    path : Path
        The page, `report.html` in the directory of the study.
    study : mapping
        ``settings`` and ``versions``.
    results : mapping
        The results of each scenario, by name.
    findings : sequence of mapping
        Statements, with how often each holds.
    figures : mapping
        PNG files: by the name of a scenario, ``orders``, ``comparison``, and any key that starts
        with ``distributions``. The page leaves out figures that are missing here.
    """
    page = render(study, results, findings, figures)
    with replacing(path) as file:
        file.write(page.encode())


def render(
    study: Record,
    results: Mapping[str, Record],
    findings: Sequence[Record],
    figures: Mapping[str, Path],
) -> str:
    """The page as text; the same input gives the same bytes."""
    from markupsafe import Markup

    environment = templates(__package__)
    environment.globals |= {name: getattr(statements, name) for name in _STATEMENTS}
    environment.globals |= {"ARROWS": ARROWS, "BETTER": BETTER, "inf": math.inf}
    environment.globals |= {
        function.__name__: function
        for function in (anchor, description, in_order, range_in_words, spread)
    }
    indices = {index.name: index for index in catalogue()}
    compared = [result for result in results.values() if result["comparison"] is not None]
    correlations = [result["comparison"]["correlation"] for result in compared]
    differences = _differences(results)
    images = {
        key: Markup(base64.b64encode(path.read_bytes()).decode("ascii"))
        for key, path in figures.items()
    }
    return environment.get_template("page.html").render(
        settings=study["settings"],
        versions=study["versions"],
        data=study["settings"].get("data", "generated"),
        command=_command(study["settings"]),
        results=results,
        titles={name: result["scenario"]["title"] for name, result in results.items()},
        orders=max((len(result["orders"]) for result in results.values()), default=0),
        findings=findings,
        figures=images,
        distributions={
            key: _suffix(key, results) for key in figures if key.startswith("distributions")
        },
        directions={name: index.direction for name, index in indices.items()},
        compared=compared,
        lowest_correlation=_spread(correlations).low,
        always_correlated=None not in correlations,
        swept=[result for result in results.values() if result["sweep"]],
        differences=differences,
        largest_difference=max((largest for largest, _ in differences.values()), default=0.0),
        rounding=_ROUNDING,
        glossary=[(indices[name], words) for name, words in GLOSSARY.items()],
    )


_STATEMENTS = (
    *("VERDICTS", "alone", "families", "groups", "scenarios_of", "shares_in", "tally"),
    *("threshold", "thresholds", "together"),
)


def anchor(name: str) -> str:
    """The id of the section of a scenario."""
    return "scenario-" + re.sub(r"[^\w-]", "-", name)


def spread(orders: Sequence[Record], *keys: str) -> Spread:
    """The spread of a value over orders, found by one key or several nested ones."""
    values = []
    for order in orders:
        value: Any = order
        for key in keys:
            value = value.get(key)
        values.append(value)
    return _spread(values)


def _spread(values: Sequence[float | None]) -> Spread:
    known = [value for value in values if value is not None and not math.isnan(value)]
    if not known:
        return Spread(math.nan, math.nan, math.nan)
    return Spread(min(known), statistics.median(known), max(known))


def in_order(by_index: Mapping[str, T]) -> dict[str, T]:
    """Indices in the order of the glossary."""
    return {name: by_index[name] for name in (*GLOSSARY, *by_index) if name in by_index}


def range_in_words(index: Index) -> str:
    """The range of an index, for readers who do not know intervals."""
    low, high = index.range
    if math.isinf(low) and math.isinf(high):
        return "any number"
    return f"{number(low)} and up" if math.isinf(high) else f"{number(low)} to {number(high)}"


def _differences(results: Mapping[str, Record]) -> dict[str, tuple[float, str]]:
    """The largest difference of every index from its batch form, and the scenario's title."""
    largest: dict[str, tuple[float, str]] = {}
    for result in results.values():
        for index, stored in result["largest_difference"].items():
            difference = math.inf if stored is None else stored  # JSON has no infinity
            if difference >= largest.get(index, (-1.0, ""))[0]:
                largest[index] = (difference, result["scenario"]["title"])
    return largest


def _suffix(key: str, results: Mapping[str, Record]) -> str:
    """What a figure of distributions is about, for its caption."""
    rest = key.removeprefix("distributions").strip("_-: ")
    about = results[rest]["scenario"]["title"] if rest in results else TITLES.get(rest, rest)
    return f": {about}" if about else ""


def _command(settings: Record) -> str:
    """The command that creates the same study."""
    options = "".join(f" --{key} {settings[key]}" for key in ("seed", "orders") if key in settings)
    if settings.get("quick"):
        options += " --quick"
    if settings.get("data", "generated") != "generated":
        options += f" --data {shlex.quote(str(settings['data']))}"
    return f"icvi study --out DIR{options}"
