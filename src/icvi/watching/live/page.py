"""The page: its text, its scripts, and the figures of the report without data."""

from __future__ import annotations

import threading

from icvi.optional import needed
from icvi.watching.live.assets import Asset
from icvi.watching.live.served import Served
from icvi.wording import page_text

_EXTRA = ("report", "serve (--serve)")


class Page:
    """Everything that is served of a stream but its data; made once, when it is first needed."""

    def __init__(self, live: Served) -> None:
        self._live = live
        self._lock = threading.Lock()
        self._assets: dict[str, Asset] | None = None

    def html(self, nonce: str) -> bytes:
        """The page itself."""
        names = {name.partition("-")[0]: name for name in self._made()}
        with needed("jinja2", *_EXTRA):
            from icvi.wording import templates
        template = templates(__package__).get_template("live.html")
        title = page_text(self._live.run.heading)
        return template.render(nonce=nonce, names=names, title=title).encode()

    @property
    def figures(self) -> str:
        """The path of the figures: another one where there are other indices."""
        return next(f"/{name}" for name in self._made() if name.startswith("figures-"))

    def asset(self, path: str) -> Asset | None:
        """The file of a path; None where there is none."""
        return self._made().get(path.removeprefix("/"))

    def _made(self) -> dict[str, Asset]:
        with self._lock:
            if self._assets is None:
                with needed("bokeh", *_EXTRA), needed("jinja2", *_EXTRA):
                    from icvi.watching.live.figures import figures, library, script
                found = [
                    library(),
                    Asset.of("live", "js", script("live.js")),
                    Asset.of("ticks", "js", script("ticks.js")),
                    Asset.of("style", "css", script("live.css")),
                    Asset.of("figures", "json", figures(self._live)),
                ]
                for asset in found:
                    _ = asset.zipped
                self._assets = {asset.name: asset for asset in found}
            return self._assets
