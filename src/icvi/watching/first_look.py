"""A look at the first samples: features that are no features, and units that drown the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.streams.columns import LOOKS_LIKE_LABELS, Chosen
from icvi.wording import percent, short

#: Samples that are looked at, and how many there must be.
ENOUGH, FEW = 100, 20
_DOMINANT = 0.99  # of the variance in one feature
_MOST_LABELS = 20
_SHOWN = 5  # features named in a warning


class FirstLook:
    """Gathers the first samples and says what is odd about them, once.

    Parameters
    ----------
    scaled : bool
        Whether features are scaled; then their units do not matter.

    Examples
    --------
    >>> look = FirstLook(scaled=False)
    >>> X = np.column_stack([np.arange(100.0) % 7, np.full(100, 3.0)])
    >>> look.take(X, Chosen(("x", "z")))
    ["feature 'z' never changes (3 in the first 100 samples); exclude=['z'] leaves it out"]
    """

    def __init__(self, *, scaled: bool) -> None:
        self._scaled, self._parts, self.done = scaled, list[NDArray[np.float64]](), False

    def take(
        self, X: NDArray[np.float64], chosen: Chosen | None, *, last: bool = False
    ) -> list[str]:
        """Take samples; what is to be said about all so far, when there are enough."""
        if self.done:
            return []
        self._parts.append(X[: 10 * ENOUGH])
        n = sum(map(len, self._parts))
        if n < ENOUGH and not last:
            return []
        self.done = True
        X, self._parts = np.concatenate(self._parts), []
        return [] if chosen is None or n < FEW else list(_oddities(X, chosen, self._scaled))


def left_out_labels(chosen: Chosen) -> list[str]:
    """Warnings about columns that are left out because of their names."""
    found = [name for name, why in chosen.left_out.items() if why == LOOKS_LIKE_LABELS]
    return [
        f"column {name!r} looks like labels by its name and is left out: label={name!r} takes the "
        f"labels from it, columns='*' takes all columns as features"
        for name in found
    ]


def _oddities(X: NDArray[np.float64], chosen: Chosen, scaled: bool) -> Iterator[str]:
    names, n = chosen.features, len(X)
    constant = (X[0] == X).all(axis=0)
    if constant.any():
        yield _constant(X, names, constant)
    if not scaled and len(names) > 1:
        yield from _dominant(X, names)
    if chosen.named:
        return
    whole = (np.floor(X) == X).all(axis=0)
    for j in np.flatnonzero(whole & ~constant).tolist():
        steps = np.diff(X[:, j])
        if (steps == 1.0).all():
            yield (
                f"feature {names[j]!r} counts the samples ({X[0, j]:g}, {X[1, j]:g}, {X[2, j]:g}, "
                f"...): exclude=[{names[j]!r}] leaves it out, time={names[j]!r} takes the times "
                f"from it"
            )
        elif (steps > 0.0).all():
            yield (
                f"feature {names[j]!r} only ever increases, like a time or a number of the sample: "
                f"exclude=[{names[j]!r}] leaves it out, time={names[j]!r} takes the times from it"
            )
    different = len(np.unique(X[:, -1]))
    if whole[-1] and not whole.all() and 2 <= different <= min(_MOST_LABELS, n // 10):
        yield (
            f"feature {names[-1]!r} has only {different} different values, all whole: if these are "
            f"labels, exclude=[{names[-1]!r}] leaves it out, label={names[-1]!r} takes the labels "
            f"from it"
        )


def _constant(X: NDArray[np.float64], names: Sequence[str], constant: NDArray[np.bool_]) -> str:
    found = [names[j] for j in np.flatnonzero(constant).tolist()]
    if len(found) == 1:
        value = X[0, constant][0]
        return (
            f"feature {found[0]!r} never changes ({value:g} in the first {len(X):,} samples); "
            f"exclude=[{found[0]!r}] leaves it out"
        )
    some = ", ".join(map(short, found[:_SHOWN]))
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return f"{len(found):,} features never change in the first {len(X):,} samples: {some}{more}"


def _dominant(X: NDArray[np.float64], names: Sequence[str]) -> Iterator[str]:
    variance = (X / max(np.abs(X).max(), 1e-300)).var(axis=0)  # no overflow
    if (variance > 0.0).sum() < 2:
        return
    share = variance / variance.sum()
    j = int(share.argmax())
    if share[j] > _DOMINANT:
        yield (
            f"feature {names[j]!r} has {percent(float(share[j]))} of all variance, so the others "
            f"hardly count; scale='standard' gives all features the same weight"
        )
