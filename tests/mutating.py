"""Saved files that are changed on purpose, with checksums that are right again.

Changes know what a file is made of: single bytes, what the description says, and the numbers,
shapes and dtypes of arrays. Some are far from anything that could be, others as near as they get.
"""

from __future__ import annotations

import copy
import json
import math
import random
import struct
import zlib
from typing import Any

import numpy as np

_HEAD = struct.Struct("<8sIIIIQ")
_ALIGNMENT = 64

_WHOLES = [0, 1, -1, 2, 3, -5, 7, 255, 10**7, 10**7 + 1, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63)]
_REALS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -5.0, 2.0, 1e-300, 5e-324, 1e-9, 1e9, 1e140, 1e150, 1e200, 1e308,
    -1e308, math.inf, -math.inf, math.nan,
]  # fmt: skip
_FACTS = [
    None, True, False, 0, 1, -1, 2, 3, -5, 16, 48, 2**31, 2**62, 2**63, 2**64, 10**30, 10**400, 0.5,
    -1.5, 1e300, "", "x", "paper", "nan", "inf", "-0x1p+0", "0x1p+0", "0x1p-80", "0x1p+1023", [],
    {}, [0], [[]], {"float": "nan"}, {"float": "0x1p-3"}, {"bool": 1}, {"bytes": "AA=="},
    {"bytes": "é"}, {"tuple": [1, "a"]}, {"tuple": []}, {"tuple": {"a": 1}}, {"ns": 1},
    {"ns": -(2**63)}, {"ns": 2**70}, {"timedelta": [1, 2, 3]}, {"timedelta": [10**10, 0, 0]},
    {"date": "2026-01-02"}, {"datetime": "2026-13-02"}, {"what": 1},
    {"module": None}, {"array": None},
]  # fmt: skip


def decoded(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description of a file, and copies of its arrays."""
    length = _HEAD.unpack(content[: _HEAD.size])[2]
    described = json.loads(content[_HEAD.size : _HEAD.size + length])
    arrays = {}
    for entry in described["arrays"]:
        dtype, shape = np.dtype(entry["dtype"]), entry["shape"]
        count = math.prod(shape)
        flat = (
            np.frombuffer(content, dtype, count, entry["offset"]) if count else np.empty(0, dtype)
        )
        arrays[entry["name"]] = flat.reshape(shape).copy()
    return described, arrays


def encoded(facts: Any, arrays: dict[str, np.ndarray], lies: dict[str, Any] | None = None) -> bytes:
    """A file with right checksums; lies say something else about arrays, by their names."""
    entries = [
        {"name": name, "dtype": a.dtype.str, "shape": list(a.shape), "offset": 10**9}
        for name, a in arrays.items()
    ]
    for entry in entries:
        entry.update((lies or {}).get(entry["name"], {}))
    # Offsets have so many digits at most; what is left of the room is filled with blanks.
    room = len(json.dumps({"facts": facts, "arrays": entries}))
    data, at = b"", _HEAD.size + room
    for entry, array in zip(entries, arrays.values(), strict=True):
        data += b"\0" * (-(at + len(data)) % _ALIGNMENT)
        if "offset" not in (lies or {}).get(entry["name"], {}):
            entry["offset"] = at + len(data)
        data += array.tobytes()
    return sealed(json.dumps({"facts": facts, "arrays": entries}).encode().ljust(room), data)


def sealed(description: bytes, data: bytes) -> bytes:
    """A file of any description and data, with right lengths and checksums."""
    total = _HEAD.size + len(description) + len(data)
    crcs = zlib.crc32(description), zlib.crc32(data)
    return _HEAD.pack(b"\x89ICVI\r\n\x1a", 1, len(description), *crcs, total) + description + data


def mutant(content: bytes, seed: str) -> bytes:
    """The same file with a few changes, which the seed decides on."""
    rng = random.Random(seed)
    if rng.random() < 0.15:
        return _with_other_bytes(content, rng)
    described, arrays = decoded(content)
    facts = copy.deepcopy(described["facts"])
    lies: dict[str, Any] = {}
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        what = rng.random()
        if what < 0.4 or not arrays:
            facts = _changed_fact(facts, rng)
        elif what < 0.95:
            _change_array(arrays, rng)
        else:
            lies[rng.choice(list(arrays))] = _lie(rng)
    return encoded(facts, arrays, lies)


# -- bytes ---------------------------------------------------------------------------------


def _with_other_bytes(content: bytes, rng: random.Random) -> bytes:
    """Bits flipped, bytes taken out or put in."""
    length = _HEAD.unpack(content[: _HEAD.size])[2]
    end = _HEAD.size + length
    description, data = bytearray(content[_HEAD.size : end]), bytearray(content[end:])
    if rng.random() < 0.02:
        description = bytearray(b'{"facts":' + b"[" * 100_000 + b"]" * 100_000 + b',"arrays":[]}')
    for _ in range(rng.choice([1, 1, 2, 8])):
        part = data if data and rng.random() < 0.6 else description
        place = rng.randrange(len(part))
        match rng.randrange(5):
            case 0:
                del part[place : place + rng.choice([1, 8, 64])]
            case 1:
                part[place:place] = rng.randbytes(rng.choice([1, 8, 64]))
            case _:
                part[place] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        end = rng.randrange(len(description) + 1)
        description, data = description[:end], description[end:] + data
    return sealed(bytes(description), bytes(data))


# -- facts ---------------------------------------------------------------------------------


def _places(fact: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: Any = ()
    if isinstance(fact, dict):
        items = fact.items()
    elif isinstance(fact, list):
        items = enumerate(fact)
    return [path, *(place for key, value in items for place in _places(value, (*path, key)))]


def _changed_fact(facts: Any, rng: random.Random) -> Any:
    places = [place for place in _places(facts) if place]
    if not places:
        return rng.choice(_FACTS)
    place = rng.choice(places)
    owner = facts
    for key in place[:-1]:
        owner = owner[key]
    key, value = place[-1], owner[place[-1]]
    match rng.randrange(6):
        case 0:
            del owner[key]
        case 1 if isinstance(owner, list):
            owner.insert(key, copy.deepcopy(rng.choice(owner)))
        case 2 if isinstance(value, list) and len(value) > 1:
            rng.shuffle(value)
        case 3 if type(value) in (int, float) and abs(value) < 1e300:
            owner[key] = rng.choice([value + 1, value - 1, 2 * value, -value, value + 0.5])
        case 4 if isinstance(value, str) and value:
            at = rng.randrange(len(value))
            owner[key] = value[:at] + rng.choice("0189abxp-+. ") + value[at + 1 :]
        case _:
            owner[key] = copy.deepcopy(rng.choice(_FACTS))
    return facts


# -- arrays --------------------------------------------------------------------------------


def _change_array(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    name = rng.choice(list(arrays))
    array = arrays[name]
    match rng.randrange(12):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = arrays[rng.choice(list(arrays))].copy()
        case 2:
            arrays[name] = _with_another_length(array, rng)
        case 3:
            arrays[name] = array.astype(rng.choice(["<f8", "<i8", "|u1", ">f8", "<f4"]))
        case 4 if array.size > 1:
            flat = array.reshape(-1)
            i, j = rng.sample(range(array.size), 2)
            flat[[i, j]] = flat[[j, i]]
        case _ if array.size:
            _change_numbers(array.reshape(-1), rng)


def _with_another_length(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.ndim == 0 or rng.random() < 0.2:
        return array.reshape(-1) if rng.random() < 0.5 else array[None]
    axis = rng.randrange(array.ndim)
    if rng.random() < 0.5 and array.shape[axis]:
        return np.delete(array, rng.randrange(array.shape[axis]), axis)
    return np.concatenate([array, np.roll(array, 1, axis)], axis)


def _change_numbers(flat: np.ndarray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 1, 3, flat.size])):
        at = rng.randrange(flat.size)
        value = flat[at].item()
        if flat.dtype.kind == "f":
            near = [-value, 2.0 * value, 0.5 * value, value + 1.0, math.nextafter(value, 1e308)]
            flat[at] = rng.choice(near if rng.random() < 0.5 else _REALS)
        elif rng.random() < 0.6:
            flat[at] = min(max(value + rng.choice([1, -1, 2]), -(2**63)), 2**63 - 1) % 2**63
        else:
            flat[at] = rng.choice(_WHOLES) if flat.dtype.itemsize == 8 else rng.randrange(256)


def _lie(rng: random.Random) -> dict[str, Any]:
    """Something else than the truth about an array."""
    lengths = [0, 1, 3, 8, 2**20, 2**31, 2**62, 2**64, -1, True, "4", None, 0.5]
    match rng.randrange(4):
        case 0:
            return {"shape": [rng.choice(lengths) for _ in range(rng.randrange(5))]}
        case 1:
            return {"offset": rng.choice([0, 32, 64, 4096, -64, 2**62, 2**64, None, "64", 1.5])}
        case 2:
            return {"dtype": rng.choice(["|O", "<f4", ">i8", "<U9", "i4,i4", "|V8", "", 7, None])}
    return {"name": rng.choice(["partition.columns", "", 5, None, "values"])}
