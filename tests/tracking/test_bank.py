"""One tracker per key: the same numbers as alone, all or nothing, keys of any kind."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import icvi.progress
import processes
from icvi.tracking import bank as banks
from streams import blobs

EXAMPLE = Path(__file__).parents[2] / "examples" / "many_streams.py"


def keyed(n: int = 3000, keys: int = 5, seed: int = 0):
    X, labels = blobs(n, d=3, k=4, seed=seed)
    return np.random.default_rng(seed + 1).integers(0, keys, n), X, labels


def snapshot(bank: icvi.TrackerBank) -> bytes:
    """Everything that can be seen of a bank."""
    return pickle.dumps(
        [
            (key, t.n_samples, t.labels, t.counts, t.centers, t.values, t.noise_share)
            for key, t in bank.items()
        ]
    )


@pytest.fixture
def threaded(monkeypatch):
    """Threads even for short chunks."""
    monkeypatch.setattr(banks, "_LARGE", 1)
    monkeypatch.setattr(banks, "_WORTH_THREADS", 0)


@pytest.mark.parametrize("indices", ["paper", ["Conn", "CH"]])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_threads_give_the_numbers_of_one_by_one_bit_for_bit(indices, workers):
    keys, X, labels = keyed()
    weights = np.random.default_rng(5).integers(0, 3, len(X)) / 2.0
    bank = icvi.TrackerBank(indices, workers=workers)
    halves = slice(0, 1400), slice(1400, None)
    traces = [bank.update_many(keys[h], X[h], labels[h], weights[h], every=3) for h in halves]
    for key in bank:
        alone = icvi.Tracker(indices)
        for half, trace in zip(halves, traces, strict=True):
            mine = keys[half] == key
            args = X[half][mine], labels[half][mine], weights[half][mine]
            expected = alone.update_many(*args, every=3)
            for name in expected:
                assert trace[key][name].tobytes() == expected[name].tobytes()
            np.testing.assert_array_equal(trace[key].samples, expected.samples)
            np.testing.assert_array_equal(trace[key].labels, expected.labels)
            np.testing.assert_array_equal(trace[key].k, expected.k)
        assert bank[key].labels == alone.labels
        assert bank[key].values == alone.values


@given(st.lists(st.sampled_from([1, "1", (1, 2), None, b"x", 2.5, "two"]), min_size=1, max_size=30))
def test_keys_of_any_kind_in_order_of_first_appearance(keys):
    bank = icvi.TrackerBank(["CH"])
    X = np.arange(len(keys), dtype=float)[:, None]
    traces = bank.update_many(keys, X, [0] * len(keys))
    assert list(traces) == list(bank) == list(dict.fromkeys(keys))
    for key in keys:
        assert bank[key].n_samples == len(traces[key]) == keys.count(key)
    assert bank.readings()["key"].tolist() == list(bank)


def test_samples_of_a_key_stay_in_order(threaded):
    bank = icvi.TrackerBank(["CH"], workers=3)
    keys = ["b", "a", "b", "a", "b"]
    traces = bank.update_many(keys, [[1.0], [2.0], [3.0], [4.0], [5.0]], list("vwxyz"))
    assert bank["b"].labels == ["v", "x", "z"]
    assert traces["a"].labels.tolist() == ["w", "y"]


def test_it_is_a_mapping():
    bank = icvi.TrackerBank(["CH"])
    assert len(bank) == 0
    assert list(bank) == []
    bank.update_many([3, 1, 3], [[0.0], [1.0], [2.0]], [0, 0, 1])
    assert list(bank) == list(bank.keys()) == [3, 1]
    assert [t.n_samples for t in bank.values()] == [2.0, 1.0]
    assert dict(bank.items())[3] is bank[3] is bank.get(3)
    assert 3 in bank
    assert np.int64(3) in bank
    assert 2 not in bank
    assert [] not in bank
    assert bank.get(2) is None
    assert isinstance(bank[np.int64(1)], icvi.Tracker)
    assert repr(bank) == "TrackerBank(['CH'], keys=2)"


def test_an_unknown_key_says_so():
    bank = icvi.TrackerBank(["CH"])
    with pytest.raises(KeyError, match="no stream has the key 'x'; there are none yet"):
        bank["x"]
    bank.update_many(["a", "b", "c", "d"], [[0.0]] * 4, [0] * 4)
    with pytest.raises(KeyError, match="'x'; there are 'a', 'b', 'c' and 1 more, and update or"):
        bank["x"]
    with pytest.raises(KeyError, match="no stream has the key 'x'"):
        bank.drop("x")


def test_a_dropped_key_begins_anew():
    bank = icvi.TrackerBank(["CH"])
    bank.update("a", [0.0], 0)
    assert bank.drop("a").n_samples == 1.0
    assert "a" not in bank
    bank.update("a", [0.0, 1.0], 0)  # of another number of features
    assert bank["a"].n_features == 2


def test_one_sample_at_a_time_is_the_same():
    keys, X, labels = keyed(200)
    one, many = icvi.TrackerBank(["paper", "GD43"]), icvi.TrackerBank(["paper", "GD43"])
    for key, x, label in zip(keys, X, labels, strict=True):
        one.update(key, x, label, weight=2.0)
    many.update_many(keys, X, labels, np.full(200, 2.0))
    assert list(one) == list(many)
    for key in one:
        assert one[key].values == pytest.approx(many[key].values, rel=1e-12)


def test_options_reach_every_tracker():
    bank = icvi.TrackerBank(["CH"], noise_label=-1, undefined="raise")
    bank.update_many(["a", "a", "b"], [[0.0], [1.0], [2.0]], [-1, 0, -1])
    assert [t.noise_share for t in bank.values()] == [0.5, 1.0]
    with pytest.raises(icvi.UndefinedIndexError):
        bank["a"]["CH"]
    with pytest.raises(icvi.UndefinedIndexError):
        bank.readings()


def test_wrong_arguments_are_refused_at_once():
    with pytest.raises(TypeError, match="colour"):
        icvi.TrackerBank(["CH"], colour="red")
    with pytest.raises(ValueError, match="undefined"):
        icvi.TrackerBank(["CH"], undefined="zero")
    for workers in (0, -1, 1.5, True, "two"):
        with pytest.raises(ValueError, match="expected workers to be a whole number from 1 on"):
            icvi.TrackerBank(["CH"], workers=workers)


def test_indices_may_come_from_an_iterator():
    bank = icvi.TrackerBank(name for name in ("CH", "XB"))
    bank.update("a", [0.0], 0)
    bank.update("b", [0.0], 0)
    assert list(bank["b"].values) == ["CH", "XB"]


GOOD = {"keys": ["a", "b", "c"], "X": [[0.0], [1.0], [2.0]], "labels": [0, 0, 0]}
REFUSED = [
    ({"X": [[0.0], [1.0], [np.nan]]}, ValueError, "sample 2, feature 0"),
    ({"X": [[0.0, 1.0]] * 3}, ValueError, "key 'a': expected 1 feature like the samples before"),
    ({"X": [0.0, 1.0, 2.0]}, ValueError, "2-D array"),
    ({"labels": [0, 0]}, ValueError, "as many labels as samples, got 2 for 3"),
    ({"labels": [0, 0, float("nan")]}, ValueError, "must equal itself"),
    ({"labels": [0, 0, [1]]}, TypeError, "key 'c': expected a hashable label"),
    ({"keys": ["a", "b"]}, ValueError, "keys, which are checked like labels: .*got 2 for 3"),
    ({"keys": ["a", "b", []]}, TypeError, "keys, .*hashable"),
    ({"keys": ["a", "b", float("nan")]}, ValueError, "keys, .*equal itself"),
    ({"keys": "abc"}, TypeError, "keys, .*got one str"),
    ({"weights": [1.0, 1.0, -1.0]}, ValueError, "not negative, got -1.0 at 2"),
    ({"every": 0}, ValueError, "every to be a positive integer, got 0"),
    ({"winners": [[0, 1]] * 3}, ValueError, "track Conn"),
]


@pytest.mark.parametrize(("change", "error", "message"), REFUSED)
def test_what_is_refused_for_one_key_changes_none(change, error, message, threaded):
    bank = icvi.TrackerBank(["CH", "SIL"], workers=2)
    bank.update_many(["a", "b", "a"], [[5.0], [6.0], [7.0]], ["x", "y", "z"])
    before = snapshot(bank)
    with pytest.raises(error, match=message):
        bank.update_many(**{**GOOD, **change})
    assert snapshot(bank) == before
    assert "c" not in bank
    bank.update_many(**GOOD)
    assert list(bank) == ["a", "b", "c"]


def test_a_key_with_other_features_spoils_the_chunk_for_all():
    bank = icvi.TrackerBank(["CH"])
    bank.update("flat", [1.0], 0)
    bank.update("deep", [1.0, 2.0], 0)
    before = snapshot(bank)
    message = "key 'deep': expected 2 features like the samples before, got 1"
    with pytest.raises(ValueError, match=message):
        bank.update_many(["flat", "new", "deep"], [[1.0], [2.0], [3.0]], [0, 1, 2])
    assert snapshot(bank) == before


@pytest.mark.parametrize("indices", [["CH"], ["CH", "Conn"]])
def test_a_check_refuses_what_an_update_would_and_changes_nothing(indices):
    X, labels = [[0.0, 0.0], [1.0, 1.0], [2.0, 5.0]], [0, 0, 1]
    tracker, untouched = icvi.Tracker(indices), icvi.Tracker(indices)
    tracker.check_many(X, labels, [1.0, 2.0, 3.0], every=2)
    for wrong in (
        {"X": [[0.0, np.inf]] * 3},
        {"labels": [0, 0]},
        {"weights": [1.0, 1.0, -1.0]},
        {"every": 1.5},
        {"winners": [[0, 0]] * 3},
    ):
        arguments = {"X": X, "labels": labels, **wrong}
        with pytest.raises(ValueError, match=r"expected|winner") as checked:
            tracker.check_many(**arguments)
        with pytest.raises(ValueError, match=r"expected|winner") as updated:
            icvi.Tracker(indices).update_many(**arguments)
        assert str(checked.value) == str(updated.value)
    assert tracker.n_features is None
    for t in (tracker, untouched):
        t.update_many(X, labels)
    assert tracker.values == untouched.values


@pytest.mark.parametrize("key", [[], float("nan")])
def test_what_cannot_be_a_key_is_refused(key):
    bank = icvi.TrackerBank(["CH"])
    with pytest.raises((TypeError, ValueError), match="keys, which are checked like labels"):
        bank.update(key, [1.0], 0)
    assert len(bank) == 0


def test_a_first_sample_that_is_refused_begins_no_stream():
    bank = icvi.TrackerBank(["CH"])
    with pytest.raises(ValueError, match="finite"):
        bank.update("a", [np.inf], 0)
    assert "a" not in bank


def test_winners_are_split_by_key_and_refused_for_all():
    bank = icvi.TrackerBank(["Conn"])
    keys = ["a", "b", "a", "b", "a"]
    X, labels = np.arange(5.0)[:, None], [0, 0, 0, 1, 0]
    winners = [[0, -1], [0, -1], [1, 0], [1, 0], [0, 1]]
    bank.update_many(keys, X, labels, winners=winners)
    alone = icvi.Tracker(["Conn"])
    alone.update_many(X[[1, 3]], [0, 1], winners=[[0, -1], [1, 0]])
    assert bank["b"].values == alone.values
    before = snapshot(bank)
    # Prototype 1 belongs to cluster 0 of "a", and to cluster 1 of "b".
    with pytest.raises(ValueError, match="key 'b': sample 0: prototype 1 belongs to cluster 1"):
        bank.update_many(["a", "b"], [[1.0], [1.0]], [0, 0], winners=[[1, 0], [1, 0]])
    with pytest.raises(ValueError, match="a winner and a runner-up per sample, got 1 for 2"):
        bank.update_many(["a", "b"], [[1.0], [1.0]], [0, 0], winners=[[1, 0]])
    assert snapshot(bank) == before


def test_a_refused_chunk_gives_no_bounds_to_anybody():
    bank = icvi.TrackerBank(["Conn"], noise_label=-1)
    bank.update("a", [0.5], -1)  # a stream without prototypes so far
    with pytest.raises(ValueError, match="key 'b': one sample gives no bounds"):
        bank.update_many(["a", "a", "b"], [[0.0], [100.0], [0.0]], [0, 1, 0])
    chunk = [[0.0], [0.4], [0.6], [1.0]], [0, 0, 1, 1]
    bank.update_many(["a"] * 4, *chunk)
    alone = icvi.Tracker(["Conn"])
    alone.update_many(*chunk)
    assert bank["a"]["Conn"] == alone["Conn"]
    assert bank["a"].connectivity.n_prototypes == alone.connectivity.n_prototypes


def test_readings_are_a_table_of_all_streams():
    bank = icvi.TrackerBank(["CH", icvi.I(p=1)])
    assert bank.readings().names == ["key", "n_samples", "n_clusters", "CH", "I(p=1)"]
    assert len(bank.readings()) == 0
    bank.update_many(["a", "b", "b"], [[0.0], [1.0], [2.0]], [0, 0, 0], [2.0, 1.0, 0.5])
    table = bank.readings()
    assert table["n_samples"].tolist() == [2.0, 1.5]
    assert table["n_clusters"].tolist() == [1, 1]
    assert np.isnan(table["CH"]).all()
    assert table.to_pandas().set_index("key").loc["b", "n_samples"] == 1.5


def test_copies_are_independent():
    keys, X, labels = keyed(100)
    bank = icvi.TrackerBank("paper")
    bank.update_many(keys, X, labels)
    before = snapshot(bank)
    other = copy.deepcopy(bank)
    assert snapshot(other) == before
    other.update_many(keys, X, labels)
    other.update("new", X[0], 0)
    assert snapshot(bank) == before


def test_large_streams_run_on_threads_and_small_ones_here(monkeypatch):
    ran = {}
    run = banks._Job.run

    def noted(job):
        ran[job.key] = threading.current_thread().name
        return run(job)

    monkeypatch.setattr(banks._Job, "run", noted)
    keys = np.array(["large"] * 3000 + ["wide"] * 3000 + ["small"] * 9)
    X, labels = blobs(len(keys), d=2, k=3)
    icvi.TrackerBank(["CH"], workers=2).update_many(keys, X, labels)
    assert ran["large"].startswith("icvi")
    assert ran["wide"].startswith("icvi")
    assert ran["small"] == threading.current_thread().name
    icvi.TrackerBank(["CH"], workers=1).update_many(keys, X, labels)
    assert set(ran.values()) == {threading.current_thread().name}


def test_groups_hold_every_job_once_large_ones_first():
    jobs = [banks._Job(n, None, np.empty((n, 1)), *[None] * 4) for n in (1, 50, 3, 200, 7)]
    groups = [[job.key for job in group] for group in banks._grouped(jobs, 40)]
    assert groups == [[200], [50], [7, 3, 1]]


def test_compiled_loops_let_other_threads_run():
    X, labels = blobs(99_000, d=8, k=50)
    tracker = icvi.Tracker("paper")  # a long loop: hundreds of ticks on a machine that is idle
    tracker.update_many(X[:10], labels[:10])
    begun, done = threading.Event(), threading.Event()

    def work():
        begun.set()
        tracker.update_many(X, labels)
        done.set()

    thread, ticks = threading.Thread(target=work), 0
    thread.start()
    assert begun.wait(processes.PATIENCE)
    while not done.wait(0.001) and thread.is_alive():
        ticks += 1
    thread.join(processes.PATIENCE)
    # With Python's lock held there would be a handful: before the loop and after it.
    assert ticks > 20


def test_only_one_bar_is_shown_at_a_time(monkeypatch):
    monkeypatch.setattr(icvi.progress, "_PATIENCE", -1.0)
    shown = []
    monkeypatch.setattr(icvi.progress._Bar, "_appear", lambda bar: shown.append(bar))
    first, second = icvi.progress._Bar("a", 10), icvi.progress._Bar("b", 10)
    first.advance(1)
    second.advance(1)
    assert shown == [first]
    icvi.progress.SHOWN.release()


def test_the_example_runs():
    result = processes.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True
    )
    assert "the same numbers" in result.stdout
    assert "clusters 1 and 3 should be one" in result.stdout


@pytest.mark.parametrize(
    "options", [{"window": 20}, {"window": timedelta(seconds=30)}, {"half_life": 15.0}]
)
def test_a_bank_of_streams_that_forget_is_its_trackers(options):
    X, labels = blobs(300, d=2, k=4)
    keys = np.arange(300) % 3
    timed = isinstance(next(iter(options.values())), timedelta)
    time = np.arange(300).astype("datetime64[s]") if timed else None
    bank = icvi.TrackerBank("all", **options)
    bank.update_many(keys[:200], X[:200], labels[:200], time=time[:200] if timed else None)
    for n in range(200, 230):
        bank.update(keys[n], X[n], labels[n], time=time[n] if timed else None)
    for key in range(3):
        own = np.flatnonzero(keys[:230] == key)
        alone = icvi.Tracker("all", **options)
        alone.update_many(X[own], labels[own], time=time[own] if timed else None)
        assert bank[key].values == pytest.approx(alone.values, rel=1e-9, nan_ok=True)


def test_a_time_that_goes_back_for_one_key_changes_none():
    bank = icvi.TrackerBank(["CH"], window=timedelta(hours=1))
    bank.update_many(["a", "b"], [[0.0], [1.0]], [0, 0], time=[10.0, 20.0])
    with pytest.raises(ValueError, match="key 'b': expected times that do not decrease"):
        bank.update_many(["a", "b"], [[0.0], [1.0]], [0, 0], time=[15.0, 15.0])
    with pytest.raises(ValueError, match="expected 2 times"):
        bank.update_many(["a", "b"], [[0.0], [1.0]], [0, 0], time=[15.0])
    assert [t.n_samples for t in bank.values()] == [1.0, 1.0]


# -- combining, copying, saving ------------------------------------------------------------


def split_banks(parts, **options):
    """Banks that saw random shares of one flow of samples, and one that saw all of it."""
    rng = np.random.default_rng(4)
    X, labels = blobs(400, d=2, k=5)
    keys = rng.choice(["a", "b", "c", "d"], 400)
    whole = icvi.TrackerBank(["CH", "SIL"], **options)
    whole.update_many(keys, X, labels, every=10**6)
    banks = [icvi.TrackerBank(["CH", "SIL"], **options) for _ in range(parts)]
    worker = rng.integers(0, parts, 400)
    for number, bank in enumerate(banks):
        mine = worker == number
        bank.update_many(keys[mine], X[mine], labels[mine], every=10**6)
    return banks, whole


def test_banks_of_shares_of_the_samples_add_up_to_one_that_saw_all():
    banks, whole = split_banks(3, noise_label=4)
    banks[1].update("only here", [1.0, 2.0], 0)
    before = [bank.to_bytes() for bank in banks]
    total = sum(banks)
    assert set(total) == {*whole, "only here"}
    for key, tracker in whole.items():
        assert total[key].n_samples == tracker.n_samples
        for name, value in tracker.values.items():
            assert total[key][name] == pytest.approx(value, rel=1e-12)
    assert [bank.to_bytes() for bank in banks] == before
    total["only here"].update([5.0, 5.0], 1)
    assert banks[1]["only here"].n_clusters == 1
    twice = banks[0] + banks[0]
    assert twice["a"].n_samples == 2 * banks[0]["a"].n_samples


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (lambda: icvi.TrackerBank(["CH"]), "cannot combine: indices is .* here and"),
        (lambda: icvi.TrackerBank(["CH", "SIL"], undefined="limit"), "cannot combine: undefined"),
        (lambda: icvi.TrackerBank(["CH", "SIL"], noise_label=1), "cannot combine: noise_label is"),
        (lambda: icvi.TrackerBank(["CH", "SIL"], window=9), r"cannot combine: \(window, half_life"),
    ],
)
def test_banks_that_differ_are_not_combined(other, why):
    (bank,), _ = split_banks(1)
    with pytest.raises(ValueError, match=why):
        bank.combine(other())
    with pytest.raises(ValueError, match="cannot combine a bank with itself"):
        bank.combine(bank)
    with pytest.raises(TypeError, match="expected a TrackerBank, got Tracker"):
        bank.combine(bank["a"])
    with pytest.raises(TypeError):
        bank + 1
    assert sum([bank]).to_bytes() == bank.to_bytes()


def test_a_key_that_cannot_be_combined_is_named_and_no_stream_changes():
    (bank, other), _ = split_banks(2)
    other.drop("d")
    other.update("d", [1.0, 2.0, 3.0], 0)  # of another number of features
    other.update("new", [1.0, 2.0], 0)
    before = bank.to_bytes(), list(bank)
    with pytest.raises(ValueError, match=r"^key 'd': cannot combine: features is 2 here and 3 in"):
        bank.combine(other)
    assert (bank.to_bytes(), list(bank)) == before


def test_windows_are_combined_where_no_key_is_in_both():
    a, b = (icvi.TrackerBank(["CH"], window=3) for _ in range(2))
    a.update("x", [1.0], 0)
    b.update("y", [1.0], 0)
    assert list(a + b) == ["x", "y"]
    b.update("x", [1.0], 0)
    with pytest.raises(ValueError, match=r"^key 'x': cannot combine trackers with a window"):
        a.combine(b)
    assert list(a) == ["x"]


def test_a_saved_bank_resumes_to_the_bit(tmp_path):
    (bank,), _ = split_banks(1)
    bank.save(tmp_path / "bank.icvi")
    again = icvi.load(tmp_path / "bank.icvi")
    assert list(again) == list(bank)
    for each in (bank, again):
        each.update_many(["a", "new"], [[1.0, 2.0], [3.0, 4.0]], [0, 1])
    assert again.to_bytes() == bank.to_bytes()


def test_a_copy_of_a_bank_goes_its_own_way():
    (bank,), _ = split_banks(1)
    before = bank.to_bytes()
    twin = bank.copy()
    twin.update("a", [9.0, 9.0], 7)
    twin.drop("b")
    assert bank.to_bytes() == before
