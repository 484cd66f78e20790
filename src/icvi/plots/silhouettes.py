"""The silhouette plot: the coefficient of every sample, cluster by cluster, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.inputs import as_samples
from icvi.labels import Labels, as_label_array
from icvi.optional import needed
from icvi.plots.connvis import COLOURS
from icvi.wording import count, fixed, page_text, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

#: Samples that are drawn, at most: the work grows with the square of their number.
MOST = 5_000
_NAMED = 40  # clusters with a name beside them
_GAP = 0.012  # of all samples, between two clusters


def silhouette(
    X: Any, labels: Any, *, seed: int = 0, width: float = 6.4, height: float | None = None
) -> Figure:
    """The silhouette plot of a clustering: how much nearer each sample is to its own cluster.

    Every sample is a thin bar, as long as its silhouette coefficient; those of a cluster are
    sorted and lie together. Bars to the left of zero are samples that are nearer to another
    cluster. Clusters are in the order of their mean coefficients, the best above. The dashed line
    is the mean over all samples. Needs matplotlib.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        The samples.
    labels : sequence of n_samples hashables
        The cluster of each sample; at least two clusters.
    seed : int, default 0
        Random seed. Of more than 5,000 samples so many are drawn at random, and the figure says so.
    width, height : float
        Inches; the height depends on the number of clusters by default.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not registered with pyplot; use ``figure.savefig(path)``.

    See Also
    --------
    icvi.batch.silhouette_samples : The coefficients.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis", Journal of Computational and Applied Mathematics 20, 1987, 53-65.

    Examples
    --------
    >>> import icvi
    >>> figure = icvi.plots.silhouette([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> figure.axes[0].get_xlabel()
    'silhouette coefficient; mean 0.87'
    """
    with needed("matplotlib", "plot", "a silhouette plot"):
        from matplotlib.figure import Figure
    samples = as_samples(X)
    known = Labels()
    columns, new = known.encode(as_label_array(labels, len(samples)))
    if len(new) < 2:
        raise ValueError(f"expected at least two clusters, got {len(new)}: no silhouette exists")
    chosen = _drawn(len(samples), seed)
    # Scores are above figures: found by their name, as saved classes are.
    scores = import_module("icvi.batch.silhouette")
    own = columns[chosen]
    s = scores.silhouette_samples(samples[chosen], own)
    shown = np.unique(own)
    if height is None:
        height = min(max(2.6, 1.3 + 0.45 * len(shown)), 9.0)
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    axes = figure.subplots()
    names = [shortened(page_text(str(new[column - 1])), 24) for column in shown.tolist()]
    _draw_clusters(axes, [s[own == column] for column in shown], names)
    mean = float(s.mean())
    axes.axvline(mean, color="#1b2026", linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_xlabel(f"silhouette coefficient; mean {fixed(mean, 2)}", fontsize=9)
    clusters = f"{count(len(new))} clusters"
    if len(chosen) < len(samples):
        part = f"{count(len(chosen))} of {count(len(samples))} samples, drawn at random"
        axes.set_title(f"{part}; {clusters}", fontsize=9)
    else:
        axes.set_title(f"{count(len(samples))} samples, {clusters}", fontsize=9)
    return figure


def _drawn(n: int, seed: int) -> NDArray[np.int64]:
    """Positions of the samples to draw."""
    if n <= MOST:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, MOST, replace=False))


def _draw_clusters(axes: Axes, parts: Sequence[NDArray[np.float64]], names: Sequence[str]) -> None:
    """One block of bars per cluster, the best above."""
    total = sum(map(len, parts))
    gap = max(1.0, _GAP * total)
    top, places, written = 0.0, [], []
    for i in sorted(range(len(parts)), key=lambda i: -float(parts[i].mean())):
        bars = np.sort(parts[i])[::-1]
        heights = top + np.arange(len(bars) + 1)
        edges = np.append(bars, bars[-1])
        colour = COLOURS[i % len(COLOURS)]
        axes.fill_betweenx(heights, 0.0, edges, step="post", color=colour, linewidth=0)
        places.append(top + len(bars) / 2.0)
        written.append(f"{names[i]}\n{count(len(bars))}, mean {fixed(float(bars.mean()), 2)}")
        top += len(bars) + gap
    axes.axvline(0.0, color="#1b2026", linewidth=0.8)
    axes.set_xlim(min(0.0, *(float(part.min()) for part in parts)) - 0.02, 1.0)
    axes.set_ylim(top - gap, -gap)
    named = len(parts) <= _NAMED
    axes.set_yticks(places if named else [], written if named else [], fontsize=7.5)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    if not named:
        axes.set_ylabel(f"{count(len(parts))} clusters, the best above", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
