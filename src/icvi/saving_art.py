"""What of an ART estimator is written down, and how it is made again.

Facts are ``parameters``, those of the constructor, and ``learnt``, what a fit has added: whole
numbers, names, and for each part, such as a module, its kind and what of it is no array. Arrays of
a part have its name in front: ``_module.weights``, ``_scaling.bounds``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi import container
from icvi.art.classes import Classes
from icvi.art.fuzzy_art import FuzzyART
from icvi.art.fuzzy_artmap import FuzzyARTMAP
from icvi.art.fuzzy_smart import FuzzySMART
from icvi.art.module import Module
from icvi.art.module_a import ModuleA
from icvi.art.module_b import ModuleB
from icvi.art.quantizer import Quantizer
from icvi.art.scaling import Scaling
from icvi.written import as_json, from_json

if TYPE_CHECKING:
    from icvi.art.estimator import ArtEstimator

Arrays = Mapping[str, NDArray[Any]]
Packed = tuple[Any, dict[str, NDArray[Any]]]

#: The estimators that files know, by name.
ESTIMATORS: dict[str, type[ArtEstimator]] = {
    kind.__name__: kind for kind in (FuzzyART, FuzzySMART, FuzzyARTMAP, Quantizer)
}

#: What a fit may add. The scaling comes before what refers to it.
_LEARNT = (
    *("n_features_in_", "feature_names_in_", "n_iter_", "labels_", "winners_"),
    *("_scaling", "_module", "_prototypes", "_clusters", "_seen", "_targets"),
)
_NUMBERS = "biuf"


def save_art(estimator: ArtEstimator, path: str | os.PathLike[str]) -> None:
    """Write an estimator to a file."""
    kind = type(estimator).__name__
    if ESTIMATORS.get(kind) is not type(estimator):
        raise TypeError(
            f"expected one of {', '.join(ESTIMATORS)}, got a {kind}: a file holds no code, so it "
            f"cannot hold what a class of your own adds; pickle it"
        )
    version = sys.modules["icvi"].__version__
    facts, arrays = pack_art(estimator)
    container.write(path, {"kind": kind, "icvi": version, **facts}, arrays)


def pack_art(estimator: ArtEstimator) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Facts and arrays of an estimator."""
    parameters = estimator.get_params(deep=False)
    learnt: dict[str, Any] = {}
    packed: dict[str, NDArray[Any]] = {}
    for name in _LEARNT:
        if name in vars(estimator):
            learnt[name], arrays = _pack(vars(estimator)[name])
            packed |= {f"{name}.{part}": array for part, array in arrays.items()}
    facts = {name: _parameter(value) for name, value in parameters.items()}
    return {"parameters": facts, "learnt": learnt}, packed


def unpack_art(facts: Mapping[str, Any], arrays: Arrays) -> ArtEstimator:
    """An estimator as it was packed."""
    if facts["kind"] not in ESTIMATORS:
        raise ValueError(
            f"the file holds a {facts['kind']}, which this version of icvi does not know; a newer "
            f"icvi has written it"
        )
    parameters = {name: _as_parameter(written) for name, written in facts["parameters"].items()}
    estimator = ESTIMATORS[facts["kind"]](**parameters)
    for name, written in facts["learnt"].items():
        front = f"{name}."
        own = {part.removeprefix(front): a for part, a in arrays.items() if part.startswith(front)}
        setattr(estimator, name, _unpack(written, own, vars(estimator).get("_scaling")))
    return estimator


# -- what was learnt -----------------------------------------------------------------------


def _pack(part: Any) -> Packed:
    match part:
        case int():
            return part, {}
        case Scaling():
            return {"scaling": part.name}, {"bounds": part.bounds}
        case Module():
            return {"module": None}, _module_arrays(part)
        case ModuleA():
            labels = [as_json(label) for label in part.labels.known()]
            return {"module_a": labels}, {**_module_arrays(part.module), "seen": part.seen}
        case ModuleB():
            facts = {"flat": part._flat, "scaling": part.scaling.name}
            return {"module_b": facts}, {
                **_module_arrays(part.module),
                "bounds": part.scaling.bounds,
            }
        case Classes():
            return {"classes": {"closed": part._closed, **_labels(part._joined)}}, {}
        case np.ndarray() if part.dtype == np.int64:
            return {"array": None}, {"values": part}
    return {"names": [as_json(name) for name in part]}, {}


def _unpack(written: Any, arrays: Arrays, scaling: Scaling | None) -> Any:
    if isinstance(written, int):
        return written
    ((kind, facts),) = written.items()
    match kind:
        case "scaling":
            return _scaling(arrays, facts)
        case "module":
            return _module(arrays)
        case "module_a":
            assert scaling is not None
            a = ModuleA(scaling)
            a.labels.remember(from_json(label) for label in facts)
            a.module, a.seen = _module(arrays), arrays["seen"].copy()
            return a
        case "module_b":
            b = ModuleB.__new__(ModuleB)  # it would learn its bounds from samples
            b._flat, b.module = facts["flat"], _module(arrays)
            b.scaling = _scaling(arrays, facts["scaling"])
            return b
        case "classes":
            classes = Classes()
            classes._closed = facts["closed"]
            classes._number(_as_labels(facts))
            return classes
        case "array":
            return arrays["values"].copy()
    assert kind == "names", kind
    return np.array([from_json(name) for name in facts], dtype=object)


def _module_arrays(module: Module) -> dict[str, NDArray[Any]]:
    return {"weights": module.W, "counters": module.counters}


def _module(arrays: Arrays) -> Module:
    module = Module(0)
    module.W, module.counters = arrays["weights"].copy(), arrays["counters"].copy()
    return module


def _scaling(arrays: Arrays, name: str) -> Scaling:
    low, high = arrays["bounds"].copy()
    return Scaling(low, high, name)


def _labels(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels of classes; their dtype decides on what those that join become."""
    return {"dtype": labels.dtype.str, "labels": [as_json(label) for label in labels.tolist()]}


def _as_labels(facts: Mapping[str, Any]) -> NDArray[Any]:
    return np.array([from_json(label) for label in facts["labels"]], dtype=facts["dtype"])


# -- parameters ----------------------------------------------------------------------------


def _parameter(value: Any) -> Any:
    """A parameter in terms of JSON: numbers of numpy, lists and arrays are such again later."""
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [_parameter(item) for item in value]}
    if not hasattr(value, "__array__"):
        return as_json(value)
    array = np.asarray(value)
    if array.dtype.kind not in _NUMBERS:
        return as_json(value)
    numbers = [as_json(number) for number in array.ravel().tolist()]
    kind = "number" if isinstance(value, np.generic) else "array"
    return {kind: {"dtype": array.dtype.str, "shape": array.shape, "numbers": numbers}}


def _as_parameter(written: Any) -> Any:
    match written:
        case {"list": items}:
            return [_as_parameter(item) for item in items]
        case {"tuple": items}:
            return tuple(_as_parameter(item) for item in items)
        case {"number": facts} | {"array": facts}:
            numbers = [from_json(number) for number in facts["numbers"]]
            array = np.array(numbers, dtype=facts["dtype"]).reshape(facts["shape"])
            return array[()] if "number" in written else array
    return from_json(written)
