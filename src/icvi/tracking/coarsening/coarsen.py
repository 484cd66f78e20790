"""From clusters to a path: merge, read every level, choose one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from icvi.indices import Index
from icvi.kernels import layout as L
from icvi.state.clusters import Clusters
from icvi.tracking.coarsening.choice import best_level, voters
from icvi.tracking.coarsening.levels import read_levels
from icvi.tracking.coarsening.linkage import Linkage, merge_order
from icvi.tracking.coarsening.path import Path
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.insight.verdict import Verdict


def coarsen(
    clusters: Clusters,
    indices: Sequence[Index],
    by: str | Index | Iterable[str | Index],
    linkage: Linkage,
    to: int,
    judge: Callable[[Path], Verdict] | None = None,
) -> Path:
    """The path from clusters down to ``to`` of them, with readings of ``indices`` and of ``by``."""
    if linkage not in get_args(Linkage):
        raise ValueError(f"expected linkage 'ward' or 'separation', got {short(linkage)}")
    if not isinstance(to, (int, np.integer)) or isinstance(to, bool) or to < 1:
        raise ValueError(f"expected to as a number of clusters of at least 1, got {short(to)}")
    chosen = voters(by)
    if clusters.n_clusters < 2:
        raise ValueError(f"expected at least two clusters to coarsen, got {clusters.n_clusters}")
    named = {index.name: index for index in (*indices, *chosen) if index.on == "clusters"}
    read = [*named.values()]
    _check_covariances(clusters, read, linkage)
    merges = merge_order(clusters, linkage, min(int(to), clusters.n_clusters))
    table = read_levels(clusters, read, merges)
    names = [index.name for index in chosen]
    columns = [[*named].index(name) for name in names]
    level = best_level(chosen, table[:, columns])
    return Path(
        k=clusters.n_clusters - level,
        by=tuple(names),
        labels=tuple(clusters.labels),
        linkage=linkage,
        merges=merges,
        indices=read,
        table=table,
        judge=judge,
    )


def _check_covariances(clusters: Clusters, indices: Sequence[Index], linkage: Linkage) -> None:
    if clusters.has_covariances:
        return
    needing = [index.name for index in indices if index.want & L.WANT_SCATTER]
    if linkage == "separation":
        needing.append("linkage='separation'")
    if needing:
        verb = "needs" if len(needing) == 1 else "need"
        raise ValueError(
            f"{' and '.join(needing)} {verb} covariances, which this tracker does not keep; track "
            "an index that needs them (NI, rCIP, rH), or use Tracker(insight=True)"
        )
