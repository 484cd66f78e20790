"""The characters that tables are drawn with, for terminals that know them and for all others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    """Characters for curves, directions and text that was cut.

    Parameters
    ----------
    blocks : str
        Heights of a curve, lowest first.
    up, down, level : str
        Where a curve is going; one column wide.
    cut : str
        What stands for the part that was left out.
    """

    blocks: str
    up: str
    down: str
    level: str
    cut: str


# No full block: it would touch the curve in the line above.
UNICODE = Signs(blocks="▁▂▃▄▅▆▇", up="↑", down="↓", level="→", cut="…")
ASCII = Signs(blocks="_.-=+*#", up="^", down="v", level="=", cut="..")


def signs_for(ascii_only: bool) -> Signs:
    """The characters that an encoding has."""
    return ASCII if ascii_only else UNICODE
