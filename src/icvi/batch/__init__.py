"""Batch definitions that need all samples.

The indices of a stream are read from a few moments per cluster: counts, means, sums of squared
deviations. The definitions here average plain distances, and no fixed number of moments gives
the mean of a square root; besides, the means to which, or the samples between which, they
measure all move when one more sample arrives. So they take the whole data set at once.

They are other numbers than the streaming forms of the same name, and neither replaces the other:

- `silhouette_score` compares every sample with all samples; SIL compares centroids only, and
  squares distances.
- `davies_bouldin_score` is the index as published, with exponents p and q; DB squares the
  widths and the distances.
- `i_index_score` and `pbm_score` are the indices as published; I and PBM square every norm.
- `conn_index` and `conn_index_score` see all prototypes from the start; `icvi.Connectivity` counts
  them as they come.

None of these numbers depends on the origin, and digits are not lost on data far away from it.
No label has a meaning of its own: samples labelled -1 are a cluster like the others, so drop
noise first.
"""

from __future__ import annotations

from icvi.batch.connectivity import conn_index, conn_index_score
from icvi.batch.davies_bouldin import davies_bouldin_score
from icvi.batch.i_index import i_index_score, pbm_score
from icvi.batch.silhouette import silhouette_samples, silhouette_score

__all__ = [
    "conn_index",
    "conn_index_score",
    "davies_bouldin_score",
    "i_index_score",
    "pbm_score",
    "silhouette_samples",
    "silhouette_score",
]
