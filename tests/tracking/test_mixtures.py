"""rCIP and rH of clusters with several prototypes, against their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
from streams import blobs

CHOICES = {
    "rcip": icvi.rCIP(prototypes=True),
    "log_rcip": icvi.rCIP(prototypes=True, log_rcip=True),
    "rh": icvi.rH(prototypes=True),
    "mean_rcip": icvi.rCIP(prototypes=True, mean=True),
    "mean_log_rcip": icvi.rCIP(prototypes=True, log_rcip=True, mean=True),
    "mean_rh": icvi.rH(prototypes=True, mean=True),
}


def naive(X, labels, winners, weights=None, delta=None):
    """All six forms from the definition; h in plain loops, sums of exp shifted by the largest."""
    X = np.asarray(X, dtype=float)
    n, d = X.shape
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    delta = 10.0 ** (-12.0 / d) if delta is None else delta
    moments, owner = {}, {}
    for p in dict.fromkeys(winners):
        mine = [i for i in range(n) if winners[i] == p]
        weight = math.fsum(w[mine])
        v = sum(w[i] * X[i] for i in mine) / weight
        S = sum(w[i] * np.outer(X[i] - v, X[i] - v) for i in mine)
        scale = 0.0 if weight == 1.0 else 1.0 / (weight - 1.0)
        moments[p], owner[p] = (v, S * scale + delta * np.eye(d)), labels[mine[0]]
    clusters = list(dict.fromkeys(labels))
    logs = []
    for a, first in enumerate(clusters):
        for second in clusters[a + 1 :]:
            minus_h = [
                -overlap(moments[p], moments[q], d)
                for p in moments
                for q in moments
                if (owner[p], owner[q]) == (first, second)
            ]
            logs.append(log_mean(minus_h))
    if not logs:
        return dict.fromkeys(CHOICES, math.nan)
    top = max(logs)
    log_sum = top + math.log(math.fsum(math.exp(x - top) for x in logs))
    rcip, rh = math.fsum(math.exp(x) for x in logs), -math.fsum(logs)
    return {
        "rcip": rcip,
        "log_rcip": log_sum,
        "rh": rh,
        "mean_rcip": rcip / len(logs),
        "mean_log_rcip": log_sum - math.log(len(logs)),
        "mean_rh": rh / len(logs),
    }


def overlap(one, other, d):
    (v, S), (u, T) = one, other
    e, both = v - u, S + T
    return 0.5 * (
        e @ np.linalg.solve(both, e) + np.linalg.slogdet(both)[1] + d * math.log(2 * math.pi)
    )


def log_mean(values):
    top = max(values)
    return top + math.log(math.fsum(math.exp(x - top) for x in values) / len(values))


def assert_reads(tracker, expected, rel=1e-9):
    for key, index in CHOICES.items():
        assert tracker[index] == pytest.approx(expected[key], rel=rel, abs=1e-12, nan_ok=True), key


@pytest.mark.parametrize("d", [1, 2, 5])
def test_readings_after_every_sample_are_those_of_the_definition(d):
    X, labels = blobs(90, d, 4)
    q = icvi.Quantizer(rho=0.8).fit(X, labels)
    winners = q.winners_
    t = icvi.Tracker(list(CHOICES.values()))
    trace = t.update_many(X, labels, winners=winners)
    for n in range(1, len(X) + 1, 4):
        expected = naive(X[:n], labels[:n], winners[:n, 0])
        for key, index in CHOICES.items():
            assert trace[index][n - 1] == pytest.approx(
                expected[key], rel=1e-9, abs=1e-12, nan_ok=True
            ), (key, n)
    assert q.n_prototypes_ > 8


def test_one_prototype_per_cluster_gives_the_plain_indices():
    X, labels = blobs(80, 3, 5)
    t = icvi.Tracker([*CHOICES.values(), "rCIP", "rH", icvi.rCIP(log_rcip=True)])
    _, first = np.unique(labels, return_index=True)
    numbers = {label: i for i, label in enumerate(labels[np.sort(first)])}
    seen = set()
    for x, label in zip(X, labels, strict=True):
        others = [number for number in seen if number != numbers[label]]
        t.update(x, label, winners=(numbers[label], others[0] if others else None))
        seen.add(numbers[label])
    for key, plain in (("rcip", "rCIP"), ("rh", "rH"), ("log_rcip", icvi.rCIP(log_rcip=True))):
        assert t[CHOICES[key]] == pytest.approx(t[plain], rel=1e-10)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5), st.integers(1, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_random_prototypes_with_weights_equal_the_definition(samples):
    """Coarse grids: prototypes coincide, or have no width in a direction."""
    X = np.array([[x, y] for x, y, _, _ in samples], dtype=float)
    raw = [p for _, _, p, _ in samples]
    number = {p: i for i, p in enumerate(dict.fromkeys(raw))}
    winner = [number[p] for p in raw]
    labels = [p // 2 for p in raw]
    weights = [w for *_, w in samples]
    t = icvi.Tracker([icvi.rH(prototypes=True, delta=0.1), icvi.rCIP(prototypes=True, delta=0.1)])
    seen: list[int] = []
    for x, label, w, p in zip(X, labels, weights, winner, strict=True):
        others = [q for q in seen if q != p]
        t.update(x, label, w, winners=(p, others[0] if others else None))
        seen.append(p)
    expected = naive(X, labels, winner, weights, delta=0.1)
    rh, rcip = t.values.values()
    assert rh == pytest.approx(expected["rh"], rel=1e-9, abs=1e-10, nan_ok=True)
    assert rcip == pytest.approx(expected["rcip"], rel=1e-9, abs=1e-12, nan_ok=True)


def test_chunks_equal_one_by_one_while_the_arena_grows():
    X, labels = blobs(300, 2, 6)
    q = icvi.Quantizer(rho=0.95).fit(X, labels)
    assert q.n_prototypes_ > 60
    whole, parts = (icvi.Tracker([*CHOICES.values(), "Conn"]) for _ in range(2))
    expected = whole.update_many(X, labels, winners=q.winners_)
    for i in range(0, 300, 50):
        part = slice(i, i + 50)
        parts.update_many(X[part], labels[part], winners=q.winners_[part])
        for name, value in parts.values.items():
            assert value == pytest.approx(expected[name][i + 49], rel=1e-12, nan_ok=True)


def test_overlaps_alone_need_no_conn():
    X, labels = blobs(60, 2, 3)
    t = icvi.Tracker([icvi.rH(prototypes=True)])
    trace = t.update_many(X, labels)
    assert t.connectivity.n_events == 60
    assert trace[icvi.rH(prototypes=True)][-1] == t[icvi.rH(prototypes=True)]
    assert icvi.score(X, labels, icvi.rH(prototypes=True)) == t[icvi.rH(prototypes=True)]


def test_far_apart_the_logarithm_does_not_underflow():
    X = np.array([[0.0], [1.0], [2.0], [1e6], [1e6 + 1], [1e6 + 2]])
    t = icvi.Tracker([CHOICES["rcip"], CHOICES["log_rcip"], CHOICES["rh"]])
    t.update_many(X, [0, 0, 0, 1, 1, 1])
    assert t[CHOICES["rcip"]] == 0.0
    assert t[CHOICES["log_rcip"]] < -1e9
    assert t[CHOICES["rh"]] == pytest.approx(-t[CHOICES["log_rcip"]], rel=1e-12)


def test_undefined_readings_say_why():
    t = icvi.Tracker([CHOICES["rh"]], bounds=(0, 1))
    assert t.why(CHOICES["rh"]) == "empty"
    t.update([0.5, 0.5], 0)
    assert t.why(CHOICES["rh"]) == "k<2"
    t.update([0.1, 0.1], 1, 0.5)
    assert t.why(CHOICES["rh"]) == "weight<1"
    singular = icvi.rH(delta=0.0, prototypes=True)
    t = icvi.Tracker([singular], bounds=(0, 1))
    t.update([0.5, 0.5], 0)
    t.update([0.1, 0.1], 1)
    assert t.why(singular) == "singular_scatter"
