"""Clusterers by name: a short one, a dotted one, or a file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from icvi import optional
from icvi.nearest import nearest
from icvi.watching.labellers.models import SUFFIXES, is_model, load_model
from icvi.watching.labellers.parameters import make

#: What the names on the command line stand for.
CLUSTERERS = {
    "art": "icvi.FuzzyART",
    "smart": "icvi.FuzzySMART",
    "minibatch-kmeans": "sklearn.cluster.MiniBatchKMeans",
    "birch": "sklearn.cluster.Birch",
    "dbstream": "river.cluster.DBSTREAM",
    "denstream": "river.cluster.DenStream",
    "clustream": "river.cluster.CluStream",
    "streamkmeans": "river.cluster.STREAMKMeans",
}
_EXTRAS = {"sklearn": "art", "river": "river"}


def named_clusterer(name: str, params: Mapping[str, Any]) -> Any:
    """The clusterer that a name stands for.

    Parameters
    ----------
    name : str
        One of art, smart, minibatch-kmeans, birch, dbstream, denstream, clustream, streamkmeans;
        a class with its module, ``sklearn.cluster.MiniBatchKMeans`` or ``your.module.Class``; or
        the path of a saved model: ``.icvi``, ``.pkl``, ``.pickle`` or ``.joblib``. Importing a
        module and opening a pickle run the code in it: open those that you trust only. An
        ``.icvi`` file holds no code.
    params : mapping
        Parameters of the class; none with a saved model, which has its own.

    Examples
    --------
    >>> named_clusterer("minibatch-kmeans", {"n_clusters": 5})
    MiniBatchKMeans(n_clusters=5)
    >>> named_clusterer("sklearn.cluster.Birch", {"treshold": 0.3})
    Traceback (most recent call last):
    ...
    ValueError: Birch has no parameter 'treshold', did you mean 'threshold'?; it has threshold, \
branching_factor, n_clusters, compute_labels
    """
    if is_model(name):
        if params:
            raise ValueError(
                f"{name} is a saved model, which has its parameters; leave out {', '.join(params)}"
            )
        return load_model(name)
    if "/" in name or os.sep in name:
        raise ValueError(
            f"{name} is not a file that a model is saved in; expected one that ends in "
            f"{', '.join(SUFFIXES)}"
        )
    short = name.lower().replace("_", "-")
    dotted = "." in name and all(part.isidentifier() for part in name.split("."))
    if short not in CLUSTERERS and not dotted:
        raise ValueError(
            f"unknown clusterer {name!r}{nearest(name, CLUSTERERS)}; expected one of "
            f"{', '.join(CLUSTERERS)}, a class with its module such as "
            f"sklearn.cluster.MiniBatchKMeans, or the file of a saved model"
        )
    return make(_find(CLUSTERERS.get(short, name)), params)


def _find(dotted: str) -> Any:
    """What is at a dotted path."""
    module, _, name = dotted.rpartition(".")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A module that is there, but in turn misses another, says so itself.
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
    if not callable(getattr(found, name, None)):
        names = [each for each in dir(found) if not each.startswith("_")]
        raise ValueError(f"there is no class {name} in {module}{nearest(name, names)}")
    return getattr(found, name)
