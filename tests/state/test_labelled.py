"""Many labelled samples: compiled moments are those of fractions, whatever the parts and cores."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.indices.from_moments.gaussians import _sums
from icvi.inputs import LARGEST
from icvi.kernels.rounding import UNIT
from icvi.state import labelled, moments
from icvi.state.labelled import gather_labelled, gather_numbered

PART = 64


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    """Compiled code sums a handful of samples, in several parts, in threads."""
    monkeypatch.setattr(labelled, "_MANY", 0)
    monkeypatch.setattr(labelled, "_PART", PART)
    monkeypatch.setattr(labelled, "_GROUP", 2)
    monkeypatch.setattr(moments, "_MANY", 0)


def compiled(X, codes, k, scatter=True):
    columns = np.asarray(codes, dtype=np.int64) + 1
    found = gather_labelled(X, columns, k, None, scatter=scatter)
    assert found.samples == int((np.asarray(codes) >= 0).sum())
    return found


def exact(x):
    """Mean and scatter of samples in fractions."""
    rows = [[Fraction(float(value)) for value in row] for row in x]
    d = x.shape[1]
    mean = [sum(row[t] for row in rows) / len(rows) for t in range(d)]
    scatter = [
        [sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in rows) for j in range(d)]
        for i in range(d)
    ]
    return mean, scatter


def check(found, X, codes, scatter=True):
    """Compare with fractions; the scatter to rounding of its own diagonal."""
    for i in range(len(found.n)):
        x = X[np.asarray(codes) == i]
        mean, S = exact(x)
        assert found.n[i] == len(x)
        for t, value in enumerate(mean):
            error = abs(Fraction(found.high[i, t]) + Fraction(found.low[i, t]) - value)
            assert error <= abs(value) * Fraction(2) ** -100
        spread = [float(S[t][t]) ** 0.5 for t in range(X.shape[1])]
        assert found.CP[i] == pytest.approx(sum(s * s for s in spread), rel=1e-13, abs=0.0)
        if scatter:
            for t, row in enumerate(S):
                for u, value in enumerate(row):
                    allowed = 1e-13 * spread[t] * spread[u]
                    assert abs(found.S[i, t, u] - float(value)) <= allowed


def check_again(found, x, i):
    """Compare a scatter in two doubles with fractions."""
    precise = found.again(i)
    mean, S = exact(x)
    assert precise.samples == precise.n == len(x)
    assert precise.mean.high == pytest.approx([float(value) for value in mean])
    assert precise.S.high == pytest.approx(np.array(S, dtype=float))


def blobs(seed, n, d, k):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return rng.normal(size=(n, d)) + 7.0 * rng.normal(size=(k, d))[codes], codes


@pytest.mark.parametrize("scatter", [True, False])
@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 17])
def test_moments_are_those_of_fractions(d, scatter):
    X, codes = blobs(d, 300, d, 5)
    check(compiled(X, codes, 5, scatter), X, codes, scatter)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 300), st.integers(1, 4), st.integers(1, 6))
def test_sizes_of_all_kinds(seed, n, d, k):
    k = min(k, n)
    X, codes = blobs(seed, n, d, k)
    check(compiled(X, codes, k), X, codes)


@pytest.mark.parametrize("offset", [1e3, 1e8, 1e12, -1e15])
def test_an_offset_costs_no_digits(offset):
    X, codes = blobs(3, 200, 3, 3)
    X += offset
    check(compiled(X, codes, 3), X, codes)


@pytest.mark.parametrize("scatter", [True, False])
@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
def test_a_first_sample_far_away_costs_no_digits(size, scatter):
    # Squares about it would cancel.
    X, codes = blobs(4, 200, 3, 3)
    X[0] = size
    check(compiled(X, codes, 3, scatter), X, codes, scatter)
    X[PART * 2 :] += size  # and from one part to the next
    check(compiled(X, codes, 3, scatter), X, codes, scatter)


def test_squares_that_cancel_are_summed_again(monkeypatch):
    again = []
    monkeypatch.setattr(
        labelled,
        "of_part",
        lambda X, members, *rest: again.append(len(members)) or moments.of_part(X, members, *rest),
    )
    X, codes = np.full((60, 2), 1.0), np.zeros(60, dtype=np.int64)
    X += np.random.default_rng(0).normal(size=X.shape) * 1e-6
    check(compiled(X, codes, 1), X, codes)
    assert again == []
    X[0] = 5.0
    check(compiled(X, codes, 1), X, codes)
    assert again == [60]


@pytest.mark.parametrize("n", [3_000, 60_000])
def test_rounding_stays_within_what_is_counted_with(monkeypatch, n):
    # One after the other, the products of 60,000 samples are beyond it.
    monkeypatch.setattr(labelled, "_PART", 65_536)
    X = np.random.default_rng(11).normal(size=(n, 40))
    found = compiled(X, np.zeros(n), 1)
    S = found.again(0).S.high
    spread = np.sqrt(S.diagonal())
    units = np.abs(found.S[0] - S) / np.outer(spread, spread) / UNIT
    assert units.max() <= _sums(n)


def test_clusters_of_equal_samples_have_no_spread():
    X = np.repeat([[0.1, 1e9 + 0.3], [1.0 / 3.0, -7.7]], 100, axis=0)
    codes = np.repeat([0, 1], 100)
    found = compiled(X, codes, 2)
    assert not found.S.any()
    assert not found.CP.any()
    assert found.high.tolist() == [X[0].tolist(), X[100].tolist()]
    assert not found.low.any()


def test_clusters_that_come_late_and_leave_early():
    X, _ = blobs(5, 4 * PART, 2, 1)
    codes = np.repeat(np.arange(4), PART)
    check(compiled(X, codes, 4), X, codes)
    check(compiled(X[::-1].copy(), codes, 4), X[::-1], codes)


def test_noise_is_left_out():
    X, codes = blobs(6, 300, 3, 4)
    codes[20:60], codes[-1] = -1, -1
    found = compiled(X, codes, 4)
    check(found, X, codes)
    for i in (None, 0, 3):
        check_again(found, X[codes >= 0] if i is None else X[codes == i], i)


def test_no_digit_depends_on_the_number_of_cores(monkeypatch):
    X, codes = blobs(7, 1000, 3, 4)
    first = compiled(X, codes, 4)
    monkeypatch.setattr(moments, "cores", lambda: 1)
    other = compiled(X, codes, 4)
    for name in ("n", "high", "low", "CP", "S"):
        assert np.array_equal(getattr(first, name), getattr(other, name))


def test_what_is_passed_stays_as_it_is():
    X, codes = blobs(8, 300, 3, 4)
    codes[5] = -1
    before = X.copy(), codes.copy()
    X.flags.writeable = False  # such as a memory map
    compiled(X, codes, 4)
    assert np.array_equal(X, before[0])
    assert np.array_equal(codes, before[1])


@pytest.mark.parametrize("noise", [None, 2])
def test_scores_are_those_of_few_samples(monkeypatch, noise):
    X, codes = blobs(9, 500, 4, 5)
    found = icvi.scores(X, codes, "all", noise_label=noise)
    monkeypatch.setattr(labelled, "_MANY", 10**9)
    assert found == pytest.approx(icvi.scores(X, codes, "all", noise_label=noise), rel=1e-11)


@pytest.mark.parametrize("scatter", [True, False])
def test_weights_and_large_scatters_are_left_to_numpy(monkeypatch, scatter):
    def refuse(*_):
        raise AssertionError("compiled")

    monkeypatch.setattr(labelled, "_compiled", refuse)
    X, codes = blobs(10, 300, 65, 3)
    codes[7] = -1
    found = gather_labelled(X, codes + 1, 3, np.ones(300), scatter=scatter)
    assert found.n.sum() == 299
    if scatter:
        assert gather_labelled(X, codes + 1, 3, None, scatter=True).n.sum() == 299
        monkeypatch.setattr(labelled, "_FEW", 5)
        assert gather_labelled(X[:, :2], codes + 1, 3, None, scatter=True).n.sum() == 299


@pytest.mark.parametrize("kind", ["i1", "i2", "i8", "u1", "u4", "u8", ">i8"])
def test_labels_of_all_widths_and_orders(kind):
    X, codes = blobs(12, 300, 3, 4)
    labels = (np.array([100, 3, 7, 50])[codes]).astype(kind)
    found = gather_numbered(X, labels, None, scatter=True)
    check(found, X, np.searchsorted([3, 7, 50, 100], labels))
    check_again(found, X[codes == 1], 0)
    everyother = gather_numbered(X, np.repeat(labels, 2)[::2], None, scatter=True)
    assert np.array_equal(everyother.S, found.S)


_LEAST = np.iinfo(np.int64).min


@pytest.mark.parametrize(
    "values",
    [
        np.array([-128, -3, 5, 120], dtype=np.int8),  # further apart than fits
        np.array([_LEAST, _LEAST + 1, _LEAST + 2, _LEAST + 9]),
    ],
)
def test_labels_may_be_negative_and_read_only(values):
    X, codes = blobs(13, 300, 3, 4)
    labels = values[codes]
    labels.flags.writeable = False
    found = gather_numbered(X, labels, None, scatter=True)
    check(found, X, codes)
    check_again(found, X[codes == 3], 3)
    assert icvi.scores(X, labels, ["CH", "rH"]) == icvi.scores(X, codes, ["CH", "rH"])


@pytest.mark.parametrize("noise", [2, 2.0, np.int8(2)])
def test_noise_is_what_equals_the_noise_label(noise):
    X, codes = blobs(14, 300, 3, 4)
    labels = np.array([5, 2, 9, 11])[codes]
    found = gather_numbered(X, labels, noise, scatter=True)
    kept = np.array([0, -1, 1, 2])[codes]
    check(found, X, kept)
    assert found.samples == int((codes != 1).sum())
    check_again(found, X[codes != 1], None)
    check_again(found, X[codes == 2], 1)


def test_all_samples_may_be_noise():
    X, _ = blobs(15, 300, 3, 4)
    assert np.isnan(icvi.score(X, np.full(300, 7), "CH", noise_label=7))


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "c"],
        [0.5, 1.5, 2.5],
        [0, 1, 10**6],
        np.array([0, 1, 2**63], dtype=np.uint64),
        [True, False, True],
    ],
)
def test_other_labels_are_numbered_first(labels):
    X, codes = blobs(16, 300, 3, 3)
    given = np.array(labels)[codes]
    assert gather_numbered(X, given, None, scatter=True) is None
    clusters = np.unique(given, return_inverse=True)[1]
    assert icvi.scores(X, given) == pytest.approx(icvi.scores(X, clusters), rel=1e-12)


@pytest.mark.parametrize("labels", [None, "abcd"])
@pytest.mark.parametrize("at", [(0, 0), (299, 2), (PART * 3 + 5, 1)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2.0 * LARGEST, -2.0 * LARGEST])
def test_entries_that_are_refused(monkeypatch, labels, at, bad):
    X, codes = blobs(17, 300, 3, 4)
    given = codes if labels is None else np.array(list(labels))[codes]
    X[at] = bad
    with pytest.raises(ValueError, match=f"at sample {at[0]}, feature {at[1]}") as many:
        icvi.scores(X, given)
    monkeypatch.setattr(labelled, "_MANY", 10**9)
    with pytest.raises(ValueError, match=re.escape(str(many.value))):
        icvi.scores(X, given)


def test_the_largest_entries_are_taken():
    X, codes = blobs(18, 300, 3, 4)
    X[:150, 1], X[150:, 1] = LARGEST, -LARGEST
    found = gather_numbered(X, codes, None, scatter=False)
    assert found.n.sum() == 300
    assert np.isfinite(found.high).all()


def test_labels_that_change_while_they_are_read_are_refused():
    X, codes = blobs(19, 300, 3, 4)
    for lowest, width in ((0, 3), (1, 4)):
        with pytest.raises(RuntimeError, match="labels changed"):
            labelled._sums(X, codes, slice(0, 300), lowest, width, True)
