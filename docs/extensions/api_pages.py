"""The Python reference, generated from the docstrings of all public names."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
from pathlib import Path
from typing import Any

from generated_files import GeneratedFolder
from sphinx.pycode import ModuleAnalyzer

import icvi

#: Sections of the reference, with names in order. Names with a dot are what public functions return
#: or accept; names of icvi that are missing here get a section at the end.
_SECTIONS: dict[str, tuple[str, ...]] = {
    "Watching a stream": (
        "watch",
        "watching.watch.Watch",
        "watching.reading.Reading",
        "insight.alarms.Alarm",
    ),
    "Comparing": ("compare", "Comparison"),
    "Tracking": ("Tracker", "TrackerBank", "Panes", "Trace", "Path", "load", "from_bytes"),
    "Figures": (
        "plots.silhouette",
        "plots.plot_traces",
        "plots.plot_connvis",
        "plots.plot_path",
        "plots.plot_comparison",
    ),
    "Diagnosing": ("tracking.table.Table", "tracking.diagnostics.PairTable"),
    "Data at hand": (
        "score",
        "scores",
        "scores_by",
        "batch.groups.scoring.GroupScores",
        "reasons",
        "verdict",
        "insight.verdict.Verdict",
        "insight.verdict.Advice",
    ),
    "Indices": (
        *("catalogue", "Index", "index", "State", "I", "NI", "rCIP", "rH", "Conn"),
        *("CH", "PBM", "SIL", "XB", "DB", "PS", "WB", "GD43", "GD53"),
    ),
    "Clusterers": ("MicroWard", "FuzzyART", "FuzzySMART", "FuzzyARTMAP", "Quantizer"),
    "States": ("Partition", "Connectivity"),
    "Errors and version": (
        *("UndefinedIndexError", "IndexCompilationError", "CacheWarning"),
        "__version__",
    ),
}
_REST = "Further names"
#: Modules with a page each; not all are public names of icvi.
_MODULES = {
    "batch": "icvi.batch: definitions that need all samples",
    "metrics": "icvi.metrics: functions like scikit-learn's",
    "streams": "icvi.streams: where samples come from",
    "spark": "icvi.spark: DataFrames and streams of Spark",
    "compat.scikit_scorers": "icvi.compat.scikit_scorers: indices as scorers of scikit-learn",
    "compat.river_metrics": "icvi.compat.river_metrics: indices as metrics of river",
}


def write_api(path: Path) -> None:
    """Write all pages of the reference below a folder.

    Each class has its own page, because its docstring numbers its references from 1. Functions
    share the page of their section.
    """
    folder = GeneratedFolder(path)
    parts = [_title("Python reference"), "Every public name of icvi, from its docstring."]
    for section, names in _sections().items():
        pages = [name for name in names if _has_page(name)]
        shared = [name for name in names if name not in pages]
        for name in pages:
            _write(folder, _file(name), name.rpartition(".")[2], [_entry(f"icvi.{name}")])
        files = [_file(name) for name in pages]
        if shared:
            files.insert(0, _file(section))
            _write(folder, _file(section), section, [_entry(f"icvi.{name}") for name in shared])
        parts += [_title(section, "-"), "\n".join(map(_line, names)), _contents(files)]
    for name, title in _MODULES.items():
        _write(folder, _file(name), title, _module_entries(f"icvi.{name}"))
    modules = "\n".join(f"- :doc:`{title} <{_file(name)}>`" for name, title in _MODULES.items())
    parts += [_title("Modules", "-"), modules, _contents([_file(name) for name in _MODULES])]
    folder.write("index.rst", "\n\n".join(parts) + "\n")
    folder.tidy()


def _sections() -> dict[str, tuple[str, ...]]:
    """The sections, and one for public names that are in none of them."""
    named = {name for names in _SECTIONS.values() for name in names}
    known = {*named, *_MODULES, "plots"}
    rest = tuple(name for name in icvi.__all__ if name not in known)
    return {**_SECTIONS, _REST: rest} if rest else _SECTIONS


def _value(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _has_page(name: str) -> bool:
    value = _value(f"icvi.{name}")
    # Index and index would have the same file where file names ignore case.
    return inspect.isclass(value) and not issubclass(value, Exception) and name != "Index"


def _file(name: str) -> str:
    return name.rpartition(".")[2].lower().replace(" ", "-")


def _write(folder: GeneratedFolder, file: str, title: str, entries: list[str]) -> None:
    folder.write(f"{file}.rst", "\n\n".join([_title(title), *entries]) + "\n")


def _contents(files: list[str]) -> str:
    listed = "\n".join(f"   {file}" for file in files)
    return f".. toctree::\n   :hidden:\n\n{listed}"


def _line(name: str) -> str:
    """A link to a name, and the first line of its docstring."""
    value = _value(f"icvi.{name}")
    if isinstance(value, icvi.Index):
        return f"- `icvi.{name}`: {value.title}."
    summary = (inspect.getdoc(value) or "").partition("\n\n")[0]
    words = "The version" if isinstance(value, str) else " ".join(summary.split())
    return f"- `icvi.{name}`: {words.rstrip('.')}."


def _module_entries(module: str) -> list[str]:
    names = importlib.import_module(module).__all__
    return [f".. automodule:: {module}", *(_entry(f"{module}.{name}") for name in names)]


def _entry(path: str) -> str:
    value = _value(path)
    if isinstance(value, icvi.Index):
        page = f":doc:`its page </indices/{value.name}>`"
        return f".. py:data:: {path}\n   :type: icvi.Index\n\n   {value.title}; see {page}."
    if isinstance(value, types.GenericAlias):  # a class to `inspect`, but not to a reader
        return f".. autodata:: {_home(path)}\n   :no-value:"
    if inspect.isclass(value) and issubclass(value, BaseException):
        return f".. autoexception:: {path}"
    if inspect.isclass(value):
        return (
            f".. autoclass:: {path}\n   :members:\n   :inherited-members:\n"
            "   :member-order: bysource"
        )
    return f".. autofunction:: {path}" if callable(value) else f".. autodata:: {path}"


def _home(path: str) -> str:
    """The module that documents a value with a comment."""
    package, _, name = path.rpartition(".")
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if ("", name) in ModuleAnalyzer.for_module(module.name).find_attr_docs():
            return f"{module.name}.{name}"
    return path


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}"
