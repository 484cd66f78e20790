"""What must be the same for a watch to be the same: written into checkpoints, and compared."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from icvi.indices import Index
from icvi.indices.recipes import recipe_of
from icvi.saving.json_values import as_json
from icvi.watching.report import RunInfo
from icvi.wording import shown_address


def settings_of(
    clusterer: Any, indices: tuple[Index, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings in terms of JSON.

    Parameters
    ----------
    clusterer : object or None
        As it was given: before it has learnt anything, or as it was saved.
    indices : tuple of Index
        What is read.
    options : dict
        Everything else: numbers, strings, time spans, arrays, lists of these.
    """
    # In the order in which they are compared: what differs first is told.
    return {
        "clusterer": described(clusterer),
        "indices": [index.name if index.own else _written(index) for index in indices],
        **{name: plainly(value) for name, value in options.items()},
    }


def about_watch(source: Any, clusterer: Any, label: Any, options: Mapping[str, Any]) -> RunInfo:
    """Facts about a watch for its page; columns and skipped rows are known at its end."""
    usual: dict[str, Any] = {"every": 1, "window": None, "half_life": None}
    usual |= {"noise_label": None, "undefined": "nan"}
    if clusterer is not None:
        who = (clusterer if hasattr(clusterer, "__qualname__") else type(clusterer)).__qualname__
    else:
        who = "labels of the source" if label is None else f"column {label}"
    return RunInfo(
        source=name_of(source),
        clusterer=who,
        parameters=clusterer.get_params() if hasattr(clusterer, "get_params") else {},
        options={name: options[name] for name in usual if options[name] != usual[name]},
    )


def name_of(source: Any) -> str:
    """What to call a source where everybody may see it."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else shown_address(os.fspath(source))
    return f"a {type(source).__name__}"


def described(clusterer: Any) -> str | None:
    """A clusterer and its parameters in words; None for labels in the source."""
    if clusterer is None:
        return None
    kind = clusterer if hasattr(clusterer, "__qualname__") else type(clusterer)
    name = f"{kind.__module__}.{kind.__qualname__}"
    # What says no more than where it is in memory would be another one in every process.
    shown = " ".join(repr(clusterer).split())
    return name if kind is clusterer or shown.endswith(">") else f"{name}: {shown}"


def plainly(value: Any) -> Any:
    """Options as JSON: what is the same to the user is the same here."""
    if isinstance(value, (list, tuple)):
        return [plainly(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): plainly(item) for name, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        return plainly(value.tolist())
    try:
        return as_json(value)
    except TypeError:
        return described(value)


def _written(index: Index) -> str:
    recipe = recipe_of(index)
    options = ", ".join(f"{name}={value}" for name, value in sorted(recipe["options"].items()))
    return f"{recipe['name']} ({options})" if options else str(recipe["name"])
