"""What an index is: a short function of the state, and the facts a user needs about it."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal, cast, overload

from icvi.kernels import layout as L
from icvi.kernels.state import State
from icvi.wording import short

Reading = Callable[..., float]
Direction = Literal["max", "min"]

#: What each field of the state asks of the caches. Fields not named here are always there.
_ASKS = {
    "B": L.WANT_BETWEEN,
    # W + B, not the sum over all samples: that one still has the rounding of what has left.
    "CP_0": L.WANT_BETWEEN,
    "sep": L.WANT_BETWEEN | L.WANT_SEP,
    "beta_T": L.WANT_SPREAD | L.WANT_NEAREST,
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


@dataclass(frozen=True)
class Ridge:
    """delta I, added to every covariance: a fixed delta, or 10^(-epsilon/d) in d dimensions."""

    epsilon: float | None = 12.0
    delta: float | None = None

    def value(self, d: int) -> float:
        """Delta for data with d features."""
        return self.delta if self.delta is not None else 10.0 ** (-float(self.epsilon or 0.0) / d)


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
        What ``undefined="limit"`` gives for a reason, where the formula has a limit.
    formula : str
        What is computed, in words.
    reference : str
        Where it was published.
    on : {"clusters", "prototypes"}
        What it compares. Prototypes come from a clusterer that has them, or from a `Quantizer`.
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
    own: bool = field(default=False, repr=False)
    recipe: tuple[str, Mapping[str, Any]] | None = field(default=None, repr=False)
    on: Literal["clusters", "prototypes"] = field(default="clusters", repr=False)

    @property
    def needs(self) -> tuple[str, ...]:
        """Fields of the state that it reads."""
        # Not at decoration: functions that it calls may be defined further down.
        if self.fields is not None:
            return self.fields
        # A user's function may see other functions later under the same names; ours do not.
        return fields_read(self.reading) if self.own else _fields_read_once(self.reading)

    @property
    def regularisation(self) -> Ridge | None:
        """The ridge of covariances: its own, the usual one if it reads them, else None."""
        return self.ridge or (Ridge() if self.want & L.WANT_GAUSSIAN else None)

    @property
    def want(self) -> int:
        """The caches it asks for, as bits of `kernels.layout`."""
        return functools.reduce(int.__or__, (_ASKS.get(name, 0) for name in self.needs), 0)

    def __call__(self, state: State) -> float:
        """Read the index from a state, without compiling anything."""
        return float(self.reading(state, *self.parameters))

    def __deepcopy__(self, memo: Any) -> Index:
        return self  # nothing in it changes

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.own:
            from icvi.indices.recipes import from_recipe, recipe_of

            return from_recipe, (recipe_of(self),)
        facts = {key: value for key, value in self.__dict__.items() if key != "reading"}
        place = self.reading.__module__, self.reading.__qualname__
        return _own_index, (*place, facts, _code_where_needed(self.reading))


def _own_index(module: str, name: str, facts: dict[str, Any], code: bytes | None = None) -> Index:
    """A user's index, from where its function was defined, or from the code that came along."""
    try:
        found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError):
        if code is None:
            raise
        found = None
    reading: Any = found.reading if isinstance(found, Index) else found
    if code is not None and _body(reading) != _body(_from_code(code)):
        reading = _from_code(code)
    return Index(reading=reading, **facts)


def _code_where_needed(reading: Reading) -> bytes | None:
    """The code of a function that another process could not import.

    What a script or a notebook defines is there in the process that runs it, and in no other one;
    a function inside of a function can be found by its name in none.
    """
    from numba import cloudpickle

    if reading.__module__ != "__main__" and "<locals>" not in reading.__qualname__:
        return None
    return cast("bytes", cloudpickle.dumps(reading))


@functools.lru_cache(maxsize=64)  # one function, and so compiled once, however often it comes
def _from_code(code: bytes) -> Reading:
    return cast("Reading", pickle.loads(code))


def _body(reading: Any) -> tuple[Any, ...]:
    """What two functions of the same name differ in."""
    function = getattr(reading, "py_func", reading)  # of one that Numba has compiled
    return getattr(function, "__code__", None), getattr(function, "__defaults__", None)


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
        Fields of the state that it reads. Found in the function and the functions it calls;
        to be given only where that is impossible.
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
    if function is None:
        later = functools.partial(
            index,
            name=name,
            title=title,
            direction=direction,
            range=range,
            needs=needs,
            limits=limits,
            formula=formula,
            reference=reference,
        )
        return cast("Callable[[Reading], Index]", later)
    if not callable(function):
        raise TypeError(f"expected a function of the state, got {type(function).__name__}")
    if direction not in ("max", "min"):
        raise ValueError(f"expected direction 'max' or 'min', got {short(direction)}")
    own = not function.__module__.startswith("icvi.indices.")
    if own and not _takes_the_state_alone(function):
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
        own=own,
    )


def _takes_the_state_alone(function: Reading) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    return bool(parameters) and all(p.default is not p.empty for p in parameters[1:])


def fields_read(function: Reading) -> tuple[str, ...]:
    """Fields of the state that a function, or a function it calls, may read."""
    names = _names(function, set())
    return tuple(name for name in State._fields if name in names)


_fields_read_once = functools.cache(fields_read)  # it takes most of the time of a new tracker


def _code_names(code: CodeType) -> set[str]:
    """Names in a function and in the functions and comprehensions inside it."""
    inner = (_code_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def _names(function: Any, seen: set[CodeType]) -> set[str]:
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or code in seen:
        return set()
    seen.add(code)
    names = _code_names(code)
    scope = inspect.getclosurevars(function)
    for value in (*scope.globals.values(), *scope.nonlocals.values()):
        names |= _names(value, seen)
    return names
