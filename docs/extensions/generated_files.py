"""Generated files, written only when they change, so that Sphinx rebuilds only those pages."""

from __future__ import annotations

from pathlib import Path


class GeneratedFolder:
    """A folder of generated files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: set[str] = set()

    def write(self, name: str, text: str) -> None:
        """Write a file, unless it exists with the same text."""
        self._path.mkdir(parents=True, exist_ok=True)
        self._names.add(name)
        path = self._path / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def tidy(self) -> None:
        """Remove the files of earlier builds that this one has not written."""
        for path in self._path.iterdir():
            if path.is_file() and path.name not in self._names:
                path.unlink()
