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
    """The index that a recipe makes; a `ValueError` or `TypeError` where it makes none."""
    from icvi import indices

    match recipe:
        case {"family": str(family), "options": dict(options), "name": str(name)}:
            pass
        case _:
            raise ValueError("expected a family, options and a name for every index")
    factories: dict[str, Callable[..., Index]] = {
        factory.__name__: factory
        for factory in (indices.I, indices.NI, indices.rCIP, indices.rH, indices.Conn)
    }
    if family in factories:
        for option, value in options.items():
            if not isinstance(value, (bool, int, float, str)):
                raise ValueError(f"expected {option} of {family} as a number or a text")
        made = factories[family](**options)
    else:
        made = indices.select(family)[0]
    return made if made.name == name else replace(made, name=name)
