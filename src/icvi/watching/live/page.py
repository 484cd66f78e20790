"""The page: its text, its scripts, and the figures of the report without data."""

from __future__ import annotations

import functools
import gzip
import hashlib
import threading
from dataclasses import dataclass

from icvi.optional import needed
from icvi.watching.live.served import Served
from icvi.wording import page_text

_EXTRA = ("report", "serve (--serve)")


@dataclass(frozen=True)
class Asset:
    """A file under a name that changes with its content, so that browsers keep it for ever."""

    name: str
    kind: str
    plain: bytes

    @classmethod
    def of(cls, stem: str, ending: str, text: str) -> Asset:
        """Name a file after its content."""
        kinds = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
        data = text.encode()
        digest = hashlib.sha256(data).hexdigest()[:16]
        return cls(f"{stem}-{digest}.{ending}", f"{kinds[ending]}; charset=utf-8", data)

    @functools.cached_property
    def zipped(self) -> bytes:
        """The file, compressed once."""
        return gzip.compress(self.plain, 9, mtime=0)


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
                    Asset.of("bokeh", "js", library()),
                    Asset.of("live", "js", script("live.js")),
                    Asset.of("ticks", "js", script("ticks.js")),
                    Asset.of("style", "css", script("live.css")),
                    Asset.of("figures", "json", figures(self._live)),
                ]
                for asset in found:
                    _ = asset.zipped
                self._assets = {asset.name: asset for asset in found}
            return self._assets
