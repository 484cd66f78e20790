"""Small corrections of how Sphinx reads our docstrings."""

from __future__ import annotations

from typing import Any

# ruff: noqa: ARG001  Sphinx passes all arguments to every handler
from sphinx.application import Sphinx


def leave_properties_alone(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Keep napoleon from reading the words before a colon as a type."""
    if what in ("property", "attribute", "data"):
        lines.insert(0, "\\")  # invisible, but napoleon's first line


def skip_foreign_members(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Skip members that classes inherit from other packages; None leaves it to Sphinx."""
    owner = getattr(member, "__objclass__", None)
    module = getattr(member, "__module__", None) or getattr(owner, "__module__", None)
    if callable(member) and isinstance(module, str) and module.partition(".")[0] != "icvi":
        return True
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to autodoc, before napoleon."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", leave_properties_alone, priority=100)
    app.connect("autodoc-skip-member", skip_foreign_members)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
