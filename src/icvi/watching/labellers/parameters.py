"""Parameters of clusterers on the command line, checked against the signature of the class."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from icvi.wording import did_you_mean, short

#: Clusterers of river that pass keywords they do not know to their k-means.
_PASSED_ON = ("river.cluster.clustream.CluStream", "river.cluster.streamkmeans.STREAMKMeans")


def parse_param(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``.

    The value is read as JSON, then as a literal of Python; what is neither is a string.

    Examples
    --------
    >>> [parse_param(text) for text in ("n_clusters=5", "bounds=[0, 1]", "rho=.9")]
    [('n_clusters', 5), ('bounds', [0, 1]), ('rho', 0.9)]
    >>> [parse_param(text) for text in ("init=random", "seed=null", "copy=False")]
    [('init', 'random'), ('seed', None), ('copy', False)]
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier():
        raise ValueError(f"expected NAME=VALUE, such as n_clusters=5, got {text!r}")
    return name, _parse(value.strip())


def _parse(value: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return value


def refuse_parameters(params: Mapping[str, Any], what: str) -> None:
    """Refuse parameters for an object that exists already."""
    if params:
        raise ValueError(f"{what}, which has its parameters; leave out {', '.join(params)}")


def make(kind: Callable[..., Any], params: Mapping[str, Any]) -> Any:
    """Create an object; parameters that its class does not have are refused."""
    name = getattr(kind, "__name__", repr(kind))
    known = known_parameters(kind)
    for given in params:
        if known is not None and given not in known:
            raise ValueError(
                f"{name} has no parameter {given!r}{did_you_mean(given, known)}; it has "
                f"{', '.join(known) or 'none'}"
            )
    try:
        return kind(**params)
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{key}={short(value)}" for key, value in params.items())
        raise ValueError(f"cannot create {name}({given}): {error}") from error


def known_parameters(kind: Callable[..., Any]) -> list[str] | None:
    """Names of the parameters of a class; None where it accepts any."""
    parameters = inspect.signature(kind).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = [p.name for p in parameters if p.kind in named]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        if f"{kind.__module__}.{kind.__qualname__}" not in _PASSED_ON:
            return None
        from river.cluster import KMeans

        known += [name for name in inspect.signature(KMeans).parameters if name != "n_clusters"]
    return list(dict.fromkeys(known))
