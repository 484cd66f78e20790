"""Where each number is in the arrays that kernels share.

A partition of any size is **one float64 arena** ``A`` whose columns are clusters and whose
rows are statistics; clusters are the fastest axis, so a loop over clusters runs through
contiguous memory. Column 0 is *everything*: the cluster that holds all samples. The totals
N, mu, CP_0 and T are therefore kept by the same code as n_i, v_i, CP_i and S_i.

Everything that is summed over samples (weights, sums, scatter) is kept as an unevaluated sum of
two doubles, high and low. What enters and leaves again then leaves nothing behind: no offset,
drift or outlier can wear the digits away. The sums lie beside ``A`` in ``Q``, one block per
cluster with features as the fastest axis, because only changes of one cluster read them; ``A``
shows readings the high parts. Centroids are shown in both parts, so that a difference of two is
right to rounding wherever the data lie.

Where old samples fade, ``Q`` and the rows HELD hold weights as of some moment in the past. ``A``
shows weights and CP times a factor, the scatter as it is kept: a covariance does not fade. For that
the rows SQUARES hold the sum of c g^2 over samples that came c times and count g each; they are 0
where nothing fades.

A second arena ``C`` caches what readings need (row extremes, distances of one cluster); all
of it can be rebuilt from ``A``. A third, ``G``, holds what Gaussian indices cache for one
value of delta. ``meta`` holds the few integers that describe the three.
"""

from __future__ import annotations

from typing import Any

# meta: integers
K = 0  #: number of clusters
D = 1  #: number of features
COLUMNS = 2  #: columns of every arena, at least K + 1
WANT = 3  #: which cached quantities readings need, a sum of the WANT_ bits below
STALE = 4  #: how many clusters changed since the caches were refreshed
SCATTER = 5  #: 1 when the arena carries scatter matrices
ROWS = 6  #: rows of A
G_ROWS = 7  #: rows of G
STEPS = 8  #: how many steps the plan has
PARAMETERS = 9  #: parameters of each step; the first is the number of its arena in G
REFRESHES = 10  #: steps of the plan that read no index, the first ones
# Addresses of arrays: Python calls with one array instead of eight, which takes most of the
# time of a call. Code that replaces an array writes the new address here.
AT_A = 11
AT_Q = 12
AT_C = 13
AT_G = 14
AT_PLAN = 15
AT_PARAMETERS = 16
AT_OUT = 17
Q_ROWS = 18  #: rows of every block of Q
Q_WIDTH = 19  #: length of these rows, see `sum_width`
REFILL = 20  #: 1 when samples are at hand to sum a column again
LAST = 21  #: the cluster that changed last; distances to it are at hand
# The log of one call that changes single samples: columns as they were before, to undo it.
LOGGED = 22  #: how many columns are in the log, or one of the two below
NOT_LOGGED = -1  # there is no log
GROWN = -2  # arrays have grown since it began: what is done to the new ones need not be logged
AT_LOG = 23
LOG_ROOM = 24  #: how many columns fit
UNDO_K = 25  #: K, LAST and STALE as they were before the first column was logged
UNDO_LAST = 26
UNDO_STALE = 27
AT_SWEEP = 28  #: the step that scans all rows of pair tables; 0 where clusters are few
META = 29

#: Columns that are worked on at once; arenas have a multiple of this many.
LANES = 16

#: Clusters at most where columns fill one set of lanes, together with everything; all bits are 1.
MOST_FEW = LANES - 1

#: Clusters from which on that step is used, if many have changed.
MANY = 500

# A: the state
N = 0
CP = 1
HELD = 2  # the weight as it is kept, high and low
PEAK = 4  # the largest CP since the cluster was last summed from samples
COUNT = 5  # the number of samples, where each leaves as a whole
SQUARES = 6  # the sum of squared weights, high and low, where samples fade
V = 8  # d high rows, d low rows of the centroids; then, row by row, the lower triangles of S

# Q: pairs of rows, high and low.
Q_SUM = 0  # sums of samples
Q_MEAN = 2  # centroids
Q_COUNTED = 4  # the centroid as it was last counted in the sum of all centroids
Q_S = 6  # the rows of S, each as a pair; or one pair with its diagonal
# Behind the columns there is one more block, with the sum of all centroids in the first pair. The
# third and fourth are scratch for the sample or cluster that enters or leaves:
Q_GAP = 4  # x - v
Q_LIFT = 6  # what it adds to the scatter, before the product with x - v

# C: caches. Column 0 holds what is true of all clusters together.
VAR = 0  # CP / n
SEP = 1  # ||v_i - mu||^2; column 0: B
SINGLE = 2  # single numbers, one per column:
BETA_T = 0
CLOSENESS = 1  # the sum of exp(-nearest_i / beta_T)
POOLED = 2  # the least pooled variance of two clusters
NARROW = 3  # the narrowest cluster, one of the two; 0 where it is not known
PARTNER = 4  # the other one
BEHIND = 5  # 1 where the sum of all centroids has not followed those that moved
WITHIN = 6  # W
D_MIN = 7  # the smallest D_ij
D_MAX = 8  # the largest
MOST_UNEQUAL = 1e5  # N / n_J up to which distances to v_J give B; see kernels.caches.between
# Families of row extremes take three rows each: the best entry, a bound on the second best,
# the column of the best. Families with an even number hold minima, the others maxima.
NEAREST = 3
FARTHEST = 6
NEIGHBOUR = 9
OVERLAP = 12
FAMILIES = 4
QUEUE = 15  # clusters that changed, from column 0 on
QUEUED = 16  # 1 for a cluster in the queue; column 0: 1 where one may have lost its digits
DISTANCE = 17  # scratch: distances of the cluster that changed
RESCAN = 18  # scratch: distances of a cluster that is scanned again
OWN = 19  # scratch: numbers that clusters are sorted by
SEEN = 20  # scratch: their order
OWNER = 21  # where columns are prototypes: the number of the cluster that owns each, from 1
KEPT_CP = 22  # where samples fade: CP as it is kept
LANE = 23  # the number of every column; column 0: the number of clusters that both rows are for
OUTSIDE = 24  # infinite in columns that are no cluster, else minus infinity
SIZE = 25  # ||v_i||^2, where there are WIDE features or more
CACHE_ROWS = 26

#: Features from which on distances are first computed from the high parts of centroids alone.
WIDE = 8
#: Share of ||v_i||^2 + ||v_j||^2 from which on that is enough for D_ij.
APART = 1.0 / 64.0

WANT_BETWEEN = 1
WANT_SPREAD = 2
WANT_NEAREST = 4
WANT_FARTHEST = 8
WANT_NEIGHBOUR = 16
WANT_OVERLAP = 32
WANT_LOGDET = 64
WANT_H = 128
WANT_CIP = 256
WANT_LOG_CIP = 512
WANT_SCATTER = 1024
WANT_SEP = 2048
WANT_MIXTURES = 4096
WANT_CLOSENESS = 8192
WANT_POOLED = 16384

WANT_DISTANCES = WANT_NEAREST | WANT_FARTHEST | WANT_NEIGHBOUR | WANT_OVERLAP
WANT_PAIRS = WANT_H | WANT_CIP | WANT_LOG_CIP
WANT_GAUSSIAN = WANT_LOGDET | WANT_PAIRS | WANT_MIXTURES

# G: row 0 is a header, then rows over clusters, then scratch, then sums over pairs; where
# columns are prototypes, tables of all pairs of these and of their clusters, and scratch
G_DELTA = 0
G_LOGDET_T = 1
G_H_SUM = 2
G_CIP_SUM = 3
G_LOG_CIP = 4
G_CLUSTERS = 5  # where columns are prototypes: the number of clusters

G_LOGDET = 1
G_SCALE = 2
G_QUADRATIC = 3
G_H = 4
G_CIP = 5
G_CLUSTER = 6  # 1 for a cluster, 0 in column 0
G_WORK = 7

# How a change ended: done; not possible, for one of these reasons; or done, but rarely needed
# work is left to Python.
DONE = 0
UNKNOWN = 1  # no cluster has that label
TOO_MUCH = 2  # more weight than the cluster has
ANOTHER = 3  # the cluster is one point, and not this one
TOO_FAR = 4  # the other samples cannot be as near to each other as the state says
VANISHED = 5  # the cluster is empty
WORN = 6  # so much has left that the cluster, or everything, should be summed again
FADED = 7  # before the next change clusters may have faded away


def state_rows(d: int, scatter: bool) -> int:
    """Rows of ``A``."""
    return V + 2 * d + (triangle(d) if scatter else 0)


def sum_rows(d: int, scatter: bool) -> int:
    """Rows of every block of ``Q``."""
    return Q_S + 2 * (d if scatter else 1)


def sum_width(d: int) -> int:
    """Length of the rows of ``Q``: d, rounded up to whole vector registers; the rest is 0."""
    return -(-d // (LANES // 2)) * (LANES // 2)


def triangle(d: int) -> int:
    """Entries in the lower triangle of a d x d matrix, diagonal included."""
    return d * (d + 1) // 2


def log_width(meta: Any) -> int:
    """Length of an entry of the log: the number of a column, its rows of A and its block of Q."""
    return int(1 + meta[ROWS] + meta[Q_ROWS] * meta[Q_WIDTH])


def columns_for(k: int) -> int:
    """Columns that hold k clusters and everything: 16 times an odd number.

    A power of two would map every row of a cluster onto the same few cache lines.
    """
    columns = 16
    while columns < k + 1:
        columns = 2 * columns + 16
    return columns


def gaussian_rows(d: int, columns: int, want: int) -> int:
    """Rows of ``G``: header, rows over clusters, scratch, then sums over pairs, or their tables."""
    if not want & WANT_GAUSSIAN:
        return G_WORK
    if want & WANT_MIXTURES:
        return first_table(d, columns) + 2 * columns + 4
    sums = bin(want & WANT_PAIRS).count("1")
    rows = work_rows(d) + sums * tile_rows(columns)
    return G_WORK + (rows * LANES + columns - 1) // columns


def work_rows(d: int) -> int:
    """Scratch for LANES factors of covariances, in rows of LANES numbers; see `caches.gaussian`."""
    return (d + 1) * (d + 12) // 2


def first_table(d: int, columns: int) -> int:
    """The row of ``G`` behind the scratch, where columns are prototypes."""
    return G_WORK + ((d + 1) * (d + 12) // 2 * LANES + columns - 1) // columns


def first_tile(d: int, columns: int) -> int:
    """Where sums over pairs begin, in rows of LANES numbers; see `caches.pair_sums`."""
    return G_WORK * columns // LANES + (d + 1) * (d + 12) // 2


def tile_rows(columns: int) -> int:
    """How many such rows a sum over pairs takes."""
    side = columns // LANES
    tiles = side * (side + 1) // 2
    while side > 1:
        side = (side + LANES - 1) // LANES
        tiles += side * (side + 1) // 2
    return LANES * tiles
