"""The page: its text, its scripts, and the figures of the report without data."""

from __future__ import annotations

import functools
import threading

from icvi.optional import needed
from icvi.watching.live.assets import Asset, named_after
from icvi.watching.live.served import Served
from icvi.wording import page_text

_EXTRA = ("report", "serve (--serve)")


class Page:
    """Everything that is served of a stream but its data; made once, when it is first needed.

    Figures take bokeh a second. The page and its scripts do not wait for them, and a browser that
    has the page already, when a server is restarted, asks only whether they are the same.
    """

    def __init__(self, live: Served) -> None:
        self._live = live
        self._lock = threading.Lock()

    def html(self, nonce: str) -> bytes:
        """The page itself."""
        names = {name.partition("-")[0]: f"/{name}" for name in self._files}
        with needed("jinja2", *_EXTRA):
            from icvi.wording import templates
        template = templates(__package__).get_template("live.html")
        title = page_text(self._live.run.heading)
        names["figures"] = self.figures
        return template.render(nonce=nonce, names=names, title=title).encode()

    @functools.cached_property
    def figures(self) -> str:
        """The path of the figures, named after what they are made from."""
        with needed("bokeh", *_EXTRA), needed("jinja2", *_EXTRA):
            from icvi.watching.live.figures import made_from
        return "/" + named_after("figures", "json", made_from(self._live))

    def make(self) -> None:
        """Draw the figures, which the first viewer would wait for."""
        self.asset(self.figures)

    def asset(self, path: str) -> Asset | None:
        """The file of a path; None where there is none."""
        if path == self.figures:
            with self._lock:
                return self._drawn
        return self._files.get(path.removeprefix("/"))

    @functools.cached_property
    def _drawn(self) -> Asset:
        from icvi.watching.live.figures import figures

        return Asset.named(self.figures[1:], figures(self._live))

    @functools.cached_property
    def _files(self) -> dict[str, Asset]:
        with needed("bokeh", *_EXTRA), needed("jinja2", *_EXTRA):
            from icvi.watching.live.figures import library, script
        found = [
            library(),
            Asset.of("live", "js", script("live.js")),
            Asset.of("ticks", "js", script("ticks.js")),
            Asset.of("style", "css", script("live.css")),
        ]
        return {asset.name: asset for asset in found}
