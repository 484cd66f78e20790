"""The prototype graph as arrays of records, and what each field means.

Entry 0 of an array stands for "none", so that arrays of zeros are an empty graph. The three
sparse relations (edges, contacts, pairs) start with the fields that `relation` needs: row,
column, and the next entry of the same row.
"""

from __future__ import annotations

import numpy as np

_RELATION = [("row", "i8"), ("column", "i8"), ("next", "i8")]

PROTOTYPE = np.dtype(
    [
        ("owner", "i8"),  # its cluster; 0 as long as it has not won
        ("neighbours", "i8"),  # its first edge
        ("contacts", "i8"),  # its first contact
        ("m", "f8"),  # weight of the events it won
        ("r", "f8"),  # sum of CONN(i, j) over all j
    ]
)
CLUSTER = np.dtype(
    [
        ("prototypes", "i8"),  # how many it owns
        ("pairs", "i8"),  # its first pair
        ("n", "f8"),  # weight of its events
        ("inside", "f8"),  # sum of CADJ(i, j), i and j in the cluster
        ("out", "f8"),  # sum of CADJ(i, j), i in the cluster, all j
        ("intra", "f8"),  # Intra(l)
        ("worst", "f8"),  # max of Inter(l, m) over m
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
    ]
)
#: Cluster l to cluster m: numerator and denominator of Inter(l, m).
PAIR = np.dtype(
    [
        *_RELATION,
        ("border", "i8"),  # number of prototypes in V_lm
        ("X", "f8"),
        ("Y", "f8"),
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
#: From a relation to its slots.
SLOTS = 3

# meta: the convention, the number of prototypes and clusters, and for every array its address,
# its length, the integers per record, and (if it is a relation) how many entries are in use.
TOOLBOX, CADJ_BORDER, P, K, AT = range(5)
SIZE = AT + len(ARRAYS)
WIDTH = SIZE + len(ARRAYS)
USED = WIDTH + len(ARRAYS)
META = USED + len(ARRAYS)

#: Why an event cannot be counted; 0 says that it can.
FINE, OTHER_OWNER, RUNNER_UP_MISSING, RUNNER_UP_UNKNOWN, NO_ROOM = range(5)
