"""Text of the index pages that is not in the docstrings of the indices, in reStructuredText."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """What an index rewards, how our form differs from others, and more example code."""

    function: str
    plainly: str
    differs: str
    more: str = ""


_SQUARED_I = """\
The original uses plain norms, and no fixed number of moments gives their sums. So the paper's
incremental form squares every norm, and so do we. Other software mostly computes the original under
the name PBM: `icvi.batch.i_index_score` and `icvi.batch.pbm_score` have it, for data at hand."""

_RIDGE = """\
The paper adds :math:`\\delta I` inside its recursion, and must subtract it again at every step; we
add it when the index is read, which gives the same number. Both parameters of :math:`\\delta`,
``epsilon`` and ``delta``, can be set."""

NOTES = {
    "CH": Note(
        "calinski_harabasz_score",
        """\
The F ratio of an analysis of variance, with clusters for groups: how much the centroids scatter
around the mean of all samples, against how much samples scatter around their centroids, each per
degree of freedom. Small clusters far from each other make it large. The factor N - k makes it grow
along a stream, even if nothing else changes; so compare the CH of two partitions of the same
samples, not of one partition at two times.""",
        """\
Not at all: the paper's recursion gives the same number. So does scikit-learn's
``calinski_harabasz_score``, except where all samples lie on their centroids: it returns 1 there,
here the reading is undefined.""",
    ),
    "I": Note(
        "i_index_score",
        """\
Three factors: few clusters (1/k), clusters that explain most of the scatter of the data
(:math:`CP_0 / W`), and one pair of centroids that is far apart (:math:`D_{max}`). The power p
spreads the values; it does not change which of two partitions is better. One far outlier with a
cluster of its own is enough for a large :math:`D_{max}`.""",
        _SQUARED_I,
        'print("p = 1     ", f"{icvi.score(X, truth, icvi.I(p=1)):.6g}")',
    ),
    "PBM": Note(
        "pbm_score",
        """\
The I index with p = 2, under the name that most papers use. Few clusters, clusters that explain
most of the scatter of the data, and a pair of centroids that is far apart make it large. One far
outlier with a cluster of its own is enough for the last of these.""",
        _SQUARED_I,
    ),
    "SIL": Note(
        "centroid_silhouette_score",
        """\
For every cluster, how much nearer its own samples are to its centroid than the samples of the next
cluster, as a share: 1 when the others are far away, 0 when there is no difference, below 0 when
another cluster's samples are nearer. The mean over clusters counts a cluster of two samples as much
as one of a million. It always lies between -1 and 1, but no value means by itself that clusters are
good: uniform noise, cut into four by k-means, reads 0.86. `icvi.verdict` compares it with what data
without clusters would read.""",
        """\
The silhouette as most people know it compares every sample with every other; this one compares
centroids, with squared distances, and averages over clusters instead of samples. They are different
numbers. `icvi.batch.silhouette_score` is the other, for data at hand. The recursion in the
paper keeps raw sums of squares and loses digits on data far from the origin; the form here
gives the same number without that loss.""",
    ),
    "NI": Note(
        "negentropy_increment_score",
        """\
Whether one Gaussian per cluster describes the data in less volume than one Gaussian for everything,
after a penalty for the number and the sizes of the clusters. Below 0, the clusters are worth the
penalty; a single cluster gives 0. It takes the shape of clusters into account: long, thin ones cost
nothing extra, while indices of centroids and radii treat them as wide.""",
        _RIDGE
        + """ With ``delta=0`` no linear change of the
data's units changes NI, but a cluster of d samples or fewer is then undefined.""",
        'print("delta=0.01", f"{icvi.score(X, truth, icvi.NI(delta=0.01)):.6g}")',
    ),
    "rCIP": Note(
        "rcip_score",
        """\
The overlap of every two clusters, each modelled as a Gaussian, added up. Clusters that are well
apart add almost nothing, so two clusters that overlap decide the sum: it shows that *some* pair is
too close, and `icvi.Tracker.diagnose_pairs` shows which. It is a density, so it depends on the unit
of the data, it may exceed 1, and it is rounded to 0 when all clusters are far apart:
``log_rcip=True`` reads its logarithm instead, which is not.""",
        _RIDGE
        + """ The paper's clusters may
have several prototypes each; ``prototypes=True`` compares these.""",
        'print("logarithm ", f"{icvi.score(X, truth, icvi.rCIP(log_rcip=True)):.6g}")',
    ),
    "rH": Note(
        "rh_score",
        """\
The same overlap of Gaussians as in rCIP, as minus its logarithm and summed over pairs. Far apart
clusters keep adding to it, and so does every further pair: splitting a cluster in two mostly makes
it larger. Between partitions with different numbers of clusters it mostly counts pairs;
``mean=True`` divides by their number.""",
        _RIDGE
        + """ The sum is taken of the
logarithms, pair by pair, as the paper does, never as a logarithm of rCIP.""",
        'print("mean      ", f"{icvi.score(X, truth, icvi.rH(mean=True)):.6g}")',
    ),
    "XB": Note(
        "xie_beni_score",
        """\
The average width of clusters, against the distance of the two closest centroids. One pair decides
it: where two centroids are near each other the index is large, however good the rest is, so it
finds a cluster that was split in two. Merging the wrong clusters can make it better, because it
removes a close pair.""",
        """\
Not at all, for hard partitions. Some software uses the smallest distance between *samples* of
different clusters instead of centroids: another index under the same name.""",
    ),
    "DB": Note(
        "davies_bouldin_squared_score",
        """\
For every cluster, the worst other cluster: the one for which both widths together are largest
against the distance of the two centroids. The index is the mean of these ratios. Unlike XB it
depends on every cluster, so one bad pair among many is diluted.""",
        """\
Davies and Bouldin, and scikit-learn, use mean distances, not mean squared ones; the paper's
incremental form squares widths and distances, and so do we. It is not the square of the original.
`icvi.batch.davies_bouldin_score` is the original with any exponents, for data at hand.""",
    ),
    "PS": Note(
        "partition_separation_score",
        """\
Every cluster contributes its size relative to the largest one, less a penalty between 0 and 1 for a
centroid that is close to another. So k equal, distant clusters give nearly k. It grows with the
number of clusters as long as these are large and apart, and mostly falls when one is split in two.
Clusters of very different sizes give low readings even where they are right.""",
        """\
Not at all. The mean of the centroids is the unweighted one, as in the paper. Some software uses one
smallest distance for all clusters, where every cluster should have its own.""",
    ),
    "WB": Note(
        "wb_score",
        """\
Scatter within clusters over scatter between them, times the number of clusters, which keeps many
small clusters from winning. CH uses the same two sums, but WB does not grow along a stream.""",
        "The index is not in the paper. It is computed as published.",
    ),
    "GD43": Note(
        "gd43_score",
        """\
The distance of the two closest centroids, against the width of the widest cluster. Two clusters
decide everything; the others do not enter. Because the distance is not squared and the width is,
the index depends on the unit of the data: ten times the numbers give a tenth of the index.""",
        """\
The index is not in the paper. It is what the authors' toolbox computes, with its mixed units, for
comparison.""",
    ),
    "GD53": Note(
        "gd53_score",
        """\
How wide the two narrowest clusters are together, against the widest one. It compares widths only:
how far the clusters are apart does not enter, so clusters a thousand times farther from
each other read the same. Kept for comparison; a poor index to decide by.""",
        """\
The index is not in the paper. It is what the authors' toolbox computes: distances to the own
centroid, where other texts have the other cluster's.""",
    ),
    "Conn": Note(
        "conn_index_score",
        """\
A clusterer with several prototypes per cluster finds for every sample the nearest prototype and the
second nearest. If both belong to one cluster, that cluster is well connected; if not, the
two clusters touch there. So clusters may have any shape, and a split true cluster can be
noticed: prototypes on both sides of the split stay connected. A new cluster starts with few
connections, so the curve mostly dips when one emerges and recovers when it has samples.""",
        """\
The default is the definition of the paper. The authors' toolbox computes another number, which
``icvi.Conn(convention="toolbox")`` reproduces; ``border="CADJ"`` is the border rule of 2011.
On a stream the index is a definition of its own: it counts the winners that each sample had when it
came, so it depends on the order of the samples. The batch form finds all winners again with the
final prototypes (`icvi.batch.conn_index_score`); ``icvi study`` shows how far they are apart.""",
        't = icvi.Tracker([icvi.Conn(convention="toolbox")], bounds=(-4, 10))\n'
        "trace = t.update_many(X, truth)\n"
        'print("toolbox   ", f"{next(iter(t.values.values())):.6g}")',
    ),
}
