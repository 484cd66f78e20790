"""What `icvi compare` runs."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from icvi.comparing.compare import Comparing, comparing
from icvi.comparing.terminal import CompareLines, CompareTable, view_for
from icvi.watching.command import Job
from icvi.watching.terminal import View


class CompareJob(Job):
    """A comparison as the command line asks for it; `clusterer` holds the candidates."""

    def open(self) -> Comparing:
        """The comparison, before it begins."""
        return comparing(self.source, self.clusterer, **self.options)

    def view(self, console: Console) -> View:
        """What shows it."""
        return view_for(console)

    def show(self, view: Any, watched: Any) -> None:
        """Begin to show it."""
        if isinstance(view, (CompareTable, CompareLines)):
            view.begin_comparison(watched)
