"""Rules of the user, such as ``"SIL < 0.5 for 100"``: what they say, and when they hold."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices.catalogue import canonical
from icvi.insight.alarms import Alarm
from icvi.tracking.trace import Trace
from icvi.wording import did_you_mean, short

#: The number of clusters in a rule.
CLUSTERS = "k"

_COMPARISONS: dict[str, Callable[[Any, float], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_PARTS = re.compile(
    r"\s*(?P<name>.+?)\s*(?P<comparison><=|>=|<|>)\s*(?P<bound>[^\s<>=]+)"
    r"(?:\s+for\s+(?P<samples>\S+)(?:\s+samples?)?)?\s*"
)
_EXPECTED = "'SIL < 0.5' or 'SIL < 0.5 for 100': an index or k, one of < <= > >=, a number, samples"
_MOST = 2**63 - 1


@dataclass(frozen=True)
class Rule:
    """A condition on readings, and for how many samples it must hold.

    Attributes
    ----------
    name : str
        An index, or "k".
    comparison : {"<", "<=", ">", ">="}
        How its readings are compared.
    bound : float
        What they are compared with.
    samples : int
        How many consecutive samples it must hold for.
    """

    name: str
    comparison: str
    bound: float
    samples: int = 1

    def __str__(self) -> str:
        bound = repr(self.bound).removesuffix(".0")
        duration = f" for {self.samples}" if self.samples > 1 else ""
        return f"{self.name} {self.comparison} {bound}{duration}"

    def values(self, trace: Trace) -> NDArray[np.float64]:
        """The readings that the rule is about; nan where they are undefined."""
        return trace[self.name] if self.name in trace else trace.k.astype(np.float64)

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where the condition holds; where a reading is undefined, it does not."""
        return np.asarray(_COMPARISONS[self.comparison](values, self.bound), dtype=bool)


def parse_rule(text: Any, names: Sequence[str]) -> Rule:
    """The rule that a text says.

    Parameters
    ----------
    text : str
        A name, ``<``, ``<=``, ``>`` or ``>=``, a number, and, if it must hold for more than one
        sample, ``for`` and how many.
    names : sequence of str
        The indices that are watched.

    Examples
    --------
    >>> parse_rule("SIL<0.50 for 100 samples", ["CH", "SIL"])
    Rule(name='SIL', comparison='<', bound=0.5, samples=100)
    >>> str(parse_rule("k > 20", ["CH"]))
    'k > 20'
    """
    if not isinstance(text, str):
        raise TypeError(f"expected an alert as a text such as {_EXPECTED}, got {short(text)}")
    found = _PARTS.fullmatch(text)
    if found is None:
        raise ValueError(f"expected an alert such as {_EXPECTED}; got {short(text)}")
    name, comparison = found["name"], found["comparison"]
    known = [*names, *([] if CLUSTERS in names else [CLUSTERS])]
    if name not in known:
        name = next((each for each in known if each.lower() == name.lower()), canonical(name))
    if name not in known:
        raise ValueError(
            f"the alert {short(text)} is about {short(name)}, which is not watched"
            f"{did_you_mean(name, known)}; expected one of {', '.join(known)}"
        )
    return Rule(name, comparison, _bound(found["bound"], text), _samples(found["samples"], text))


def _bound(given: str, text: str) -> float:
    try:
        bound = float(given)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise ValueError(
            f"expected a finite number after the comparison of the alert {short(text)}, "
            f"got {short(given)}"
        )
    return bound + 0.0  # -0 is 0


def _samples(given: str | None, text: str) -> int:
    if given is None:
        return 1
    # Not int: that takes signs, underscores and the digits of all scripts.
    if not re.fullmatch("[0-9]{1,19}", given) or not 1 <= int(given) <= _MOST:
        raise ValueError(
            f"expected a number of samples from 1 on after 'for' in the alert {short(text)}, "
            f"got {short(given)}"
        )
    return int(given)


class Rules:
    """Rules and what is known about them so far.

    A rule is raised at the first reading at which its condition has held for so many consecutive
    samples: from the first of its readings in a row to this one, both counted. It is withdrawn at
    the first reading at which the condition does not hold. What is between two readings is not
    looked at.

    Parameters
    ----------
    texts : iterable of str
        The rules, see `parse_rule`.
    names : sequence of str
        The indices that are watched.
    """

    def __init__(self, texts: Iterable[str], names: Sequence[str]) -> None:
        if isinstance(texts, str):
            texts = [texts]
        elif not isinstance(texts, Iterable):
            raise TypeError(f"expected alerts as a list of rules, got {short(texts)}")
        # A rule that is given twice counts once.
        self.rules = list(dict.fromkeys(parse_rule(text, names) for text in texts))
        self._since = [0] * len(self.rules)  # the sample since which a condition holds; 0 if not
        self._raised = [False] * len(self.rules)

    @property
    def texts(self) -> list[str]:
        """The rules, each in the same spelling however it was given."""
        return [str(rule) for rule in self.rules]

    def take(self, trace: Trace) -> list[Alarm]:
        """Alarms of the next readings, in the order of samples."""
        alarms: list[Alarm] = []
        if len(trace):
            for place in range(len(self.rules)):
                alarms += self._take(place, trace)
        return sorted(alarms, key=lambda alarm: alarm.sample)

    def _take(self, place: int, trace: Trace) -> Iterable[Alarm]:
        rule, samples = self.rules[place], trace.samples
        values = rule.values(trace)
        holds = rule.holds(values)
        begins = holds & ~np.concatenate([[self._since[place] > 0], holds[:-1]])
        since = np.maximum.accumulate(np.where(begins, samples, self._since[place]))
        # Not since + rule.samples, which may be too large for an integer.
        raised = holds & (samples - since >= rule.samples - 1)
        before = self._raised[place]
        self._since[place] = int(since[-1]) if holds[-1] else 0
        self._raised[place] = bool(raised[-1])
        for row in np.flatnonzero(np.diff(raised, prepend=before)).tolist():
            value = float(values[row])
            yield Alarm(
                int(samples[row]),
                "raised" if raised[row] else "withdrawn",
                "alert",
                rule=str(rule),
                value=None if math.isnan(value) else value,
            )

    def keep(self) -> dict[str, Any]:
        """The state, for a checkpoint."""
        return {"since": list(self._since), "raised": list(map(int, self._raised))}

    def resume(self, facts: Mapping[str, Any]) -> None:
        """Restore the state from a checkpoint of the same rules."""
        since, raised = list(facts["since"]), list(map(bool, facts["raised"]))
        if not len(since) == len(raised) == len(self.rules):
            raise ValueError(f"expected the state of {len(self.rules)} alerts, got {len(since)}")
        self._since, self._raised = since, raised
