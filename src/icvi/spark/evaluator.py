"""An evaluator of ``pyspark.ml``: validity indices choose among clusterings."""

from __future__ import annotations

import math
from typing import Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasPredictionCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from icvi.indices.catalogue import select_one
from icvi.inputs import check_choice
from icvi.spark.scoring import scores


class ClusterValidityEvaluator(
    Evaluator,
    HasFeaturesCol,
    HasPredictionCol,
    HasWeightCol,
    DefaultParamsReadable,  # type: ignore[type-arg]
    DefaultParamsWritable,
):
    """Scores the predictions of a clusterer by a validity index, for model selection.

    It takes the place of ``ClusteringEvaluator``, also in ``CrossValidator`` and
    ``TrainValidationSplit``.

    Parameters
    ----------
    indexName : str, default "SIL"
        Name of an index on clusters; see `icvi.catalogue`.
    featuresCol : str, default "features"
        Column with the samples: a vector, an array, or a number.
    predictionCol : str, default "prediction"
        Column with the labels.
    weightCol : str, optional
        Column with weights.
    noiseLabel : int or str, optional
        Label that marks noise.
    handleInvalid : {"error", "skip"}, default "error"
        What to do about rows that cannot be scored; see `icvi.spark.scores`.

    Notes
    -----
    Where the index is undefined, for instance with one cluster, `evaluate` returns the worst
    infinity, so that model selection never chooses such a clustering: it would take a nan for the
    largest number.

    Examples
    --------
    >>> evaluator = ClusterValidityEvaluator(indexName="DB")  # doctest: +SKIP
    >>> evaluator.evaluate(model.transform(df)), evaluator.isLargerBetter()  # doctest: +SKIP
    (0.31, False)
    """

    indexName: Param[str] = Param(
        Params._dummy(), "indexName", "name of the index", typeConverter=TypeConverters.toString
    )
    noiseLabel: Param[Any] = Param(Params._dummy(), "noiseLabel", "label that marks noise")
    handleInvalid: Param[str] = Param(
        Params._dummy(),
        "handleInvalid",
        "what to do about rows that cannot be scored: error or skip",
        typeConverter=TypeConverters.toString,
    )

    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(
        self,
        *,
        indexName: str = "SIL",
        featuresCol: str = "features",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        noiseLabel: int | str | None = None,
        handleInvalid: str = "error",
    ) -> None:
        super().__init__()
        self._setDefault(indexName="SIL", handleInvalid="error")
        self.setParams(**self._input_kwargs)

    @keyword_only
    def setParams(
        self,
        *,
        indexName: str = "SIL",
        featuresCol: str = "features",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        noiseLabel: int | str | None = None,
        handleInvalid: str = "error",
    ) -> ClusterValidityEvaluator:
        """Set parameters; see the class."""
        given = self._input_kwargs
        if "indexName" in given:
            given["indexName"] = _on_clusters(given["indexName"])
        if "handleInvalid" in given:
            check_choice(given["handleInvalid"], "handleInvalid", ("error", "skip"))
        self._set(**given)
        return self

    def setIndexName(self, value: str) -> ClusterValidityEvaluator:
        """Set the index."""
        return self.setParams(indexName=value)

    def getIndexName(self) -> str:
        """Name of the index."""
        return self.getOrDefault(self.indexName)

    def isLargerBetter(self) -> bool:
        """Whether larger values of the index are better."""
        return select_one(self.getIndexName(), several="icvi.spark.scores").direction == "max"

    def _evaluate(self, dataset: DataFrame) -> float:
        name = self.getIndexName()
        value = scores(
            dataset,
            features=self.getFeaturesCol(),
            label=self.getPredictionCol(),
            weight=self.getWeightCol() if self._has("weightCol") else None,
            noise_label=self.getOrDefault("noiseLabel") if self._has("noiseLabel") else None,
            indices=[name],
            handle_invalid=self.getOrDefault("handleInvalid"),
        )[name]
        worst = -math.inf if self.isLargerBetter() else math.inf
        return worst if math.isnan(value) else value

    def _has(self, name: str) -> bool:
        return self.isDefined(name) and self.getOrDefault(name) is not None


def _on_clusters(name: Any) -> str:
    """A name of the catalogue; refuses an index on prototypes."""
    index = select_one(name, several="icvi.spark.scores")
    if index.on != "clusters":
        raise ValueError(f"expected an index on clusters, got {index.name}")
    return index.name
