"""The settings of a watch: checkpoints store and compare them, reports show them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from icvi.indices import Index
from icvi.saving.json_values import as_json
from icvi.watching.report import RunInfo
from icvi.wording import shown_address

_SEED = re.compile(r"\b(?:random_state|seed)=(?!None)")
_UNSEEDED = re.compile(r"(?:, )?\b(?:random_state|seed)=(?:0|None)\b")


def settings_of(
    clusterer: Any, indices: tuple[Index, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings as plain JSON.

    Parameters
    ----------
    clusterer : object or None
        As the user gave it: before it has learnt anything, or as it was saved.
    indices : tuple of Index
        The indices that are read.
    options : dict
        All other options: numbers, strings, time spans, arrays, lists of these.
    """
    # In the order in which they are compared: the first difference is reported.
    return {
        "clusterer": clusterer_text(clusterer),
        "indices": [index.name if index.own else _index_text(index) for index in indices],
        **{name: as_setting(value) for name, value in options.items()},
    }


def about_watch(source: Any, clusterer: Any, label: Any, options: Mapping[str, Any]) -> RunInfo:
    """Facts about a watch for its report; columns and skipped rows are known at the end."""
    defaults: dict[str, Any] = {"every": 1, "window": None, "half_life": None}
    defaults |= {"noise_label": None, "undefined": "nan"}
    if clusterer is not None:
        who = (clusterer if hasattr(clusterer, "__qualname__") else type(clusterer)).__qualname__
    else:
        who = "labels of the source" if label is None else f"column {label}"
    return RunInfo(
        source=source_name(source),
        clusterer=who,
        parameters=clusterer.get_params() if hasattr(clusterer, "get_params") else {},
        options={name: options[name] for name in defaults if options[name] != defaults[name]},
    )


def source_name(source: Any) -> str:
    """The name of a source, without passwords."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else shown_address(os.fspath(source))
    return f"a {type(source).__name__}"


def clusterer_text(clusterer: Any) -> str | None:
    """A clusterer and its parameters as text; None for labels in the source."""
    if clusterer is None:
        return None
    kind = clusterer if hasattr(clusterer, "__qualname__") else type(clusterer)
    name = f"{kind.__module__}.{kind.__qualname__}"
    # A repr that ends with an address in memory differs in every process.
    shown = " ".join(repr(clusterer).split())
    return name if kind is clusterer or shown.endswith(">") else f"{name}: {shown}"


def only_seeded(was: Any, now: Any) -> bool:
    """Whether two clusterers differ in nothing but a seed of 0, which is given by default now.

    Earlier versions gave none. Their checkpoints hold the clusterer itself, with the state of its
    random numbers.

    >>> only_seeded("k.KMeans: KMeans(n_clusters=3)", "k.KMeans: KMeans(n_clusters=3, seed=0)")
    True
    >>> only_seeded("k.KMeans: KMeans(seed=1)", "k.KMeans: KMeans(seed=0)")
    False
    """
    if not (isinstance(was, str) and isinstance(now, str)) or _SEED.search(was):
        return False
    return _UNSEEDED.sub("", was) == _UNSEEDED.sub("", now)


def as_setting(value: Any) -> Any:
    """An option as JSON; options that mean the same are equal."""
    if isinstance(value, (list, tuple)):
        return [as_setting(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): as_setting(item) for name, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        return as_setting(value.tolist())
    try:
        return as_json(value)
    except TypeError:
        return clusterer_text(value)


def _index_text(index: Index) -> str:
    spec = index.spec
    options = ", ".join(f"{name}={value}" for name, value in sorted(spec["options"].items()))
    return f"{spec['name']} ({options})" if options else str(spec["name"])
