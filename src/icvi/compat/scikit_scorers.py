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

Clusterings have no right answers to be kept from them, so the usual way is to fit and to score on
all samples: ``cv=AllSamples()``. With any other ``cv`` a score is that of held-out samples in the
clusters that the others gave.

An undefined score is nan. A search ranks it last and warns; ``undefined="raise"`` has it raise, and
the search then puts its ``error_score`` in its place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.batch.scoring import score
from icvi.indices import Index, select
from icvi.indices.undefined import Undefined
from icvi.optional import needed
from icvi.wording import short

__all__ = ["AllSamples", "IndexScorer", "make_scorer", "scorers"]


class AllSamples:
    """One split in which all samples are both fitted and scored, for ``GridSearchCV(cv=...)``.

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
        """Positions of the samples to fit and of those to score: all, and all."""
        everything = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        yield everything, everything

    def __repr__(self) -> str:
        return "AllSamples()"


def make_scorer(
    index: str | Index = "SIL", *, noise_label: Hashable = -1, undefined: Undefined = "nan"
) -> IndexScorer:
    """A scorer for ``scoring=`` of a search, of `cross_validate` and the like.

    Parameters
    ----------
    index : str or Index, default "SIL"
        A name of the catalogue or an index object.
    noise_label : hashable, default -1
        Samples with this label, as DBSCAN and HDBSCAN give it, belong to no cluster and are left
        out. Beware: parameters that call most samples noise can score well. None counts them as a
        cluster.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What the score is where the formula has no finite value.

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
    chosen = select(index)
    if len(chosen) != 1:
        raise ValueError(f"expected one index, got {short(index)}; scorers takes several")
    return IndexScorer(chosen[0], noise_label, undefined)


def scorers(
    indices: str | Iterable[str | Index] = "paper",
    *,
    noise_label: Hashable = -1,
    undefined: Undefined = "nan",
) -> dict[str, IndexScorer]:
    """Scorers by name, for a search by several: give it one of the names as ``refit``.

    Parameters
    ----------
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, or a list of names and index objects.
    noise_label, undefined
        As in `make_scorer`.

    Returns
    -------
    dict
        Name to scorer. Indices that are better when smaller are negated and have ``neg_`` in front
        of their names, as in scikit-learn.

    Examples
    --------
    >>> scorers(["SIL", "DB"])
    {'SIL': SIL, 'neg_DB': neg_DB}
    """
    chosen = (make_scorer(i, noise_label=noise_label, undefined=undefined) for i in select(indices))
    return {scorer.name: scorer for scorer in chosen}


class IndexScorer:
    """One validity index of what an estimator makes of samples; larger is better.

    Labels are what the estimator predicts. One that cannot predict, such as DBSCAN, is fitted anew,
    as a copy, to the samples it is scored on: its ``labels_`` would be those of other samples
    wherever a search holds some out. Distances are those of X as it is given: where a pipeline
    scales, the index sees what comes in, not what its clusterer sees.

    Attributes
    ----------
    index : Index
        What is read.
    name : str
        That of the index, with ``neg_`` in front where it is negated.
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
