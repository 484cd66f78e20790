"""How a cluster is drawn: colours that colour-blind readers can tell apart, then other shapes."""

from __future__ import annotations

from typing import NamedTuple

# Paul Tol's "muted" scheme, its pale colours towards the end.
_COLOURS = (
    "#332288",
    "#cc6677",
    "#44aa99",
    "#882255",
    "#88ccee",
    "#117733",
    "#aa4499",
    "#999933",
    "#ddcc77",
)
_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus")
_SIGNS = ("●", "■", "▲", "◆", "▼", "✚")
_HATCHES = (" ", "/", "x", ".", "-", "+")


class Look(NamedTuple):
    """Colour, shape and pattern of a cluster; the sign is its shape as a letter."""

    colour: str
    marker: str
    sign: str
    hatch: str


#: Samples that belong to no cluster.
NOISE = Look("#5d6670", "x", "✕", " ")
#: All the clusters that are not shown one by one.
OTHERS = Look("#c9ced4", "circle", "●", " ")


def look(rank: int) -> Look:
    """The look of the cluster with this rank, 0 for the largest: 54 differ, then they repeat.

    >>> look(0) == look(54), look(0).colour == look(9).colour, look(0).marker == look(9).marker
    (True, True, False)
    """
    shape, colour = divmod(rank % (len(_COLOURS) * len(_MARKERS)), len(_COLOURS))
    return Look(_COLOURS[colour], _MARKERS[shape], _SIGNS[shape], _HATCHES[shape])
