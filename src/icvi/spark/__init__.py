"""Validity indices of Spark DataFrames and streams, computed where the data are.

Spark distributes the work: every partition is reduced to one small state, and states combine
exactly. The functions are imported on first use, because pyspark is optional.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from icvi.optional import check

# Public name -> module.
_HOME = {
    "ClusterValidityEvaluator": "icvi.spark.evaluator",
    "restored": "icvi.spark.streaming.watch",
    "scores": "icvi.spark.scoring",
    "scores_by": "icvi.spark.by_key",
    "tracker": "icvi.spark.scoring",
    "verdict": "icvi.spark.judging",
    "watch": "icvi.spark.streaming.watch",
}

__all__ = list(_HOME)

if TYPE_CHECKING:
    from icvi.spark.by_key import scores_by as scores_by
    from icvi.spark.evaluator import ClusterValidityEvaluator as ClusterValidityEvaluator
    from icvi.spark.judging import verdict as verdict
    from icvi.spark.scoring import scores as scores
    from icvi.spark.scoring import tracker as tracker
    from icvi.spark.streaming.watch import restored as restored
    from icvi.spark.streaming.watch import watch as watch


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'icvi.spark' has no attribute {name!r}")
    for package in ("pyspark", "pyarrow"):
        check(package, "spark", by=f"icvi.spark.{name}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
