"""A directory from which a watch resumes after it was stopped or killed."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from icvi.files import remove_unfinished
from icvi.optional import load
from icvi.saving import container
from icvi.saving.json_values import from_json
from icvi.saving.kinds import write
from icvi.watching.settings import only_seeded
from icvi.watching.step import Kept
from icvi.watching.trace_files.growing_file import with_advice
from icvi.watching.trusted_files import check_trusted_file, check_trusted_folder, open_file
from icvi.wording import short

_SHOWN = 8  # entries of a list in a message
_FILE, _LOCK = "watch.icvi", "watch.lock"
_PRIVATE = 0o700  # permissions of the directory
_OTHERS = 0o077  # permissions that the file must not have
#: Settings that earlier versions did not have: their watches resume, without insight.
_LATER = ("insight", "distinct")
_SCRATCH = "start from scratch with overwrite=True (--overwrite)"


class Checkpoint:
    """The saved state of a watch; one process at a time may use the directory.

    The state is one file (`icvi.saving.container`), which is replaced as a whole or not at all.

    Parameters
    ----------
    folder : str or path-like
        Created if it does not exist.
    settings : dict
        What must be the same when a watch resumes, as plain JSON.
    pickles : bool
        Whether it will hold a pickle: then a directory that other users can write is refused.
    """

    def __init__(
        self, folder: str | os.PathLike[str], settings: Mapping[str, Any], *, pickles: bool = True
    ) -> None:
        self.folder = Path(folder)
        self._pickles = pickles
        self._path = self.folder / _FILE
        self._settings = dict(settings)
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(
                errno.ENOTDIR, "the checkpoint must be a directory, got a file", str(self.folder)
            )
        if pickles:
            check_trusted_folder(self.folder, "give a new directory, which will be private")
        self.folder.mkdir(_PRIVATE, parents=True, exist_ok=True)
        filelock = load("filelock", "stream")
        self._lock = filelock.FileLock(self.folder / _LOCK, timeout=0)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise RuntimeError(
                f"{self.folder} is in use by another process; wait until it ends, or give another "
                f"directory"
            ) from None
        remove_unfinished(self._path)

    @property
    def begun(self) -> bool:
        """Whether there is a state to resume from."""
        return self._path.exists()

    def read(self) -> Kept:
        """The state written last; that of another watch is refused."""
        try:
            with open_file(self._path) as file:
                if self._pickles:
                    check_trusted_file(file, self._path, _SCRATCH)
                facts, arrays = container.read(file)
        except ValueError as error:
            error.add_note(
                "without it the watch cannot resume; give another directory, or overwrite=True "
                "(--overwrite) to start from scratch, which also replaces the trace"
            )
            raise
        if facts.get("kind") != "Watch":
            raise ValueError(f"{self._path} is not a checkpoint of a watch; give another directory")
        self._compare(facts["settings"])
        return facts, arrays

    def write(self, kept: Kept) -> None:
        """Save the state of the watch."""
        facts, arrays = kept
        try:
            packed = {"settings": self._settings, **facts}, arrays
            write(self._path, "Watch", packed, without=_OTHERS)
        except OSError as error:
            what = "this checkpoint could not be written; the one before is intact"
            raise with_advice(error, what, str(self._path)) from error

    def clear(self) -> None:
        """Delete the state."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the directory."""
        self._lock.release()

    def _compare(self, before: Mapping[str, Any]) -> None:
        later = [name for name in _LATER if name not in before]
        for name in {**self._settings, **before}:
            if name in later:
                continue
            was, now = before.get(name), self._settings.get(name)
            if was != now and not (name == "clusterer" and only_seeded(was, now)):
                raise ValueError(
                    f"{self.folder} is the checkpoint of a watch with other settings: {name} was "
                    f"{_shown(was)} and is {_shown(now)}; give another directory, or "
                    f"overwrite=True (--overwrite) to start from scratch"
                )


def _shown(setting: Any) -> str:
    if isinstance(setting, list):
        more = ["..."] if len(setting) > _SHOWN else []
        return ", ".join([*map(_shown, setting[:_SHOWN]), *more]) or "not set"
    try:
        setting = from_json(setting)
    except ValueError:  # options of a clusterer
        return ", ".join(f"{key}={short(value)}" for key, value in setting.items())
    if setting is None:
        return "not set"
    return setting if isinstance(setting, str) else short(setting)
