"""Batch definitions that need all samples.

The indices of a stream are computed from a few moments per cluster: counts, means, sums of squared
deviations. The definitions here average plain distances, and no fixed number of moments gives the
mean of a square root; besides, every new sample moves a mean, and so all distances to it. So they
take the whole data set at once.

Their values differ from those of the streaming forms of the same name; neither replaces the other:

- `silhouette_score` compares every sample with all samples; SIL compares centroids only, and
  squares distances.
- `davies_bouldin_score` is the index as published, with exponents p and q; DB squares the
  widths and the distances.
- `i_index_score` and `pbm_score` are the indices as published; I and PBM square every norm.
- `conn_index` and `conn_index_score` use all prototypes from the start; `icvi.Connectivity` counts
  them as they appear.

None of these numbers depends on the origin, and data far away from it lose no digits. No label is
special: samples labelled -1 form a cluster like any other, so drop noise first.
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
