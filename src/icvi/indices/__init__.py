"""Every index of icvi, one file per index or tight family.

>>> import icvi
>>> for index in icvi.catalogue()[:3]:
...     print(index.name, index.direction, index.title)
CH max Calinski-Harabasz
I max I index, squared norms
PBM max Pakhira-Bandyopadhyay-Maulik, squared norms
"""

from __future__ import annotations

from icvi.indices.calinski_harabasz import CH
from icvi.indices.catalogue import catalogue, select
from icvi.indices.conn_index import Conn
from icvi.indices.davies_bouldin import DB
from icvi.indices.generalised_dunn import GD43, GD53
from icvi.indices.i_index import PBM, I
from icvi.indices.index import Index, index
from icvi.indices.negentropy_increment import NI
from icvi.indices.partition_separation import PS
from icvi.indices.renyi import rCIP, rH
from icvi.indices.silhouette import SIL
from icvi.indices.wb import WB
from icvi.indices.xie_beni import XB

__all__ = [
    "CH",
    "DB",
    "GD43",
    "GD53",
    "NI",
    "PBM",
    "PS",
    "SIL",
    "WB",
    "XB",
    "Conn",
    "I",
    "Index",
    "catalogue",
    "index",
    "rCIP",
    "rH",
    "select",
]
