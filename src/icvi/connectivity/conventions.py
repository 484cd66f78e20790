"""The published forms of the Conn_Index."""

from __future__ import annotations

from typing import Literal, get_args

from icvi.inputs import check_choice

#: "paper": the definition. "toolbox": the code that the paper's authors published.
Convention = Literal["paper", "toolbox"]

#: Which prototypes form the border of a cluster: those with CONN, or with CADJ, above 0.
Border = Literal["CONN", "CADJ"]

#: A convention and a border, which together define the index.
Form = tuple[Convention, Border]


def check_form(convention: object, border: object) -> None:
    """Refuse any other convention or border."""
    check_choice(convention, "convention", get_args(Convention))
    check_choice(border, "border", get_args(Border))
