"""A folder from which a watch goes on after it was stopped, whatever stopped it."""

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
from icvi.watching.own_files import check_own_file, check_own_folder, open_file
from icvi.watching.step import Kept
from icvi.watching.trace_files.growing_file import with_advice
from icvi.wording import short

_SETTINGS = 8  # of a list that are shown
_FILE, _LOCK = "watch.icvi", "watch.lock"
_PRIVATE, _OTHERS = 0o700, 0o077  # permissions: of the folder, and those that its file has not
_SCRATCH = "start from scratch with overwrite=True (--overwrite)"


class Checkpoint:
    """Where a watch writes down what it needs to go on; one at a time may use a folder.

    All of it is one file (`icvi.saving.container`), which is replaced as a whole or not at all.

    Parameters
    ----------
    folder : str or path-like
        Made if it is not there.
    settings : dict
        What must be the same for a watch to be the same, as plain JSON.
    pickles : bool
        Whether a pickle will be in it: then what other users can write is refused.
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
                errno.ENOTDIR, "expected a folder for the checkpoint, got a file", str(self.folder)
            )
        if pickles:
            check_own_folder(self.folder, "give a new folder, which will be private")
        self.folder.mkdir(_PRIVATE, parents=True, exist_ok=True)
        filelock = load("filelock", "stream")
        self._lock = filelock.FileLock(self.folder / _LOCK, timeout=0)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise RuntimeError(
                f"{self.folder} is in use by another process that watches; wait for it, or give "
                f"another folder"
            ) from None
        remove_unfinished(self._path)

    @property
    def begun(self) -> bool:
        """Whether there is something to go on from."""
        return self._path.exists()

    def read(self) -> Kept:
        """What was written last; refused when it is of another watch."""
        try:
            with open_file(self._path) as file:
                if self._pickles:
                    check_own_file(file, self._path, _SCRATCH)
                facts, arrays = container.read(file)
        except ValueError as error:
            error.add_note(
                "without it the watch cannot go on; give another folder, or overwrite=True "
                "(--overwrite) to start anew, which also writes the trace anew"
            )
            raise
        if facts.get("kind") != "Watch":
            raise ValueError(f"{self._path} is no checkpoint of a watch; give another folder")
        self._compare(facts["settings"])
        return facts, arrays

    def write(self, kept: Kept) -> None:
        """Write down where the watch is."""
        facts, arrays = kept
        try:
            packed = {"settings": self._settings, **facts}, arrays
            write(self._path, "Watch", packed, without=_OTHERS)
        except OSError as error:
            what = "this checkpoint could not be written; the one before is intact"
            raise with_advice(error, what, str(self._path)) from error

    def clear(self) -> None:
        """Forget what is there."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.release()

    def _compare(self, before: Mapping[str, Any]) -> None:
        for name in {**self._settings, **before}:
            was, now = before.get(name), self._settings.get(name)
            if was != now:
                raise ValueError(
                    f"{self.folder} holds a watch with other settings: {name} was {_shown(was)} "
                    f"and is {_shown(now)}; give another folder, or overwrite=True (--overwrite) "
                    f"to start anew"
                )


def _shown(setting: Any) -> str:
    if isinstance(setting, list):
        more = ["..."] if len(setting) > _SETTINGS else []
        return ", ".join([*map(_shown, setting[:_SETTINGS]), *more]) or "nothing"
    try:
        setting = from_json(setting)
    except ValueError:  # options of something
        return ", ".join(f"{key}={short(value)}" for key, value in setting.items())
    if setting is None:
        return "nothing"
    return setting if isinstance(setting, str) else short(setting)
