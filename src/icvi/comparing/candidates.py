"""What is compared: clusterers with names that tell them apart."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icvi.watching.labellers import seed_of
from icvi.watching.labellers.names import has_bounds
from icvi.watching.labellers.specs import MOST, Spec, parse_spec
from icvi.wording import listed, short


@dataclass(frozen=True)
class Candidate:
    """One of the clusterers that are compared.

    Parameters
    ----------
    name : str
        What it is called in tables and files.
    clusterer : object
        The clusterer.
    params : dict
        Its parameters, as far as they are known.
    """

    name: str
    clusterer: Any
    params: dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """A parameter that is all that the candidates differ in.

    Parameters
    ----------
    parameter : str
        Its name.
    values : tuple of float
        Its value in each candidate.
    """

    parameter: str
    values: tuple[float, ...]


def candidates_of(clusterers: Any, *, seed: int = 0, bounds: Any = None) -> list[Candidate]:
    """The candidates that a caller gives.

    Parameters
    ----------
    clusterers : dict, list, str or clusterer
        Clusterers by name, several of them, or one; each an object that `icvi.watch` takes, or a
        text that `parse_spec` reads.
    seed : int
        Random seed of clusterers that a text stands for.
    bounds : pair of float or of arrays, optional
        Bounds of the features for FuzzyART and FuzzySMART, where a text stands for them.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> [each.name for each in candidates_of([KMeans(2), KMeans(3)])]
    ['KMeans n_clusters=2', 'KMeans n_clusters=3']
    >>> [each.name for each in candidates_of(["birch threshold=0.5", "art rho=0.5..0.6/0.1"])]
    ['birch threshold=0.5', 'art rho=0.5', 'art rho=0.6']
    """
    given = clusterers if isinstance(clusterers, Mapping) else _listed(clusterers)
    if len(given) > MOST:
        raise ValueError(f"{len(given):,} clusterers are too many; at most {MOST} can be compared")
    if isinstance(given, Mapping):
        found = [
            each for name, one in given.items() for each in _named(str(name), one, seed, bounds)
        ]
    else:
        found = _unnamed(given, seed, bounds)
    if not found:
        raise ValueError("expected clusterers to compare, got none")
    if len(found) > MOST:
        raise ValueError(f"{len(found):,} clusterers are too many; at most {MOST} can be compared")
    _refuse_twice(found)
    return found


def sweep_of(candidates: Sequence[Candidate]) -> Sweep | None:
    """The parameter that is all that candidates of one class differ in; None where there is none.

    >>> sweep_of(candidates_of("minibatch-kmeans n_clusters=2..4"))
    Sweep(parameter='n_clusters', values=(2.0, 3.0, 4.0))
    """
    if len({type(each.clusterer) for each in candidates}) != 1 or len(candidates) < 2:
        return None
    params = [each.params for each in candidates]
    differ = [
        key for key in params[0] if any(not _same(p.get(key), params[0][key]) for p in params)
    ]
    if len(differ) != 1:
        return None
    values: list[Any] = [each.get(differ[0]) for each in params]
    if not all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in values):
        return None
    return Sweep(differ[0], tuple(map(float, values)))


def _listed(clusterers: Any) -> list[Any]:
    if isinstance(clusterers, (str, os.PathLike)) or not isinstance(clusterers, Iterable):
        return [clusterers]
    if hasattr(clusterers, "fit") or hasattr(clusterers, "learn_one"):  # some can be iterated
        return [clusterers]
    return list(clusterers)


def _named(name: str, given: Any, seed: int, bounds: Any) -> list[Candidate]:
    """The candidates under a name: one, or one per value of a range."""
    if not isinstance(given, (str, os.PathLike)):
        return [Candidate(name, given, _params(given))]
    specs = parse_spec(os.fspath(given))
    made = [_made(spec, seed, bounds) for spec in specs]
    if len(specs) == 1:
        return [replace(made[0], name=name)]
    return [
        replace(each, name=Spec(name, spec.params, spec.varied).text())
        for each, spec in zip(made, specs)
    ]


def _unnamed(given: Sequence[Any], seed: int, bounds: Any) -> list[Candidate]:
    objects = [each for each in given if not isinstance(each, (str, os.PathLike))]
    short_and_long: list[tuple[Candidate, str]] = []
    for each in given:
        if isinstance(each, (str, os.PathLike)):
            short_and_long += [
                (_made(spec, seed, bounds), spec.text(whole=True))
                for spec in parse_spec(os.fspath(each))
            ]
        else:
            name = _name(each, objects)
            short_and_long.append((Candidate(name, each, _params(each)), name))
    counts = Counter(each.name for each, _ in short_and_long)
    return [
        replace(each, name=long) if counts[each.name] > 1 else each for each, long in short_and_long
    ]


def _made(spec: Spec, seed: int, bounds: Any) -> Candidate:
    """The candidate that a text stands for."""
    try:
        clusterer = spec.make(seed)
    except (ValueError, ImportError, OSError) as error:
        error.add_note(f"in the clusterer {short(spec.text(whole=True))}")
        raise
    if bounds is not None and has_bounds(spec.name) and "bounds" not in spec.params:
        clusterer.set_params(bounds=bounds)
    return Candidate(spec.text(), clusterer, {**_params(clusterer), **spec.params})


def _name(clusterer: Any, others: Sequence[Any]) -> str:
    """The class, and the parameters in which clusterers of it differ."""
    name = getattr(clusterer, "__name__", type(clusterer).__name__)
    params = _params(clusterer)
    alike = [_params(each) for each in others if type(each) is type(clusterer)]
    differ = [
        key for key, value in params.items() if any(not _same(p.get(key), value) for p in alike)
    ]
    return " ".join([name, *(f"{key}={short(params[key])}" for key in differ)])


def _params(clusterer: Any) -> dict[str, Any]:
    if hasattr(clusterer, "get_params") and not isinstance(clusterer, type):
        return dict(clusterer.get_params(deep=False))
    return {}


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a is b or np.array_equal(a, b))
    except Exception:  # what a caller's own objects may raise
        return False


def _refuse_twice(candidates: Sequence[Candidate]) -> None:
    names = Counter(each.name for each in candidates)
    twice = [name for name, n in names.items() if n > 1]
    if twice:
        raise ValueError(
            f"expected candidates with different names, got {listed(map(short, twice))} more than "
            "once; give other parameters, or a dictionary of names and clusterers"
        )
    objects = Counter(id(each.clusterer) for each in candidates)
    for each in candidates:
        if objects[id(each.clusterer)] > 1 and not callable(each.clusterer):
            raise ValueError(
                f"the same object is given twice ({short(each.name)} is one of its names), and it "
                "would learn every sample twice; give every candidate an object of its own"
            )


def takes_seed(candidates: Iterable[Candidate]) -> bool:
    """Whether any of them has a random seed."""
    return any(seed_of(type(each.clusterer)) is not None for each in candidates)
