"""Formulas as MathML, which browsers show without a network and without JavaScript.

The renderers of Sphinx load a script or need LaTeX. Docutils, which Sphinx is built on, can
write MathML itself; this module makes it a renderer of Sphinx.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

_FRACTION = re.compile(r"(\\[td]?frac) *([^\s{\\]) *([^\s{\\]|(?=\{))")
# Words to leave alone: commands, and the contents of \text and \mathrm. Words to set as one name:
# CP or max, but not two indices like ij.
_NAME = r"[A-Za-z]{3,}|[A-Z][A-Za-z]|[a-z][A-Z]"
_WORD = re.compile(rf"\\(?:text|mathrm)\{{[^}}]*\}}|\\[A-Za-z]+|(?P<name>{_NAME})")


def prepared(tex: str) -> str:
    r"""A formula as docutils reads it: with braces around arguments, and names marked as such.

    >>> prepared(r"\tfrac12 CP_i + \frac1{n_i} \ln x")
    '\\tfrac{1}{2} \\mathrm{CP}_i + \\frac{1}{n_i} \\ln x'
    """
    tex = _FRACTION.sub(lambda m: f"{m[1]}{{{m[2]}}}" + (f"{{{m[3]}}}" if m[3] else ""), tex)
    return _WORD.sub(lambda m: rf"\mathrm{{{m['name']}}}" if m["name"] else m[0], tex)


def _mathml(tex: str, *, block: bool) -> str:
    try:
        return str(tex2mathml(prepared(tex), as_block=block))
    except ValueError as error:
        raise ExtensionError(f"docutils cannot write this formula as MathML: {tex}") from error


def _visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
