"""Generates reference pages, tables and pictures before Sphinx reads the pages."""

from __future__ import annotations

from pathlib import Path

import api_pages
import choose_tables
import command_pages
import curve_tables
import index_pages
import insight_tables
import measured
import pictures
import sureness_tables
from sphinx.application import Sphinx
from sphinx.config import Config


def generate(app: Sphinx, config: Config) -> None:
    """Measure, draw and write; the measured numbers become substitutions in the pages."""
    root = Path(app.srcdir)
    generated = root / "_generated"
    (generated / "extra").mkdir(parents=True, exist_ok=True)
    found = measured.measure()
    verdicts = insight_tables.read(root)
    choices = choose_tables.read(root)
    sureness = sureness_tables.read(root)
    config.myst_substitutions = {
        **curve_tables.substitutions(found),
        **insight_tables.substitutions(verdicts),
        **choose_tables.substitutions(choices),
        **sureness_tables.substitutions(sureness),
    }
    curve_tables.write_tables(generated / "curves", found)
    insight_tables.write_tables(generated / "insight", verdicts)
    choose_tables.write_tables(generated / "choose", choices)
    sureness_tables.write_tables(generated / "sureness", sureness)
    index_pages.write_pages(root / "indices", found)
    pictures.draw_indices(generated / "indices")
    pictures.draw_curves(generated / "curves", found)
    command_pages.write_commands(generated / "commands.md")
    api_pages.write_api(root / "api")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of a build."""
    app.connect("config-inited", generate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
