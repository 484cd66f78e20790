"""What fuzzy ARTMAP maps samples to: labels of classes, or the categories of a module B."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icvi.art.categories import Module
from icvi.art.scaling import OutOfBounds, Scaling
from icvi.art.scikit import (
    assert_all_finite,
    check_array,
    check_classification_targets,
    checked,
    column_or_1d,
    type_of_target,
    unique_labels,
)
from icvi.inputs import refuse_masked, refuse_unordered
from icvi.labels import plain
from icvi.transactions import own_arrays
from icvi.wording import short

_FLOAT, _INTEGER = np.dtype(np.float64), np.dtype(np.int64)
_NUMBERS = "biuf"


class Targets(Protocol):
    """The side of y: it numbers what module A learns to map to."""

    #: Whether y holds labels, not vectors.
    labelled: bool

    @property
    def changes(self) -> int:
        """How often a weight vector has changed."""

    @property
    def answers(self) -> NDArray[Any]:
        """What each number stands for, in units of y."""

    @property
    def places(self) -> NDArray[np.int64]:
        """How `map_` shows each number."""

    def check_classes(self, classes: Any) -> None:
        """Refuse classes that are not those before."""

    def checked(self, y: Any, n: int, out_of_bounds: OutOfBounds) -> NDArray[Any]:
        """Targets of n samples, refused where they cannot be learnt; nothing is learnt yet."""

    def learn(
        self, y: NDArray[Any], rho: float | None, alpha: float, beta: float
    ) -> NDArray[np.int64]:
        """Learn targets, checked before; their numbers."""

    def snapshot(self, n: int) -> Any:
        """What `restore` needs to undo learning up to n targets."""

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""


class Classes:
    """Labels, numbered in order of appearance; `closed` where the classes were given."""

    labelled = True
    changes = 0

    def __init__(self, classes: Any = None) -> None:
        self.closed = classes is not None
        self.number(_distinct(classes) if self.closed else np.empty(0, dtype=np.int64))

    def __setstate__(self, state: dict[str, Any]) -> None:
        old = {"_joined": "answers", "_closed": "closed"}  # names in pickles of version 0.1.0
        self.__dict__.update(own_arrays({old.get(name, name): v for name, v in state.items()}))

    def number(self, labels: NDArray[Any]) -> None:
        """Number these labels, all that there are, from 0 on."""
        #: The label of each number.
        self.answers = labels
        self._order = np.argsort(labels)
        self.sorted = labels[self._order]
        # Kept, because making an array takes longer than learning a sample.
        self._alone = {label: np.array([i]) for i, label in enumerate(labels.tolist())}

    @property
    def places(self) -> NDArray[np.int64]:
        """Where the label of each number is among the sorted."""
        return np.argsort(self._order)

    def check_classes(self, classes: Any) -> None:
        """Refuse classes that are not those before."""
        if not np.array_equal(_distinct(classes), self.sorted):
            raise ValueError(
                f"expected classes={short(self.sorted.tolist(), 200)} as before, got "
                f"{short(classes)}; only the first call needs them"
            )

    def checked(self, y: Any, n: int, out_of_bounds: OutOfBounds) -> NDArray[Any]:
        """Labels of n samples, refused where they cannot be learnt."""
        # Plain integers that are known need no check of scikit-learn, which costs more than
        # learning them.
        plain_integers = y.__class__ is np.ndarray and y.dtype is _INTEGER and y.ndim == 1
        if plain_integers and y.size == n and self._find(y) is not None:
            return y  # type: ignore[no-any-return]
        labels = _as_labels(y)
        _check_length(labels, n)
        self._check_kind(labels)
        if self.closed and self._find(labels) is None:
            unknown = np.setdiff1d(labels, self.sorted)[0]
            raise ValueError(
                f"label {short(plain(unknown))} is not among the classes given first, "
                f"{short(self.sorted.tolist(), 200)}"
            )
        return labels

    def learn(
        self, y: NDArray[Any], rho: float | None, alpha: float, beta: float
    ) -> NDArray[np.int64]:
        """Numbers of labels, checked before; new labels get the next ones."""
        numbers = self._find(y)
        if numbers is None:
            new = np.setdiff1d(y, self.sorted)
            self.number(np.concatenate([self.answers, new]) if self.sorted.size else new)
            numbers = self._order[self.sorted.searchsorted(y)]
        return numbers

    def snapshot(self, n: int) -> Any:
        """What `restore` needs to undo learning labels."""
        return vars(self).copy()  # each is replaced as a whole

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        vars(self).update(saved)

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


class ModuleB:
    """Fuzzy ART over y: categories of vectors, (n, m), or, where `flat`, of numbers, (n,)."""

    labelled = False

    def __init__(self, scaling: Scaling, *, flat: bool) -> None:
        self.scaling, self.flat = scaling, flat
        self.module = Module(scaling.d)

    def __setstate__(self, state: dict[str, Any]) -> None:
        old = {"_flat": "flat"}  # the name in pickles of version 0.1.0
        self.__dict__.update({old.get(name, name): value for name, value in state.items()})

    @classmethod
    def of(cls, y: Any, bounds: Any, out_of_bounds: OutOfBounds) -> ModuleB:
        """A module for targets like these, whose bounds are theirs unless given."""
        vectors = _as_vectors(y)
        rows = vectors.reshape(len(vectors), -1)
        return cls(Scaling.of(rows, bounds, out_of_bounds, "bounds_y"), flat=vectors.ndim == 1)

    @property
    def changes(self) -> int:
        """How often a weight vector has changed."""
        return self.module.changes

    @property
    def answers(self) -> NDArray[np.float64]:
        """Middles of the categories' boxes, in units of y."""
        centers = self.scaling.centers(self.module.weights)
        return centers[:, 0] if self.flat else centers

    @property
    def places(self) -> NDArray[np.int64]:
        """The categories themselves."""
        return np.arange(self.module.k)

    def check_classes(self, classes: Any) -> None:
        """Refuse classes: there are none."""
        raise ValueError(f"expected no classes where rho_b is a number, got {short(classes)}")

    def checked(self, y: Any, n: int, out_of_bounds: OutOfBounds) -> NDArray[np.float64]:
        """Vectors of n samples as rows, refused where they cannot be learnt."""
        vectors = y if _is_plain(y) else _as_vectors(y)
        _check_length(vectors, n)
        rows = vectors.reshape(n, -1)
        if rows.shape[1] != self.scaling.d:
            raise ValueError(
                f"expected y with {self.scaling.d} columns as before, got {rows.shape[1]}"
            )
        self.scaling.check(rows, out_of_bounds)
        return rows

    def learn(
        self, y: NDArray[np.float64], rho: float | None, alpha: float, beta: float
    ) -> NDArray[np.int64]:
        """Learn rows, checked before; their categories."""
        assert rho is not None
        return self.module.learn(y, self.scaling, "clip", rho, alpha, beta)

    def snapshot(self, n: int) -> Any:
        """What `restore` needs to undo learning up to n targets."""
        return self.module.snapshot(n)

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        self.module.restore(saved)


# -- y as arrays ---------------------------------------------------------------------------


def _check_given(y: Any) -> None:
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: fuzzy ARTMAP learns what samples "
            "map to"
        )


def _check_length(y: NDArray[Any], n: int) -> None:
    if len(y) != n:
        raise ValueError(f"expected as many targets as samples, got {len(y)} for {n} samples")


def _distinct(classes: Any) -> NDArray[Any]:
    labels = column_or_1d(classes)
    with np.errstate(all="ignore"):  # as in `_as_labels`
        unique_labels(_as_doubles(labels))  # refuses what cannot be classes
    distinct: NDArray[Any] = unique_labels(labels)
    return distinct


def _as_labels(y: Any) -> NDArray[Any]:
    """Labels in one dimension, as scikit-learn takes them."""
    _check_given(y)
    refuse_unordered(y, "y")
    refuse_masked(y, "y")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels.tolist()):
        raise ValueError(f"Unknown label type: expected numbers or strings, got {short(y)}")
    doubles = _as_doubles(labels)
    assert_all_finite(doubles, input_name="y")
    with np.errstate(all="ignore"):  # checks whether numbers are whole by making them so
        if type_of_target(doubles, input_name="y") not in ("binary", "multiclass"):
            check_classification_targets(doubles)  # raises, with the reason
    return labels


def _as_doubles(labels: NDArray[Any]) -> NDArray[Any]:
    """Long doubles as doubles: older versions of scikit-learn do not check them as they are."""
    if labels.dtype.kind != "f" or labels.dtype.itemsize <= _FLOAT.itemsize:
        return labels
    with np.errstate(over="ignore"):  # beyond doubles is infinite, and refused as such
        return labels.astype(_FLOAT)


def _is_plain(y: Any) -> bool:
    """Whether scikit-learn's checks, which cost more than learning, would find nothing."""
    return (
        y.__class__ is np.ndarray
        and y.dtype is _FLOAT
        and 1 <= y.ndim <= 2
        and y.flags.c_contiguous
    )


def _as_vectors(y: Any) -> NDArray[np.float64]:
    """Numbers in one or two dimensions, as scikit-learn takes them."""
    _check_given(y)
    options = {"ensure_2d": False, "dtype": _FLOAT, "order": "C", "input_name": "y"}
    return checked(partial(check_array, **options), y, "y")
