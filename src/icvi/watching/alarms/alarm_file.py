"""The file of alarms: one JSON object per line, written exactly once like a trace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from icvi.optional import check
from icvi.watching.alarms.alarm_lines import alarm_lines
from icvi.watching.step import Kept, Output, Step
from icvi.watching.trace_files.growing_file import GrowingFile, refuse_existing
from icvi.watching.trace_files.trace_file import check_path
from icvi.wording import short

_ENDINGS = (".ndjson", ".jsonl")
_KIND = "alarm"


class AlarmFile(Output):
    """All alarms of a stream in an NDJSON file, which can be read while it grows.

    Parameters
    ----------
    path : str or path-like
        A file that ends in ``.ndjson`` or ``.jsonl``; created by `begin`, even if no alarm comes.
    overwrite : bool
        Whether `begin` may replace an existing file; one without alarms is always replaced.
    """

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.path = os.fspath(path)
        if os.path.splitext(self.path)[1].lower() not in _ENDINGS:
            raise ValueError(
                f"expected a file for alarms that ends in {' or '.join(_ENDINGS)}, "
                f"got {short(self.path)}"
            )
        check("msgspec", "stream", "a file of alarms")
        check_path(self.path, _KIND)
        self._overwrite = overwrite
        self._file = GrowingFile(self.path, kind=_KIND, rows="alarms")

    @property
    def rows(self) -> int:
        """How many alarms the file holds."""
        return self._file.mark.rows

    @property
    def _may_replace(self) -> bool:
        return self._overwrite or (os.path.isfile(self.path) and not os.path.getsize(self.path))

    def check_new(self) -> None:
        """Refuse to overwrite an existing file, as `begin` would."""
        if not self._may_replace:
            refuse_existing(self.path, _KIND)

    def begin(self, again: bool = False) -> None:
        """Create the file."""
        self._file.create(self._may_replace or again)

    def take(self, step: Step) -> None:
        """Append the alarms of the next step; none of them if that fails."""
        if lines := alarm_lines(step):
            self._file.append(lines, len(lines))

    def flush(self) -> None:
        """Write everything to the disk."""
        self._file.sync()

    def keep(self) -> Kept:
        """Where the file ends now."""
        return self._file.mark._asdict(), {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Truncate the file to where it ended at the checkpoint, and resume."""
        self._file.resume(facts)

    def finish(self) -> None:
        """Write everything to the disk; the file is complete as it is."""
        self._file.sync()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def beside(trace: str) -> str:
    """The file of alarms that belongs to a trace.

    >>> beside("runs/today.csv")
    'runs/today.alarms.ndjson'
    >>> beside("runs/today/")
    'runs/today.alarms.ndjson'
    """
    name = os.path.splitext(trace.rstrip(f"/{os.sep}") or ".")[0]
    return f"{name}.alarms.ndjson"
