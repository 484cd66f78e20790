"""What an index is: a short function of the state, and the facts a user needs about it."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, overload

from icvi.indices.functions import (
    Reading,
    code_where_needed,
    fields_read,
    fields_read_once,
    restored,
)
from icvi.indices.ridge import Ridge
from icvi.kernels import layout as L
from icvi.kernels.state import State
from icvi.wording import short

Direction = Literal["max", "min"]

#: The caches that each field of the state needs. All other fields are always there.
_ASKS = {
    "B": L.WANT_BETWEEN,
    # W + B, not a sum over all samples: that would keep the rounding of removed samples.
    "CP_0": L.WANT_BETWEEN,
    "sep": L.WANT_BETWEEN | L.WANT_SEP,
    "mu": L.WANT_BETWEEN | L.WANT_SEP,
    "beta_T": L.WANT_SPREAD | L.WANT_NEAREST,
    "closeness": L.WANT_CLOSENESS | L.WANT_SPREAD | L.WANT_NEAREST,
    "pooled": L.WANT_POOLED,
    "nearest": L.WANT_NEAREST,
    "D_min": L.WANT_NEAREST,
    "farthest": L.WANT_FARTHEST,
    "D_max": L.WANT_FARTHEST,
    "b": L.WANT_NEIGHBOUR,
    "R": L.WANT_OVERLAP,
    "S": L.WANT_SCATTER,
    "logdet": L.WANT_SCATTER | L.WANT_LOGDET,
    "logdet_T": L.WANT_SCATTER | L.WANT_LOGDET,
    "h_sum": L.WANT_SCATTER | L.WANT_H,
    "cip_sum": L.WANT_SCATTER | L.WANT_CIP,
    "log_cip": L.WANT_SCATTER | L.WANT_H | L.WANT_LOG_CIP,
    "mixture_h": L.WANT_SCATTER | L.WANT_MIXTURES,
    "mixture_cip": L.WANT_SCATTER | L.WANT_MIXTURES,
    "mixture_log_cip": L.WANT_SCATTER | L.WANT_MIXTURES,
}


@dataclass(frozen=True, eq=False)
class Index:
    """A cluster validity index: give it to `Tracker`, `score` or `scores`.

    Attributes
    ----------
    name : str
        Key of its readings.
    title : str
        Its name in words.
    direction : {"max", "min"}
        Whether larger or smaller values mean better partitions.
    range : tuple of float
        Smallest and largest value it can take.
    limits : mapping
        The value for ``undefined="limit"``, by reason, where the formula has a limit.
    formula : str
        What is computed, in words.
    reference : str
        Where it was published.
    on : {"clusters", "prototypes"}
        What it compares. Prototypes come from the clusterer or from a `Quantizer`.
    """

    name: str
    title: str
    direction: Direction
    range: tuple[float, float]
    reading: Reading = field(repr=False)
    fields: tuple[str, ...] | None = field(default=None, repr=False)
    limits: Mapping[str, float] = field(default_factory=dict, repr=False)
    formula: str = field(default="", repr=False)
    reference: str = field(default="", repr=False)
    parameters: tuple[float, ...] = field(default=(), repr=False)
    ridge: Ridge | None = field(default=None, repr=False)
    on: Literal["clusters", "prototypes"] = field(default="clusters", repr=False)
    #: Of icvi's indices: what the module of the reading calls the index, or the function that
    #: makes it from ``options``. A user's own index has none.
    family: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def own(self) -> bool:
        """Whether it is a user's own, not one of icvi's."""
        return self.family is None

    @property
    def spec(self) -> dict[str, Any]:
        """What identifies it in a saved file; `catalogue.from_spec` reads those of icvi."""
        if self.own:
            return {"own": self.name}
        # By identity: 0.0 equals False, and delta=0.0 is an option that was given.
        given = {
            key: value
            for key, value in self.options.items()
            if value is not None and value is not False
        }
        return {"family": self.family, "options": given, "name": self.name}

    @property
    def needs(self) -> tuple[str, ...]:
        """Fields of the state that it reads."""
        # Not when it is decorated: functions that it calls may be defined further down.
        if self.fields is not None:
            return self.fields
        # A name in a user's function may refer to another function later; in ours it does not.
        return fields_read(self.reading) if self.own else fields_read_once(self.reading)

    @property
    def regularisation(self) -> Ridge | None:
        """The ridge of its covariances: its own, or the default; None if it reads none."""
        return self.ridge or (Ridge() if self.want & L.WANT_GAUSSIAN else None)

    @property
    def want(self) -> int:
        """The caches it needs, as bits of `kernels.layout`."""
        return functools.reduce(int.__or__, (_ASKS.get(name, 0) for name in self.needs), 0)

    def __call__(self, state: State) -> float:
        """Read the index from a state, without compiling anything."""
        return float(self.reading(state, *self.parameters))

    def __deepcopy__(self, memo: Any) -> Index:
        return self  # it is immutable

    def __reduce__(self) -> tuple[Any, ...]:
        # Like functions and classes, by the place of the definition.
        module, name = self.reading.__module__, self.reading.__qualname__
        if not self.own:
            return _builtin_index, (module, self.spec)
        facts = {key: value for key, value in self.__dict__.items() if key != "reading"}
        return _own_index, (module, name, facts, code_where_needed(self.reading))


def _builtin_index(module: str, spec: Mapping[str, Any]) -> Index:
    """One of icvi's indices, from the module that defines it."""
    made = getattr(importlib.import_module(module), spec["family"])
    return remade(made, spec["options"], spec["name"])


def remade(made: Index | Callable[..., Index], options: Mapping[str, Any], name: str) -> Index:
    """An index, or the one that a function makes from options, under a given name."""
    index = made if isinstance(made, Index) else made(**options)
    return index if index.name == name else replace(index, name=name)


def _own_index(module: str, name: str, facts: dict[str, Any], code: bytes | None = None) -> Index:
    """A user's index, from the module that defines its function, or from the pickled code."""
    return Index(reading=restored(module, name, code), **facts)


@overload
def index(function: Reading) -> Index: ...


@overload
def index(
    *,
    name: str | None = None,
    title: str | None = None,
    direction: Direction = "max",
    range: tuple[float, float] = (-math.inf, math.inf),
    needs: tuple[str, ...] | None = None,
    limits: Mapping[str, float] | None = None,
    formula: str = "",
    reference: str = "",
) -> Callable[[Reading], Index]: ...


def index(
    function: Reading | None = None,
    *,
    name: str | None = None,
    title: str | None = None,
    direction: Direction = "max",
    range: tuple[float, float] = (-math.inf, math.inf),
    needs: tuple[str, ...] | None = None,
    limits: Mapping[str, float] | None = None,
    formula: str = "",
    reference: str = "",
) -> Index | Callable[[Reading], Index]:
    """Make an index of a function of the state.

    The function gets a `State` and returns a number; nan (or an infinity, a division by
    zero) means undefined. `Tracker` compiles it with Numba and runs it after every sample
    inside the compiled loop, so it may use loops, arithmetic, `math` and what Numba knows
    of numpy. It must not write to the state.

    Parameters
    ----------
    function : callable
        ``f(state) -> float``. The decorator also works without parentheses.
    name, title : str, optional
        The function's name and the first line of its docstring by default.
    direction : {"max", "min"}, default "max"
        Whether larger or smaller values are better.
    range : tuple of float, optional
        Smallest and largest possible value.
    needs : tuple of str, optional
        Fields of the state that it reads. By default they are found in the function and the
        functions it calls; pass them only where that fails.
    limits : mapping, optional
        Reason to value, for ``undefined="limit"``.
    formula : str, optional
        What is computed, in words.
    reference : str, optional
        Where the index was published.

    Examples
    --------
    >>> import icvi
    >>> @icvi.index(direction="min")
    ... def ball_hall(s):
    ...     "Mean of the clusters' mean squared radii."
    ...     total = 0.0
    ...     for i in range(s.k):
    ...         total += s.CP[i] / s.n[i]
    ...     return total / s.k
    >>> icvi.score([[0.0], [2.0], [10.0], [14.0]], [0, 0, 1, 1], ball_hall)
    2.5
    """

    def decorate(function: Reading) -> Index:
        if not callable(function):
            raise TypeError(f"expected a function of the state, got {type(function).__name__}")
        if direction not in ("max", "min"):
            raise ValueError(f"expected direction 'max' or 'min', got {short(direction)}")
        if not _takes_the_state_alone(function):
            raise TypeError(
                f"expected a function of the state alone, got {function.__name__}"
                f"{inspect.signature(function)}; close over other values or give them defaults"
            )
        doc = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
        return Index(
            name=name or function.__name__,
            title=title or doc or function.__name__,
            direction=direction,
            range=range,
            reading=function,
            fields=None if needs is None else tuple(needs),
            limits=limits or {},
            formula=formula,
            reference=reference,
        )

    return decorate if function is None else decorate(function)


def _takes_the_state_alone(function: Reading) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    return bool(parameters) and all(p.default is not p.empty for p in parameters[1:])


def builtin_index(
    *,
    name: str,
    range: tuple[float, float] = (-math.inf, math.inf),
    **facts: Any,
) -> Callable[[Reading], Index]:
    """Decorate a reading of icvi, which may have parameters; users call `index`.

    Where a function is defined does not decide whose it is: ``functools.wraps`` copies the module.
    """
    return lambda reading: Index(name=name, range=range, reading=reading, family=name, **facts)
