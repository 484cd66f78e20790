"""Features in different units, scaled by what the first batch or another file shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import check_choice
from icvi.streams import open_source
from icvi.watching.step import Kept

#: Ways to scale, and what becomes 0 and 1.
SCALES = ("none", "standard", "minmax", "robust")


class FeatureScaling:
    """Subtracts a centre from every feature and divides by a width.

    ============  =================  ==================================
    scale         centre             width
    ============  =================  ==================================
    ``standard``  mean               standard deviation
    ``minmax``    minimum            maximum - minimum
    ``robust``    median             third - first quartile
    ============  =================  ==================================

    Both are learnt once, from the first samples or from another source, and never change: the same
    sample is scaled in the same way wherever it comes in the stream. The width of a feature that
    does not change is 1.

    Parameters
    ----------
    scale : {"none", "standard", "minmax", "robust"}
        What to do.
    other : path, optional
        Samples from which to learn instead of the first ones: anything that `open_source` opens.

    Examples
    --------
    >>> scaling = FeatureScaling("minmax")
    >>> scaling.scaled(np.array([[0.0, 5.0], [4.0, 5.0]]), ("x", "y")).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    >>> scaling.scaled(np.array([[8.0, 6.0]]), ("x", "y")).tolist()
    [[2.0, 1.0]]
    """

    def __init__(self, scale: str = "none", other: Any = None) -> None:
        check_choice(scale, "scale", SCALES)
        if scale == "none" and other is not None:
            raise ValueError("scale_from needs a scale: 'standard', 'minmax' or 'robust'")
        self.scale, self._other = scale, other
        self._center: NDArray[np.float64] | None = None
        self._width: NDArray[np.float64] | None = None

    @property
    def needs_batch(self) -> bool:
        """Whether it learns from the first batch, so that the size of that matters."""
        return self.scale != "none" and self._other is None

    def scaled(self, X: NDArray[np.float64], columns: Sequence[str]) -> NDArray[np.float64]:
        """Samples in the new units; the first ones, or the other source, give these."""
        if self.scale == "none":
            return X
        if self._center is None or self._width is None:
            learnt = X if self._other is None else _samples(self._other, columns)
            self._center, self._width = _learnt(learnt, self.scale)
        scaled: NDArray[np.float64] = (X - self._center) / self._width
        return scaled

    def keep(self) -> Kept:
        """What was learnt."""
        if self._center is None or self._width is None:
            return {}, {}
        return {"scale": self.scale}, {"center": self._center, "width": self._width}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state that `keep` returned."""
        if facts:
            self._center, self._width = arrays["center"], arrays["width"]


def _learnt(X: NDArray[np.float64], scale: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centre and width of every feature."""
    if scale == "standard":
        center, width = X.mean(axis=0), X.std(axis=0)
    elif scale == "minmax":
        center, width = X.min(axis=0), np.ptp(X, axis=0)
    else:
        low, center, high = np.percentile(X, [25, 50, 75], axis=0)
        width = high - low
    constant = (X[0] == X).all(axis=0)  # the standard deviation of equal numbers may not be 0
    return center, np.where(constant | (width == 0.0), 1.0, width)


def _samples(other: Any, columns: Sequence[str]) -> NDArray[np.float64]:
    """All samples of another source, with the features of this one."""
    with open_source(other, columns=list(columns)) as source:
        parts = [batch.X for batch in source]
    if not parts:
        raise ValueError(f"{other} has no samples to learn the scale from")
    return np.concatenate(parts)
