"""Every index of icvi by name, and how a list of names and objects becomes a list of indices."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from icvi.indices.calinski_harabasz import CH
from icvi.indices.conn_index import Conn
from icvi.indices.davies_bouldin import DB
from icvi.indices.generalised_dunn import GD43, GD53
from icvi.indices.i_index import PBM, I
from icvi.indices.index import Index, remade
from icvi.indices.negentropy_increment import NI
from icvi.indices.partition_separation import PS
from icvi.indices.renyi import rCIP, rH
from icvi.indices.silhouette import SIL
from icvi.indices.wb import WB
from icvi.indices.xie_beni import XB
from icvi.wording import did_you_mean, short

_CATALOGUE: dict[str, Index] = {
    entry.name: entry
    for entry in (CH, I(), PBM, SIL, NI(), rCIP(), rH(), XB, DB, PS, WB, GD43, GD53, Conn())
}
#: Functions that make an index from options, by the name of the family.
_FACTORIES: dict[str, Callable[..., Index]] = {
    factory.__name__: factory for factory in (I, NI, rCIP, rH, Conn)
}
_GROUPS = {
    "paper": ("CH", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS"),
    # These need labels alone, no prototypes.
    "all": tuple(name for name, entry in _CATALOGUE.items() if entry.on == "clusters"),
}
#: Other names of an index, without punctuation and in small letters.
_ALIASES = {
    "CH": ("calinskiharabasz", "calinski", "harabasz", "variance ratio criterion"),
    "I": ("iindex",),
    "PBM": ("pakhirabandyopadhyaymaulik",),
    "SIL": ("silhouette", "centroidsilhouette"),
    "NI": ("negentropyincrement", "negentropy"),
    "rCIP": ("crossinformationpotential", "representativecrossinformationpotential"),
    "rH": ("crossentropy", "representativecrossentropy", "renyi"),
    "XB": ("xiebeni",),
    "DB": ("daviesbouldin",),
    "PS": ("partitionseparation",),
    "WB": ("wbindex",),
    "GD43": ("generaliseddunn43", "generalizeddunn43"),
    "GD53": ("generaliseddunn53", "generalizeddunn53"),
    "Conn": ("connindex", "connectivity"),
}
_BY_SPELLING = {
    **{name.lower(): name for name in (*_GROUPS, *_CATALOGUE)},
    **{alias.replace(" ", ""): name for name, found in _ALIASES.items() for alias in found},
}


def groups() -> dict[str, tuple[str, ...]]:
    """Names of groups, and of the indices in them."""
    return dict(_GROUPS)


def canonical(name: str) -> str:
    """The name of an index or a group, however it is spelt; any other text as it is.

    >>> canonical("davies-bouldin"), canonical("Silhouette score"), canonical("PAPER")
    ('DB', 'SIL', 'paper')
    """
    spelling = "".join(filter(str.isalnum, name.lower()))
    for ending in ("", "index", "score", "coefficient"):
        found = _BY_SPELLING.get(spelling.removesuffix(ending))
        if found is not None:
            return found
    return name


def catalogue() -> tuple[Index, ...]:
    """Every index: name, title, direction, range, needs, reference."""
    return tuple(_CATALOGUE.values())


def select(indices: str | Index | Iterable[str | Index]) -> tuple[Index, ...]:
    """Indices by group ("paper", "all"), name or object, or a list of these.

    Names may be spelt in any case and in words, and separated by commas:

    >>> [index.name for index in select("silhouette, ch, xie-beni")]
    ['SIL', 'CH', 'XB']
    """
    entries: Iterable[object]
    if isinstance(indices, (str, Index)) or callable(indices):
        entries = [indices]
    elif isinstance(indices, Iterable) and not isinstance(indices, memoryview):
        entries = indices
    else:
        raise TypeError(f"expected an index, its name, or a list of these, got {short(indices)}")
    chosen = tuple(index for entry in entries for index in _expand(entry))
    names = [entry.name for entry in chosen]
    if not chosen:
        raise ValueError("expected at least one index, got none")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"expected every index once, got {', '.join(twice)} more than once")
    return chosen


def select_one(index: str | Index, *, several: str) -> Index:
    """One index by name or object; ``several`` names what takes more."""
    chosen = select(index)
    if len(chosen) != 1:
        raise ValueError(f"expected one index, got {short(index)}; use {several} for several")
    return chosen[0]


def from_spec(spec: Mapping[str, Any]) -> Index:
    """The index of icvi that an `Index.spec` describes; an invalid one is a `ValueError`."""
    match spec:
        case {"family": str(family), "options": dict(options), "name": str(name)}:
            pass
        case _:
            raise ValueError("expected a family, options and a name for every index")
    for option, value in options.items():
        if not isinstance(value, (bool, int, float, str)):
            raise ValueError(f"expected {option} of {family} as a number or a text")
    return remade(_FACTORIES.get(family) or _named(family), options, name)


def _expand(entry: object) -> tuple[Index, ...]:
    if isinstance(entry, Index):
        return (entry,)
    if isinstance(entry, str):
        parts = [part.strip() for part in entry.split(",")] if "," in entry else [entry]
        known = [canonical(part) for part in parts]
        return tuple(_named(name) for part in known for name in _GROUPS.get(part, (part,)))
    for factory in _FACTORIES.values():
        if entry is factory:
            return (factory(),)
    raise TypeError(
        f"expected an index name or an icvi.Index, got {short(entry)}; "
        f"decorate your own function with @icvi.index"
    )


def _named(name: str) -> Index:
    if name not in _CATALOGUE:
        guess = did_you_mean(name, [*_GROUPS, *_CATALOGUE]) or _similar(name)
        raise ValueError(
            f"unknown index {short(name)}{guess}; expected one of {', '.join(_CATALOGUE)}, or a "
            f"group: {', '.join(_GROUPS)}"
        )
    return _CATALOGUE[name]


def _similar(name: str) -> str:
    """A question about the index of the most similar word."""
    found = difflib.get_close_matches(name.lower(), _BY_SPELLING, n=1)
    return f", did you mean {_BY_SPELLING[found[0]]!r}?" if found else ""
