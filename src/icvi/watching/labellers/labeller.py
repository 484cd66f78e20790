"""The interface of everything that labels samples, and what labellers share."""

from __future__ import annotations

import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import Labels, as_label_array, label_array, plain
from icvi.saving.parts import arrays_of
from icvi.streams.batch import Batch
from icvi.watching.labellers.matching import Matching
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.watching.step import Kept

#: The label of a sample that a clusterer assigns to no cluster, or to none yet.
NO_CLUSTER = -1

#: What pickle raises for an object that it cannot pickle; the last, for one nested too deeply.
PICKLING_ERRORS = (pickle.PicklingError, AttributeError, TypeError, RecursionError)

_ADVICE = "resume with the clusterer it was written with, or start from scratch"


@dataclass(frozen=True, eq=False, slots=True)
class Labelled:
    """Labels of some samples.

    Parameters
    ----------
    labels : array of n
        The cluster of each: int64, or objects.
    winners : array of shape (n, 2), optional
        Winner and runner-up among the prototypes of a clusterer that has them, for Conn.
    merged : sequence of pairs
        Clusters that have become one after these samples: the label that is gone, and the one that
        stays.
    """

    labels: NDArray[Any]
    winners: NDArray[np.int64] | None = None
    merged: Sequence[tuple[int, int]] = ()


class Labeller(ABC):
    """Assigns every sample of a stream to a cluster.

    The result must not depend on how a stream happens to be cut into batches. Where it depends on
    which samples are learnt together, `chunk` and `first` set the sizes of batches.

    Attributes
    ----------
    name : str
        Name for messages.
    model : object
        The clusterer; None where the labels are a column.
    learns : bool
        Whether labelling changes the model.
    chunk : int or None
        None where batches may have any size. Otherwise m: batch j holds all samples
        [j m, (j + 1) m) of the stream; only the last batch may be smaller. If the first is smaller
        on request (``begin``), all others are counted from its end.
    unassigned : int or None
        The label of samples without a cluster; None where every sample has one. Give it to
        ``Tracker(noise_label=...)``, or those samples count as a cluster.
    renumbers : bool
        Whether the clusterer may renumber its clusters while it learns; they are then matched to
        the clusters before, so that a label means the same cluster throughout.
    enough : callable or None
        Where it is not None, `label` asks it after every sample whether to stop, and may then
        return fewer labels than there are samples.
    """

    name: str
    model: Any
    learns: bool = False
    chunk: int | None = None
    unassigned: int | None = None
    enough: Callable[[], bool] | None = None
    _matching: Matching | None = None

    @property
    def renumbers(self) -> bool:
        """Whether clusters that are renumbered are matched to those before."""
        return self._matching is not None

    @property
    def first(self) -> int | None:
        """The size of the first batch; None where it does not matter.

        It matters to an ART estimator without bounds: the first batch gives it its bounds.
        """
        return None

    @property
    def pickles(self) -> bool:
        """Whether `keep` pickles the clusterer, so that `resume` can run any code.

        Such a checkpoint must come from the user: see `icvi.watching.trusted_files`.
        """
        return True

    @property
    def warnings(self) -> list[str]:
        """Warnings about the labels so far, for the end of a run."""
        said = "" if self._matching is None else self._matching.described(self.name)
        return [said] if said else []

    def news(self) -> list[str]:
        """Warnings about the labels that were not reported yet, for callers that listen."""
        return []

    def questions(self) -> list[str]:
        """Warnings for every caller, because the labels may be no labels."""
        return []

    @property
    def notes(self) -> list[str]:
        """What a user should know before the first sample."""
        return []

    def take_bounds(self, bounds: Mapping[str, Any]) -> None:
        """Take bounds of features by their names; only ART has bounds."""
        raise ValueError(
            f"bounds by name, such as {short(dict(bounds))}, are for FuzzyART and FuzzySMART; got "
            f"{self.name}"
        )

    def expect(self, columns: Sequence[str]) -> None:
        """Take the names of the features before the first sample; refuse other features."""
        check_columns(self.model, columns, self.name)
        self._columns = tuple(columns)

    @abstractmethod
    def label(self, batch: Batch) -> Labelled:
        """Label the next samples of the stream; learn them in order where it `learns`."""

    def keep(self) -> Kept:
        """The state that another process needs to resume from here."""
        try:
            pickled = pickle.dumps(self.model)
        except PICKLING_ERRORS as error:
            raise TypeError(
                f"{self.name} cannot be kept in a checkpoint, because it cannot be pickled "
                f"({error!r}); define it at module level, or watch without a checkpoint"
            ) from error
        facts: dict[str, Any] = {"class": class_path(self.model)}
        arrays: dict[str, NDArray[Any]] = {"pickle": np.frombuffer(pickled, np.uint8)}
        if self._matching is not None:
            facts["matching"], members = self._matching.keep()
            arrays |= {f"matching.{name}": array for name, array in members.items()}
        return facts, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state that `keep` returned."""
        # Before anything is unpickled; only earlier versions did not name the class.
        self._check_class(facts.get("class", class_path(self.model)))
        if not self.pickles or "pickle" not in arrays:
            raise ValueError(f"the checkpoint does not hold the state of {self.name}; {_ADVICE}")
        try:
            model = pickle.loads(arrays["pickle"].tobytes())
        except Exception as error:
            raise ValueError(
                f"the {self.name} in the checkpoint cannot be read: {error!r}; use the package "
                f"versions that it was written with"
            ) from error
        self._check_class(class_path(model))
        self._adopt(model)
        if "matching" not in facts:
            self._matching = None  # earlier versions left renumbered clusters as they were
        elif self._matching is not None:
            self._matching.resume(facts["matching"], arrays_of("matching", arrays))

    def _check_class(self, kept: str) -> None:
        """Refuse a clusterer of another class."""
        here = class_path(self.model)
        if kept != here:
            was, now = (path.rpartition(".")[2] for path in (kept, here))
            if was == now:
                was, now = kept, here
            raise ValueError(f"the checkpoint holds a {was}, and this is a {now}; {_ADVICE}")

    def _adopt(self, model: Any) -> None:
        self.model = model


def as_labels(given: Any, n: int, name: str) -> NDArray[Any]:
    """Check n labels that other code returned; they become int64 or objects."""
    try:
        array = as_label_array(given, n)
        Labels().encode(array)  # refuses what is not hashable, or not equal to itself
    except (TypeError, ValueError) as error:
        raise type(error)(f"invalid labels from {name}: {error}") from error
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    return label_array([plain(item) for item in array.tolist()])


def class_path(thing: Any) -> str:
    """The class of an object, with its module."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def comes_from(thing: Any, package: str) -> bool:
    """Whether the class of an object, or a base class, is from a package; imports nothing."""
    return any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(thing).__mro__)


def names_of(d: int) -> tuple[str, ...]:
    """Names for the features of a source without names."""
    return tuple(f"x{number}" for number in range(1, d + 1))


def check_columns(model: Any, columns: Sequence[str], name: str) -> None:
    """Refuse columns other than the features that a model was fitted on, in their order."""
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or not columns or tuple(columns) == names_of(len(columns)):
        return
    expected = [str(feature) for feature in fitted]
    if list(columns) != expected:
        order = " in this order" if sorted(columns) == sorted(expected) else ""
        raise ValueError(
            f"{name} was fitted on the columns {', '.join(expected)}, and the source has "
            f"{', '.join(columns)}; select those of the model{order}: columns={expected}"
        )


@contextmanager
def checked_names() -> Iterator[None]:
    """Silence scikit-learn's warning about arrays: `check_columns` has checked the names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield
