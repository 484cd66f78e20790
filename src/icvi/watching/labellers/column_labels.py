"""Labels that come with the samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import Labelled, Labeller
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.watching.step import Kept

#: From so many samples on, labels are questioned if nearly all of them differ.
_ENOUGH, _NEARLY_ALL = 300, 0.9
#: So many labels are refused, unless every second sample has one that came before.
_MOST, _SHARE = 5000, 0.5


class ColumnLabels(Labeller):
    """Uses the labels of the source.

    Parameters
    ----------
    column : name or position, optional
        Where the source has them, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> batch = Batch(np.zeros((2, 1)), labels=np.array([4, 5]))
    >>> ColumnLabels().label(batch).labels.tolist()
    [4, 5]
    """

    model = None
    pickles = False

    def __init__(self, column: Any = None) -> None:
        self.name = "the column of labels" if column is None else f"the column {short(column)}"
        self._distinct: set[Any] | None = set()  # None where there is nothing to ask any more
        self._seen = 0
        self._asked = False
        self._questions: list[str] = []

    def questions(self) -> list[str]:
        """Whether labels are meant that hardly ever come again."""
        questions, self._questions = self._questions, []
        return questions

    def label(self, batch: Batch) -> Labelled:
        """The labels of the batch."""
        if batch.labels is None:
            raise ValueError(
                "the source has no labels: give label= (--labels COL) or a clusterer (--clusterer)"
            )
        self._question(batch.labels)
        return Labelled(batch.labels)

    def _question(self, labels: NDArray[Any]) -> None:
        """Question numbers that differ from sample to sample: no clusters, but measurements."""
        if self._distinct is None:
            return
        try:
            self._distinct.update(labels.tolist())
        except TypeError:  # the tracker says what is wrong with them
            return
        self._seen += len(labels)
        k, n = len(self._distinct), self._seen
        if k > _MOST and _SHARE * n < k:
            raise ValueError(
                f"{k:,} different labels in {n:,} samples: {self.name} does not hold clusters, but "
                f"a number or a name of every sample; give the column of the clusters (label=, "
                f"--labels), or a clusterer (--clusterer)"
            )
        if n >= _ENOUGH and not self._asked and _NEARLY_ALL * n < k:
            self._asked = True
            self._questions.append(
                f"{k:,} different labels in {n:,} samples: is {self.name} meant, or does it hold a "
                f"number or a name of every sample? A clusterer (--clusterer) finds clusters"
            )
        elif n >= _ENOUGH and _SHARE * n >= k:
            self._distinct = None  # labels come again

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
        self._distinct = None  # only a stream from its beginning tells how often labels come again
