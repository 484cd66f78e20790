"""How often a comparison named the best candidate, for the page that explains how sure it is.

It comes from a file that ``make bench-choose`` writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generated_files import GeneratedFolder

#: Where the benchmark writes, beside the pages.
MEASURED = Path("measured") / "sureness.json"

_HELD_OUT = "held out"
_WORDS = ("clear", "likely", "open")


def read(root: Path) -> dict[str, Any]:
    """What the benchmark measured."""
    measured: dict[str, Any] = json.loads((root / MEASURED).read_text(encoding="utf-8"))
    return measured


def substitutions(measured: dict[str, Any]) -> dict[str, str]:
    """``sure_clear``, ``sure_likely`` and ``sure_open``: how many of how many were right."""
    shares = _shares(measured, "all")
    return {f"sure_{word}": "{right} of {answers}".format(**shares[word]) for word in _WORDS}


def write_tables(folder: Path, measured: dict[str, Any]) -> None:
    """Write ``sureness.md``: a row per kind of comparison, on the families held out."""
    questions = dict.fromkeys(each["question"] for each in measured["shares"])
    lines = [["what is compared", *_WORDS], ["---", *["--:"] * len(_WORDS)]]
    for question in questions:
        shares = _shares(measured, question)
        lines.append([question, *("{right} of {answers}".format(**shares[w]) for w in _WORDS)])
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    GeneratedFolder(folder).write("sureness.md", text)


def _shares(measured: dict[str, Any], question: str) -> dict[str, dict[str, Any]]:
    return {
        each["sure"]: each
        for each in measured["shares"]
        if each["half"] == _HELD_OUT and each["question"] == question
    }
