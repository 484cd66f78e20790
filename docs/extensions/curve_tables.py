"""The measurements on the page about curves: its tables, and the numbers in its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from generated_files import GeneratedFolder
from measured import Measured

import icvi
from icvi.study.experiment import INDICES
from icvi.wording import ARROWS


def substitutions(found: Measured) -> dict[str, str]:
    """Counts by the names that the page has in double braces, such as ``over_Conn``."""
    names = [index.name for index in icvi.catalogue()]
    return {
        **{name: str(count) for name, count in found.rules.items()},
        **{f"coarse_{name}": str(found.preferred(name, "under")) for name in names},
        **{f"fine_{name}": str(found.preferred(name, "over")) for name in names},
        **{
            f"{when}_{kind}_{name}": str(count(name, kind))
            for when, count in {"once": found.better_at_once, "later": found.better_later}.items()
            for kind in ("true", "split")
            for name in INDICES
        },
        "coarse_majority": str(found.majority("under")),
        "fine_majority": str(found.majority("over")),
        "orders": f"{found.orders:,}",
    }


def write_tables(folder: Path, found: Measured) -> None:
    """Write the tables that the page includes."""
    GeneratedFolder(folder).write("end.md", _at_the_end(found))
    GeneratedFolder(folder).write("created.md", _when_created(found))
    GeneratedFolder(folder).write("wrong.md", _while_wrong(found))


def _at_the_end(found: Measured) -> str:
    rows = (
        [
            _link(index.name),
            ARROWS[index.direction],
            str(found.preferred(index.name, "under")),
            str(found.preferred(index.name, "over")),
        ]
        for index in icvi.catalogue()
    )
    return _table(["index", "better", "right above too coarse", "right above too fine"], rows)


def _when_created(found: Measured) -> str:
    rows = (
        [
            _link(name),
            str(found.rules[f"abrupt_{name}"]),
            *(
                str(count(name, kind))
                for kind in ("true", "split")
                for count in (found.better_at_once, found.better_later)
            ),
        ]
        for name in INDICES
    )
    head = ["index", "jumps", "true: at once", "true: later", "split: at once", "split: later"]
    return _table(head, rows)


def _while_wrong(found: Measured) -> str:
    rows = (
        [_link(name), *(str(found.rules[f"{rule}_{name}"]) for rule in ("under", "over"))]
        for name in INDICES
    )
    return _table(["index", "worse while unnoticed", "worse when split"], rows)


def _link(name: str) -> str:
    return f"[{name}](/indices/{name}.rst)"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
