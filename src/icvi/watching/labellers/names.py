"""Clusterers by name: a short one, a dotted one, or a file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from icvi import optional, wording
from icvi.watching.labellers.models import SUFFIXES, is_model, load_model
from icvi.watching.labellers.parameters import known_parameters, make, refuse_parameters
from icvi.wording import did_you_mean

#: What the names on the command line stand for.
CLUSTERERS = {
    "auto": "icvi.MicroWard",
    "art": "icvi.FuzzyART",
    "smart": "icvi.FuzzySMART",
    "minibatch-kmeans": "sklearn.cluster.MiniBatchKMeans",
    "birch": "sklearn.cluster.Birch",
    "dbstream": "river.cluster.DBSTREAM",
    "denstream": "river.cluster.DenStream",
    "clustream": "river.cluster.CluStream",
    "streamkmeans": "river.cluster.STREAMKMeans",
}
#: Other names for some of them.
_ALIASES = {
    "kmeans": "minibatch-kmeans",
    "k-means": "minibatch-kmeans",
    "minibatchkmeans": "minibatch-kmeans",
    "fuzzyart": "art",
    "fuzzy-art": "art",
    "fuzzysmart": "smart",
    "fuzzy-smart": "smart",
    "microward": "auto",
    "micro-ward": "auto",
    "stream-kmeans": "streamkmeans",
}
#: Parameters that hold a random seed.
_SEEDS = ("random_state", "seed")
_EXTRAS = {"sklearn": "art", "river": "river"}

#: What a class has, at least one of them, that can be a clusterer.
_METHODS = ("partial_fit", "fit", "fit_predict", "predict", "learn_one")


def named_clusterer(name: str, params: Mapping[str, Any], seed: int = 0) -> Any:
    """The clusterer that a name stands for.

    Parameters
    ----------
    name : str
        One of auto, art, smart, minibatch-kmeans, birch, dbstream, denstream, clustream,
        streamkmeans; a class with its module, ``sklearn.cluster.MiniBatchKMeans`` or
        ``your.module.Class``, or an estimator object in a module, ``your.module.model``; or the
        path of a saved model: ``.icvi``, ``.pkl``, ``.pickle`` or ``.joblib``. Importing a module
        and opening a pickle run code: name only modules and files that you trust. Of a module, only
        a class of clusterers is called. Pickles that another user owns or can write are refused. An
        ``.icvi`` file holds no code.
    params : mapping
        Parameters of the class; none with a saved model or an estimator object, which have theirs.
    seed : int, default 0
        Random seed of a class that has one (``random_state`` or ``seed``), unless it is among the
        parameters.

    Examples
    --------
    >>> named_clusterer("kmeans", {"n_clusters": 5})
    MiniBatchKMeans(n_clusters=5, random_state=0)
    >>> named_clusterer("sklearn.cluster.Birch", {"treshold": 0.3})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: Birch has no parameter 'treshold', did you mean 'threshold'?; it has threshold, ...
    """
    if is_model(name):
        refuse_parameters(params, f"{name} is a saved model")
        return load_model(name)
    if "/" in name or os.sep in name:
        raise ValueError(f"{name} is not a model file; expected the suffix {', '.join(SUFFIXES)}")
    short = _short(name)
    is_dotted = "." in name and all(part.isidentifier() for part in name.split("."))
    if short not in CLUSTERERS and not is_dotted:
        raise ValueError(
            f"unknown clusterer {wording.short(name)}"
            f"{did_you_mean(name, [*CLUSTERERS, 'kmeans'])}; "
            f"expected one of {', '.join(CLUSTERERS)}, a class with its module such as "
            f"sklearn.cluster.MiniBatchKMeans, or the file of a saved model"
        )
    dotted = CLUSTERERS.get(short, name)
    found = _find(dotted)
    _check_clusterer(found, dotted)
    if isinstance(found, type):
        return make(found, {**_seeded(found, params, seed), **params})
    refuse_parameters(params, f"{name} is an object, not a class")
    return found


def has_bounds(name: str) -> bool:
    """Whether a name stands for a clusterer that works within bounds.

    >>> has_bounds("FuzzyART"), has_bounds("kmeans")
    (True, False)
    """
    return _short(name) in ("art", "smart")


def _short(name: str) -> str:
    """A short name as it is in `CLUSTERERS`."""
    short = name.lower().replace("_", "-").replace(" ", "-")
    return _ALIASES.get(short, short)


def seed_of(kind: Any) -> str | None:
    """The parameter of a class that holds a random seed; None where there is none.

    >>> from sklearn.cluster import Birch, MiniBatchKMeans
    >>> seed_of(MiniBatchKMeans), seed_of(Birch)
    ('random_state', None)
    """
    known = known_parameters(kind) or []
    return next((name for name in _SEEDS if name in known), None)


def _seeded(kind: Any, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    name = seed_of(kind)
    return {} if name is None or name in params else {name: seed}


def _find(dotted: str) -> Any:
    """The object at a dotted path."""
    module, _, name = dotted.rpartition(".")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        # If the module exists and its own import fails, that error is clearer.
        if not (error.name and f"{module}.".startswith(f"{error.name}.")):
            raise
        package = module.partition(".")[0]
        if package in _EXTRAS:
            optional.check(package, _EXTRAS[package], name)
        raise ImportError(
            f"there is no module {error.name!r} for {dotted}; is it installed, and is its "
            f"directory in PYTHONPATH?",
            name=error.name,
        ) from error
    if not hasattr(found, name):
        names = [each for each in dir(found) if not each.startswith("_")]
        raise ValueError(f"there is no class {name} in {module}{did_you_mean(name, names)}")
    return getattr(found, name)


def _check_clusterer(found: Any, dotted: str) -> None:
    """Refuse an object that is no clusterer and no class of clusterers, without calling it."""
    # Methods are looked up in the class: an object could make up any, or run code when asked.
    kind = found if isinstance(found, type) else type(found)
    if not any(callable(getattr(kind, method, None)) for method in _METHODS):
        what = "a class" if kind is found else f"a {kind.__name__}"
        raise ValueError(
            f"{dotted} is {what} without any of the methods of a clusterer; expected a class or an "
            f"estimator object with {', '.join(_METHODS[:-1])} or {_METHODS[-1]}"
        )
