"""Module B of fuzzy ARTMAP: fuzzy ART over y, whose categories are the targets."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.checking import checked
from icvi.art.module import Module, run
from icvi.art.scaling import OutOfBounds, Scaling
from icvi.art.scikit import check_array
from icvi.art.targets import check_given, check_length
from icvi.kernels.art.fuzzy_art import learn_categories
from icvi.wording import short

_FLOAT = np.dtype(np.float64)


class ModuleB:
    """Categories of vectors, (n, m), or of numbers, (n,)."""

    labelled = False

    def __init__(self, y: Any, bounds: Any, out_of_bounds: OutOfBounds) -> None:
        vectors = _as_vectors(y)
        self._flat = vectors.ndim == 1
        rows = vectors.reshape(len(vectors), -1)
        self.scaling = Scaling.of(rows, bounds, out_of_bounds, "bounds_y")
        self.module = Module(self.scaling.d)

    @property
    def changes(self) -> int:
        """How often a weight vector has changed."""
        return self.module.changes

    @property
    def answers(self) -> NDArray[np.float64]:
        """Middles of the categories' boxes, in units of y."""
        centers = self.scaling.centers(self.module.weights)
        return centers[:, 0] if self._flat else centers

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
        check_length(vectors, n)
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
        m, s = self.module, self.scaling
        categories = np.empty(len(y), dtype=np.int64)
        run(
            lambda start: learn_categories(
                *(m.W, m.counters, m.note, y, s.bounds, rho, alpha, beta, start, categories)
            ),
            len(y),
            m,
        )
        return categories

    def snapshot(self, n: int) -> Any:
        """What `restore` needs to undo learning up to n targets."""
        return self.module.snapshot(n)

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        self.module.restore(saved)


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
    check_given(y)
    options = {"ensure_2d": False, "dtype": _FLOAT, "order": "C", "input_name": "y"}
    return checked(partial(check_array, **options), y, "y")
