"""What is saved of a bank of trackers, and how it is made again.

Facts are ``keys``, in order, and ``template``, those of a tracker without samples, which has the
indices and options of all. Its arrays lie under its name, and ``trackers`` has the bytes of the
files of all trackers, one after the other, each from a multiple of 64 on; ``ends`` says where each
ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.labels import plain
from icvi.saving.json_values import as_json
from icvi.saving.parts import Packed, Part, decode, nested
from icvi.tracking.bank import TrackerBank
from icvi.tracking.saved import tracker as saved_tracker
from icvi.tracking.tracker import Tracker
from icvi.wording import short

_ALIGNMENT = 64


def pack(bank: TrackerBank) -> Packed:
    """Facts and arrays of a bank that no other caller uses meanwhile."""
    template, arrays = saved_tracker.pack(bank._new())
    files = [t.to_bytes() for t in bank.values()]
    lengths = [len(file) for file in files]
    starts = np.cumsum([0, *(_padded(length) for length in lengths)])
    packed = nested("template", arrays)
    packed["ends"] = starts[:-1] + np.array(lengths, dtype=np.int64)
    content = b"".join(file.ljust(_padded(len(file)), b"\0") for file in files)
    packed["trackers"] = np.frombuffer(content, dtype=np.uint8)
    return {"keys": [as_json(key) for key in bank], "template": template}, packed


def unpack(part: Part, indices: Iterable[Index] = ()) -> TrackerBank:
    """The bank that was packed; indices are the user's own that it may have."""
    own, template = [*indices], part.part("template")
    empty = saved_tracker.unpack(template, own)
    template.require(not empty.n_clusters, "partition", "a tracker without samples")
    bank = TrackerBank(**saved_tracker.options_of(template, own))
    keys = part.labels("keys")
    part.require(all(plain(key) is key for key in keys), "keys", "values of Python's own types")
    for key, content in zip(keys, _files(part, len(keys)), strict=True):
        bank._trackers[key] = _tracker(part, f"key {short(key)}", content, own, empty)
    return bank


def _files(part: Part, n: int) -> Iterator[NDArray[np.uint8]]:
    """The bytes of the trackers' files."""
    content = part.bytes("trackers")
    ends = part.integers("ends", (n,), 0, content.size)
    starts = [0, *(_padded(end) for end in ends.tolist())]
    fits = all(start <= end for start, end in zip(starts, ends.tolist()))
    part.require(fits and starts[-1] == content.size, "ends", "files one after the other")
    for (start, _), end in zip(pairwise(starts), ends.tolist(), strict=True):
        yield content[start:end]


def _tracker(
    part: Part, name: str, content: NDArray[np.uint8], own: list[Index], like: Tracker
) -> Tracker:
    """The tracker of a key, which has the options of the others."""
    try:
        file = decode(content, "the state")
        file.require(file.text("kind") == "Tracker", "kind", "a Tracker")
        t = saved_tracker.unpack(file, own)
        same = (t._options(), t.noise_label) == (like._options(), like.noise_label)
        file.require(same, "options", "those of the bank")
    except ValueError as error:
        raise part.damage("trackers", f"{name}: {error}") from None
    return t


def _padded(length: int) -> Any:
    return -(-length // _ALIGNMENT) * _ALIGNMENT
