"""Any hashable is a label; clusters come in the order in which their labels first appear."""

import enum

import numpy as np
import pandas as pd
import polars as pl
import pytest

import icvi


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


#: Labels as a user writes them, and the clusters that they name.
KINDS = {
    "strings": (["b", "a", "b", ""], ["b", "a", ""]),
    "tuples": ([(1, 2), (0, 0), (1, 2), ()], [(1, 2), (0, 0), ()]),
    "tuples of one length": ([(1, 2), (0, 0), (1, 2)], [(1, 2), (0, 0)]),
    "frozen sets": ([frozenset("ab"), frozenset(), frozenset("ba")], [{"a", "b"}, set()]),
    "None": ([None, "a", None], [None, "a"]),
    "bytes": ([b"x", b"y", b"x"], [b"x", b"y"]),
    "negative integers": ([-1, -7, -1, 0], [-1, -7, 0]),
    "gaps": ([100, 3, 50_000, 3], [100, 3, 50_000]),
    "wide gaps": ([10**15, -(10**15), 10**15, 0], [10**15, -(10**15), 0]),
    "integers beyond 64 bits": ([2**63, -(2**70), 2**63, 5], [2**63, -(2**70), 5]),
    "the ends of 64 bits": ([2**63 - 1, -(2**63), 2**63 - 1], [2**63 - 1, -(2**63)]),
    "mixed types": ([1, "1", (1,), None, 2.5, "1"], [1, "1", (1,), None, 2.5]),
    "floats": ([0.5, -2.0, 0.5, 1e300], [0.5, -2.0, 1e300]),
    "infinite floats": ([float("inf"), float("-inf"), float("inf")], [np.inf, -np.inf]),
    "signed zeros": ([0.0, -0.0, 1.0], [0.0, 1.0]),
    "truth values": ([True, False, True], [True, False]),
    "truth values among integers": ([True, 0, 1, False, 2], [True, 0, 2]),
    "floats among integers": ([1, 1.0, 2.0, 2], [1, 2.0]),
    "numpy scalars": ([np.int64(3), 3, np.str_("a"), "a", np.float64(3.0)], [3, "a"]),
    "enum members": ([Colour.RED, Colour.BLUE, Colour.RED], [Colour.RED, Colour.BLUE]),
    "integer enum members": ([Level.LOW, Level.HIGH, 1], [Level.LOW, Level.HIGH]),
    "timestamps": ([pd.Timestamp(2020, 1, 1), pd.Timestamp(1999, 1, 1)] * 2, None),
}

#: The same as arrays, series and columns.
ARRAYS = {
    "int64": (np.array([5, -3, 5, 0]), [5, -3, 0]),
    "int64, wide": (np.array([10**15, -(10**15), 10**15]), [10**15, -(10**15)]),
    "int64, both ends": (np.array([2**63 - 1, -(2**63)] * 2), [2**63 - 1, -(2**63)]),
    "int8": (np.array([3, -1, 3], dtype=np.int8), [3, -1]),
    "int8, wide": (np.array([100, -100, 100, 127, -128], dtype=np.int8), [100, -100, 127, -128]),
    "uint8": (np.array([200, 7, 255, 0, 200], dtype=np.uint8), [200, 7, 255, 0]),
    "uint64": (np.array([2**64 - 1, 2**63, 2**64 - 1], dtype=np.uint64), [2**64 - 1, 2**63]),
    "uint64, wide": (np.array([2**64 - 1, 0, 2**64 - 1], dtype=np.uint64), [2**64 - 1, 0]),
    "big-endian": (np.array([300, 2, 300], dtype=">i4"), [300, 2]),
    "truth values": (np.array([True, False, True]), [True, False]),
    "floats": (np.array([2.5, -1.0, 2.5]), [2.5, -1.0]),
    "float32": (np.array([0.5, 0.25, 0.5], dtype=np.float32), [0.5, 0.25]),
    "strings": (np.array(["bb", "a", "bb"]), ["bb", "a"]),
    "bytes": (np.array([b"bb", b"a", b"bb"]), [b"bb", b"a"]),
    "objects": (np.array([1, "1", None, np.int64(1)], dtype=object), [1, "1", None]),
    "every other entry": (np.array([4, 9, 2, 9, 4, 9])[::2], [4, 2]),
    "backwards": (np.array([4, 2, 7])[::-1], [7, 2, 4]),
    "pandas integers": (pd.Series([7, 1, 7], index=[5, 6, 7]), [7, 1]),
    "pandas strings": (pd.Series(["b", "a", "b"]), ["b", "a"]),
    "pandas categories": (pd.Series(["b", "a", "b"], dtype="category"), ["b", "a"]),
    "pandas categorical": (pd.Categorical([3, 1, 3], categories=[1, 2, 3]), [3, 1]),
    "pandas index": (pd.Index(["b", "a", "b"]), ["b", "a"]),
    "polars integers": (pl.Series([7, 1, 7]), [7, 1]),
    "polars strings": (pl.Series(["b", "a", "b"]), ["b", "a"]),
    "polars categories": (pl.Series(["b", "a", "b"], dtype=pl.Categorical), ["b", "a"]),
    "tuple": (("b", "a", "b"), ["b", "a"]),
    "range": (range(3, 0, -1), [3, 2, 1]),
}


def samples(n):
    return np.random.default_rng(n).normal(size=(n, 2))


def one_by_one(labels):
    t = icvi.Tracker("all")
    for x, label in zip(samples(len(labels)), labels, strict=True):
        t.update(x, label)
    return t


def at_once(labels):
    t = icvi.Tracker("all")
    t.update_many(samples(len(labels)), labels)
    return t


def same_types(found, expected):
    """Equal labels of equal types: 1 == 1.0 == True, but they print differently."""
    return found == expected and [*map(type, found)] == [*map(type, expected)]


@pytest.mark.parametrize("how", [one_by_one, at_once])
@pytest.mark.parametrize(("labels", "clusters"), KINDS.values(), ids=KINDS)
def test_clusters_come_in_order_of_first_appearance(how, labels, clusters):
    t = how(labels)
    distinct = list(dict.fromkeys(labels))
    assert t.labels == (distinct if clusters is None else clusters)
    assert t.counts.tolist() == [labels.count(label) for label in distinct]


@pytest.mark.parametrize("labels", [labels for labels, _ in KINDS.values()], ids=KINDS)
def test_one_call_per_sample_and_one_call_for_all_agree(labels):
    one, many = one_by_one(labels), at_once(labels)
    assert same_types(one.labels, many.labels)
    assert one.counts.tolist() == many.counts.tolist()
    np.testing.assert_array_equal(one.centers, many.centers)


@pytest.mark.parametrize("labels", [labels for labels, _ in KINDS.values()], ids=KINDS)
def test_names_of_clusters_do_not_change_the_readings(labels):
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    renamed = [numbers[label] for label in labels]
    np.testing.assert_equal(at_once(labels).values, at_once(renamed).values)
    X = samples(len(labels))
    np.testing.assert_equal(icvi.scores(X, labels, "all"), icvi.scores(X, renamed, "all"))


@pytest.mark.parametrize(("labels", "clusters"), ARRAYS.values(), ids=ARRAYS)
def test_labels_in_any_container_become_plain_python_values(labels, clusters):
    t = icvi.Tracker("CH")
    t.update_many(samples(len(labels)), labels)
    assert same_types(t.labels, clusters)


def test_a_generator_of_labels_is_a_sequence_of_labels():
    t = icvi.Tracker("CH")
    t.update_many(samples(3), (label for label in "bab"))
    assert t.labels == ["b", "a"]
    assert t.counts.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    "label",
    [np.int64(3), np.uint8(3), np.float64(0.5), np.float32(0.5), np.str_("a"), np.bool_(True)],
    ids=repr,
)
def test_numpy_scalars_become_plain_python_values(label):
    t = one_by_one([label])
    assert same_types(t.labels, [label.item()])


@pytest.mark.parametrize("first", ["update", "update_many"])
def test_labels_of_single_samples_and_of_chunks_are_the_same_labels(first):
    t = icvi.Tracker("CH")
    if first == "update":
        t.update([0.0, 0.0], "b")
        t.update_many(samples(3), np.array(["a", "b", "c"]))
    else:
        t.update_many(samples(1), np.array(["b"]))
        for x, label in zip(samples(3), ["a", np.str_("b"), "c"], strict=True):
            t.update(x, label)
    assert t.labels == ["b", "a", "c"]
    assert t.counts.tolist() == [2.0, 1.0, 1.0]


EQUAL = {
    "whole numbers": [1, 1.0, True, np.int8(1), np.uint64(1), np.float32(1), np.bool_(True)],
    "strings": ["a", np.str_("a")],
    "tuples": [(1, 2), (True, 2.0)],
}


@pytest.mark.parametrize("labels", EQUAL.values(), ids=EQUAL)
def test_equal_labels_are_one_cluster_named_as_it_first_appeared(labels):
    for first in labels:
        t = one_by_one([first, *labels])
        t.update_many(samples(len(labels)), labels)
        assert t.n_clusters == 1
        assert t.n_samples == 2 * len(labels) + 1
        assert same_types(t.labels, [first.item() if isinstance(first, np.generic) else first])


def test_equal_numbers_in_arrays_of_any_dtype_are_one_cluster():
    t = icvi.Tracker("CH")
    for dtype in (int, float, bool, np.int8, np.uint64, np.float32, object):
        t.update_many(samples(2), np.array([1, 0], dtype=dtype))
    assert same_types(t.labels, [1, 0])
    assert t.counts.tolist() == [7.0, 7.0]


def test_a_number_and_its_name_are_two_clusters():
    t = at_once([1, "1", 1])
    t.update_many(samples(2), np.array(["1", "2"]))
    assert t.labels == [1, "1", "2"]


def test_later_chunks_append_their_new_labels_in_order_of_appearance():
    t = icvi.Tracker("CH")
    t.update_many(samples(4), [5, 9, 5, 1])
    t.update_many(samples(5), np.array([9, 7, 1, 0, 7]))
    t.update_many(samples(3), ["z", 7, "y"])
    assert t.labels == [5, 9, 1, 7, 0, "z", "y"]
    assert t.counts.tolist() == [2, 2, 2, 3, 1, 1, 1]


@pytest.mark.parametrize("spread", [1, 10**9])
def test_many_integers_are_told_apart(spread):
    rng = np.random.default_rng(3)
    labels = rng.integers(-40, 40, size=500) * spread
    t = icvi.Partition()
    t.add_many(np.ones((500, 1)), labels)
    distinct = list(dict.fromkeys(labels.tolist()))
    assert t.labels == distinct
    assert t.counts.tolist() == [float((labels == label).sum()) for label in distinct]


def test_integers_that_use_the_whole_range_of_their_dtype_are_told_apart():
    labels = np.repeat(np.array([30_000, -30_000, 7, -32_768, 32_767], dtype=np.int16), 4000)
    t = icvi.Partition()
    t.add_many(np.ones((len(labels), 1)), labels)
    assert t.labels == [30_000, -30_000, 7, -32_768, 32_767]
    assert t.counts.tolist() == [4000.0] * 5


@pytest.mark.parametrize("noise", [-1, "noise", None, ("no", "cluster"), 2.5, np.int64(-1)])
def test_any_label_may_mean_noise(noise):
    t = icvi.Tracker("CH", noise_label=noise)
    t.update_many(samples(4), ["a", noise, "b", noise])
    t.update([0.0, 0.0], noise)
    if noise is None:  # which stands for no noise label
        assert t.labels == ["a", None, "b"]
    else:
        assert t.labels == ["a", "b"]
        assert t.noise_share == 3 / 5


@pytest.mark.parametrize("labels", [np.array([0, -1, 1]), np.array([0.0, -1.0, 1.0]), [0, -1, 1]])
def test_the_noise_label_is_found_in_arrays_of_any_dtype(labels):
    t = icvi.Tracker("CH", noise_label=-1)
    t.update_many(samples(3), labels)
    assert t.labels == [0, 1]
    assert t.noise_share == 1 / 3


# Few labels are looked up one by one, many by a table.
@pytest.mark.parametrize("times", [1, 5, 50])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
def test_known_whole_numbers_find_their_clusters_in_arrays_of_any_dtype(dtype, times):
    known = [3, 100, 0, -1, 5.0, True, "3"]  # 5.0 is 5, True is 1
    partition = icvi.Partition(noise_label=7)
    for label in known:
        partition.add([0.0], label)
    labels = np.array([100, 0, 3, 5, 7, 1, 3] * times, dtype=dtype)
    partition.add_many(np.zeros((len(labels), 1)), labels)
    assert partition.labels == known
    n = float(times)
    assert partition.counts.tolist() == [1 + 2 * n, 1 + n, 1 + n, 1, 1 + n, 1 + n, 1]
    assert partition.noise_share == n / (7 + 7 * n)


@pytest.mark.parametrize("times", [1, 50])
def test_new_numbers_among_known_ones_become_clusters_in_order_of_appearance(times):
    partition = icvi.Partition(noise_label=-5)
    partition.add_many(np.zeros((3, 1)), [4, -3, 0])
    labels = np.repeat([0, -5, 9, 4, 2, 9, -3, 2, 0], times)
    partition.add_many(np.zeros((len(labels), 1)), labels)
    assert partition.labels == [4, -3, 0, 9, 2]
    n = float(times)
    assert partition.counts.tolist() == [1 + n, 1 + n, 1 + 2 * n, 2 * n, 2 * n]


@pytest.mark.parametrize("as_array", [list, np.array, lambda labels: np.array(labels, object)])
@pytest.mark.parametrize("times", [1, 50])
def test_known_strings_find_their_clusters(as_array, times):
    partition = icvi.Partition(noise_label="none")
    for label in ("b", "a", 1):
        partition.add([0.0], label)
    labels = as_array(["a", "none", "b", "a", "1"] * times)
    partition.add_many(np.zeros((5 * times, 1)), labels)
    assert partition.labels == ["b", "a", 1, "1"]
    assert partition.counts.tolist() == [1.0 + times, 1.0 + 2 * times, 1.0, times]
    assert partition.noise_share == times / (3 + 5 * times)


@pytest.mark.parametrize("known", [True, False])
def test_what_is_no_label_is_refused_behind_labels_that_are_known(known):
    partition = icvi.Partition()
    for bad, error in (([1], TypeError), (float("nan"), ValueError), (np.nan, ValueError)):
        labels = np.empty(3, dtype=object)
        labels[:] = ["a", "a", bad] if known else [bad, "a", bad]
        with pytest.raises(error, match=r"hashable label|equal itself"):
            partition.add_many(np.zeros((3, 1)), labels)
    assert partition.labels == []
