"""States as bytes: what a file would hold, with the same checks."""

from __future__ import annotations

import numpy as np
import pytest

import icvi
from own_indices import mean_radius
from saved_objects import KINDS

#: All but estimators, which have files only.
HAVE_BYTES = [
    name for name in KINDS if name.startswith(("tracker", "bank", "partition", "connectivity"))
]


@pytest.mark.parametrize("name", HAVE_BYTES)
def test_bytes_are_those_of_the_file_and_come_back(name, tmp_path):
    thing = KINDS[name].make()
    thing.save(tmp_path / "thing.icvi")
    assert thing.to_bytes() == (tmp_path / "thing.icvi").read_bytes()
    again = icvi.from_bytes(thing.to_bytes())
    assert type(again) is type(thing)
    assert again.to_bytes() == thing.to_bytes()


def tracker():
    t = icvi.Tracker(["CH", "NI"], window=30)
    X = np.random.default_rng(0).normal(size=(50, 2))
    t.update_many(X, np.arange(50) % 3)
    return t


@pytest.mark.parametrize(
    "made",
    [
        bytes,
        bytearray,
        memoryview,
        lambda content: np.frombuffer(content, dtype=np.uint8),
        lambda content: memoryview(b"?" + content)[1:],  # no number lies where it should
        lambda content: memoryview(content[::-1])[::-1],
    ],
    ids=["bytes", "bytearray", "memoryview", "read-only array", "odd address", "backwards"],
)
def test_any_buffer_is_read_and_not_kept(made):
    t = tracker()
    buffer = made(t.to_bytes())
    again = icvi.from_bytes(buffer)
    if isinstance(buffer, bytearray):
        buffer[:] = bytes(len(buffer))
    for each in (t, again):
        each.update_many([[0.5, 0.5]] * 40, [5] * 40)
    assert again.to_bytes() == t.to_bytes()


@pytest.mark.parametrize("given", ["text", 5, None, ["bytes"]])
def test_what_is_no_buffer_is_refused(given):
    with pytest.raises(
        TypeError, match=r"expected bytes, bytearray or memoryview, got .*icvi.load"
    ):
        icvi.from_bytes(given)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda b: b"", "^the buffer is empty$"),
        (lambda b: b"PK" + b[2:], "^the buffer is not a saved state of icvi$"),
        (lambda b: b[:-1], r"^the buffer is truncated: it has \d+ of \d+ bytes$"),
        (lambda b: b + b"\0", "^the buffer is damaged: "),
        (lambda b: b[:-9] + bytes([b[-9] ^ 1]) + b[-8:], "^the buffer is damaged: "),
        (lambda b: b[:8] + b"\x02" + b[9:], "^the buffer has format 2, "),
    ],
)
def test_bytes_that_were_altered_are_refused(change, why):
    with pytest.raises(ValueError, match=why):
        icvi.from_bytes(change(tracker().to_bytes()))


def test_own_indices_are_passed_along():
    t = icvi.Tracker([mean_radius])
    t.update_many([[0.0], [1.0], [5.0]], [0, 0, 1])
    with pytest.raises(
        ValueError, match=r"^the buffer tracks mean_radius, which icvi does not have"
    ):
        icvi.from_bytes(t.to_bytes())
    assert icvi.from_bytes(t.to_bytes(), [mean_radius]).values == t.values
