"""What a loop needs to know of whoever labels its samples."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import Labels, as_label_array, label_array, plain
from icvi.streams.batch import Batch
from icvi.watching.labellers.feature_names import check_columns

if TYPE_CHECKING:
    from icvi.watching.step import Kept

#: The label of a sample that a clusterer puts into no cluster, or into none yet.
NO_CLUSTER = -1

#: What pickle raises for an object that it cannot take; the last, where one is linked too deeply.
PICKLING_ERRORS = (pickle.PicklingError, AttributeError, TypeError, RecursionError)

_ANEW = "resume with the clusterer it was written with, or start from scratch"


@dataclass(frozen=True, eq=False, slots=True)
class Labelled:
    """Labels of some samples.

    Parameters
    ----------
    labels : array of n
        The cluster of each: int64, or objects.
    winners : array of shape (n, 2), optional
        Winner and runner-up among the prototypes of a clusterer that has them, for Conn.
    """

    labels: NDArray[Any]
    winners: NDArray[np.int64] | None = None


class Labeller(ABC):
    """Gives every sample of a stream its cluster.

    The outcome must not depend on how a stream happens to be cut into batches. Where it depends
    on what is learnt together, `chunk` and `first` say how the loop is to cut.

    Attributes
    ----------
    name : str
        For messages.
    model : object
        The clusterer; None where the labels are a column.
    learns : bool
        Whether labelling changes the model.
    chunk : int or None
        None where samples may come in batches of any size. Otherwise m: a batch holds samples
        [j m, (j + 1) m) of the stream, all of them, but for the last one.
    unassigned : int or None
        The label of samples that are put into no cluster; None where that does not happen. It is
        what ``Tracker(noise_label=...)`` is to skip, or they count as a cluster.
    renumbers : bool
        Whether the clusterer may number its clusters anew while it learns. Then label 3 now and
        label 3 later need not be the same cluster, and readings over both mean little; a window
        as short as the time between two renumberings helps.
    """

    name: str
    model: Any
    learns: bool = False
    chunk: int | None = None
    unassigned: int | None = None
    renumbers: bool = False

    @property
    def first(self) -> int | None:
        """How many samples the next batch must have; None where it does not matter.

        Only a batch at the very start of a stream matters: the first that an ART estimator without
        bounds learns from gives it its bounds.
        """
        return None

    @property
    def pickles(self) -> bool:
        """Whether `keep` pickles the clusterer, so that `resume` can run any code.

        What is kept then must come from the user: see `icvi.watching.own_files`.
        """
        return True

    @property
    def remarks(self) -> list[str]:
        """What should be known about the labels given so far."""
        if not self.renumbers:
            return []
        return [
            f"{self.name} numbers its clusters anew as it goes: label 3 now and label 3 earlier "
            f"need not be the same cluster; a window shows the last samples only"
        ]

    def expect(self, columns: Sequence[str]) -> None:
        """Be told the features of the stream before it labels; refuse those of another."""
        check_columns(self.model, columns, self.name)
        self._columns = tuple(columns)

    @abstractmethod
    def label(self, batch: Batch) -> Labelled:
        """The clusters of the next samples of the stream, learnt in order where it `learns`."""

    def keep(self) -> Kept:
        """What a checkpoint must hold for another process to resume from here."""
        try:
            pickled = pickle.dumps(self.model)
        except PICKLING_ERRORS as error:
            raise TypeError(
                f"{self.name} cannot be kept in a checkpoint, because it cannot be pickled "
                f"({error!r}); define it at the top of a module, or watch without a checkpoint"
            ) from error
        return {"class": class_path(self.model)}, {"pickle": np.frombuffer(pickled, np.uint8)}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume where `keep` was called, with the model that was kept."""
        # Before anything is unpickled; only earlier versions did not name the class.
        self._check_class(facts.get("class", class_path(self.model)))
        if not self.pickles or "pickle" not in arrays:
            raise ValueError(f"the checkpoint does not hold what {self.name} keeps; {_ANEW}")
        try:
            model = pickle.loads(arrays["pickle"].tobytes())
        except Exception as error:
            raise ValueError(
                f"the {self.name} in the checkpoint cannot be read: {error!r}; it takes the "
                f"packages, in versions near those, that it was written with"
            ) from error
        self._check_class(class_path(model))
        self._adopt(model)

    def _check_class(self, kept: str) -> None:
        """Refuse a clusterer of another class."""
        here = class_path(self.model)
        if kept != here:
            was, now = (path.rpartition(".")[2] for path in (kept, here))
            if was == now:
                was, now = kept, here
            raise ValueError(f"the checkpoint holds a {was}, and this is a {now}; {_ANEW}")

    def _adopt(self, model: Any) -> None:
        self.model = model


def as_labels(given: Any, n: int, name: str) -> NDArray[Any]:
    """Labels of n samples as somebody else's code gave them, checked: int64, or objects."""
    try:
        array = as_label_array(given, n)
        Labels().encode(array)  # refuses what is not hashable, or not equal to itself
    except (TypeError, ValueError) as error:
        raise type(error)(f"the labels of {name} cannot be used: {error}") from error
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    return label_array([plain(item) for item in array.tolist()])


def class_path(thing: Any) -> str:
    """The class of an object, with its module."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def comes_from(thing: Any, package: str) -> bool:
    """Whether a class of a package is among those of an object; nothing is imported."""
    return any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(thing).__mro__)
