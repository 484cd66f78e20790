"""The published forms of the Conn_Index."""

from __future__ import annotations

from typing import Literal, get_args

from icvi.inputs import check_choice

#: "paper": the definition. "toolbox": the code that the paper's authors published.
Convention = Literal["paper", "toolbox"]

#: Which prototypes form the border of a cluster: the ones with CONN, or with CADJ, above 0.
Border = Literal["CONN", "CADJ"]


def check_form(convention: object, border: object) -> None:
    """Refuse what is none of them."""
    for name, value, choices in (
        ("convention", convention, get_args(Convention)),
        ("border", border, get_args(Border)),
    ):
        check_choice(value, name, choices)
