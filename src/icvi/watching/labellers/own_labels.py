"""What the labels of icvi's own clusterers share: a checkpoint keeps them without a pickle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from icvi.saving.parts import Packed, Part
from icvi.watching.labellers.labeller import Labeller, check_columns, checked_names, class_path

if TYPE_CHECKING:
    from icvi.watching.step import Kept


class SavedForm(NamedTuple):
    """How estimators are saved: of which classes, what is saved, and how they are made again."""

    kinds: tuple[type, ...]
    pack: Callable[[Any], Packed]
    unpack: Callable[[Part], Any]


class OwnLabels(Labeller):
    """Labels from an estimator of icvi.

    Parameters
    ----------
    model : estimator
        The clusterer.
    batch : int
        Size of the first batch.
    learn : bool
        False to predict only.
    columns : sequence of str
        The features of the stream.

    Attributes
    ----------
    form : SavedForm
        How the estimator is kept. A user's class that is derived from one of icvi's is pickled.
    """

    form: ClassVar[SavedForm]

    def __init__(
        self, model: Any, batch: int, *, learn: bool = True, columns: Sequence[str] = ()
    ) -> None:
        self.name, self.model, self.learns = type(model).__name__, model, learn
        self._batch, self._columns = batch, tuple(columns)
        if not (learn or self._fitted):
            raise ValueError(
                f"{self.name} has not been fitted, so it has no clusters to predict; fit it first, "
                f"or let it learn (learn=True, no --no-learn)"
            )
        check_columns(model, columns, self.name)

    @property
    def pickles(self) -> bool:
        """Only for a user's class that is derived from one of icvi's."""
        return type(self.model) not in self.form.kinds

    def keep(self) -> Kept:
        """The model as `save` writes it."""
        if self.pickles:
            return super().keep()
        facts, arrays = self.form.pack(self.model)
        return {"class": class_path(self.model), **facts}, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state that `keep` returned."""
        if self.pickles:
            super().resume(facts, arrays)
            return
        self._check_class(facts["class"])
        kind = type(self.model).__name__
        self._adopt(self.form.unpack(Part({**facts, "kind": kind}, arrays, "the checkpoint")))

    @property
    def _fitted(self) -> bool:
        return hasattr(self.model, "n_features_in_")

    def _calling(self) -> AbstractContextManager[None]:
        """A context for calls of the model."""
        return checked_names() if hasattr(self.model, "feature_names_in_") else nullcontext()

    def _adopt(self, model: Any) -> None:
        check_columns(model, self._columns, self.name)
        super()._adopt(model)
