"""The file format of saved states: a short head, a description, and arrays.

    bytes 0-7      89 49 43 56 49 0D 0A 1A ("ICVI" between bytes that text transfers change)
    bytes 8-11     version of the format, 1
    bytes 12-15    length of the description
    bytes 16-19    CRC-32 of the description
    bytes 20-23    CRC-32 of everything behind the description
    bytes 24-31    length of the file
    next           the description, JSON in UTF-8
    next           arrays, each at a multiple of 64 bytes from the start of the file

All numbers are little-endian. The description is an object with ``arrays``, a list of
``{"name", "dtype", "shape", "offset"}``, and ``facts``, an object with everything else; `kinds`
describes it. Nothing in a file is ever executed.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from icvi.files import replacing

FORMAT = 1
_MAGIC = b"\x89ICVI\r\n\x1a"
_HEAD = struct.Struct("<8sIIIIQ")
_ALIGNMENT = 64
_KINDS = ("<f8", "<i8", "|u1")

#: Levels of JSON that a description may have; a label that is a tuple takes two per tuple.
DEEPEST = 250
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPENING, _CLOSING = list(b"[{"), list(b"]}")

Arrays = Mapping[str, NDArray[Any]]
#: Facts, and arrays by name.
Content = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def write(
    path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Arrays, *, without: int = 0
) -> None:
    """Write a file; the one that was there stays until the new one is complete and on the disk.

    It has none of the permissions `without`, as in `icvi.files.replacing`.
    """
    with replacing(path, without=without) as file:
        for piece in _pieces(facts, arrays):
            file.write(piece)


def encode(facts: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The bytes that `write` would write to a file."""
    return b"".join(_pieces(facts, arrays))


def read(file: str | os.PathLike[str] | IO[bytes]) -> Content:
    """Facts and arrays of a file, open or not; an incomplete file is refused.

    Any bytes give facts and arrays of the dtypes above, or a `ValueError` that names the file; no
    array is larger than the bytes that are there. The facts are not checked: see `parts`.
    """
    path = file if isinstance(file, (str, os.PathLike)) else file.name
    return decode(np.fromfile(file, dtype=np.uint8), os.fspath(path))


def decode(content: NDArray[np.uint8], name: str) -> Content:
    """The same of the bytes of a file, which errors call ``name``; arrays are views of them."""
    size = content.size
    if size < _HEAD.size or content[:8].tobytes() != _MAGIC:
        what = "is empty" if size == 0 else "is not a saved state of icvi"
        raise ValueError(f"{name} {what}")
    _, version, length, description_crc, data_crc, total = _HEAD.unpack(
        content[: _HEAD.size].tobytes()
    )
    if version > FORMAT:
        raise ValueError(
            f"{name} has format {version}, and this version of icvi reads up to "
            f"{FORMAT}; a newer icvi has written it (or it is damaged)"
        )
    if size < total:
        raise ValueError(f"{name} is truncated: it has {size} of {total} bytes")
    description = content[_HEAD.size : _HEAD.size + length]
    data = content[_HEAD.size + length :]
    if (
        version < 1
        or size != total
        or zlib.crc32(description.data) != description_crc
        or zlib.crc32(data.data) != data_crc
    ):
        raise ValueError(f"{name} is damaged: its content is not what was written")
    try:
        facts, entries = _parsed(description.tobytes())
        return facts, _arrays(content, entries, _HEAD.size + description.size)
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def _parsed(description: bytes) -> tuple[dict[str, Any], list[Any]]:
    """Facts and the entries of arrays."""
    _check_depth(description)
    try:
        described = json.loads(description, parse_constant=_no_constant)
    except ValueError as error:
        raise ValueError(f"the description cannot be read ({error})") from None
    match described:
        case {"facts": dict() as facts, "arrays": list() as entries}:
            return facts, entries
    raise ValueError("the description holds no facts or no list of arrays")


def _check_depth(description: bytes) -> None:
    """Refuse JSON that is nested so deeply that reading it would exhaust the stack."""
    bare = np.frombuffer(_STRING.sub(b"", description), dtype=np.uint8)
    steps = np.isin(bare, _OPENING).astype(np.int64) - np.isin(bare, _CLOSING)
    if steps.cumsum().max(initial=0) > DEEPEST:
        raise ValueError(f"the description is nested more than {DEEPEST} levels deep")


def _no_constant(name: str) -> None:
    raise ValueError(f"it has the number {name}")


def _arrays(content: NDArray[np.uint8], entries: list[Any], start: int) -> dict[str, NDArray[Any]]:
    """The arrays, which lie one after the other behind ``start``, up to the end of the file."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, entry in enumerate(entries):
        match entry:
            case {"name": str(name), "dtype": str(kind), "shape": list(shape), "offset": offset}:
                pass
            case _:
                raise ValueError(f"array {number} has no name, dtype, shape or offset")
        if name in arrays:
            raise ValueError(f"array {name!r} is there twice")
        if kind not in _KINDS:
            raise ValueError(f"array {name!r} has dtype {kind!r}, expected one of {_KINDS}")
        # Python's integers do not overflow: a product of lengths cannot pretend to be small.
        if not all(type(n) is int and 0 <= n < 2**62 for n in (offset, *shape)) or len(shape) > 8:
            raise ValueError(f"array {name!r} has an impossible shape or offset")
        dtype = np.dtype(kind)
        end = offset + math.prod(shape) * dtype.itemsize
        if offset % _ALIGNMENT or not start <= offset <= end <= content.size:
            raise ValueError(f"array {name!r} does not lie inside the file")
        # Beside a length of 0, no byte of the file limits the others.
        if 0 in shape and max(shape) > content.size:
            raise ValueError(f"array {name!r} has an impossible shape or offset")
        arrays[name] = content[offset:end].view(dtype).astype(dtype.newbyteorder("="), copy=False)
        arrays[name] = arrays[name].reshape(shape)
        start = end
    return arrays


def _raw(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _pieces(facts: Mapping[str, Any], arrays: Arrays) -> Iterator[Any]:
    """The bytes of a file, piece by piece."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries: list[dict[str, Any]] = []
    for name, array in plain.items():
        dtype = array.dtype.newbyteorder("<").str
        assert dtype in _KINDS, f"{name} has dtype {dtype}"
        entries.append({"name": name, "dtype": dtype, "shape": array.shape, "offset": 0})
    # Offsets are in the description, whose length they change: two rounds are enough, because the
    # second time they have as many digits as they need.
    description = b""
    for _ in range(8):
        at = _HEAD.size + len(description)
        for entry, array in zip(entries, plain.values()):
            at = -(-at // _ALIGNMENT) * _ALIGNMENT
            entry["offset"] = at
            at += array.nbytes
        before, description = description, _described(facts, entries)
        if len(before) == len(description):
            break
    gaps, data_crc, at = [], 0, _HEAD.size + len(description)
    for entry, array in zip(entries, plain.values()):
        gaps.append(b"\0" * (entry["offset"] - at))
        data_crc = zlib.crc32(_raw(array), zlib.crc32(gaps[-1], data_crc))
        at = entry["offset"] + array.nbytes
    yield _HEAD.pack(_MAGIC, FORMAT, len(description), zlib.crc32(description), data_crc, at)
    yield description
    for gap, array in zip(gaps, plain.values()):
        yield gap
        yield _raw(array)


def _described(facts: Mapping[str, Any], entries: list[dict[str, Any]]) -> bytes:
    described = {"facts": facts, "arrays": entries}
    description = json.dumps(described, separators=(",", ":"), allow_nan=False).encode()
    _check_depth(description)
    return description
