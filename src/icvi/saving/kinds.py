"""The kinds of objects that can be saved: one table, and `save`, `load` and the like over it.

A class does not import the module that packs it, and this room imports no class: the table names
modules, which are imported when one of their kinds is saved or loaded. Each of these modules has

    pack(thing) -> facts, arrays
    unpack(part, indices) -> thing

The facts of a file are ``kind``, a name of the table; ``icvi``, the version that wrote it; and
those that `pack` returned. `container` describes how a file looks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from icvi.saving import container
from icvi.saving.parts import Packed, Part, decode, read

Path = str | os.PathLike[str]

#: Kind -> the module that packs and unpacks it.
_MODULES = {
    "Tracker": "icvi.tracking.saved.tracker",
    "Panes": "icvi.tracking.saved.panes",
    "TrackerBank": "icvi.tracking.saved.bank",
    "Partition": "icvi.state.saved_partition",
    "Connectivity": "icvi.connectivity.saved_connectivity",
    "FuzzyART": "icvi.art.saved_art",
    "FuzzySMART": "icvi.art.saved_art",
    "FuzzyARTMAP": "icvi.art.saved_art",
    "Quantizer": "icvi.art.saved_art",
    "MicroWard": "icvi.clustering.saved_micro_ward",
}


def save(kind: str, thing: Any, path: Path) -> None:
    """Write an object of a kind to a file, for `load`."""
    write(path, kind, import_module(_MODULES[kind]).pack(thing))


def load(path: Path, indices: Iterable[Any] = ()) -> Any:
    """Load a tracker, bank, panes, partition, connectivity or estimator from a file.

    Parameters
    ----------
    path : str or path-like
        A file that `save` wrote. One that is truncated, altered, or from a newer version is
        refused.
    indices : list of Index, optional
        Your own indices that the tracker had: a file contains their names, not their code.

    Returns
    -------
    Tracker, TrackerBank, Panes, Partition, Connectivity, MicroWard or an ART estimator
        It resumes exactly as the saved object would have.

    Examples
    --------
    >>> import icvi, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "stream.icvi"
    >>> t = icvi.Tracker(["CH", "XB"])
    >>> trace = t.update_many([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> t.save(path)
    >>> icvi.load(path)["CH"]
    128.0
    """
    return _unpacked(read(os.fspath(path)), indices)


def to_bytes(kind: str, thing: Any) -> bytes:
    """The bytes of the file that `save` would write."""
    return container.encode(*_complete(kind, import_module(_MODULES[kind]).pack(thing)))


def from_bytes(buffer: Any, indices: Iterable[Any] = ()) -> Any:
    """Make a tracker, bank, partition, connectivity or estimator from the bytes of its file.

    For states that travel without a file: in a message, a database, a table column.

    Parameters
    ----------
    buffer : bytes, bytearray, memoryview or any other buffer
        What ``to_bytes`` returned, or the content of a file that ``save`` wrote; copied, so that it
        may be read-only and may change later. It is checked as in `load`.
    indices : list of Index, optional
        Your own indices that the tracker had, as in `load`.

    Returns
    -------
    Tracker, TrackerBank, Partition, Connectivity, FuzzyART, FuzzySMART, FuzzyARTMAP or Quantizer
        It resumes exactly as the original would have.

    Examples
    --------
    >>> import icvi
    >>> t = icvi.Tracker(["CH", "XB"])
    >>> trace = t.update_many([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> message = t.to_bytes()
    >>> icvi.from_bytes(message)["CH"]
    128.0
    """
    try:
        content = np.frombuffer(memoryview(buffer).tobytes(), dtype=np.uint8)
    except TypeError:
        raise TypeError(
            f"expected bytes, bytearray or memoryview, got {type(buffer).__name__}; icvi.load "
            "reads a file"
        ) from None
    return _unpacked(decode(content.copy(), "the buffer"), indices)


def _unpacked(part: Part, indices: Iterable[Any]) -> Any:
    kind = part.text("kind")
    if kind == "Watch":
        raise ValueError(
            f"{part.file} is the checkpoint of a watch; pass its directory to icvi.watch as "
            f"checkpoint="
        )
    if kind not in _MODULES:
        raise ValueError(
            f"{part.file} contains a {kind:.40}, which this version of icvi does not know; "
            f"a newer icvi has written it"
        )
    return import_module(_MODULES[kind]).unpack(part, indices)


def write(path: Path, kind: str, packed: Packed, *, without: int = 0) -> None:
    """Write packed facts and arrays to a file, which has none of the permissions `without`."""
    container.write(path, *_complete(kind, packed), without=without)


def _complete(kind: str, packed: Packed) -> Packed:
    """The same with the facts that every file has."""
    # The package, which is there when one of its modules runs, is not imported: that would make
    # this room depend on all that the package exports.
    version = sys.modules["icvi"].__version__
    facts, arrays = packed
    return {"kind": kind, "icvi": version, **facts}, arrays
