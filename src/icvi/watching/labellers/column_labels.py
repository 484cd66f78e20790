"""Labels that come with the samples."""

from __future__ import annotations

from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import Labelled, Labeller


class ColumnLabels(Labeller):
    """Takes the labels of the source as they are.

    Examples
    --------
    >>> import numpy as np
    >>> batch = Batch(np.zeros((2, 1)), labels=np.array([4, 5]))
    >>> ColumnLabels().label(batch).labels.tolist()
    [4, 5]
    """

    name = "the column of labels"
    model = None

    def label(self, batch: Batch) -> Labelled:
        """The labels of the batch."""
        if batch.labels is None:
            raise ValueError(
                "the source has no labels: give label= (--labels COL) or a clusterer (--clusterer)"
            )
        return Labelled(batch.labels)

    def keep(self) -> bytes:
        """Nothing: the labels are in the source."""
        return b""

    def resume(self, kept: bytes) -> None:
        """Go on; refuses what a clusterer kept."""
        if kept:
            raise ValueError(
                "the checkpoint holds a clusterer, and now labels are read from a column; go on "
                "with the clusterer it was written with, or start anew"
            )
