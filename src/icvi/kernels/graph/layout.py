"""The prototype graph as arrays of records, and what each field means.

Entry 0 of an array stands for "none", so that arrays of zeros are an empty graph. The three
sparse relations (edges, contacts, pairs) start with the fields that `relation` needs: row,
column, and the next entry of the same row.

Every sum is kept in two doubles, itself and its rest, so that taking back what was added leaves
nothing behind, in whatever order.
"""

from __future__ import annotations

import numpy as np

_RELATION = [("row", "i8"), ("column", "i8"), ("next", "i8")]

PROTOTYPE = np.dtype(
    [
        ("owner", "i8"),  # its cluster; 0 when it has neither weight nor an edge
        ("declared", "i8"),  # its cluster, whether it has or not; 0 when nobody has declared it
        ("neighbours", "i8"),  # its first edge
        ("contacts", "i8"),  # its first contact
        ("links", "i8"),  # number of j with CONN(i, j) > 0
        ("second", "i8"),  # 1 + the runner-up that its pending events got; 0 none, -1 several
        ("pending", "f8"),  # weight of the events it won without a runner-up
        ("pending_rest", "f8"),
        ("r", "f8"),  # sum of CONN(i, j) over all j; only the paper's convention needs it
        ("r_rest", "f8"),
    ]
)
# Fields that are read together stand together.
CLUSTER = np.dtype(
    [
        ("after", "i8"),  # live clusters are a ring in order of appearance, by way of entry 0
        ("intra", "f8"),  # Intra(l)
        ("worst", "f8"),  # max of Inter(l, m) over m
        ("before", "i8"),
        ("state", "i8"),  # GONE, LIVE, ASLEEP or DECLARED
        ("sent", "i8"),  # number of CADJ(i, j) > 0, i in the cluster, and of pending weights
        ("prototypes", "i8"),  # how many it owns that have weight or an edge
        ("declared", "i8"),  # how many have been declared to be its own
        ("pairs", "i8"),  # its first pair
        ("n", "f8"),  # weight of its events
        ("n_rest", "f8"),
        ("inside", "f8"),  # sum of CADJ(i, j), i and j in the cluster
        ("inside_rest", "f8"),
        ("pending", "f8"),  # as much of n has no runner-up
        ("pending_rest", "f8"),
    ]
)
#: Prototype i to prototype j, both ways always: its twin is the edge from j to i.
EDGE = np.dtype([*_RELATION, ("twin", "i8"), ("cadj", "f8"), ("rest", "f8")])
#: Prototype i to cluster m, another than its own.
CONTACT = np.dtype(
    [
        *_RELATION,
        ("pair", "i8"),  # of its cluster with m
        ("linked", "i8"),  # number of j in m with CONN(i, j) > 0
        ("sent", "i8"),  # number of j in m with CADJ(i, j) > 0
        ("c", "f8"),  # sum of CONN(i, j) over j in m
        ("c_rest", "f8"),
    ]
)
#: Cluster l to cluster m: numerator and denominator of Inter(l, m).
PAIR = np.dtype(
    [
        *_RELATION,
        ("border", "i8"),  # number of prototypes in V_lm
        ("X", "f8"),
        ("Y", "f8"),
        ("X_rest", "f8"),
        ("Y_rest", "f8"),
    ]
)

#: The arrays of a graph, in the order of their addresses and lengths in meta.
ARRAYS = {
    "prototypes": PROTOTYPE,
    "clusters": CLUSTER,
    "edges": EDGE,
    "contacts": CONTACT,
    "pairs": PAIR,
    "edge_slots": np.dtype("i8"),
    "contact_slots": np.dtype("i8"),
    "pair_slots": np.dtype("i8"),
}
# Not literals: kernels that take one would be compiled for each.
PROTOTYPES, CLUSTERS, EDGES, CONTACTS, PAIRS = map(np.int64, range(5))
#: Entries of a relation that an event makes at most: two for its edge, and two for that of the
#: events without a runner-up that get one.
MOST = 4
#: Counts below this, after many a decay, are nothing: their sums would soon have no digits.
NOTHING = 1e-150
#: From a relation to its slots.
SLOTS = 3

# meta: the convention, the number of prototypes, of clusters with and without weight, and of
# columns in use, whether counts were multiplied, the lowest prototype that has a record, the
# number of prototypes that are declared but have neither weight nor an edge, the number of
# clusters that have none but these, whether winners are declared; for every array its address,
# its end, the integers per record, and (if it is a relation) how many entries are in use.
TOOLBOX, CADJ_BORDER, P, K, SLEEPERS, COLUMNS, DECAYED, BASE = range(8)
SPARE, SPARE_CLUSTERS, DECLARES, AT = range(8, 12)
SIZE = AT + len(ARRAYS)
WIDTH = SIZE + len(ARRAYS)
USED = WIDTH + len(ARRAYS)
META = USED + len(ARRAYS)

#: A cluster without prototypes; one with weight; one whose prototypes have edges but no weight;
#: one whose prototypes are declared only.
GONE, LIVE, ASLEEP, DECLARED = range(4)

#: Why an event cannot be counted; 0 says that it can.
FINE, OTHER_OWNER, RUNNER_UP_MISSING, RUNNER_UP_UNKNOWN, NO_ROOM = range(5)
#: Why an event cannot be taken back.
NOT_KNOWN, NEVER_ALONE, SEVERAL_SECONDS, TOO_MUCH = range(5, 9)
