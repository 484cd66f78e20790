"""How a cluster is drawn: colours that colour-blind readers can tell apart, and shapes."""

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


class ClusterStyle(NamedTuple):
    """Colour, marker and pattern of a cluster; the sign is the marker as a character."""

    colour: str
    marker: str
    sign: str
    hatch: str


#: Noise.
NOISE = ClusterStyle("#5d6670", "x", "✕", " ")
#: All clusters that are not shown separately.
OTHERS = ClusterStyle("#c9ced4", "circle", "●", " ")


def cluster_style(rank: int) -> ClusterStyle:
    """The style of the cluster with this rank, 0 for the largest: 54 differ, then they repeat.

    >>> first, tenth = cluster_style(0), cluster_style(9)
    >>> first == cluster_style(54), first.colour == tenth.colour, first.marker == tenth.marker
    (True, True, False)
    """
    shape, colour = divmod(rank % (len(_COLOURS) * len(_MARKERS)), len(_COLOURS))
    return ClusterStyle(_COLOURS[colour], _MARKERS[shape], _SIGNS[shape], _HATCHES[shape])
