"""Class labels as the targets of fuzzy ARTMAP."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.scaling import OutOfBounds
from icvi.art.scikit import (
    assert_all_finite,
    check_classification_targets,
    column_or_1d,
    type_of_target,
    unique_labels,
)
from icvi.art.targets import check_given, check_length
from icvi.inputs import refuse_masked, refuse_unordered
from icvi.labels import plain
from icvi.transactions import own_arrays
from icvi.wording import short

_INTEGER = np.dtype(np.int64)
_NUMBERS = "biuf"


class Classes:
    """Labels, numbered in order of joining; none can join where the classes were given."""

    labelled = True
    changes = 0

    def __init__(self, classes: Any = None) -> None:
        self._closed = classes is not None
        self._number(_distinct(classes) if self._closed else np.empty(0, dtype=np.int64))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    @property
    def answers(self) -> NDArray[Any]:
        """The label of each number."""
        return self._joined

    @property
    def places(self) -> NDArray[np.int64]:
        """Where the label of each number is among the sorted."""
        return np.argsort(self._order)

    def check_classes(self, classes: Any) -> None:
        """Refuse classes that are not those before."""
        if not np.array_equal(_distinct(classes), self.sorted):
            raise ValueError(
                f"expected classes={short(self.sorted.tolist(), 200)} as before, got "
                f"{short(classes)}; they need not be given after the first call"
            )

    def checked(self, y: Any, n: int, out_of_bounds: OutOfBounds) -> NDArray[Any]:
        """Labels of n samples, refused where they cannot be learnt."""
        if _is_plain(y) and y.size == n and self._find(y) is not None:
            return y  # type: ignore[no-any-return]
        labels = _as_labels(y)
        check_length(labels, n)
        self._check_kind(labels)
        if self._closed and self._find(labels) is None:
            unknown = np.setdiff1d(labels, self.sorted)[0]
            raise ValueError(
                f"label {short(plain(unknown))} is not among the classes given first, "
                f"{short(self.sorted.tolist(), 200)}"
            )
        return labels

    def learn(
        self, y: NDArray[Any], rho: float | None, alpha: float, beta: float
    ) -> NDArray[np.int64]:
        """Numbers of labels, checked before; new ones join."""
        numbers = self._find(y)
        if numbers is None:
            new = np.setdiff1d(y, self.sorted)
            self._number(np.concatenate([self._joined, new]) if self.sorted.size else new)
            numbers = self._order[self.sorted.searchsorted(y)]
        return numbers

    def snapshot(self, n: int) -> Any:
        """What `restore` needs to undo learning labels."""
        return vars(self).copy()  # each is replaced as a whole

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        vars(self).update(saved)

    # -- inside ----------------------------------------------------------------------------

    def _number(self, joined: NDArray[Any]) -> None:
        self._joined = joined
        self._order = np.argsort(joined)
        self.sorted = joined[self._order]
        # Kept, because making an array takes longer than learning a sample.
        self._alone = {label: np.array([i]) for i, label in enumerate(joined.tolist())}

    def _find(self, y: NDArray[Any]) -> NDArray[np.int64] | None:
        """Numbers of labels; None where one is not known."""
        if y.size == 1:
            return self._alone.get(y.item())
        if self.sorted.size == 0:
            return None
        positions = self.sorted.searchsorted(y)
        known = self.sorted.take(positions, mode="clip") == y
        return self._order[positions] if known.all() else None

    def _check_kind(self, labels: NDArray[Any]) -> None:
        numeric = labels.dtype.kind in _NUMBERS
        if self.sorted.size and numeric != (self.sorted.dtype.kind in _NUMBERS):
            raise ValueError(
                f"expected labels like the classes before, {short(self.sorted.tolist(), 200)}, got "
                f"{short(plain(labels[0]))}; numbers and strings cannot be mixed"
            )


def _is_plain(y: Any) -> bool:
    """Whether scikit-learn's checks, which cost more than learning, would find nothing."""
    return y.__class__ is np.ndarray and y.dtype is _INTEGER and y.ndim == 1


def _distinct(classes: Any) -> NDArray[Any]:
    labels: NDArray[Any] = unique_labels(column_or_1d(classes))
    return labels


def _as_labels(y: Any) -> NDArray[Any]:
    """Labels in one dimension, as scikit-learn takes them."""
    check_given(y)
    refuse_unordered(y, "y")
    refuse_masked(y, "y")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels.tolist()):
        raise ValueError(f"Unknown label type: expected numbers or strings, got {short(y)}")
    assert_all_finite(labels, input_name="y")
    with np.errstate(all="ignore"):  # looks whether numbers are whole by making them so
        if type_of_target(labels, input_name="y") not in ("binary", "multiclass"):
            check_classification_targets(labels)  # says why not
    return labels
