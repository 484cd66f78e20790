"""Windows and half-lives of trackers with prototypes: what the events say that still count."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pytest
import test_mixtures
from test_prototype_changes import content

import icvi
import naive_connectivity as naive
from streams import blobs

FORMS = {
    icvi.Conn(): ("paper", "CONN"),
    icvi.Conn("toolbox"): ("toolbox", "CONN"),
    icvi.Conn(border="CADJ"): ("paper", "CADJ"),
    icvi.Conn("toolbox", "CADJ"): ("toolbox", "CADJ"),
}
RCIP, RH = icvi.rCIP(prototypes=True), icvi.rH(prototypes=True)
NOISE = "noise"


class Stream:
    """Samples with events, weights and times; some are noise, some have no weight."""

    def __init__(self, n=110, *, weighted=True, seed=0, rho=0.75):
        rng = np.random.default_rng(seed)
        X, numbers = blobs(n, 2, 4, seed=seed, width=1.0)
        # Clusters come and go.
        numbers = np.where(rng.random(n) < 0.7, (np.arange(n) // 12) % 4, numbers)
        self.bounds = X.min(axis=0), X.max(axis=0)
        self.X, self.labels = X, np.array(["left", "right", "up", "down"], dtype=object)[numbers]
        self.weights = np.ones(n)
        if weighted:
            self.labels[rng.random(n) < 0.1] = NOISE
            self.weights = rng.choice([1.0, 1.0, 2.0, 0.0], n)
        self.times = np.round(64.0 * np.cumsum(rng.exponential(1.0, n))) / 64.0  # whole ticks
        self.counted = (self.labels != NOISE) & (self.weights > 0.0)
        q = icvi.Quantizer(rho=rho, bounds=self.bounds)
        q.fit(self.X[self.counted], self.labels[self.counted])
        self.winners = np.tile([0, 1], (n, 1))  # those of samples that do not count are not read
        self.winners[self.counted] = q.winners_
        self.owners = dict(zip(self.winners[self.counted, 0].tolist(), self.labels[self.counted]))

    def options(self, given, part):
        return {"winners": self.winners[part]} if given else {}

    def expected(self, n, held, weights):
        """Readings of the samples ``held`` when n have come, with these weights."""
        rows = [i for i in held if self.counted[i]]
        events = [
            (*self.event(i, n), self.labels[i], w) for i, w in zip(rows, weights[rows], strict=True)
        ]
        met = {p for event in events for p in event[:2]}
        owners = {p: self.owners[p] for p in met if p >= 0}
        values = {
            index.name: naive.conn_index(events, *form, owners).value
            for index, form in FORMS.items()
        }
        values["CH"] = math.nan
        if rows:
            values["CH"] = icvi.score(self.X[rows], self.labels[rows], "CH", weights=weights[rows])
        return rows, values

    def event(self, i, n):
        """The very first events have no runner-up until there is a second prototype."""
        winner, runner_up = self.winners[i].tolist()
        if runner_up < 0:
            came = self.winners[:n][self.counted[:n], 0]
            later = came[came != winner]
            runner_up = int(later[0]) if later.size else naive.NEVER
        return winner, runner_up


def feed(t, stream, sizes, given, timed, every=1):
    """Chunks of these sizes in turn, 0 for a single update; readings after each sample."""
    found = {name: [] for name in t.values}
    start, turn = 0, 0
    while start < len(stream.X):
        size = sizes[turn % len(sizes)]
        turn += 1
        if size == 0:
            i, start = start, start + 1
            options = {"time": stream.times[i]} if timed else {}
            if given and stream.counted[i]:
                p, q = stream.winners[i].tolist()
                options["winners"] = (p, None if q < 0 else q)
            t.update(stream.X[i], stream.labels[i], stream.weights[i], **options)
            for name, value in t.values.items():
                found[name].append(value)
            continue
        part = slice(start, start + size)
        options = {"time": stream.times[part]} if timed else {}
        options |= stream.options(given, part)
        trace = t.update_many(
            stream.X[part], stream.labels[part], stream.weights[part], every=every, **options
        )
        for name in found:
            found[name].extend(trace[name])
        start += size
    return found


def held_of(stream, n, span):
    """The samples of a window when n have come."""
    if isinstance(span, timedelta):
        return np.flatnonzero(stream.times[:n] > stream.times[n - 1] - span.total_seconds())
    return range(max(0, n - span), n)


@pytest.mark.parametrize("given", [True, False], ids=["given", "own"])
@pytest.mark.parametrize("sizes", [[0], [1000], [1, 0, 0, 13, 2, 0, 40]])
@pytest.mark.parametrize("span", [1, 2, 9, 40, 500, timedelta(seconds=8)])
def test_after_every_sample_a_window_reads_what_its_events_say(span, sizes, given):
    stream = Stream()
    t = icvi.Tracker(
        ["CH", *FORMS],
        window=span,
        noise_label=NOISE,
        bounds=None if given else stream.bounds,
        quantizer={"rho": 0.75},
    )
    found = feed(t, stream, sizes, given, isinstance(span, timedelta))
    for n in range(1, len(stream.X) + 1):
        held = held_of(stream, n, span)
        _, expected = stream.expected(n, held, stream.weights)
        for name, value in expected.items():
            got = found[name][n - 1]
            assert got == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), (name, n)
    assert t.connectivity.declared == stream.owners
    assert t.connectivity.n_events == stream.weights[held][stream.counted[held]].sum()


@pytest.mark.parametrize("sizes", [[0], [1000], [3, 0, 25]])
@pytest.mark.parametrize("span", [2, 25, timedelta(seconds=8)])
def test_overlaps_of_prototypes_in_a_window(span, sizes):
    stream = Stream(60)
    t = icvi.Tracker([RCIP, "Conn", RH], window=span, noise_label=NOISE)
    found = feed(t, stream, sizes, True, isinstance(span, timedelta))
    for n in range(1, len(stream.X) + 1):
        rows, values = stream.expected(n, held_of(stream, n, span), stream.weights)
        expected = {"rcip": math.nan, "rh": math.nan}
        if rows:
            winners, weights = stream.winners[rows, 0], stream.weights[rows]
            expected = test_mixtures.naive(stream.X[rows], stream.labels[rows], winners, weights)
        for name, value in (
            (RCIP.name, expected["rcip"]),
            (RH.name, expected["rh"]),
            ("Conn", values["Conn"]),
        ):
            got = found[name][n - 1]
            assert got == pytest.approx(value, rel=1e-6, abs=1e-12, nan_ok=True), (name, n)


def test_an_outlier_leaves_nothing_behind_in_overlaps():
    X, labels = blobs(60, 2, 3)
    X[20] = 1e9
    winners = icvi.Quantizer(rho=0.5, bounds=(-3, 8)).fit(X, labels).winners_
    for chunked in (True, False):
        t = icvi.Tracker([RCIP], window=15)
        if chunked:
            t.update_many(X, labels, winners=winners)
        else:
            for x, label, event in zip(X, labels, winners.tolist(), strict=True):
                t.update(x, label, winners=event)
        rows = slice(45, 60)
        expected = test_mixtures.naive(X[rows], labels[rows], winners[rows, 0])["rcip"]
        assert t[RCIP] == pytest.approx(expected, rel=1e-9)


def test_every_mth_reading_of_a_window_is_one_of_all():
    stream = Stream()
    for indices in (["Conn", "CH"], ["Conn", RCIP]):
        all_of_them, some = (icvi.Tracker(indices, window=20, noise_label=NOISE) for _ in range(2))
        expected = feed(all_of_them, stream, [30], True, False)
        found = feed(some, stream, [17], True, False, every=7)
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name][6::7], rtol=1e-9)


def test_blocks_of_a_long_chunk_are_one(monkeypatch):
    stream = Stream()
    expected = feed(
        icvi.Tracker(["CH", *FORMS, RCIP], window=20, noise_label=NOISE), stream, [200], True, False
    )
    monkeypatch.setattr("icvi.tracking.tracker._BLOCK", 7)
    for given in (True, False):
        options = {} if given else {"bounds": stream.bounds, "quantizer": {"rho": 0.75}}
        t = icvi.Tracker(["CH", *FORMS, RCIP], window=20, noise_label=NOISE, **options)
        found = feed(t, stream, [200], given, False)
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, err_msg=name)


# -- changes of what a window holds ------------------------------------------------------------


@pytest.mark.parametrize("given", [True, False], ids=["given", "own"])
@pytest.mark.parametrize("indices", [["CH", *FORMS], ["Conn", RCIP]], ids=["Conn", "rCIP"])
def test_what_a_window_holds_can_be_taken_back_moved_merged_and_decayed(indices, given):
    stream = Stream(70, weighted=False)
    options = {} if given else {"bounds": stream.bounds, "quantizer": {"rho": 0.75}}
    t = icvi.Tracker(indices, window=40, **options)
    part = slice(0, 60)
    t.update_many(stream.X[part], stream.labels[part], **stream.options(given, part))
    winners = dict(enumerate(map(tuple, stream.winners.tolist())))
    # Taken back, with the winners that the window remembers, and with them said.
    t.remove(stream.X[30], stream.labels[30])
    t.remove(stream.X[35], stream.labels[35], winners=winners[35])
    stream.weights[[30, 35]] = 0.0
    # Moved.
    old, new = stream.labels[50], next(c for c in stream.labels if c != stream.labels[50])
    event = next(winners[i] for i in range(20, 60) if stream.labels[i] == new)
    if given:
        t.relabel(stream.X[50], old, new, new_winners=event)
        stream.winners[50] = event
    else:
        t.relabel(stream.X[50], old, new)
        stream.winners[50] = t._forgetting.winners(30, 31)[0]
        stream.owners[int(stream.winners[50, 0])] = new
    stream.labels[50] = new
    # Merged and decayed.
    t.merge_clusters(new, old)
    stream.labels[stream.labels == old] = new
    stream.owners = {p: new if c == old else c for p, c in stream.owners.items()}
    if RCIP not in indices:  # prototypes below one sample have no covariance
        t.decay(0.5)
        stream.weights[:60] *= 0.5
    stream.counted = stream.weights > 0.0

    def check(n):
        rows, expected = stream.expected(n, range(max(0, n - 40), n), stream.weights)
        if RCIP in indices:
            expected = {"Conn": expected["Conn"]}
            winner, weights = stream.winners[rows, 0], stream.weights[rows]
            expected[RCIP.name] = test_mixtures.naive(
                stream.X[rows], stream.labels[rows], winner, weights
            )["rcip"]
        for name, value in expected.items():
            assert t[name] == pytest.approx(value, rel=1e-6, abs=1e-12, nan_ok=True), (name, n)

    check(60)
    for n in range(60, 70):
        label = stream.labels[n]
        if given:
            t.update(stream.X[n], label, winners=stream.winners[n])
        else:
            t.update(stream.X[n], label)
            stream.winners[n] = t._forgetting.winners(39, 40)[0]
            stream.owners[int(stream.winners[n, 0])] = label
        check(n + 1)


@pytest.mark.parametrize("options", [{"window": 20}, {"window": 20, "bounds": (-3.0, 7.0)}])
def test_what_cannot_be_leaves_a_window_as_it_was(options):
    stream = Stream(40, weighted=False)
    given = "bounds" not in options
    t = icvi.Tracker(["CH", "Conn", RCIP], quantizer={"rho": 0.75}, **options)
    t.update_many(stream.X, stream.labels, **stream.options(given, slice(None)))
    before = content(t)
    x, label, event = (
        stream.X[30],
        stream.labels[30],
        tuple(t._forgetting.winners(10, 11)[0].tolist()),
    )
    other = next(c for c in stream.labels if c != label)
    with pytest.raises(
        ValueError, match=r"counted this sample with winners .* the window knows them"
    ):
        t.remove(x, label, winners=(event[0], 999))
    with pytest.raises(ValueError, match="the window has no such sample"):
        t.remove(stream.X[0], stream.labels[0])
    with pytest.raises(ValueError, match="the window has no such sample"):
        t.relabel(x, other, label)
    if given:
        with pytest.raises(ValueError, match=r"expected new_winners=\(winner, runner_up\)"):
            t.relabel(x, label, other)
        with pytest.raises(ValueError, match="belongs to cluster"):
            t.relabel(x, label, other, new_winners=event)
        with pytest.raises(ValueError, match="expected winners, as for the samples before"):
            t.update(x, label)
        with pytest.raises(ValueError, match="belongs to cluster"):
            t.update(x, other, winners=event)
        with pytest.raises(ValueError, match=r"sample 1: .*belongs to cluster"):
            t.update_many([x, x], [label, other], winners=[event, event])
    else:
        with pytest.raises(ValueError, match="found the winners itself"):
            t.relabel(x, label, other, new_winners=event)
    with pytest.raises(ValueError, match="counts samples"):
        t.update(x, label, time=3.0, **({"winners": event} if given else {}))
    with pytest.raises(ValueError, match="one by one"):
        t.remove_many([x], [label], winners=[event])
    assert content(t) == before


# -- fading --------------------------------------------------------------------------------


def fading_weights(stream, n, half_life, least, timed):
    """What samples are worth when n have come, 0 for those of clusters that faded away."""
    weights = np.zeros(len(stream.X))
    ticks = stream.times if timed else np.arange(len(stream.X), dtype=float)
    for i in range(n):
        weights *= 0.5 ** ((ticks[i] - ticks[i - 1 if i else 0]) / half_life)
        for label in set(stream.labels[:i]) - {NOISE}:
            if weights[:i][stream.labels[:i] == label].sum() < least:
                weights[:i][stream.labels[:i] == label] = 0.0
        weights[i] = stream.weights[i]
    return weights


@pytest.mark.parametrize("given", [True, False], ids=["given", "own"])
@pytest.mark.parametrize("sizes", [[0], [1000], [1, 0, 0, 13, 2, 0, 40]])
@pytest.mark.parametrize(
    ("half_life", "least"), [(0.4, 1e-3), (3.0, 0.05), (20.0, 1e-3), (timedelta(seconds=3), 0.05)]
)
def test_after_every_sample_fading_events_weigh_what_they_are_worth(half_life, least, sizes, given):
    stream = Stream()
    timed = isinstance(half_life, timedelta)
    t = icvi.Tracker(
        ["CH", *FORMS],
        half_life=half_life,
        least_weight=least,
        noise_label=NOISE,
        bounds=None if given else stream.bounds,
        quantizer={"rho": 0.75},
    )
    found = feed(t, stream, sizes, given, timed)
    span = half_life.total_seconds() if timed else half_life
    for n in range(1, len(stream.X) + 1):
        weights = fading_weights(stream, n, span, least, timed)
        rows = np.flatnonzero(weights)
        _, expected = stream.expected(n, rows, weights)
        for name, value in expected.items():
            got = found[name][n - 1]
            assert got == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), (name, n)
    counted = rows[stream.counted[rows]]
    assert t.connectivity.n_events == pytest.approx(weights[counted].sum(), rel=1e-9)
    assert set(t.connectivity.labels) == set(t.labels)
    np.testing.assert_allclose(sorted(t.connectivity.counts), sorted(t.counts), rtol=1e-9)


def test_a_long_silence_within_a_chunk_forgets_all():
    """Also for trackers without prototypes: clusters that are new in the chunk fade away."""
    X, labels, times = [[0.0], [1.0], [2.0], [3.0], [5.0]], [0, 1, 2, 3, 2], [0, 1, 1e5, 1e5, 1e5]
    for winners in (None, [[0, -1], [1, 0], [2, 1], [3, 1], [4, 0]]):
        indices = ["CH"] if winners is None else ["CH", "Conn"]
        t = icvi.Tracker(indices, half_life=timedelta(seconds=1))
        trace = t.update_many(X, labels, time=times, winners=winners)
        assert t.labels == [2, 3]
        assert trace.k.tolist() == [1, 2, 1, 2, 2]
    c = icvi.Connectivity()
    c.declare([0, 1], [0, 1])
    expected = c.update_many(winners[2:], labels[2:])
    np.testing.assert_allclose(trace["Conn"][2:], expected, rtol=1e-12)


def test_what_fades_can_be_taken_back_moved_merged_and_decayed_at_what_it_is_worth():
    stream = Stream(40, weighted=False)
    t = icvi.Tracker(["CH", *FORMS], half_life=10.0)
    t.update_many(stream.X, stream.labels, winners=stream.winners)
    weights = 0.5 ** (np.arange(40)[::-1] / 10.0)
    t.remove(stream.X[39], stream.labels[39], winners=stream.winners[39])
    weights[39] = 0.0
    old, new = stream.labels[29], next(c for c in stream.labels if c != stream.labels[29])
    event = next(
        e for e, c in zip(stream.winners[10:], stream.labels[10:], strict=True) if c == new
    )
    t.relabel(
        stream.X[29], old, new, float(weights[29]), winners=stream.winners[29], new_winners=event
    )
    stream.labels[29], stream.winners[29] = new, event
    part = slice(20, 23)
    t.remove_many(stream.X[part], stream.labels[part], weights[part], winners=stream.winners[part])
    weights[part] = 0.0
    t.decay(0.5)
    t.merge_clusters(new, old)
    stream.labels[stream.labels == old] = new
    stream.owners = {p: new if c == old else c for p, c in stream.owners.items()}
    _, expected = stream.expected(40, np.flatnonzero(weights), 0.5 * weights)
    for name, value in expected.items():
        assert t[name] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_overlaps_of_prototypes_do_not_fade():
    for index in (RCIP, RH):
        with pytest.raises(ValueError, match=r"cannot fade: .* are kept; use window="):
            icvi.Tracker(["Conn", index], half_life=10.0)


# -- combining -----------------------------------------------------------------------------


def test_parts_over_shared_prototypes_combine():
    stream = Stream(90, weighted=False)
    indices = ["CH", *FORMS, RCIP]
    parts = [icvi.Tracker(indices) for _ in range(3)]
    whole = icvi.Tracker(indices)
    for t in (*parts, whole):
        t.declare_prototypes(list(stream.owners), list(stream.owners.values()))
    stream.winners[stream.winners[:, 1] < 0, 1] = int(stream.winners[-1, 0])
    for number, t in enumerate(parts):
        part = slice(30 * number, 30 * number + 30)
        t.update_many(stream.X[part], stream.labels[part], winners=stream.winners[part])
    whole.update_many(stream.X, stream.labels, winners=stream.winners)
    for order in ([0, 1, 2], [2, 0, 1]):
        total = sum(parts[i] for i in order)
        for name, value in whole.values.items():
            assert total[name] == pytest.approx(value, rel=1e-9)
        assert total.connectivity.n_events == 90


def test_prototypes_that_were_found_do_not_combine():
    X, labels = blobs(40, 2, 3)
    own, also, told = (icvi.Tracker(["Conn"], bounds=(-3.0, 7.0)) for _ in range(3))
    own.update_many(X, labels)
    told.update_many(X, labels, winners=icvi.Quantizer().fit(X, labels).winners_)
    for a, b in ((own, told), (told, own), (own, own.copy())):
        before = content(a), content(b)
        with pytest.raises(ValueError, match=r"find the winners themselves.* numbered diff"):
            a.combine(b)
        assert (content(a), content(b)) == before
    for options in ({"bounds": (0.0, 1.0)}, {"bounds": (-3.0, 7.0), "quantizer": {"rho": 0.5}}):
        with pytest.raises(ValueError, match=r"\(quantizer, bounds\) is"):
            told.combine(icvi.Tracker(["Conn"], **options))
    told.combine(also)  # which has seen nothing


def test_prototypes_are_declared_before_they_win():
    t = icvi.Tracker(["Conn", icvi.Conn("toolbox")])
    t.declare_prototypes([0, 1], ["a", "b"])
    t.update([0.0], "a", winners=(0, 1))
    with pytest.raises(ValueError, match="prototype 1 belongs to cluster 'b'"):
        t.declare_prototypes([1], ["a"])
    with pytest.raises(ValueError, match="has not won yet"):
        t.update([0.0], "a", winners=(0, 2))
    with pytest.raises(ValueError, match="track Conn"):
        icvi.Tracker(["CH"]).declare_prototypes([0], ["a"])
    own = icvi.Tracker(["Conn"], bounds=(0, 1))
    own.update([0.5], "a")
    with pytest.raises(ValueError, match="found the winners itself"):
        own.declare_prototypes([3], ["a"])
