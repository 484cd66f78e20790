"""Pickles of version 0.1.0, from before its modules moved into folders.

A pickle names the modules of its classes, and those of that version are gone, so `pickle.loads`
refuses it: "No module named 'icvi.tracker'". `loads` knows where the classes are now, and what
their attributes are called. Pickles are made for the version that wrote them: to keep an object,
`save` it.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from icvi.kernels import layout as L

State = dict[str, Any]

#: Classes and functions that have moved, from their old to their new place.
_MOVED = {
    "icvi.bank.TrackerBank": "icvi.tracking.bank.TrackerBank",
    "icvi.clock.Clock": "icvi.tracking.forgetting.clock.Clock",
    "icvi.clusters.Clusters": "icvi.state.clusters.Clusters",
    "icvi.connectivity.Connectivity": "icvi.connectivity.connectivity.Connectivity",
    "icvi.fading.Fading": "icvi.tracking.forgetting.half_life.HalfLife",
    "icvi.indices.index.Ridge": "icvi.indices.ridge.Ridge",
    "icvi.indices.recipes.from_recipe": "icvi.indices.catalogue.from_spec",
    "icvi.mixtures.Mixtures": "icvi.tracking.mixtures.Mixtures",
    "icvi.partition.Partition": "icvi.state.partition.Partition",
    "icvi.prototype_graph.PrototypeGraph": "icvi.connectivity.graph.Graph",
    "icvi.prototypes.Prototypes": "icvi.tracking.prototypes.Prototypes",
    "icvi.prototypes.Quantization": "icvi.tracking.prototypes.Quantization",
    "icvi.readings.Readings": "icvi.tracking.index_reader.IndexReader",
    "icvi.trace.Trace": "icvi.tracking.trace.Trace",
    "icvi.tracker.Tracker": "icvi.tracking.tracker.Tracker",
    "icvi.treatment.Treatment": "icvi.indices.undefined.UndefinedPolicy",
    "icvi.windows.Gone": "icvi.tracking.forgetting.window.Gone",
    "icvi.windows.Window": "icvi.tracking.forgetting.window.Window",
}


def loads(data: bytes) -> Any:
    """Load a pickle that version 0.1.0 has written; like any pickle, it can run any code.

    Parameters
    ----------
    data : bytes
        The pickle. It may contain objects of other packages too, and those of this version.

    Returns
    -------
    object
        Trackers, partitions, connectivities, banks and traces in it resume as before; objects of
        classes that a user derived from these do not.

    Examples
    --------
    >>> import pickle
    >>> from icvi.saving import old_pickles
    >>> old_pickles.loads(pickle.dumps({"n": 3}))
    {'n': 3}
    """
    return _Unpickler(io.BytesIO(data)).load()


class _Unpickler(pickle.Unpickler):
    """Finds classes where they are now, and changes the states of those that have changed."""

    def find_class(self, module: str, name: str) -> Any:
        place = f"{module}.{name}"
        if place == "icvi.indices.index._own_index":
            return _own_index
        if place not in _MOVED:
            return super().find_class(module, name)
        found = _found(_MOVED[place])
        return _upgrading(found, _UPGRADES[place]) if place in _UPGRADES else found


def _found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)


def _upgrading(kind: Any, upgrade: Callable[[State], State]) -> Any:
    """A class whose objects, when they get an old state, become those of ``kind``."""

    class Old(kind):  # type: ignore[misc]
        __slots__ = ()  # the class of an object can change only if the memory looks the same

        def __setstate__(self, state: State) -> None:
            self.__class__ = kind
            if hasattr(kind, "__setstate__"):
                kind.__setstate__(self, upgrade(state))
            else:
                self.__dict__.update(upgrade(state))

    return Old


# -- what has changed inside -----------------------------------------------------------------


def _tracker(state: State) -> State:
    del state["_window"], state["_fading"]  # one of them is the flow, unless both are None
    forgetting = state.pop("_flow")
    if forgetting is None:
        forgetting = _found("icvi.tracking.forgetting.base.Forgetting")()
    plain = state["_prototypes"] is None and not forgetting.forgets
    renamed = {"_treatment": "_policy", "_readings": "_reader", "_partition": "_clusters"}
    state = {renamed.get(name, name): value for name, value in state.items()}
    return state | {"_forgetting": forgetting, "_plain": plain, "_looks": None}


def _trace(state: State) -> State:
    return {"_policy": state.pop("_treatment"), **state, "alarms": []}


def _clusters(state: State) -> State:
    """Rows of sums had zeros at the end, up to a multiple of four."""
    d = int(state["meta"][L.D])
    state["meta"][L.Q_WIDTH] = d
    return state | {"Q": np.ascontiguousarray(state["Q"][:, :, :d])}


def _connectivity(state: State) -> State:
    kind = _found("icvi.connectivity.labelled_graph.LabelledGraph")
    graph = kind(state["convention"], state["border"])
    graph.labels, graph.graph = state["_labels"], state["_graph"]
    return {"_state": graph}


def _prototypes(state: State) -> State:
    graphs = {form: vars(c)["_state"] for form, c in state.pop("connectivities").items()}
    return state | {"graphs": graphs}


def _own_index(module: str, name: str, facts: State, code: bytes | None = None) -> Any:
    gone = ("own", "recipe")
    facts = {key: value for key, value in facts.items() if key not in gone}
    return _found("icvi.indices.index._own_index")(module, name, facts, code)


_UPGRADES = {
    "icvi.clusters.Clusters": _clusters,
    "icvi.connectivity.Connectivity": _connectivity,
    "icvi.prototypes.Prototypes": _prototypes,
    "icvi.trace.Trace": _trace,
    "icvi.tracker.Tracker": _tracker,
}
