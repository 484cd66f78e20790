"""The folder of a study: finished parts, written so that a stop at any time loses nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from icvi.files import is_unfinished, replacing

STUDY = "study.json"


class Store:
    """Files below one folder, each written completely or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, about: dict[str, Any], *, overwrite: bool = False) -> None:
        """Begin a study, or resume one with the same settings and versions."""
        path = self.folder / STUDY
        if path.exists() and not overwrite:
            found = _read(path)
            if found != about:
                raise ValueError(
                    f"{self.folder} contains another study ({_difference(found, about)}); choose "
                    "another folder, or overwrite it"
                )
            return
        if not path.exists() and self.folder.exists() and _has_files(self.folder):
            raise ValueError(f"{self.folder} contains other files; choose a new folder")
        for part in sorted((self.folder / "parts").glob("*.json")):
            part.unlink()
        self.write_json(STUDY, about)

    def read_part(self, name: str) -> Any:
        """A finished part, or None."""
        path = self.folder / "parts" / f"{name}.json"
        return _read(path) if path.exists() else None

    def write_part(self, name: str, content: Any) -> Any:
        """Write a finished part; gives it as `read_part` will."""
        self.write_json(f"parts/{name}.json", content)
        return as_json(content)

    def write_json(self, name: str, content: Any) -> None:
        """Write a file; nan becomes null."""
        text = json.dumps(as_json(content), indent=1, allow_nan=False)
        self.write(name, text.encode() + b"\n")

    def write(self, name: str, content: bytes) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
        return path


def _has_files(folder: Path) -> bool:
    """Whether there are files other than those of a study that was killed at its start."""
    return not all(map(is_unfinished, folder.iterdir()))


def as_json(content: Any) -> Any:
    """Content that JSON can hold: numbers of numpy as Python's, nan and infinities as None."""
    if isinstance(content, dict):
        return {key: as_json(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [as_json(value) for value in content]
    if hasattr(content, "tolist"):
        return as_json(content.tolist())
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}); remove it and rerun the command") from None


def _difference(found: Any, about: dict[str, Any]) -> str:
    """The first setting that differs, in words."""
    for group in ("settings", "versions"):
        ours, theirs = about.get(group, {}), found.get(group, {}) if isinstance(found, dict) else {}
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                return f"its {key} is {theirs.get(key)!r}, not {ours.get(key)!r}"
    return "its settings differ"
