"""What is saved of an ART estimator, and how it is made again.

Facts are ``parameters``, those of the constructor, and ``learnt``, what a fit has added: whole
numbers, names, and for each part, such as a module, its kind and what is not an array. Arrays of
a part have its name in front: ``_module.weights``, ``_scaling.bounds``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.base import LEARNT, ArtEstimator
from icvi.art.categories import Module, ModuleA
from icvi.art.fuzzy_art import FuzzyART
from icvi.art.fuzzy_artmap import FuzzyARTMAP
from icvi.art.fuzzy_smart import FuzzySMART
from icvi.art.quantizer import Quantizer
from icvi.art.saved_categories import as_module, as_module_a, as_scaling, module_arrays
from icvi.art.scaling import Scaling
from icvi.art.targets import Classes, ModuleB, Targets
from icvi.saving.json_values import as_json
from icvi.saving.parameters import as_dtype, parameter_as_json, parameter_from_json
from icvi.saving.parts import MOST, Packed, Part, nested

#: The estimators that files know, by name.
ESTIMATORS: dict[str, type[ArtEstimator]] = {
    kind.__name__: kind for kind in (FuzzyART, FuzzySMART, FuzzyARTMAP, Quantizer)
}

#: What bounds are called: those of samples, and of targets.
_BOUNDS = ("bounds", "bounds_y")
#: Bytes that labels of classes may take when their dtype is wider than they are.
_WIDEST = 2**24


def pack(estimator: ArtEstimator) -> Packed:
    """Facts and arrays of an estimator."""
    parameters = estimator.get_params(deep=False)
    learnt: dict[str, Any] = {}
    packed: dict[str, NDArray[Any]] = {}
    for name in LEARNT:
        if name in vars(estimator):
            learnt[name], arrays = _pack(vars(estimator)[name])
            packed |= nested(name, arrays)
    facts = {name: parameter_as_json(value) for name, value in parameters.items()}
    return {"parameters": facts, "learnt": learnt}, packed


def unpack(part: Part, _: Iterable[Any] = ()) -> ArtEstimator:
    """The estimator that was packed; the facts have its kind."""
    kind = ESTIMATORS[part.choice("kind", list(ESTIMATORS))]
    parameters = part.part("parameters")
    known = kind().get_params(deep=False)
    for name in parameters.facts:
        parameters.require(name in known, name, f"a parameter of {kind.__name__}")
    made = {}
    for name, encoded in parameters.facts.items():
        with parameters.making(name):
            made[name] = parameter_from_json(encoded)
    estimator = kind(**made)
    learnt = part.part("learnt")
    if learnt.facts:
        estimator.__dict__.update(_as_learnt(estimator, part, learnt))
    return estimator


# -- what was learnt -----------------------------------------------------------------------


def _pack(part: Any) -> tuple[Any, dict[str, NDArray[Any]]]:
    match part:
        case int():
            return part, {}
        case Scaling():
            return {"scaling": part.name}, {"bounds": part.bounds}
        case Module():
            return {"module": None}, module_arrays(part)
        case ModuleA():
            labels = [as_json(label) for label in part.labels.known()]
            return {"module_a": labels}, {**module_arrays(part.module), "seen": part.seen}
        case ModuleB():
            facts = {"flat": part.flat, "scaling": part.scaling.name}
            return {"module_b": facts}, {
                **module_arrays(part.module),
                "bounds": part.scaling.bounds,
            }
        case Classes():
            return {"classes": {"closed": part.closed, **_labels(part.answers)}}, {}
        case np.ndarray() if part.dtype == np.int64:
            return {"array": None}, {"values": part}
    return {"names": [as_json(name) for name in part]}, {}


def _as_learnt(estimator: ArtEstimator, part: Part, learnt: Part) -> dict[str, Any]:
    """The attributes that a fit adds; a file can set no others."""
    _, scaling = _piece(part, learnt, "_scaling", "scaling")
    made: dict[str, Any] = {"_scaling": as_scaling(scaling, scaling.choice("scaling", _BOUNDS))}
    d = made["_scaling"].d
    also: tuple[str, ...]
    made["n_features_in_"] = learnt.whole("n_features_in_", d, d)
    match estimator:
        case FuzzyART():
            made["_module"] = as_module(_piece(part, learnt, "_module", "module")[1], d)
            also = ("n_iter_", "labels_")
        case FuzzySMART():
            made |= _as_hierarchy(part, learnt, d)
            also = ("labels_", "winners_")
        case Quantizer():
            _, piece = _piece(part, learnt, "_module", "module_a")
            made["_module"] = as_module_a(piece, piece.labels("module_a"), made["_scaling"])
            also = ("winners_",)
        case _:
            made["_targets"] = _as_targets(part, learnt)
            targets = range(len(made["_targets"].answers))
            made["_module"] = as_module(_piece(part, learnt, "_module", "module")[1], d, targets)
            also = ("n_iter_",)
    for name in learnt.facts.keys() - made.keys():
        learnt.require(name in (*also, "feature_names_in_"), name, "something that is learnt")
        made[name] = _as_extra(part, learnt, name, d)
    return made


def _piece(part: Part, learnt: Part, name: str, *kinds: str) -> tuple[str, Part]:
    """The kind of a learnt attribute, and its facts and arrays."""
    piece = part.part(name, learnt.fact(name))
    kind = next(iter(piece.facts), "")
    piece.require(len(piece.facts) == 1 and kind in kinds, "", f"one of {', '.join(kinds)}", kind)
    return kind, piece


def _as_hierarchy(part: Part, learnt: Part, d: int) -> dict[str, Any]:
    """Modules B and A of fuzzy SMART, and how many samples each cluster has seen."""
    clusters = as_module(_piece(part, learnt, "_clusters", "module")[1], d)
    owners = range(clusters.k)
    prototypes = as_module(_piece(part, learnt, "_prototypes", "module")[1], d, owners)
    _, piece = _piece(part, learnt, "_seen", "array")
    seen = piece.integers("values", (None,), 0, MOST)
    piece.require(seen.size >= clusters.k, "values", f"at least {clusters.k}", seen.size)
    return {"_clusters": clusters, "_prototypes": prototypes, "_seen": seen.copy()}


def _as_targets(part: Part, learnt: Part) -> Targets:
    kind, piece = _piece(part, learnt, "_targets", "classes", "module_b")
    facts = Part(piece.fact(kind), piece.arrays, part.file, f"_targets.{kind}.")
    if kind == "classes":
        classes = Classes()
        classes.closed = facts.flag("closed")
        classes.number(_as_labels(facts))
        return classes
    scaling = as_scaling(facts, facts.choice("scaling", _BOUNDS))
    b = ModuleB(scaling, flat=facts.flag("flat"))
    b.module = as_module(facts, scaling.d)
    facts.require(not b.flat or scaling.d == 1, "bounds", "those of numbers")
    return b


def _as_extra(part: Part, learnt: Part, name: str, d: int) -> Any:
    """Attributes that are only there for the user."""
    if name == "n_iter_":
        return learnt.whole(name, 1)
    if name == "feature_names_in_":
        _, piece = _piece(part, learnt, name, "names")
        names = piece.labels("names")
        fine = len(names) == d and all(isinstance(name, str) for name in names)
        piece.require(fine, "names", f"{d} names", names)
        return np.array(names, dtype=object)
    _, piece = _piece(part, learnt, name, "array")
    shape = (None,) if name == "labels_" else (None, 2)
    return piece.integers("values", shape, -1, MOST).copy()


def _labels(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels of classes, and their dtype, which new labels are converted to."""
    return {"dtype": labels.dtype.str, "labels": [as_json(label) for label in labels.tolist()]}


def _as_labels(facts: Part) -> NDArray[Any]:
    labels, name = facts.labels(), facts.text("dtype")
    with facts.making("labels"):
        dtype = as_dtype(name, "biufUSOMm")
        # Strings are as wide as the widest label so far; a file must not ask for much more.
        widest = max((len(label) for label in labels if isinstance(label, (str, bytes))), default=0)
        if dtype.itemsize * len(labels) > max(_WIDEST, 4 * widest * len(labels)):
            raise ValueError(f"expected a dtype for labels of length {widest}, got {name}")
        made = np.array(labels, dtype=dtype)
        if made.ndim != 1 or len(np.unique(made)) != len(labels):
            raise ValueError(f"expected different labels of dtype {name}")
    return made
