"""The study as one page for a browser: figures, tables and findings in plain language.

The words that are always the same are in `report_template.html`; here is what depends on results.
"""

from __future__ import annotations

import math
import re
import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, TypeVar

from icvi.files import replacing
from icvi.indices import Index, catalogue
from icvi.study.markup import DASH, Markup, fixed, join, number, picture, table, tag
from icvi.study.scenarios import TITLES
from icvi.study.statements import details, here, orders, summary

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
    "rCIP": "How much the clusters overlap when each is taken as a Gaussian, summed over pairs.",
    "rH": "The same overlap on a logarithmic scale, as an entropy: large where clusters lie "
    "far apart.",
    "NI": "Whether the clusters look more Gaussian, each for itself, than the data as a whole.",
    "XB": "Mean squared distance to the own centre, over the smallest squared distance between "
    "two centres.",
    "DB": "For every cluster the neighbour that it is hardest to tell from: their widths over "
    "the distance of their centres; the mean over clusters.",
    "PS": "For every cluster how populated it is, less how close its nearest neighbour lies; "
    "the sum over clusters.",
}

_DATA = {
    "r15": "Fifteen round clusters of 40 samples in the plane: one in the middle, seven close "
    "around it and seven further out.",
    "d4": "Four clusters of 500 samples in the plane: two small round ones, and two long ones that "
    "lean towards each other.",
    "overlapping": "Five round clusters of 200 samples in the plane that touch their neighbours.",
    "unequal": "Five round clusters in the plane of very different sizes: 600, 300, 150, 75 and "
    "25 samples.",
    "eight": "Six clusters of 150 samples in eight dimensions.",
}

_KINDS = {
    "correct": "The vigilance suits the data, so the clusters found should be close to the true "
    "ones.",
    "under": "The vigilance is too low for the data, so that true clusters are taken together.",
    "over": "The vigilance is too high for the data, so that true clusters are split.",
}

#: Relative differences up to here are rounding.
_ROUNDING = 1e-6


def write_report(
    path: Path,
    study: Record,
    results: Mapping[str, Record],
    findings: Sequence[Record],
    figures: Mapping[str, Path],
) -> None:
    """Write the page; what was there before stays until the new one is complete.

    Parameters
    ----------
    path : Path
        The page, `report.html` in the study's directory.
    study : mapping
        ``settings`` and ``versions``.
    results : mapping
        Scenario's name to what came out.
    findings : sequence of mapping
        Statements, with how often each holds.
    figures : mapping
        PNG files: a scenario's name, ``orders``, ``comparison``, and any whose key starts with
        ``distributions``. Figures that are not there are left out.
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
    titles = {name: result["scenario"]["title"] for name, result in results.items()}
    template = files("icvi.study").joinpath("report_template.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        orders=orders(max((len(result["orders"]) for result in results.values()), default=0)),
        source=_source(study["settings"]),
        summary=summary(findings),
        contents=join(
            tag("li", tag("a", title, href=f"#{_anchor(name)}")) for name, title in titles.items()
        ),
        scenario_table=_scenario_table(results),
        order_figure=picture(
            figures["orders"],
            "The samples of every scenario, coloured by when they came",
            "In which order the samples came: the colour is the time of arrival, the numbers are "
            "the true clusters as they came.",
        )
        if "orders" in figures
        else "",
        scenarios=join(
            (_scenario(name, result, findings, figures) for name, result in results.items()), "\n"
        ),
        conn=_conn(results, figures),
        others=_others(results),
        findings=details(findings, titles),
        over_orders=_over_orders(results, figures),
        glossary=_glossary(),
        making=_making(study),
    )


def _anchor(name: str) -> str:
    return "scenario-" + re.sub(r"[^\w-]", "-", name)


def _source(settings: Record) -> Markup:
    if settings.get("data", "generated") == "generated":
        return Markup(
            "The data are generated from a seed. R15 and D4 have the geometry of the paper's data "
            "sets but are other samples, so their adjusted Rand index can differ from the paper's."
        )
    return join(["The data were read from ", tag("code", str(settings["data"])), "."])


# Scenarios


def _scenario_table(results: Mapping[str, Record]) -> Markup:
    head = (
        "Scenario",
        "Cluster vigilance",
        "Prototype vigilance",
        "ARI",
        "ARI in the paper",
        "Clusters",
        "Prototypes",
        "Order (seed)",
    )
    rows = []
    for name, result in results.items():
        scenario = result["scenario"]
        rows.append(
            (
                tag("a", scenario["title"], href=f"#{_anchor(name)}"),
                number(scenario["rho_b"]),
                number(scenario["rho_a"]),
                fixed(result["ari"]),
                fixed(scenario["paper_ari"]),
                str(result["n_clusters"]),
                str(result["n_prototypes"]),
                str(result["seed"]),
            )
        )
    return table("The scenarios, in the order of presentation that is drawn", head, rows)


def _scenario(
    name: str, result: Record, findings: Sequence[Record], figures: Mapping[str, Path]
) -> Markup:
    scenario = result["scenario"]
    title = scenario["title"]
    pieces = [
        tag("h3", title, id=_anchor(name)),
        tag("p", _about(result)),
        tag("p", _outcome(result)),
    ]
    if name in figures:
        pieces.append(
            picture(
                figures[name],
                f"{title}: partition, prototypes, and every index after every sample with the "
                "number of clusters",
                "Above: the partition, and the prototypes with a line between any two that are "
                "the nearest two of some sample, red where it connects clusters. Below: the "
                "index in blue, the number of clusters in red, dashed where a new true cluster "
                f"begins. Order of seed {result['seed']}.",
            )
        )
    pieces.append(_readings(result))
    pieces.append(here(name, findings))
    return tag("section", join(pieces, "\n"), class_="scenario")


def _about(result: Record) -> str:
    scenario = result["scenario"]
    return f"{_DATA.get(scenario['data'], '')} {_KINDS.get(scenario['kind'], '')}".strip()


def _outcome(result: Record) -> Markup:
    """What the clusterer found, beside the paper and in other orders."""
    scenario, seen = result["scenario"], result["orders"]
    clusters = "cluster" if result["n_clusters"] == 1 else "clusters"
    pieces: list[str] = [
        f"With a cluster vigilance of {scenario['rho_b']:g}, the order drawn here ends with ",
        tag("strong", f"{result['n_clusters']} {clusters}"),
        f" and {result['n_prototypes']} prototypes. Its adjusted Rand index is ",
        tag("strong", fixed(result["ari"])),
    ]
    if scenario["paper_ari"] is not None:
        pieces += ["; the paper reports ", fixed(scenario["paper_ari"])]
    pieces.append(".")
    if len(seen) > 1:
        low, middle, high = _spread(order["ari"] for order in seen)
        fewest, _, most = _spread(order["n_clusters"] for order in seen)
        many = (
            f"{number(fewest)} clusters" if fewest == most else f"{fewest:g} to {most:g} clusters"
        )
        pieces += [f" Over {orders(len(seen))} it lies between ", fixed(low), " and "]
        pieces += [fixed(high), ", median ", fixed(middle), f", with {many}."]
    return join(pieces)


def _spread(values: Iterable[float | None]) -> tuple[float, float, float]:
    """Smallest, median and largest of what is there, nan without anything."""
    there = [value for value in values if value is not None and not math.isnan(value)]
    if not there:
        return math.nan, math.nan, math.nan
    return min(there), statistics.median(there), max(there)


def _readings(result: Record) -> Markup:
    """Every index at the end of the stream: in the order drawn, and in all of them."""
    directions = {index.name: index.direction for index in catalogue()}
    rows = []
    for index, value in _in_order(result["final"]).items():
        low, middle, high = _spread(order["final"].get(index) for order in result["orders"])
        rows.append(
            (
                index,
                _better(directions.get(index)),
                number(value),
                number(middle),
                number(low),
                number(high),
            )
        )
    head = ("Index", "Better", "Order drawn", "Median of all orders", "Smallest", "Largest")
    return table("Readings at the end of the stream", head, rows, class_="numbers short")


def _in_order(by_index: Mapping[str, T]) -> dict[str, T]:
    """Indices in the order of the glossary, then those that it does not have."""
    return {name: by_index[name] for name in (*GLOSSARY, *by_index) if name in by_index}


def _better(direction: str | None) -> str:
    return {"max": "↑\N{NO-BREAK SPACE}larger", "min": "↓\N{NO-BREAK SPACE}smaller"}.get(
        direction or "", DASH
    )


# Incremental against batch


def _conn(results: Mapping[str, Record], figures: Mapping[str, Path]) -> Markup:
    compared = {name: r for name, r in results.items() if r["comparison"] is not None}
    if not compared:
        return tag("p", "This run did not compare Conn_Index with its batch form.")
    found = [r["comparison"]["correlation"] for r in compared.values()]
    low, _, _ = _spread(found)
    where = "compared" if None not in found else "where both are defined and not constant"
    pieces = [
        tag(
            "p",
            "In this study the two curves have a correlation of ",
            fixed(low),
            f" or more in every scenario {where}."
            if len(compared) > 1
            else " in the scenario compared.",
        )
    ]
    if "comparison" in figures:
        pieces.append(
            picture(
                figures["comparison"],
                "Conn_Index after every sample, incremental and recomputed as a batch index",
                "Conn_Index, incremental and batch; the difference between them; and how "
                "correlation and error change with the vigilance of the prototypes.",
            )
        )
    rows = [
        (
            r["scenario"]["title"],
            fixed(r["comparison"]["correlation"]),
            number(r["comparison"]["mse"], 3),
        )
        for r in compared.values()
    ]
    pieces.append(
        table(
            "Conn_Index, incremental against batch",
            ("Scenario", "Correlation", "Mean squared error"),
            rows,
        )
    )
    pieces.append(_sweeps(results))
    return join(pieces, "\n")


def _sweeps(results: Mapping[str, Record]) -> Markup:
    """Correlation and error for every vigilance of the prototypes."""
    swept = {r["scenario"]["title"]: r["sweep"] for r in results.values() if r["sweep"]}
    if not swept:
        return Markup()
    head = ("Prototype vigilance", "Correlation", "Mean squared error")
    tables = [
        table(
            title,
            head,
            [(f"{p['rho_a']:g}", fixed(p["correlation"]), number(p["mse"], 3)) for p in sweep],
            class_="numbers short",
        )
        for title, sweep in swept.items()
    ]
    words = (
        "The higher the vigilance of the prototypes, the more of them there are. With the "
        "clusters left as they are, this is how close the two forms come:"
    )
    return join([tag("p", words), tag("div", *tables, class_="beside")], "\n")


def _others(results: Mapping[str, Record]) -> Markup:
    """The largest difference of every other index, and where it occurs."""
    worst: dict[str, tuple[float, str]] = {}
    for result in results.values():
        for index, kept in result["largest_difference"].items():
            difference = math.inf if kept is None else kept  # JSON has no infinity
            if difference >= worst.get(index, (-1.0, ""))[0]:
                worst[index] = (difference, result["scenario"]["title"])
    if not worst:
        return tag("p", "This run did not compare the other indices with their batch form.")
    rows = [
        (index, "one is undefined" if math.isinf(value) else number(value, 2), title)
        for index, (value, title) in _in_order(worst).items()
    ]
    return join(
        [
            _verdict(max(difference for difference, _ in worst.values())),
            table(
                "Largest relative difference after any sample, incremental against batch",
                ("Index", "Largest difference", "Where"),
                rows,
                class_="words",
            ),
        ],
        "\n",
    )


def _verdict(largest: float) -> Markup:
    if math.isinf(largest):
        words = "Somewhere a value is defined in one form and undefined in the other, which should "
        return tag("p", words, "be looked into.")
    verdict = (
        ", which is rounding: incremental and batch are the same number."
        if largest <= _ROUNDING
        else ", which is more than rounding and should be looked into."
    )
    return tag("p", "The largest relative difference anywhere is ", number(largest, 2), verdict)


# All orders, glossary, how it was made


def _over_orders(results: Mapping[str, Record], figures: Mapping[str, Path]) -> Markup:
    pieces: list[str] = []
    rows = []
    for result in results.values():
        low, middle, high = _spread(order["ari"] for order in result["orders"])
        fewest, usual, most = _spread(order["n_clusters"] for order in result["orders"])
        rows.append(
            (
                result["scenario"]["title"],
                str(len(result["orders"])),
                *(fixed(value) for value in (low, middle, high)),
                *(number(value) for value in (fewest, usual, most)),
            )
        )
    head = ("Scenario", "Orders", "ARI, smallest", "median", "largest")
    pieces.append(
        table(
            "Adjusted Rand index and number of clusters over all orders",
            (*head, "Clusters, fewest", "median", "most"),
            rows,
        )
    )
    pieces += [
        _distribution(key, results, path)
        for key, path in figures.items()
        if key.startswith("distributions")
    ]
    return join(pieces, "\n")


def _distribution(key: str, results: Mapping[str, Record], path: Path) -> Markup:
    rest = key.removeprefix("distributions").strip("_-: ")
    about = results[rest]["scenario"]["title"] if rest in results else TITLES.get(rest, rest)
    suffix = f": {about}" if about else ""
    return picture(
        path,
        f"Distributions of the indices' readings over all orders of presentation{suffix}",
        f"Readings at the end of the stream over all orders{suffix}. The line in a box is the "
        "median; the box holds the middle half of the orders.",
    )


def _glossary() -> Markup:
    known = {index.name: index for index in catalogue()}
    rows = [
        (
            name,
            join([tag("strong", known[name].title), " ", tag("span", words, class_="gloss")]),
            _better(known[name].direction),
            _range(known[name]),
            known[name].reference,
        )
        for name, words in GLOSSARY.items()
    ]
    head = ("Index", "What it measures", "Better", "Range", "Published by")
    return table("The ten indices", head, rows, class_="words")


def _range(index: Index) -> str:
    low, high = index.range
    if math.isinf(low) and math.isinf(high):
        return "any number"
    return f"{number(low)} and up" if math.isinf(high) else f"{number(low)} to {number(high)}"


def _making(study: Record) -> Markup:
    settings, versions = study["settings"], study["versions"]
    options = "".join(f" --{key} {settings[key]}" for key in ("seed", "orders") if key in settings)
    if settings.get("quick"):
        options += " --quick"
    if settings.get("data", "generated") != "generated":
        options += f" --data {shlex.quote(str(settings['data']))}"
    return join(
        [
            tag("pre", tag("code", f"icvi study --out DIR{options}")),
            table("Settings", ("Setting", "Value"), _pairs(settings), class_="words"),
            table("Versions", ("Software", "Version"), _pairs(versions), class_="words"),
        ],
        "\n",
    )


def _pairs(record: Record) -> list[tuple[str, str]]:
    return [(key, _plain(value)) for key, value in record.items()]


def _plain(value: object) -> str:
    """A setting in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_plain(entry)}" for key, entry in value.items())
    if value is None:
        return DASH
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
