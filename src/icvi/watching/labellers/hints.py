"""One cluster, or very many: what that means, and which parameter to turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.watching.labellers.labeller import Labeller
from icvi.wording import number, plural, short

if TYPE_CHECKING:
    from icvi.tracking.tracker import Tracker

#: Samples by which the scale of the data is measured.
SAMPLED = 256

_ENOUGH = 50  # samples before a single cluster is remarkable
_MANY, _FEW = 100, 5.0  # clusters, and samples of each on average
_LISTED = 4  # features or parameters in a line


@dataclass(frozen=True)
class Knob:
    """The parameter that decides about the number of clusters.

    Parameters
    ----------
    name : str
        Of the parameter.
    more : {1, -1}
        1 where larger values give more clusters.
    scale : callable, optional
        What to compare its value with.
    option : str
        How it is typed; by default as a ``--param``.
    """

    name: str
    more: int
    scale: Callable[[Any, NDArray[np.float64]], str] | None = None
    option: str = ""


def hints(
    labeller: Labeller, tracker: Tracker, X: NDArray[np.float64], columns: Sequence[str] = ()
) -> list[str]:
    """Sentences about no cluster yet, a single one, or very many small ones; none otherwise.

    Parameters
    ----------
    labeller : Labeller
        Where the labels come from.
    tracker : Tracker
        The clusters.
    X : array of shape (m, d)
        The last samples.
    columns : sequence of str
        What features are called.
    """
    k, n = tracker.n_clusters, tracker.n_samples
    if not k and tracker.noise_share:
        return _before_the_first(labeller)
    one = k == 1 and n >= _ENOUGH
    many = k >= _MANY and n < _FEW * k
    if not (one or many):
        return []
    if one:
        what = (
            f"One cluster: all {plural(n, 'sample')} are in it. The indices compare clusters, so "
            f"they need at least two."
        )
    else:
        what = (
            f"{plural(k, 'cluster')} with {number(n / k, 2)} samples each on average: too few "
            f"samples to judge a cluster by."
        )
    return [what, _turn(labeller, X, 1 if one else -1), *_spread(X, columns)]


def _before_the_first(labeller: Labeller) -> list[str]:
    """What a clusterer waits for that has no cluster yet."""
    name, model = _GATHERED.get(labeller.name), _last_step(labeller.model)
    if name is None or not hasattr(model, name):
        return []
    first = plural(getattr(model, name), "sample")
    return [
        f"No cluster yet: {labeller.name} gathers {first} before it looks for clusters ({name}, "
        f"--param {name}=...). If it has more than these by now, it finds none: see its other "
        f"parameters."
    ]


def _last_step(model: Any) -> Any:
    """The end of a pipeline of river, or the model itself."""
    while isinstance(steps := getattr(model, "steps", None), Mapping) and steps:
        model = [*steps.values()][-1]
    return model


def _turn(labeller: Labeller, X: NDArray[np.float64], sign: int) -> str:
    """Which parameter to turn, and where to."""
    model, wanted = labeller.model, "more" if sign > 0 else "fewer"
    if model is None:
        alike = "holds the same label in every sample" if sign > 0 else "holds so many labels"
        return f"{labeller.name[0].upper()}{labeller.name[1:]} {alike}: is it the one you mean?"
    model = _last_step(model)
    knob = _KNOBS.get(labeller.name)
    if knob is None or not hasattr(model, knob.name):
        names = [*(model.get_params() if hasattr(model, "get_params") else {})]
        some = f": {', '.join(names[:_LISTED])}" if names else ""
        return f"{labeller.name} has found them; its parameters decide how many there are{some}."
    value = getattr(model, knob.name)
    option = knob.option or f"--param {knob.name}=..."
    turn = "raise" if knob.more == sign else "lower"
    if value is None:
        turn = "give"
    name = f"{knob.name} ({option}) of {labeller.name}"
    text = f"For {wanted} clusters, {turn} {name}, now {_shown(value)}."
    scale = knob.scale(model, X) if knob.scale is not None and len(X) > 1 else ""
    return f"{text} {scale}" if scale else text


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, (int, float)) else short(value)


def _distances(model: Any, X: NDArray[np.float64]) -> str:
    """How far samples are from each other."""
    del model
    squares = (X**2).sum(axis=1)
    between = squares[:, None] + squares - 2.0 * X @ X.T
    np.fill_diagonal(between, np.inf)
    nearest = float(np.sqrt(max(np.median(between.min(axis=1)), 0.0)))
    center = float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return (
        f"Of the last {len(X)} samples, one is typically {number(nearest, 2)} from the nearest "
        f"other and {number(center, 2)} from their mean."
    )


def _span(model: Any, X: NDArray[np.float64]) -> str:
    """How much of the range a category may span, and how much the samples do."""
    # What was learnt from the first batch has no public name.
    bounds = getattr(getattr(model, "_scaling", None), "bounds", None)
    rho = getattr(model, "rho_b", getattr(model, "rho", None))
    if bounds is None or rho is None:
        return ""
    low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
    width = np.where(high > low, high - low, np.inf)
    inside = (np.clip(X, low, high) - low) / width
    spanned = float(np.ptp(inside, axis=0).sum())
    d = X.shape[1]
    return (
        f"A cluster may span {number(d * (1.0 - rho), 2)} of {d} (the bounds of all features), and "
        f"the last {len(X)} samples span {number(spanned, 2)}."
    )


def _spread(X: NDArray[np.float64], columns: Sequence[str]) -> list[str]:
    """The standard deviations of the features."""
    if len(X) < 2:
        return []
    d = X.shape[1]
    names = list(columns) if len(columns) == d else [f"x{j + 1}" for j in range(d)]
    spread = X.std(axis=0)
    order = np.argsort(-spread, kind="stable").tolist()
    chosen = order if d <= _LISTED else [*order[:2], order[-1]]
    texts = [f"{names[j]} {number(float(spread[j]), 2)}" for j in chosen]
    if d > _LISTED:
        texts.insert(2, "...")
    return [f"Standard deviations of the features: {', '.join(texts)}."]


#: Samples that clusterers take before their first cluster.
_GATHERED = {
    "DenStream": "n_samples_init",
    "CluStream": "max_micro_clusters",
    "STREAMKMeans": "chunk_size",
}

_KNOBS = {
    "FuzzyART": Knob("rho", 1, _span, "--rho"),
    "FuzzySMART": Knob("rho_b", 1, _span, "--rho-b"),
    "MiniBatchKMeans": Knob("n_clusters", 1),
    "KMeans": Knob("n_clusters", 1),
    "STREAMKMeans": Knob("n_clusters", 1),
    "CluStream": Knob("n_macro_clusters", 1),
    "Birch": Knob("threshold", -1, _distances),
    "DBSTREAM": Knob("clustering_threshold", -1, _distances),
    "DenStream": Knob("epsilon", -1, _distances),
}
