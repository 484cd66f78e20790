r"""The output of a page's own code, put into the page while it is built.

A block ``{printed}`` becomes the output of the block before it, a block ``{made} file`` a link to a
file that the page has written, with the text of the block. Pages with one of these are run from top
to bottom in ``_generated/<page>``, which also holds the pictures that they draw.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import page_blocks
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

#: Files that are copied as they are; ``html_extra_path`` of the configuration.
EXTRA = "_generated/extra"


def fill_in(app: Sphinx, name: str, source: list[str]) -> None:
    """Run a page that shows its own output, and fill it in."""
    if not page_blocks.is_live(source[0]):
        return
    folder = Path(app.srcdir) / "_generated" / name
    shutil.rmtree(folder, ignore_errors=True)
    text, end = [], 0
    try:
        for block, printed in page_blocks.run(source[0], name, folder):
            if block.language in page_blocks.LIVE:
                start, stop = block.span
                text += [source[0][end:start], _filled(app, name, block, printed)]
                end = stop
    except Exception as error:
        raise ExtensionError(f"{name}: a block of the page fails: {error}") from error
    source[0] = "".join([*text, source[0][end:]])


def _filled(app: Sphinx, name: str, block: page_blocks.Block, printed: str) -> str:
    if block.language == "{printed}":
        return f"```text\n{printed.rstrip()}\n```"
    file = Path(app.srcdir) / "_generated" / name / block.argument
    copy = Path(app.srcdir) / EXTRA / name / block.argument
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    root = "../" * name.count("/")
    href = f"{root}{name}/{block.argument}"
    return f'```{{raw}} html\n<p><a href="{href}">{block.text.strip()}</a></p>\n```'


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading of pages."""
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
