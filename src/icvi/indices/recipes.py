"""How an index of ours is written down, and made again from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from icvi.indices.index import Index


def recipe_of(index: Index) -> dict[str, Any]:
    """What makes this index again: its family, the options given, and its name."""
    if index.own:
        raise ValueError(f"{index.name} is not an index of icvi")
    family, options = index.recipe or (index.name, {})
    given = {key: value for key, value in options.items() if value not in (None, False)}
    return {"family": family, "options": given, "name": index.name}


def from_recipe(recipe: Mapping[str, Any]) -> Index:
    """The index that a recipe makes."""
    from icvi import indices

    family, options = recipe["family"], dict(recipe["options"])
    factories: dict[str, Callable[..., Index]] = {
        factory.__name__: factory
        for factory in (indices.I, indices.NI, indices.rCIP, indices.rH, indices.Conn)
    }
    made = factories[family](**options) if family in factories else indices.select(family)[0]
    return made if made.name == recipe["name"] else replace(made, name=recipe["name"])
