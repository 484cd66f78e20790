"""Clusterers as text: a name, parameters, and ranges of them."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from icvi.watching.labellers.models import is_model
from icvi.watching.labellers.names import named_clusterer
from icvi.watching.labellers.parameters import parse_param
from icvi.wording import short

#: Candidates that are compared, at most.
MOST = 100

_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:/({_NUMBER}))?")
_EXPECTED = "expected a range such as 2..12 or 0.5..0.8/0.05"


@dataclass(frozen=True)
class Spec:
    """A clusterer by name, with its parameters.

    Parameters
    ----------
    name : str
        The name of a clusterer, a class, or the file of a model.
    params : dict
        Its parameters.
    varied : tuple of str
        Those that a range gave.
    """

    name: str
    params: dict[str, Any]
    varied: tuple[str, ...] = ()

    def text(self, *, whole: bool = False) -> str:
        """The name, and the parameters that vary; or all, where none does or `whole` is set."""
        shown = self.params if whole or not self.varied else self.varied
        return " ".join([self.name, *(f"{key}={_shown(self.params[key])}" for key in shown)])

    def make(self, seed: int = 0) -> Any:
        """The clusterer, with a random seed if it takes one."""
        return named_clusterer(self.name, self.params, seed)


def parse_spec(text: str) -> list[Spec]:
    """The clusterers that a text stands for: one per value of every range in it.

    A name, then ``NAME=VALUE`` for each parameter, separated by blanks; a value with blanks in it
    is quoted. ``2..12`` is every whole number from 2 to 12, ``2..12/5`` every fifth, and
    ``0.5..0.8/0.05`` the numbers from 0.5 to 0.8 in steps of 0.05. Other values are read as
    `parse_param` reads them.

    Examples
    --------
    >>> [spec.text() for spec in parse_spec("minibatch-kmeans n_clusters=2..4")]
    ['minibatch-kmeans n_clusters=2', 'minibatch-kmeans n_clusters=3', 'minibatch-kmeans n_clusters=4']
    >>> [spec.params for spec in parse_spec("smart rho_a=0.9 rho_b=0.5..0.6/0.05")]
    [{'rho_a': 0.9, 'rho_b': 0.5}, {'rho_a': 0.9, 'rho_b': 0.55}, {'rho_a': 0.9, 'rho_b': 0.6}]
    >>> parse_spec("birch threshold=0.5..0.2/0.1")
    Traceback (most recent call last):
    ...
    ValueError: 'threshold=0.5..0.2/0.1': the range is empty; give the smaller number first
    """  # noqa: E501  a list in one line
    if is_model(text) and ("=" not in text or os.path.exists(text)):
        return [Spec(text, {})]  # a path may have blanks and quotation marks
    parts = _parts(text)
    first = next((i for i, part in enumerate(parts) if "=" in part), len(parts))
    name = " ".join(parts[:first])
    if not name:
        raise ValueError(
            f"expected a clusterer, such as 'minibatch-kmeans n_clusters=2..12', got {short(text)}"
        )
    values: dict[str, list[Any]] = {}
    varied = []
    for part in parts[first:]:
        key, found = _values(part)
        if key in values:
            raise ValueError(f"{key} is given twice in {short(text)}")
        values[key] = found
        varied += [key] if len(found) > 1 else []
    combined = [*itertools.islice(itertools.product(*values.values()), MOST + 1)]
    if len(combined) > MOST:
        raise ValueError(f"{short(text)} stands for more than {MOST} clusterers; give fewer")
    return [Spec(name, dict(zip(values, each)), tuple(varied)) for each in combined]


def parse_one(text: str) -> Spec:
    """The clusterer that a text stands for; more than one, by a range, is refused.

    Examples
    --------
    >>> parse_one("minibatch-kmeans n_clusters=5")
    Spec(name='minibatch-kmeans', params={'n_clusters': 5}, varied=())
    >>> parse_one("art rho=0.5..0.6/0.1")
    Traceback (most recent call last):
    ...
    ValueError: 'art rho=0.5..0.6/0.1' stands for 2 clusterers, and a watch has one; ranges are for icvi.compare (icvi compare)
    """  # noqa: E501  a message in one line
    specs = parse_spec(text)
    if len(specs) > 1:
        raise ValueError(
            f"{short(text)} stands for {len(specs)} clusterers, and a watch has one; ranges are "
            f"for icvi.compare (icvi compare)"
        )
    return specs[0]


def _parts(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""  # a path may have a \
    try:
        return list(lexer)
    except ValueError as error:
        raise ValueError(f"{short(text)}: a quotation mark has no counterpart") from error


def _values(text: str) -> tuple[str, list[Any]]:
    """The name of a parameter, and its values."""
    key, _, value = text.partition("=")
    found = _RANGE.fullmatch(value.strip())
    if found is not None:
        return key.strip(), _range(text, *found.groups())
    if ".." in value and not value.strip().startswith((".", '"', "'", "[", "{", "(", "/")):
        raise ValueError(f"{_EXPECTED}, got {short(text)}")
    name, only = parse_param(text)
    return name, [only]


def _range(text: str, low: str, high: str, step: str | None) -> list[Any]:
    parse_param(text)  # refuses what is no name
    start, stop = Decimal(low), Decimal(high)
    whole = all("." not in part and "e" not in part.lower() for part in (low, high, step or "1"))
    if step is None and not whole:
        raise ValueError(f"{short(text)} needs a step: {_EXPECTED}")
    apart = Decimal(step or "1")
    if apart <= 0:
        raise ValueError(f"{short(text)}: the step must be greater than zero")
    if stop < start:
        raise ValueError(f"{short(text)}: the range is empty; give the smaller number first")
    n = int((stop - start) / apart) + 1
    if n > MOST:
        raise ValueError(f"{short(text)} has {n:,} values; at most {MOST} can be compared")
    # By decimals: 0.5 + 3 * 0.05 is 0.65, and not 0.6500000000000000222.
    values = (start + i * apart for i in range(n))
    return [int(value) if whole else float(value) for value in values]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else short(value)
