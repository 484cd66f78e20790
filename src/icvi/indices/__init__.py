"""Every index icvi knows, one file per index or tight family.

>>> import icvi
>>> for index in icvi.catalogue()[:3]:
...     print(index.name, index.direction, index.title)
CH max Calinski-Harabasz
I max I index, squared norms
PBM max Pakhira-Bandyopadhyay-Maulik, squared norms
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from icvi.indices.calinski_harabasz import CH
from icvi.indices.conn_index import Conn
from icvi.indices.davies_bouldin import DB
from icvi.indices.generalised_dunn import GD43, GD53
from icvi.indices.i_index import PBM, I
from icvi.indices.index import Index, index
from icvi.indices.negentropy_increment import NI
from icvi.indices.partition_separation import PS
from icvi.indices.renyi import rCIP, rH
from icvi.indices.silhouette import SIL
from icvi.indices.wb import WB
from icvi.indices.xie_beni import XB
from icvi.wording import did_you_mean, short

__all__ = ["NI", "Conn", "I", "Index", "catalogue", "index", "rCIP", "rH", "select"]

_CATALOGUE: dict[str, Index] = {
    entry.name: entry
    for entry in (CH, I(), PBM, SIL, NI(), rCIP(), rH(), XB, DB, PS, WB, GD43, GD53, Conn())
}
_GROUPS = {
    "paper": ("CH", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS"),
    # Labels alone are enough for these.
    "all": tuple(name for name, entry in _CATALOGUE.items() if entry.on == "clusters"),
}


def catalogue() -> tuple[Index, ...]:
    """Every index: name, title, direction, range, needs, reference."""
    return tuple(_CATALOGUE.values())


def select(indices: str | Index | Iterable[str | Index]) -> tuple[Index, ...]:
    """Indices by group ("paper", "all"), name or object, or a list of these."""
    several = not (isinstance(indices, (str, Index)) or callable(indices))
    if several and (isinstance(indices, memoryview) or not isinstance(indices, Iterable)):
        raise TypeError(f"expected an index, its name, or a list of these, got {short(indices)}")
    entries: Any = list(indices) if several else [indices]  # type: ignore[arg-type]
    chosen = tuple(index for entry in entries for index in _expand(entry))
    names = [entry.name for entry in chosen]
    if not chosen:
        raise ValueError("expected at least one index, got none")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"expected every index once, got {', '.join(twice)} more than once")
    return chosen


def _expand(entry: object) -> tuple[Index, ...]:
    if isinstance(entry, str) and entry in _GROUPS:
        return tuple(_CATALOGUE[name] for name in _GROUPS[entry])
    return (_find(entry),)


def _find(entry: object) -> Index:
    if isinstance(entry, Index):
        return entry
    if isinstance(entry, str):
        if entry in _CATALOGUE:
            return _CATALOGUE[entry]
        raise ValueError(
            f"unknown index {short(entry)}{did_you_mean(entry, [*_GROUPS, *_CATALOGUE])}; "
            f"expected one of {', '.join(_CATALOGUE)}"
        )
    for factory in (I, NI, rCIP, rH, Conn):
        if entry is factory:
            return factory()
    raise TypeError(
        f"expected an index name or an icvi.Index, got {short(entry)}; "
        f"decorate your own function with @icvi.index"
    )
