"""Saveable: what all states have in common. They are copied, added up, and written to files."""

from __future__ import annotations

import copy
import os
from typing import Any, ClassVar, Self

from icvi.saving.kinds import save, to_bytes
from icvi.transactions import Transactional, exclusive


class Saveable(Transactional):
    """A state that can be copied, added to others of its kind, and saved."""

    __slots__ = ()

    #: Its name in the table of `icvi.saving.kinds`; a class derived from it is of the same kind.
    kind: ClassVar[str]

    def combine(self, other: Any) -> None:
        """Add the samples of another state of this kind."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, Saveable) or other.kind != self.kind:
            return NotImplemented
        both = self.copy()
        both.combine(other.copy() if other is self else other)
        return both

    def __radd__(self, other: Any) -> Self:
        # sum() starts with 0.
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    @exclusive
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, for `icvi.load`.

        The file replaces an existing one only when it is complete and on the disk. Labels may be
        numbers, strings, bytes, dates, times and tuples of these. Your own indices are saved by
        name.
        """
        save(self.kind, self, path)

    @exclusive
    def to_bytes(self) -> bytes:
        """The bytes that `save` would write to a file, for `icvi.from_bytes`.

        Examples
        --------
        >>> import icvi
        >>> t = icvi.Tracker(["CH"])
        >>> trace = t.update_many([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
        >>> icvi.from_bytes(t.to_bytes()).values
        {'CH': 128.0}
        """
        return to_bytes(self.kind, self)
