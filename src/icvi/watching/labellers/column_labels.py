"""Labels that come with the samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import Labelled, Labeller

if TYPE_CHECKING:
    from icvi.watching.step import Kept


class ColumnLabels(Labeller):
    """Uses the labels of the source.

    Examples
    --------
    >>> import numpy as np
    >>> batch = Batch(np.zeros((2, 1)), labels=np.array([4, 5]))
    >>> ColumnLabels().label(batch).labels.tolist()
    [4, 5]
    """

    name = "the column of labels"
    model = None
    pickles = False

    def label(self, batch: Batch) -> Labelled:
        """The labels of the batch."""
        if batch.labels is None:
            raise ValueError(
                "the source has no labels: give label= (--labels COL) or a clusterer (--clusterer)"
            )
        return Labelled(batch.labels)

    def keep(self) -> Kept:
        """An empty state: the labels are in the source."""
        return {}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume; refuse the state of a clusterer."""
        if facts or arrays:
            raise ValueError(
                "the checkpoint holds a clusterer, and now labels are read from a column; resume "
                "with the clusterer it was written with, or start from scratch"
            )
