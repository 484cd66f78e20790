"""Records of the prototype graph by reference, for kernels that know it by its meta array."""

from __future__ import annotations

from icvi.kernels.compiler.addresses import records
from icvi.kernels.graph import layout as L

prototype = records(L.AT + L.PROTOTYPES, L.PROTOTYPE)
cluster = records(L.AT + L.CLUSTERS, L.CLUSTER)
edge = records(L.AT + L.EDGES, L.EDGE)
contact = records(L.AT + L.CONTACTS, L.CONTACT)
pair = records(L.AT + L.PAIRS, L.PAIR)
