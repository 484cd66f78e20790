"""The state after a batch, in a directory that any worker of Spark can reach.

A file holds the number of the batch and the state, and appears as a whole: it is renamed when it is
complete. So state and number always belong together, and a batch that Spark delivers again is
recognised.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from icvi.saving.kinds import from_bytes
from icvi.state.partition import Partition
from icvi.wording import short

_ENDING = ".state"
_KEPT = 2  # files; the one before the last is for a reader that has just listed them


@dataclass(frozen=True)
class Saved:
    """A state, the batch that it includes last, and what it was made with."""

    batch: int
    query: str
    options: dict[str, Any]
    state: Partition


class Checkpoint:
    """Files in a directory, on any file system that Spark's Hadoop knows.

    Parameters
    ----------
    spark : SparkSession
        Of the driver.
    directory : str
        Where the files are.
    """

    def __init__(self, spark: SparkSession, directory: str) -> None:
        self.directory = directory
        self._jvm: Any = spark._jvm
        configuration = spark._jsc.hadoopConfiguration()
        self._files = self._path(directory).getFileSystem(configuration)

    def save(self, saved: Saved) -> None:
        """Write a state; older ones are removed."""
        header = {"batch": saved.batch, "query": saved.query, "options": saved.options}
        content = json.dumps(header).encode() + b"\n" + saved.state.to_bytes()
        self._files.mkdirs(self._path(self.directory))
        unfinished = self._path(f"{self.directory}/.{saved.batch}.tmp")
        out = self._files.create(unfinished, True)
        try:
            out.write(bytearray(content))
            out.hsync()
        finally:
            out.close()
        path = self._path(f"{self.directory}/{saved.batch}{_ENDING}")
        if not self._files.rename(unfinished, path):
            raise OSError(f"cannot rename {unfinished} to {path}")
        for batch in self.batches()[:-_KEPT]:
            self._files.delete(self._path(f"{self.directory}/{batch}{_ENDING}"), False)

    def load(self) -> Saved | None:
        """The state after the last batch; None where there is none."""
        batches = self.batches()
        if not batches:
            return None
        path = f"{self.directory}/{batches[-1]}{_ENDING}"
        file = self._files.open(self._path(path))
        try:
            # Java's bytes arrive as one array, not one by one.
            content = bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(file))
        finally:
            file.close()
        try:
            header, _, state = content.partition(b"\n")
            facts = json.loads(header)
            return Saved(facts["batch"], facts["query"], facts["options"], from_bytes(state))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path} is damaged: {error}; start again with a new checkpoint directory"
            ) from error

    def batches(self) -> list[int]:
        """Numbers of the batches whose states are there, in order."""
        directory = self._path(self.directory)
        if not self._files.exists(directory):
            return []
        names = [status.getPath().getName() for status in self._files.listStatus(directory)]
        stems = [name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)]
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)


def check_resumed(saved: Saved, query: str, options: dict[str, Any], directory: str) -> None:
    """Refuse a state of another query, or one that was made with other options."""
    if saved.query != query:
        raise ValueError(
            f"the states in {directory} are of another query: Spark's checkpoint beside them was "
            "removed or replaced; use a new checkpoint directory"
        )
    for name, before in saved.options.items():
        if options[name] != before:
            raise ValueError(
                f"the checkpoint in {directory} was made with {name}={short(before)}, got "
                f"{short(options[name])}; use the same, or a new checkpoint directory"
            )
