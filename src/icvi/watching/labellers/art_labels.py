"""Labels from FuzzyART and FuzzySMART."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icvi.art.fuzzy_art import FuzzyART
from icvi.art.fuzzy_smart import FuzzySMART
from icvi.art.saved_art import ESTIMATORS, pack, unpack
from icvi.art.scaling import Scaling
from icvi.kernels.art.coding import first_outside
from icvi.streams.batch import Batch
from icvi.streams.columns import listed
from icvi.watching.labellers.labeller import Labelled
from icvi.watching.labellers.own_labels import OwnLabels, SavedForm
from icvi.wording import did_you_mean, percent, short

if TYPE_CHECKING:
    from icvi.watching.step import Kept


#: Shares of clipped samples above which there is a warning.
_SHARES = (0.0, 0.01, 0.05, 0.25)


class ArtLabels(OwnLabels):
    """Learns samples one after the other; the label is the category that learnt the sample.

    Parameters
    ----------
    model : FuzzyART or FuzzySMART
        SMART also gives the winners that Conn needs.
    batch : int
        Size of the first batch, which gives the bounds of a model that has none.
    learn : bool
        False to predict only.
    columns : sequence of str
        The features of the stream.

    Examples
    --------
    >>> import icvi, numpy as np
    >>> labeller = ArtLabels(icvi.FuzzySMART(bounds=(0.0, 1.0)), batch=100)
    >>> labelled = labeller.label(Batch(np.array([[0.1], [0.2], [0.9]])))
    >>> labelled.labels.tolist(), labelled.winners.tolist()
    ([0, 0, 1], [[0, -1], [1, 0], [2, 1]])
    """

    form = SavedForm((*ESTIMATORS.values(),), pack, unpack)

    def __init__(
        self, model: Any, batch: int, *, learn: bool = True, columns: Sequence[str] = ()
    ) -> None:
        if not isinstance(model, (FuzzyART, FuzzySMART)):
            raise TypeError(
                f"expected FuzzyART or FuzzySMART, got {type(model).__name__}, which is "
                f"supervised: it learns given classes and finds no clusters"
            )
        super().__init__(model, batch, learn=learn, columns=columns)
        self._seen = self._outside = 0  # samples learnt, and those that were clipped
        self._reported = 0  # how many of the shares in _SHARES were reported
        self._news: list[str] = []
        self._named_bounds: dict[str, tuple[float, float]] = {}
        self._learnt_bounds = model.bounds is None
        self._bounding = batch  # samples that gave the bounds

    @property
    def first(self) -> int | None:
        """Size of the first batch, which gives the bounds; None where there are bounds."""
        if self._fitted or self.model.bounds is not None or not self._unbounded:
            return None
        return self._batch

    @property
    def _unbounded(self) -> bool:
        """Whether the first batch must give the bounds of some features."""
        return not self._columns or any(name not in self._named_bounds for name in self._columns)

    @property
    def notes(self) -> list[str]:
        """Where the bounds will come from."""
        # Whether all features have bounds by name is known as soon as `expect` knows the features.
        return [] if self.first is None or self._named_bounds else [self._origin("features")]

    def _origin(self, which: str) -> str:
        return (
            f"{self.name} takes the bounds of the {which} from the first {self._batch:,} samples "
            f"(--batch) and clips later samples to them; give bounds=(low, high) (--bounds LOW "
            f"HIGH) if you know them"
        )

    def news(self) -> list[str]:
        """Warnings about samples that were clipped: the first time, then as their share grows."""
        news, self._news = self._news, []
        return news

    def take_bounds(self, bounds: Mapping[str, Any]) -> None:
        """Take the bounds of some features, or all; the first batch gives those of the others."""
        if self.model.bounds is not None:
            raise ValueError(f"{self.name} has bounds; leave out those by name")
        for name, pair in bounds.items():
            Scaling.given(pair, 1, f"bounds of {short(name)}")
            low, high = pair
            self._named_bounds[str(name)] = float(low), float(high)

    def expect(self, columns: Sequence[str]) -> None:
        """Take the names of the features; refuse bounds of others."""
        new = not self._columns
        super().expect(columns)
        for name in self._named_bounds:
            if name not in columns:
                raise ValueError(
                    f"there are bounds for {name!r}, which is no feature"
                    f"{did_you_mean(name, columns)}; expected one of {listed(columns)}"
                )
        if new and self._named_bounds and self.first is not None:
            self._news.append(self._origin("other features"))

    def label(self, batch: Batch) -> Labelled:
        """Learn the samples and return their categories, or predict these."""
        if self._named_bounds and not self._fitted:
            self._learnt_bounds = self._unbounded
            self.model.set_params(bounds=self._bounds_of(batch))
        with self._calling():
            if self.learns:
                self.model.partial_fit(batch.X)
                self._count_outside(batch)
                return Labelled(self.model.labels_, getattr(self.model, "winners_", None))
            if isinstance(self.model, FuzzySMART):
                return Labelled(*self.model.predict(batch.X, return_winners=True))
            return Labelled(self.model.predict(batch.X))

    @property
    def warnings(self) -> list[str]:
        """A warning about samples outside the bounds that the first batch gave."""
        return [self._clipped("")] if self._outside else []

    def _clipped(self, so_far: str) -> str:
        return (
            f"{self._outside:,} of {self._seen:,} samples {so_far}lay outside the bounds of the "
            f"first {self._bounding:,} and were clipped; give bounds=(low, high) (--bounds LOW "
            f"HIGH), or take them from more samples (--batch)"
        )

    def keep(self) -> Kept:
        """The model, and the counts for the warning."""
        facts, arrays = super().keep()
        counts = {"seen": self._seen, "outside": self._outside, "reported": self._reported}
        counts |= {"bounding": self._bounding, "learnt_bounds": self._learnt_bounds}
        return {**facts, **counts}, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state that `keep` returned."""
        if "seen" not in facts:
            raise ValueError(
                f"the checkpoint was written by an earlier version of icvi, which kept "
                f"{self.name} as a pickle, and a pickle can run any code; complete the watch with "
                f"that version, or start from scratch with overwrite=True (--overwrite)"
            )
        super().resume(facts, arrays)
        self._seen, self._outside = facts["seen"], facts["outside"]
        self._reported = facts.get("reported", 0)
        self._learnt_bounds = facts.get("learnt_bounds", self.model.bounds is None)
        self._bounding = facts.get("bounding", self._batch)  # earlier versions had no choice

    def _count_outside(self, batch: Batch) -> None:
        self._bounding = self._bounding if self._seen else len(batch)
        self._seen += len(batch)
        if self._learnt_bounds:
            # The bounds that the first batch gave have no public name.
            low, high = bounds = self.model._scaling.bounds  # noqa: SLF001
            if first_outside(batch.X, bounds) >= 0:
                inside = ((low <= batch.X) & (high >= batch.X)).all(axis=1)
                self._outside += len(batch) - int(inside.sum())
                self._report_share()

    def _report_share(self) -> None:
        """Warn when the share of clipped samples has reached another of some levels."""
        share, before = self._outside / self._seen, self._reported
        while self._reported < len(_SHARES) and share > _SHARES[self._reported]:
            self._reported += 1
        if self._reported > before:
            self._news.append(self._clipped(f"so far ({percent(share)}) "))

    def _bounds_of(self, batch: Batch) -> Any:
        """The bounds that have a name, and those of the batch for the other features."""
        low, high = batch.X.min(axis=0), batch.X.max(axis=0)
        for name, (least, most) in self._named_bounds.items():
            at = self._columns.index(name)
            low[at], high[at] = least, most
        return low, high
