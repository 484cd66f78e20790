"""CONNvis: prototypes, their clusters and the connections between them, in one figure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from icvi.optional import needed
from icvi.plots.plane import Plane
from icvi.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

# Okabe and Ito's colours, distinct for all kinds of sight; shapes tell equal colours apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A6A00")
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
_INSIDE = ("#262626", "#595959", "#8c8c8c", "#bdbdbd")  # by rank: 1, 2, 3, 4 and more
_ACROSS = ("#a50f15", "#cb4b3f", "#e58b80", "#f3c0b8")
_WIDEST, _THINNEST = 6.0, 0.5


class Connections(Protocol):
    """What is drawn of an `icvi.Connectivity`."""

    @property
    def owners(self) -> Sequence[Hashable]:
        """The cluster of each prototype."""

    @property
    def labels(self) -> Sequence[Hashable]:
        """The clusters."""

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Winners, runners-up, and how often each pair occurred."""


def plot_connvis(
    prototypes: Any,
    connectivity: Connections,
    *,
    X: Any = None,
    size: float = 6.0,
) -> Figure:
    """Draw the prototypes with the connections between them.

    A line joins two prototypes that were winner and runner-up of the same sample: the wider, the
    more often (CONN); the darker, the higher each ranks among the other's neighbours. Lines
    between clusters are red: they show which clusters may be one. Needs matplotlib.

    Parameters
    ----------
    prototypes : array-like of shape (P, d)
        Their positions, such as the ``prototypes_`` of `FuzzySMART` or `Quantizer`. More than two
        features are projected onto the two principal axes of the prototypes.
    connectivity : Connectivity
        Their connections.
    X : array-like of shape (n, d), optional
        Samples, drawn as small dots behind.
    size : float, default 6.0
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not registered with pyplot; use ``figure.savefig(path)``.

    References
    ----------
    K. Tasdemir and E. Merenyi, "Exploiting data topology in visualization and clustering of
    self-organizing maps", IEEE Transactions on Neural Networks 20 (4), 2009.
    """
    with needed("matplotlib", "plot", "a figure of prototypes"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(size, size), dpi=150, layout="constrained")
    axes = figure.subplots()
    draw_connvis(axes, prototypes, connectivity, X=X)
    legend = legend_of(connectivity)
    if legend:
        lines, names = zip(*legend, strict=True)
        figure.legend(
            lines,
            names,
            loc="outside upper center",
            ncols=3,
            fontsize=7.5,
            frameon=False,
            handlelength=2.2,
        )
    return figure


def draw_connvis(axes: Axes, prototypes: Any, connectivity: Connections, *, X: Any = None) -> None:
    """Draw CONNvis on axes; see `plot_connvis`."""
    positions = np.asarray(prototypes, dtype=float)
    owners = connectivity.owners
    if positions.ndim != 2 or len(positions) < len(owners):
        raise ValueError(
            f"expected a position for each of {len(owners)} prototypes, got shape {positions.shape}"
        )
    positions = positions[: len(owners)]
    plane = Plane(positions)
    if X is not None:
        dots = plane(np.asarray(X, dtype=float))
        axes.scatter(
            dots[:, 0], dots[:, 1], s=3, color="#d9d9d9", linewidths=0, zorder=0, rasterized=True
        )
    at = plane(positions)
    _draw_connections(axes, at, connectivity, owners)
    _draw_prototypes(axes, at, owners, connectivity.labels)
    plane.frame(axes)


def _connections(
    connectivity: Connections,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Pairs with their CONN and rank, weakest first.

    The rank of a pair is the better of the two ranks that its ends give each other.
    """
    winner, runner_up, count = connectivity.edges()
    pairs = np.sort(np.stack([winner, runner_up], axis=1), axis=1)
    pairs, where = np.unique(pairs, axis=0, return_inverse=True)
    conn = np.zeros(len(pairs))
    np.add.at(conn, where.ravel(), count)
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    strength = np.concatenate([conn, conn])
    order = np.lexsort((-strength, ends))
    starts = np.r_[True, ends[order][1:] != ends[order][:-1]]
    first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - first
    rank = np.minimum(rank[: len(pairs)], rank[len(pairs) :])
    weakest = np.argsort(conn, kind="stable")
    return pairs[weakest], conn[weakest], rank[weakest]


def _widths(conn: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Widths grow with the root: counts span decades, and thin lines must stay visible."""
    return _THINNEST + (_WIDEST - _THINNEST) * np.sqrt(conn / largest)


def _draw_connections(
    axes: Axes,
    at: NDArray[np.float64],
    connectivity: Connections,
    owners: Sequence[Hashable],
) -> None:
    from matplotlib.collections import LineCollection

    pairs, conn, rank = _connections(connectivity)
    if len(pairs) == 0:
        return
    widths = _widths(conn, float(conn.max()))
    across = np.array([owners[i] != owners[j] for i, j in pairs.tolist()])
    for chosen, shades, order in ((~across, _INSIDE, 1), (across, _ACROSS, 2)):
        lines = LineCollection(
            list(at[pairs[chosen]]),
            linewidths=list(widths[chosen]),
            colors=[shades[min(r, len(shades) - 1)] for r in rank[chosen].tolist()],
            capstyle="round",
            zorder=order,
        )
        axes.add_collection(lines)


def _draw_prototypes(
    axes: Axes, at: NDArray[np.float64], owners: Sequence[Hashable], labels: Sequence[Hashable]
) -> None:
    from matplotlib.patheffects import withStroke

    middle = at.mean(axis=0)
    for number, label in enumerate(labels):
        mine = np.array([owner == label for owner in owners])
        shape = SHAPES[number // len(COLOURS) % len(SHAPES)]
        colour = COLOURS[number % len(COLOURS)]
        axes.scatter(
            at[mine, 0],
            at[mine, 1],
            s=34 if len(owners) < 40 else 16,
            c=colour,
            marker=shape,
            edgecolors="white",
            linewidths=0.5,
            zorder=3,
        )
        where, outwards = _outer_end(at[mine], middle)
        axes.annotate(
            printable(str(label)),
            where,
            parse_math=False,
            xytext=(10.0 * outwards[0], 10.0 * outwards[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            color=colour,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )


def _outer_end(
    points: NDArray[np.float64], middle: NDArray[np.float64]
) -> tuple[tuple[float, float], NDArray[np.float64]]:
    """The point of a cluster farthest from the middle of all, and the direction to there."""
    direction = points.mean(axis=0) - middle
    length = float(np.linalg.norm(direction))
    direction = direction / length if length > 0.0 else np.array([0.0, 1.0])
    x, y = points[np.argmax(points @ direction)]
    return (float(x), float(y)), direction


def legend_of(connectivity: Connections) -> list[tuple[Line2D, str]]:
    """Lines and words that explain widths and shades; none without connections."""
    from matplotlib.lines import Line2D

    _, conn, _ = _connections(connectivity)
    if len(conn) == 0:
        return []
    largest = float(conn.max())
    lines = [
        (f"CONN = {c:g}", _INSIDE[0], float(_widths(np.array([c]), largest)[0]))
        for c in sorted({1.0, max(1.0, round(largest / 4)), largest})
    ]
    for words, shades in (("inside", _INSIDE), ("across", _ACROSS)):
        lines += [(f"{words}, rank {rank}", shades[rank - 1], 2.5) for rank in (1, 2, 3)]
    return [(Line2D([], [], color=colour, linewidth=width), name) for name, colour, width in lines]
