"""Batches of the sizes that a clusterer needs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from icvi.streams import open_source
from icvi.watching.rebatching import rebatch


def data(n):
    return np.arange(2.0 * n).reshape(n, 2), [f"c{i % 3}" for i in range(n)]


def batches(n, rows, position=None):
    source = open_source(data(n), rows=rows)
    if position:
        source.seek(position)
    return source


@given(
    n=st.integers(1, 60),
    rows=st.integers(1, 20),
    size=st.one_of(st.none(), st.integers(1, 25)),
    first=st.one_of(st.none(), st.integers(1, 25)),
)
def test_pieces_have_the_sizes_asked_for_and_hold_all_samples(n, rows, size, first):
    def size_of(seen):
        return size if size is not None else (first if seen == 0 else None)

    pieces = list(rebatch(batches(n, rows), size_of))
    X, labels = data(n)
    np.testing.assert_array_equal(np.concatenate([piece.X for piece in pieces]), X)
    assert np.concatenate([piece.labels for piece in pieces]).tolist() == labels
    assert [piece.first for piece in pieces] == [0, *[piece.stop for piece in pieces[:-1]]]
    if size is not None:
        assert all(len(piece) == size for piece in pieces[:-1])
        assert len(pieces[-1]) <= size
    elif first is not None:
        assert len(pieces[0]) == n or len(pieces[0]) == first or n < first


@given(
    n=st.integers(2, 60),
    rows=st.integers(1, 20),
    other_rows=st.integers(1, 20),
    size=st.integers(1, 25),
    stop_after=st.integers(0, 60),
)
def test_reading_can_resume_after_any_piece(n, rows, other_rows, size, stop_after):
    whole = list(rebatch(batches(n, rows), lambda seen: size))
    number = min(stop_after, len(whole) - 1)
    piece = whole[number]
    rest = batches(n, other_rows, piece.position)
    again = list(rebatch(rest, lambda seen: size, start=piece.stop, position=piece.position))
    assert [p.X.tolist() for p in again] == [p.X.tolist() for p in whole[number + 1 :]]
    assert [p.stop for p in again] == [p.stop for p in whole[number + 1 :]]


def test_what_comes_is_handed_on_at_once_where_any_size_will_do():
    pieces = rebatch(batches(10, 3), lambda seen: None)
    assert len(next(pieces)) == 3


def test_labels_of_different_kinds_are_joined_as_they_are():
    source = open_source([([0.0], 1), ([1.0], "a"), ([2.0], 2)], rows=1)
    (piece,) = rebatch(source, lambda seen: 3)
    assert piece.labels.tolist() == [1, "a", 2]
