"""A page for every index of the catalogue, and a table of them all, written before the build."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from generated_files import GeneratedFolder
from index_notes import NOTES
from measured import Measured

import icvi
from icvi.wording import BETTER, interval

_READS = {
    "moments": "count, centroid and scatter of every cluster",
    "covariances": "count, centroid and covariance of every cluster",
    "prototypes": "winner and runner-up of every sample among prototypes",
}

_DATA = """\
import numpy as np
import icvi

rng = np.random.default_rng(1)
truth = np.repeat([0, 1, 2, 3], 50)
X = 6.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth] + rng.normal(size=(200, 2))
coarse = np.minimum(truth, 2)  # two clusters merged
fine = np.where((truth == 3) & (X[:, 0] > 6.0), 4, truth)  # one cluster cut in two

for title, labels in {"too coarse": coarse, "right": truth, "too fine": fine}.items():
"""
_SCORE = """\
    value = icvi.score(X, labels, "{name}")
    print(f"{{title:10}} {{value:.6g}}")
"""
_TRACK = """\
    t = icvi.Tracker(["Conn"], bounds=(-4, 10))
    trace = t.update_many(X, labels)
    value = t["Conn"]
    print(f"{title:10} {value:.6g}")
"""

_QUESTIONS = {
    "abrupt": "jumps when a new cluster emerges",
    "under": "gets worse while true clusters go unnoticed",
    "over": "gets worse when a true cluster is split",
}

#: Situations in which formulas divide by zero: samples and labels.
_CORNERS: dict[str, tuple[list[list[float]], list[int]]] = {
    "no sample yet": ([], []),
    "one cluster": ([[0, 0], [1, 0], [0, 1]], [0, 0, 0]),
    "two clusters of one sample each": ([[0, 0], [5, 5]], [0, 1]),
    "two clusters, both without extent": ([[0, 0], [0, 0], [5, 5], [5, 5]], [0, 0, 1, 1]),
    "two clusters with one centroid": ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 1, 1]),
    "two clusters in the same point": ([[2, 2], [2, 2]], [0, 1]),
}


def write_pages(path: Path, found: Measured) -> None:
    """Write the table and all pages below a folder.

    Parameters
    ----------
    path : Path
        The folder.
    found : Measured
        The measurements.
    """
    folder, corners = GeneratedFolder(path), _read_corners()
    for index in icvi.catalogue():
        folder.write(f"{index.name}.rst", _page(index, found, corners))
    folder.write("index.rst", _overview(found))
    folder.tidy()


def reads(index: icvi.Index) -> str:
    """The part of the state that an index reads, in a word."""
    if index.on == "prototypes":
        return "prototypes"
    return "moments" if index.regularisation is None else "covariances"


def _page(index: icvi.Index, found: Measured, corners: dict[str, list[list[str]]]) -> str:
    summary, definition = _docstring(index)
    name, note = index.name, NOTES[index.name]
    parts = [
        ".. py:currentmodule:: icvi",
        _title(f"{name}: {index.title}", "="),
        f"{summary[0].upper()}{summary[1:]}",
        _fields(index),
        _title("In plain words", "-"),
        note.plainly,
        _title("Definition", "-"),
        definition,
        "The symbols: k clusters and N samples; cluster i has :math:`n_i` samples, the centroid "
        ":math:`v_i` and the compactness :math:`CP_i`, the sum of squared distances of its samples "
        "to :math:`v_i`; :math:`\\mu` is the mean of all samples. `icvi.State` lists them all.",
        _title("How it differs from the paper and from other software", "-"),
        note.differs,
        _title("When it is undefined", "-"),
        "The reading is then nan, and `icvi.Tracker.why` gives the reason. With "
        '``undefined="limit"`` the reading is the one-sided limit where there is one.',
        _table(
            ("situation", "reading", "why", "limit"),
            corners[name],
            (40, 20, 20, 20),
        ),
        *_parameters(index),
        _title("Example", "-"),
        _example(index, note.more),
        _title("The curve", "-"),
        f".. image:: /_generated/indices/{name}.png\n"
        f"   :alt: {name} over a stream that is clustered too coarsely, right and too finely",
        "The same stream of five clusters of unequal sizes, clustered online with a vigilance that "
        "is too low, right, and too high. Blue is the index (the arrow shows whether larger or "
        "smaller is better), red the number of clusters; dashed lines show where "
        "a new true cluster begins.",
        _title("Measurements", "-"),
        _measured(index, found),
        "See :doc:`/curves` for the meaning of these counts, and for the other indices.",
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _docstring(index: icvi.Index) -> tuple[str, str]:
    """What the index measures, from the first line of its module docstring, and the rest."""
    module = importlib.import_module(_module(index))
    first, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    return " ".join(first.split()).partition(": ")[2], rest


def _module(index: icvi.Index) -> str:
    return "icvi.indices.conn_index" if index.name == "Conn" else index.reading.__module__


def _fields(index: icvi.Index) -> str:
    low, high = index.range
    wide = low == -math.inf and high == math.inf
    rows = {
        "Better": BETTER[index.direction],
        "Range": "any number" if wide else interval(*index.range),
        "Reads": _READS[reads(index)],
        "By name": f'``icvi.Tracker(["{index.name}"])``, ``icvi.score(X, labels, "{index.name}")``'
        if index.on == "clusters"
        else f'``icvi.Tracker(["{index.name}"])``',
        "As a function": f"`icvi.metrics.{NOTES[index.name].function}`",
        "Reference": index.reference,
    }
    lines = "\n".join(f"   :{key}: {value}" for key, value in rows.items())
    return f".. container:: facts\n\n{lines}"


def _parameters(index: icvi.Index) -> list[str]:
    """The factory that takes parameters, where there is one."""
    if isinstance(getattr(icvi, index.name), icvi.Index):
        return []
    return [
        _title("Parameters", "-"),
        f".. autofunction:: icvi.{index.name}\n   :no-index:",
    ]


def _example(index: icvi.Index, more: str) -> str:
    lines = _SCORE.format(name=index.name) if index.on == "clusters" else _TRACK
    code = _DATA + lines + (f"\n{more}\n" if more else "")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"indices/{index.name}", "exec"), {"__name__": "example"})
    return f"{_block('python', code)}\n\n{_block('text', printed.getvalue())}"


def _block(language: str, text: str) -> str:
    indented = "\n".join(f"   {line}".rstrip() for line in text.rstrip("\n").splitlines())
    return f".. code-block:: {language}\n\n{indented}"


def _measured(index: icvi.Index, found: Measured) -> str:
    rows = [
        [f"rates the right partition above one that is too {words}", str(found.preferred(*pair))]
        for words, pair in {
            "coarse": (index.name, "under"),
            "fine": (index.name, "over"),
        }.items()
    ]
    for rule, words in _QUESTIONS.items():
        if f"{rule}_{index.name}" in found.rules:
            rows.append([words, str(found.rules[f"{rule}_{index.name}"])])
    return _table((f"{index.name}", "orders of presentation"), rows, (70, 30))


def _read_corners() -> dict[str, list[list[str]]]:
    """Per index, a row of every situation: the reading, why it is undefined, and the limit."""
    names = [index.name for index in icvi.catalogue()]
    rows: dict[str, list[list[str]]] = {name: [] for name in names}
    for words, (X, labels) in _CORNERS.items():
        readings = [
            icvi.Tracker(list(names), bounds=(-10.0, 10.0), undefined=undefined)
            for undefined in ("nan", "limit")
        ]
        for tracker in readings if X else ():
            tracker.update_many(np.array(X, dtype=float), labels)
        plain, limit = readings
        for name in names:
            why = plain.why(name)
            value = "undefined" if why else f"{plain[name]:.4g}"
            rows[name].append([words, value, f"``{why}``" if why else "", _limit(limit, name)])
    return rows


def _limit(tracker: icvi.Tracker, name: str) -> str:
    value = tracker[name]
    if tracker.why(name) is None:
        return ""
    return "none" if math.isnan(value) else f"{value:g}".replace("inf", "∞")


_OVERVIEW = """\
`icvi.Tracker`, `icvi.score` and the command line accept these names. ``"paper"`` stands for CH,
PBM, SIL, NI, rCIP, rH, XB, DB and PS, ``"all"`` for every index that needs only labels: all but
Conn.

*Data times 10* shows how the reading changes when every number in the data is ten times as large,
measured on the example of the pages. The last two columns are measured too, on four data sets each:
in how many orders of presentation the index rates the clustering with the right vigilance above one
that is too coarse, and above one that is too fine. :doc:`/curves` has the rest."""

_COLUMNS = {
    "name": 7,
    "index": 25,
    "better": 9,
    "range": 10,
    "reads": 12,
    "data times 10": 13,
    "right over too coarse": 12,
    "right over too fine": 12,
}


def _overview(found: Measured) -> str:
    rows = [
        [
            f":doc:`{index.name} <{index.name}>`",
            index.title,
            BETTER[index.direction],
            interval(*index.range),
            reads(index),
            _scaling(index),
            str(found.preferred(index.name, "under")),
            str(found.preferred(index.name, "over")),
        ]
        for index in icvi.catalogue()
    ]
    pages = "\n".join(f"   {index.name}" for index in icvi.catalogue())
    parts = [
        _title("The indices", "="),
        _OVERVIEW,
        _table(list(_COLUMNS), rows, list(_COLUMNS.values()), class_="indices"),
        f".. toctree::\n   :hidden:\n\n{pages}",
    ]
    return "\n\n".join(parts) + "\n"


def _scaling(index: icvi.Index) -> str:
    """How the index changes when the data are ten times as large."""
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2, 3], 50)
    X = 6.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth] + rng.normal(size=(200, 2))
    if index.on == "prototypes":
        one, ten = (_conn(X * factor, truth) for factor in (1.0, 10.0))
    else:
        one, ten = (icvi.score(X * factor, truth, index) for factor in (1.0, 10.0))
    if math.isclose(one, ten, rel_tol=1e-3):
        return "the same" if math.isclose(one, ten, rel_tol=1e-9) else "nearly the same"
    power = math.log10(ten / one) if ten / one > 0.0 else math.nan
    if math.isclose(power, round(power), abs_tol=1e-6):
        return f"times {10.0 ** round(power):,g}"
    return f"{one:.3g} becomes {ten:.3g}"


def _conn(X: np.ndarray, labels: np.ndarray) -> float:
    tracker = icvi.Tracker(["Conn"])
    tracker.update_many(X, labels)
    return tracker["Conn"]


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    class_: str = "",
) -> str:
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {' '.join(map(str, widths))}"]
    if class_:
        lines.append(f"   :class: {class_}")
    lines.append("")
    for row in (head, *rows):
        for n, cell in enumerate(row):
            lines.append(f"   {'* -' if n == 0 else '  -'} {cell}".rstrip())
    return "\n".join(lines)
