"""Labels from MicroWard, which finds out how many clusters there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icvi.clustering.micro_ward import MicroWard
from icvi.clustering.saved_micro_ward import pack, unpack
from icvi.streams.batch import Batch
from icvi.watching.labellers.labeller import Labelled
from icvi.watching.labellers.own_labels import OwnLabels, SavedForm
from icvi.wording import plural

if TYPE_CHECKING:
    from icvi.watching.step import Kept


class MicroWardLabels(OwnLabels):
    """Learns samples one after the other; the label is that of the cluster at the time.

    The first batch is learnt before it is labelled, because the first choices rest on few samples.
    Where two clusters have become one, labelling stops, so that the tracker can merge them, too.

    Parameters
    ----------
    model : MicroWard
        The clusterer.
    batch : int
        Size of the first batch.
    learn : bool
        False to predict only.
    columns : sequence of str
        The features of the stream.

    Examples
    --------
    >>> import icvi, numpy as np
    >>> labeller = MicroWardLabels(icvi.MicroWard(), batch=6)
    >>> X = np.array([[0.0], [9.0], [0.1], [9.2], [0.2], [9.1]])
    >>> labeller.label(Batch(X)).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """

    form = SavedForm((MicroWard,), pack, unpack)

    def __init__(
        self, model: Any, batch: int, *, learn: bool = True, columns: Sequence[str] = ()
    ) -> None:
        if not isinstance(model, MicroWard):
            raise TypeError(f"expected a MicroWard, got {type(model).__name__}")
        super().__init__(model, batch, learn=learn, columns=columns)
        self._merges = 0
        # Clusters at the last choice.
        self._known = frozenset(model.clusters_.tolist() if self._fitted else ())

    @property
    def first(self) -> int | None:
        """Size of the first batch, which is learnt before it is labelled."""
        return None if self._fitted else self._batch

    @property
    def notes(self) -> list[str]:
        """When the first labels come."""
        if self.first is None:
            return []
        return [
            f"{self.name} finds out how many clusters there are; it learns the first "
            f"{self._batch:,} samples (--batch) before it labels them"
        ]

    @property
    def warnings(self) -> list[str]:
        """How often clusters have become one."""
        if not self._merges:
            return []
        return [
            f"{self.name} merged clusters {plural(self._merges, 'time')} when it chose their "
            f"number again, and so did the indices; earlier rows of the trace have the labels of "
            f"their time"
        ]

    def label(self, batch: Batch) -> Labelled:
        """Learn samples, up to where clusters become one, and return their labels."""
        with self._calling():
            if not self.learns:
                return Labelled(self.model.predict(batch.X))
            if not self._fitted:
                self.model.fit(batch.X)
                self._known = frozenset(self.model.clusters_.tolist())
                return Labelled(self.model.labels_)
            merged, self._known = self.model.learn_until_merge(batch.X, self._known)
        self._merges += len(merged)
        return Labelled(self.model.labels_, merged=[*merged.items()])

    def keep(self) -> Kept:
        """The model, and the clusters at the last choice."""
        facts, arrays = super().keep()
        return {**facts, "known": sorted(self._known), "merges": self._merges}, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state that `keep` returned."""
        if "known" not in facts:
            raise ValueError(
                f"the checkpoint does not hold the state of {self.name}; start from scratch with "
                f"overwrite=True (--overwrite)"
            )
        super().resume(facts, arrays)
        self._known, self._merges = frozenset(facts["known"]), facts["merges"]
