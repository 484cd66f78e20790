"""What `icvi list` prints: the catalogue as a table or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from icvi.indices import catalogue
from icvi.indices.catalogue import groups
from icvi.wording import BETTER, interval

_WIDE = 400


def as_lines() -> Iterator[str]:
    """One JSON object per index."""
    for index in catalogue():
        yield json.dumps(
            {
                "name": index.name,
                "title": index.title,
                "better": BETTER[index.direction],
                "range": [_finite(bound) for bound in index.range],
                "reads": index.on,
                "groups": [name for name, members in groups().items() if index.name in members],
                "formula": index.formula,
                "reference": index.reference,
            },
            ensure_ascii=False,
        )


def _finite(bound: float) -> float | None:
    """A finite bound, or None: JSON has no infinity."""
    return bound if math.isfinite(bound) else None


def print_table(console: Console) -> None:
    """Print the catalogue as a table; a pipe gets one line per index."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("index", "better", "range", "what it is"):
        table.add_column(name, no_wrap=name != "what it is")
    for index in catalogue():
        words = f"{index.title}: {index.formula}"
        table.add_row(index.name, BETTER[index.direction], interval(*index.range), words)
    if not console.is_terminal:
        console.width = _WIDE
    console.print(table, highlight=False)
    console.print("\ngroups (icvi watch --indices paper,Conn):", highlight=False)
    for name, members in groups().items():
        console.print(f"{name:5}  {', '.join(members)}", highlight=False)
