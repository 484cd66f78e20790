"""Validity indices as scorers of scikit-learn's searches.

>>> from sklearn.cluster import KMeans
>>> from sklearn.datasets import make_blobs
>>> from sklearn.model_selection import GridSearchCV
>>> X, _ = make_blobs(300, centers=4, cluster_std=0.5, random_state=3)
>>> search = GridSearchCV(
...     KMeans(n_init=5, random_state=0),
...     {"n_clusters": [2, 3, 4, 5, 6]},
...     scoring=make_scorer("SIL"),
...     cv=AllSamples(),
... )
>>> search.fit(X).best_params_
{'n_clusters': 4}

A clustering has no ground truth to hide from it, so it is usual to fit and to score on all samples:
``cv=AllSamples()``. With any other ``cv`` the score is that of the held-out samples in the clusters
that were fitted to the others.

An undefined score is nan, which a search ranks last with a warning. With ``undefined="raise"`` the
scorer raises, and the search uses its ``error_score``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.batch.scoring import score
from icvi.indices import Index, select
from icvi.indices.catalogue import select_one
from icvi.indices.undefined import Undefined
from icvi.optional import needed

__all__ = ["AllSamples", "IndexScorer", "make_scorer", "scorers"]


class AllSamples:
    """One split that fits and scores all samples, for ``GridSearchCV(cv=...)``.

    Examples
    --------
    >>> [(train.tolist(), test.tolist()) for train, test in AllSamples().split([[5.0], [6.0]])]
    [([0, 1], [0, 1])]
    """

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def split(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        groups: Any = None,  # noqa: ARG002
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Positions of the samples to fit and of the samples to score: all of them."""
        everything = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        yield everything, everything

    def __repr__(self) -> str:
        return "AllSamples()"


def make_scorer(
    index: str | Index = "SIL", *, noise_label: Hashable = -1, undefined: Undefined = "nan"
) -> IndexScorer:
    """A scorer for the ``scoring`` argument of a search, `cross_validate` and the like.

    Parameters
    ----------
    index : str or Index, default "SIL"
        A name of the catalogue or an index object.
    noise_label : hashable, default -1
        The label that marks noise, -1 in DBSCAN and HDBSCAN; such samples are left out. Beware:
        parameters that label most samples as noise can score well. None: -1 is a cluster.
    undefined : {"nan", "limit", "raise"}, default "nan"
        The score where the formula has no finite value.

    Returns
    -------
    IndexScorer

    Examples
    --------
    >>> import icvi
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> make_scorer("CH")(icvi.FuzzyART(rho=0.7).fit(X), X)
    128.0
    >>> make_scorer("XB")
    neg_XB
    """
    return IndexScorer(select_one(index, several="scorers"), noise_label, undefined)


def scorers(
    indices: str | Iterable[str | Index] = "paper",
    *,
    noise_label: Hashable = -1,
    undefined: Undefined = "nan",
) -> dict[str, IndexScorer]:
    """Scorers by name, for a search by several metrics; pass one of the names as ``refit``.

    Parameters
    ----------
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, or a list of names and index objects.
    noise_label, undefined
        As in `make_scorer`.

    Returns
    -------
    dict
        Name to scorer. Where smaller is better, the index is negated and its name has the prefix
        ``neg_``, as in scikit-learn.

    Examples
    --------
    >>> scorers(["SIL", "DB"])
    {'SIL': SIL, 'neg_DB': neg_DB}
    """
    chosen = (make_scorer(i, noise_label=noise_label, undefined=undefined) for i in select(indices))
    return {scorer.name: scorer for scorer in chosen}


class IndexScorer:
    """Scores an estimator by one validity index; larger is better.

    The labels are the estimator's predictions. An estimator without ``predict``, such as DBSCAN, is
    cloned and fitted to the samples that are scored, because its ``labels_`` may belong to other
    samples. The index uses X as it is passed: in a pipeline with a scaler, the samples before
    scaling.

    Attributes
    ----------
    index : Index
        The index.
    name : str
        The name of the index, with the prefix ``neg_`` if it is negated.
    """

    def __init__(self, index: Index, noise_label: Hashable, undefined: Undefined) -> None:
        self.index, self.noise_label, self.undefined = index, noise_label, undefined

    @property
    def name(self) -> str:
        """The name in a table of results."""
        return self.index.name if self.index.direction == "max" else f"neg_{self.index.name}"

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """The score of an estimator on samples; y is ignored."""
        value = score(
            X,
            _labels(estimator, X),
            self.index,
            noise_label=self.noise_label,
            undefined=self.undefined,
        )
        return value if self.index.direction == "max" else -value

    def __repr__(self) -> str:
        return self.name


def _labels(estimator: Any, X: Any) -> Any:
    if hasattr(estimator, "predict"):
        return estimator.predict(X)
    if not hasattr(estimator, "fit_predict"):
        raise TypeError(
            f"expected a clusterer, with predict or fit_predict, got {type(estimator).__name__}"
        )
    with needed("sklearn", "art", "a clusterer without predict"):
        from sklearn.base import clone
    return clone(estimator).fit_predict(X)
