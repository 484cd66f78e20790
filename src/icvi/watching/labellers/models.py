"""Clusterers as files: icvi's own without pickles, all others as pickles."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from icvi import optional
from icvi.files import replacing
from icvi.watching.labellers.labeller import PICKLING_ERRORS, comes_from
from icvi.watching.trusted_files import OTHERS_WRITE, check_trusted_file, open_file

_OURS = ".icvi"
_PICKLES = (".pkl", ".pickle")
_JOBLIB = ".joblib"

#: Suffixes of model files.
SUFFIXES = (_OURS, *_PICKLES, _JOBLIB)


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether a path has the suffix of a model file."""
    return Path(path).suffix.lower() in SUFFIXES


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a clusterer from a file.

    Reading an ``.icvi`` file runs no code. Reading ``.pkl``, ``.pickle`` and ``.joblib`` can run
    any code: open only files that you trust. A file that another user owns or can write is
    refused, as ssh refuses such keys.

    Parameters
    ----------
    path : str or path-like
        The file, as `save_model`, pickle or joblib wrote it.
    """
    suffix = _suffix(path)
    if suffix == _OURS:
        from icvi.saving.kinds import load

        model = load(path)
        if not hasattr(model, "predict"):
            raise ValueError(
                f"{os.fspath(path)} holds a {type(model).__name__}, not a clusterer; icvi.load "
                f"reads it"
            )
        return model
    read = pickle.load if suffix in _PICKLES else _joblib().load
    with open_file(path) as file:
        check_trusted_file(file, path, "use a model that you saved yourself")
        try:
            return restore_views(read(file))
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} cannot be read as a model: {error!r}; use the package versions "
                f"that it was saved with"
            ) from error


def check_savable(model: Any, path: str | os.PathLike[str]) -> None:
    """Refuse a path that `save_model` would refuse, before the model learns.

    Parameters
    ----------
    model, path
        As in `save_model`.
    """
    if model is None:
        raise ValueError("there is no model to save: the labels come from a column")
    if _suffix(path) == _OURS and not _is_ours(model):
        raise ValueError(
            f"an .icvi file holds FuzzyART, FuzzySMART and icvi's other estimators, and no code; "
            f"save a {type(model).__name__} as .pkl or .joblib"
        )
    if _suffix(path) == _JOBLIB:
        _joblib()
    directory = Path(os.path.realpath(path)).parent
    if not directory.is_dir():
        raise FileNotFoundError(f"the directory {directory} for the model does not exist")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a clusterer to a file, for `load_model`.

    An existing file is replaced when the new one is complete and on the disk, not before.

    Parameters
    ----------
    model : object
        A clusterer.
    path : str or path-like
        With the suffix ``.icvi`` for icvi's own estimators; ``.pkl``, ``.pickle`` or ``.joblib``
        for any clusterer that can be pickled.

    Examples
    --------
    >>> import icvi, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.icvi"
    >>> save_model(icvi.FuzzyART(rho=0.8), path)
    >>> load_model(path)
    FuzzyART(rho=0.8)
    """
    check_savable(model, path)
    suffix = _suffix(path)
    if suffix == _OURS:
        model.save(path)
        return
    dump: Callable[[Any, IO[bytes]], Any] = pickle.dump if suffix in _PICKLES else _joblib().dump
    # `load_model` refuses files that others can write.
    with replacing(path, without=OTHERS_WRITE) as file:
        try:
            dump(model, file)
        except PICKLING_ERRORS as error:
            raise TypeError(f"{type(model).__name__} cannot be pickled: {error!r}") from error


def restore_views(model: Any) -> Any:
    """Restore the views of a Birch that was pickled; other models are returned as they are.

    The nodes of its tree write to one array and read from a view of it. Pickling turns the two
    into separate arrays: without the view, an unpickled Birch would keep its old centroids.
    """
    if not comes_from(model, "sklearn.cluster._birch") or not hasattr(model, "root_"):
        return model
    nodes = [model.root_]
    while nodes:
        node = nodes.pop()
        n = len(node.subclusters_)
        if n:
            node.centroids_ = node.init_centroids_[:n]
            node.squared_norm_ = node.init_sq_norm_[:n]
        nodes += [each.child_ for each in node.subclusters_ if each.child_ is not None]
    return model


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"expected a model file with the suffix {', '.join(SUFFIXES)}, got {os.fspath(path)}"
        )
    return suffix


def _is_ours(model: Any) -> bool:
    from icvi.art.saved_art import ESTIMATORS
    from icvi.clustering.micro_ward import MicroWard

    return type(model) in (*ESTIMATORS.values(), MicroWard)


def _joblib() -> Any:
    return optional.load("joblib", "art", "a .joblib file")
