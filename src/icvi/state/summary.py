"""What `Partition` and `Tracker` both report about their clusters."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from icvi.saving.saveable import Saveable
from icvi.state.clusters import Clusters
from icvi.transactions import exclusive


class ClusterSummary(Saveable):
    """Numbers and labels of clusters, for one caller at a time."""

    _clusters: Clusters

    @property
    def n_clusters(self) -> int:
        """Number of clusters k."""
        return self._clusters.n_clusters

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first sample."""
        return self._clusters.n_features

    @property
    @exclusive
    def n_samples(self) -> float:
        """Total weight N, the number of samples when every weight is 1; without noise."""
        return self._clusters.n_samples

    @property
    def noise_label(self) -> Hashable:
        """Label that marks noise; None where there is none."""
        return self._clusters.noise_label

    @property
    @exclusive
    def noise_share(self) -> float:
        """Share of the total weight that carried the noise label."""
        return self._clusters.noise_share

    @property
    @exclusive
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._clusters.labels

    @property
    @exclusive
    def counts(self) -> NDArray[np.float64]:
        """(k,) weight of every cluster."""
        return self._clusters.counts

    @property
    @exclusive
    def compactness(self) -> NDArray[np.float64]:
        """(k,) sum of squared distances of a cluster's samples to its centroid."""
        return self._clusters.compactness

    @property
    @exclusive
    def centers(self) -> NDArray[np.float64]:
        """(k, d) centroids."""
        return self._clusters.centers

    @property
    @exclusive
    def covariances(self) -> NDArray[np.float64]:
        """(k, d, d) covariance matrices S / (n - 1); nan where n <= 1.

        With a half-life S / (W1 - W2 / W1), which does not change as samples fade: W1 sums their
        weights c f, W2 sums c f^2, for a sample with weight c that has faded to the share f.
        """
        return self._clusters.covariances
