"""icvi tells whether a clustering is any good while the data are still streaming in.

Incremental cluster validity indices, exact after every sample, from one small state.

>>> import icvi
>>> t = icvi.Tracker("paper")
>>> trace = t.update_many([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.0, 5.1]], [0, 0, 1, 1])
>>> round(t["SIL"], 6)
0.99995
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module. Loaded on first use, so that importing icvi is fast.
_HOME = {
    "batch": "icvi.batch",
    "CacheWarning": "icvi.errors",
    "catalogue": "icvi.indices",
    "CH": "icvi.indices",
    "compare": "icvi.comparing.compare",
    "Comparison": "icvi.comparing.comparison",
    "Conn": "icvi.indices",
    "Connectivity": "icvi.connectivity.connectivity",
    "DB": "icvi.indices",
    "from_bytes": "icvi.saving.kinds",
    "FuzzyART": "icvi.art.fuzzy_art",
    "FuzzyARTMAP": "icvi.art.fuzzy_artmap",
    "FuzzySMART": "icvi.art.fuzzy_smart",
    "GD43": "icvi.indices",
    "GD53": "icvi.indices",
    "I": "icvi.indices",
    "Index": "icvi.indices",
    "index": "icvi.indices",
    "IndexCompilationError": "icvi.errors",
    "load": "icvi.saving.kinds",
    "metrics": "icvi.metrics",
    "MicroWard": "icvi.clustering.micro_ward",
    "NI": "icvi.indices",
    "Panes": "icvi.tracking.panes",
    "Path": "icvi.tracking.coarsening.path",
    "Partition": "icvi.state.partition",
    "PBM": "icvi.indices",
    "plots": "icvi.plots",
    "PS": "icvi.indices",
    "Quantizer": "icvi.art.quantizer",
    "rCIP": "icvi.indices",
    "reasons": "icvi.indices.undefined",
    "rH": "icvi.indices",
    "score": "icvi.batch.scoring",
    "scores": "icvi.batch.scoring",
    "scores_by": "icvi.batch.groups.scoring",
    "SIL": "icvi.indices",
    "spark": "icvi.spark",
    "State": "icvi.kernels.state",
    "Trace": "icvi.tracking.trace",
    "Tracker": "icvi.tracking.tracker",
    "TrackerBank": "icvi.tracking.bank",
    "UndefinedIndexError": "icvi.errors",
    "verdict": "icvi.insight.judge",
    "watch": "icvi.watching.watch",
    "WB": "icvi.indices",
    "XB": "icvi.indices",
}

__all__ = [*_HOME, "__version__"]

if TYPE_CHECKING:
    import icvi.batch as batch  # noqa: F401  public submodules
    import icvi.metrics as metrics  # noqa: F401
    import icvi.plots as plots  # noqa: F401
    import icvi.spark as spark  # noqa: F401
    from icvi.art.fuzzy_art import FuzzyART as FuzzyART
    from icvi.art.fuzzy_artmap import FuzzyARTMAP as FuzzyARTMAP
    from icvi.art.fuzzy_smart import FuzzySMART as FuzzySMART
    from icvi.art.quantizer import Quantizer as Quantizer
    from icvi.batch.groups.scoring import scores_by as scores_by
    from icvi.batch.scoring import score as score
    from icvi.batch.scoring import scores as scores
    from icvi.clustering.micro_ward import MicroWard as MicroWard
    from icvi.comparing.compare import compare as compare
    from icvi.comparing.comparison import Comparison as Comparison
    from icvi.connectivity.connectivity import Connectivity as Connectivity
    from icvi.errors import CacheWarning as CacheWarning
    from icvi.errors import IndexCompilationError as IndexCompilationError
    from icvi.errors import UndefinedIndexError as UndefinedIndexError
    from icvi.indices import CH as CH
    from icvi.indices import DB as DB
    from icvi.indices import GD43 as GD43
    from icvi.indices import GD53 as GD53
    from icvi.indices import NI as NI
    from icvi.indices import PBM as PBM
    from icvi.indices import PS as PS
    from icvi.indices import SIL as SIL
    from icvi.indices import WB as WB
    from icvi.indices import XB as XB
    from icvi.indices import Conn as Conn
    from icvi.indices import I as I
    from icvi.indices import Index as Index
    from icvi.indices import catalogue as catalogue
    from icvi.indices import rCIP as rCIP
    from icvi.indices import rH as rH
    from icvi.indices.index import index as index
    from icvi.indices.undefined import reasons as reasons
    from icvi.insight.judge import verdict as verdict
    from icvi.kernels.state import State as State
    from icvi.saving.kinds import from_bytes as from_bytes
    from icvi.saving.kinds import load as load
    from icvi.state.partition import Partition as Partition
    from icvi.tracking.bank import TrackerBank as TrackerBank
    from icvi.tracking.coarsening.path import Path as Path
    from icvi.tracking.panes import Panes as Panes
    from icvi.tracking.trace import Trace as Trace
    from icvi.tracking.tracker import Tracker as Tracker
    from icvi.watching.watch import watch as watch


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'icvi' has no attribute {name!r}")
    module = importlib.import_module(_HOME[name])
    value = module if _HOME[name] == f"icvi.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
