"""The prototype graph as arrays of records, and what each field means.

Entry 0 of an array stands for "none", so that arrays of zeros are an empty graph. The three
sparse tables (edges, contacts, pairs) start with the fields that `hash_table` needs: row, column,
and the next entry of the same row.

Every sum is kept in two doubles, itself and its rest. An event that is taken back therefore leaves
nothing behind, whatever the order of events.
"""

from __future__ import annotations

import numpy as np

_ENTRY = [("row", "i8"), ("column", "i8"), ("next", "i8")]

PROTOTYPE = np.dtype(
    [
        ("owner", "i8"),  # its cluster; 0 when it has neither weight nor an edge
        ("declared", "i8"),  # its cluster, with or without weight; 0 when it is not declared
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
        ("prototypes", "i8"),  # number of its prototypes that have weight or an edge
        ("declared", "i8"),  # number of its prototypes that are declared
        ("pairs", "i8"),  # its first pair
        ("n", "f8"),  # weight of its events
        ("n_rest", "f8"),
        ("inside", "f8"),  # sum of CADJ(i, j), i and j in the cluster
        ("inside_rest", "f8"),
        ("pending", "f8"),  # the share of n that has no runner-up
        ("pending_rest", "f8"),
    ]
)
#: Prototype i to prototype j, always in both directions: its twin is the edge from j to i.
EDGE = np.dtype([*_ENTRY, ("twin", "i8"), ("cadj", "f8"), ("rest", "f8")])
#: Prototype i to cluster m, another than its own.
CONTACT = np.dtype(
    [
        *_ENTRY,
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
        *_ENTRY,
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
TABLES = (EDGES, CONTACTS, PAIRS)
#: Entries of a table that one event adds at most: two for its edge, and two for the edge of the
#: pending events that get a runner-up.
MOST = 4
#: Counts below this, after decay, are nothing: their sums would soon have no digits.
NOTHING = 1e-150
#: From a table to its slots.
SLOTS = 3

# meta: the form of the index (two flags); the number of prototypes, of clusters with weight, of
# clusters asleep, and of columns in use; whether counts were multiplied; the lowest prototype that
# has a record; the number of prototypes that are declared only, and of clusters that have none but
# these; whether winners are declared. Then for every array its address, its end, the integers per
# record, and (of a table) the number of entries in use.
TOOLBOX, CADJ_BORDER, P, K, SLEEPERS, COLUMNS, DECAYED, BASE = range(8)
SPARE, SPARE_CLUSTERS, DECLARES, AT = range(8, 12)
SIZE = AT + len(ARRAYS)
WIDTH = SIZE + len(ARRAYS)
USED = WIDTH + len(ARRAYS)
META = USED + len(ARRAYS)

#: A cluster without prototypes; one with weight; one whose prototypes have edges but no weight;
#: one whose prototypes are declared only.
GONE, LIVE, ASLEEP, DECLARED = range(4)

#: What to do with an event: apply it or refuse it; only look whether it would be refused; apply
#: it as far as possible, where the caller knows that it was counted and rounding has left less.
STRICT, CHECK, LENIENT = range(3)

#: Why an event cannot be counted; 0 means that it can.
FINE, OTHER_OWNER, RUNNER_UP_MISSING, RUNNER_UP_UNKNOWN, NO_ROOM = range(5)
#: Why an event cannot be taken back.
NOT_KNOWN, NEVER_ALONE, SEVERAL_SECONDS, TOO_MUCH = range(5, 9)
