"""The labeller for a clusterer of any kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from icvi.watching.labellers.labeller import Labeller, comes_from
from icvi.watching.labellers.names import named_clusterer
from icvi.watching.labellers.specs import parse_one
from icvi.wording import short

_EXPECTED = (
    "expected a clusterer: FuzzyART or FuzzySMART, one of scikit-learn with partial_fit or already "
    "fitted, one of river, a function from samples to labels, or the name of one of these"
)


def clusterer_from(given: str | os.PathLike[str]) -> Any:
    """The clusterer that a text with a name and parameters stands for, or the file of a model.

    >>> clusterer_from("minibatch-kmeans n_clusters=5")
    MiniBatchKMeans(n_clusters=5, random_state=0)
    """
    if isinstance(given, str):
        return parse_one(given).make()
    return named_clusterer(os.fspath(given), {})


def labeller_for(
    clusterer: Any,
    *,
    batch: int,
    learn: bool = True,
    columns: Sequence[str] = (),
    label: Any = None,
) -> Labeller:
    """Make a labeller for a clusterer.

    Parameters
    ----------
    clusterer : object, str or None
        None for the labels of the source; `MicroWard`, `FuzzyART` or `FuzzySMART`; a clusterer of
        scikit-learn or of river, a pipeline of river that ends with one, or anything with the
        methods of these; a function from an (n, d) array to n labels; or a text for
        `clusterer_from`.
    batch : int
        Samples that a scikit-learn clusterer learns at once, samples that give the bounds of an
        ART estimator that has none, and samples that MicroWard learns before it labels them.
    learn : bool, default True
        False to predict only; the clusterer must be fitted.
    columns : sequence of str
        Names of the features.
    label : name or position, optional
        The column of the labels, for messages.

    Returns
    -------
    Labeller

    Examples
    --------
    >>> from river import cluster
    >>> labeller_for(cluster.KMeans(), batch=100).name
    'KMeans'
    """
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise ValueError(f"expected batch to be a whole number from 1 on, got {short(batch)}")
    if isinstance(clusterer, (str, os.PathLike)):
        clusterer = clusterer_from(clusterer)
    if isinstance(clusterer, type):
        name = clusterer.__name__
        raise TypeError(f"expected a clusterer, got the class {name}; create one: {name}(...)")
    if clusterer is None:
        from icvi.watching.labellers.column_labels import ColumnLabels

        if not learn:
            raise ValueError("learn=False (--no-learn) is for a clusterer, and none is given")
        return ColumnLabels(label)
    if comes_from(clusterer, "icvi.art"):
        from icvi.watching.labellers.art_labels import ArtLabels

        return ArtLabels(clusterer, batch, learn=learn, columns=columns)
    if comes_from(clusterer, "icvi.clustering"):
        from icvi.watching.labellers.micro_ward_labels import MicroWardLabels

        return MicroWardLabels(clusterer, batch, learn=learn, columns=columns)
    if hasattr(clusterer, "learn_one"):
        from icvi.watching.labellers.river_labels import RiverLabels

        return RiverLabels(clusterer, learn=learn, columns=columns)
    if hasattr(clusterer, "predict") or hasattr(clusterer, "fit"):
        from icvi.watching.labellers.scikit_labels import ScikitLabels

        return ScikitLabels(clusterer, batch, learn=learn, columns=columns)
    if callable(clusterer):
        from icvi.watching.labellers.function_labels import FunctionLabels

        return FunctionLabels(clusterer)
    raise TypeError(f"{_EXPECTED}; got {type(clusterer).__name__}")
