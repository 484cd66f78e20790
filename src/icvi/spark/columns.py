"""The columns that hold samples, labels and weights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Columns:
    """Names of the columns, in the order in which workers receive them."""

    features: tuple[str, ...]
    label: str
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """All of them: features, label, weight."""
        return [*self.features, self.label, *([] if self.weight is None else [self.weight])]
