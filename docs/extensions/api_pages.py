"""The reference of the public names, from the names themselves."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
from pathlib import Path

from sphinx.pycode import ModuleAnalyzer
from written import Folder

import icvi

#: Sections of the reference: title, and names in the order in which they are told.
_SECTIONS: dict[str, tuple[str, ...]] = {
    "Watching a stream": ("watch", "Watch", "Reading"),
    "Tracking": ("Tracker", "TrackerBank", "Trace", "load"),
    "Data at hand": ("score", "scores"),
    "Indices": ("catalogue", "Index", "index", "State", "I", "NI", "rCIP", "rH", "Conn"),
    "Clusterers": ("FuzzyART", "FuzzySMART", "FuzzyARTMAP", "Quantizer"),
    "States": ("Partition", "Connectivity"),
    "Errors and version": ("UndefinedIndexError", "IndexCompilationError", "__version__"),
}
_REST = "Further names"
#: Modules with a page each; not all of them are names of icvi.
_MODULES = {
    "batch": "icvi.batch: definitions that need all samples",
    "metrics": "icvi.metrics: functions like scikit-learn's",
    "streams": "icvi.streams: where samples come from",
}


def write_api(path: Path) -> None:
    """Write all pages of the reference below a folder.

    Classes have a page each, because their docstrings number their references from 1. Functions
    share the page of their section.
    """
    folder = Folder(path)
    parts = [_title("Python reference"), "Every public name of icvi, from its docstring."]
    for section, names in _sections().items():
        pages = [name for name in names if _has_page(name)]
        shared = [name for name in names if name not in pages]
        for name in pages:
            _write(folder, _file(name), name, [_entry("icvi", name)])
        files = [_file(name) for name in pages]
        if shared:
            files.insert(0, _file(section))
            _write(folder, _file(section), section, [_entry("icvi", name) for name in shared])
        parts.append(_contents(section, files))
    for name, title in _MODULES.items():
        _write(folder, name, title, _module_entries(f"icvi.{name}"))
    parts.append(_contents("Modules", list(_MODULES)))
    folder.write("index.rst", "\n\n".join(parts) + "\n")
    folder.tidy()


def _sections() -> dict[str, list[str]]:
    """The names of every section that are there, and those that no section names."""
    named = {name for names in _SECTIONS.values() for name in names}
    rest = [name for name in icvi.__all__ if name not in named and name not in _MODULES]
    sections = {
        title: [name for name in names if name in icvi.__all__]
        for title, names in _SECTIONS.items()
    }
    return {title: names for title, names in {**sections, _REST: rest}.items() if names}


def _has_page(name: str) -> bool:
    value = getattr(icvi, name)
    # Index and index would have the same file where letters have no case.
    return inspect.isclass(value) and not issubclass(value, Exception) and name != "Index"


def _file(title: str) -> str:
    return title.lower().replace(" ", "-")


def _write(folder: Folder, file: str, title: str, entries: list[str]) -> None:
    folder.write(f"{file}.rst", "\n\n".join([_title(title), *entries]) + "\n")


def _contents(title: str, files: list[str]) -> str:
    listed = "\n".join(f"   {file}" for file in files)
    return f".. toctree::\n   :caption: {title}\n   :maxdepth: 2\n\n{listed}"


def _module_entries(module: str) -> list[str]:
    names = importlib.import_module(module).__all__
    return [f".. automodule:: {module}", *(_entry(module, name) for name in names)]


def _entry(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name)
    path = f"{module}.{name}"
    if isinstance(value, types.GenericAlias):  # which is a class to `inspect`, but not to a reader
        return f".. autodata:: {_home(module, name)}\n   :no-value:"
    if inspect.isclass(value) and issubclass(value, BaseException):
        return f".. autoexception:: {path}"
    if inspect.isclass(value):
        return (
            f".. autoclass:: {path}\n   :members:\n   :inherited-members:\n"
            "   :member-order: bysource"
        )
    return f".. autofunction:: {path}" if callable(value) else f".. autodata:: {path}"


def _home(package: str, name: str) -> str:
    """Where a value is defined with a comment that documents it."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if ("", name) in ModuleAnalyzer.for_module(module.name).find_attr_docs():
            return f"{module.name}.{name}"
    return f"{package}.{name}"


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}"
