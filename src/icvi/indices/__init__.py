"""Every index of icvi, one file per index or tight family.

>>> import icvi
>>> for index in icvi.catalogue()[:3]:
...     print(index.name, index.direction, index.title)
CH max Calinski-Harabasz
I max I index, squared norms
PBM max Pakhira-Bandyopadhyay-Maulik, squared norms
"""

from __future__ import annotations

from icvi.indices.catalogue import catalogue, select
from icvi.indices.conn_index import Conn
from icvi.indices.i_index import I
from icvi.indices.index import Index, index
from icvi.indices.negentropy_increment import NI
from icvi.indices.renyi import rCIP, rH

__all__ = ["NI", "Conn", "I", "Index", "catalogue", "index", "rCIP", "rH", "select"]
