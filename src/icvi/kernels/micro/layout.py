"""How micro-clusters lie in memory.

All arrays have room for one more than the bound, and the micro-cluster as their last axis, so that
a search runs along memory:

    M[row, i]       the weight of micro-cluster i; then its centroid, d rows, as an offset from the
                    first sample of the stream; then its compactness, d rows, one per feature
    owners[row, i]  its label, and the label that it had before clusters merged; the latter is
                    NONE for one that is newer than the last choice, which has its label only until
                    the next one
    scale[row, t]   of feature t: the first sample, and the factor of squared differences

Squared distances and variances are sums over features with these factors. The compactness is kept
per feature, so that factors may change without any loss.
"""

from __future__ import annotations

from numba import types

from icvi.kernels.compiler.embedded import embedded

#: Rows of M; the compactness begins after d centroids.
WEIGHT, CENTROID = 0, 1

#: Rows of owners.
LABEL, HOME = 0, 1
NONE = -1

#: Rows of scale.
ORIGIN, FACTOR = 0, 1

#: Places of counters: micro-clusters, samples learnt, micro-clusters that are new since the last
#: choice, labels given so far, the micro-cluster that took the last sample, and choices so far.
MICRO, SEEN, NEW, LABELS, TAKEN, CHOICES = 0, 1, 2, 3, 4, 5
COUNTERS = 6

#: Places of numbers: the variance that a micro-cluster may have, the weight of the next sample, the
#: weight of all samples, and the weight that has come since the last choice.
LIMIT, GAIN, TOTAL, CAME = 0, 1, 2, 3
NUMBERS = 4

#: Micro-clusters that weigh less than this share of a new sample are forgotten.
FADED = 0.01

#: The factor of a feature that has not changed so far: any change is a large one.
CONSTANT = 1e200


@embedded(returns=types.int64)
def features(M):
    """Number of features."""
    return (M.shape[0] - CENTROID) // 2
