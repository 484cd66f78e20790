"""What is saved of panes, and how they are made again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from icvi.indices import Index
from icvi.saving.json_values import as_json
from icvi.saving.parts import MOST, Packed, Part, nested
from icvi.state import saved_partition
from icvi.state.partition import Partition
from icvi.tracking.panes import Panes
from icvi.tracking.saved.tracker import unpack_indices

#: Arrays of the panes, which are numbered from 0, begin so.
_NAME = "pane{}"


def pack(p: Panes) -> Packed:
    """Facts and arrays of panes that no other caller uses meanwhile."""
    packed = [saved_partition.pack(pane) for pane in p._panes.values()]
    arrays: dict[str, NDArray[Any]] = {}
    for number, (_, own) in enumerate(packed):
        arrays |= nested(_NAME.format(number), own)
    facts = {
        "indices": [index.spec for index in p.indices],
        "undefined": p._policy.undefined,
        "noise_label": as_json(p._empty.noise_label),
        "width": as_json(p._width),
        "count": p._count,
        "late": p._late,
        "now": p._now,
        "n_late": p._n_late,
        "dated": p._dated,
        "features": p._d,
        "slices": [*p._panes],
        "panes": [own for own, _ in packed],
    }
    return facts, arrays


def unpack(part: Part, indices: Iterable[Index] = ()) -> Panes:
    """The panes that were packed; indices are the user's own that they may have."""
    given: dict[str, Any] = {
        "width": part.value("width"),
        "count": part.whole("count"),
        "indices": unpack_indices(part, {index.name: index for index in indices}),
        "noise_label": part.value("noise_label"),
        "undefined": part.choice("undefined", ("nan", "limit", "raise")),
        "late": part.choice("late", ("refuse", "count")),
    }
    with part.making("options"):
        p = Panes(**given)
    p._now, p._dated, p._d = part.fact("now"), part.fact("dated"), part.fact("features")
    p._n_late = part.whole("n_late")
    part.require(p._dated in (None, True, False), "dated", "true, false or null", p._dated)
    fine = p._d is None or (type(p._d) is int and p._d > 0)
    part.require(fine, "features", "a number above 0, or null", p._d)
    slices = _slices(part, p)
    entries = part.many("panes")
    part.require(len(entries) == len(slices), "panes", f"{len(slices)} of them", len(entries))
    for number, (at, facts) in enumerate(zip(slices, entries, strict=True)):
        own = part.part(_NAME.format(number), facts)
        p._panes[at] = _pane(own, p)
    return p


def _slices(part: Part, p: Panes) -> list[int]:
    """Numbers of the slices, in order, none too old."""
    slices = part.many("slices")
    if p._now is not None:
        fine = type(p._now) is int and -MOST * 2 < p._now < MOST * 2
        part.require(fine, "now", "the number of a slice, or null", p._now)
    part.require(p._now is not None or not slices, "now", "the number of a slice", p._now)
    for at in slices:
        fine = type(at) is int and p._now is not None and p._now - p._count < at <= p._now
        part.require(fine, "slices", "numbers of slices that are kept", at)
    fine = all(a < b for a, b in pairwise(slices))
    part.require(fine, "slices", "numbers in order", slices)
    return slices


def _pane(part: Part, p: Panes) -> Partition:
    pane = saved_partition.unpack(part)
    with part.making("partition"):
        p._empty.copy().combine(pane)  # refuses another scatter or noise label
    fine = pane.n_features in (None, p._d)
    part.require(fine, "features", f"{p._d} as in the others", pane.n_features)
    return pane
