"""What cannot be taken is refused by TypeError or ValueError, in few words; nothing changes."""

import datetime
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import icvi
from icvi import batch, metrics
from icvi.streams import open_source

NAN, INF = float("nan"), float("inf")
X, LABELS = [[0.0, 0.0], [1.0, 0.0], [8.0, 9.0], [9.0, 9.0]], [0, 0, 1, 1]
EVENTS, OWNERS = [[0, -1], [1, 0], [2, 1], [1, 2]], ["a", "a", "b", "a"]


class LongWinded:
    def __repr__(self):
        return "x" * 5000


#: What is no number at all, whatever the number is for.
NO_NUMBERS = {
    "text": "a",
    "digits": "2",
    "nothing": "",
    "bytes": b"2",
    "complex": 1 + 2j,
    "nan": NAN,
    "nan that signals": Decimal("sNaN"),
    "decimal nan": Decimal("NaN"),
    "infinity below": -INF,
    "huge below": -(10**400),
    "two numbers": np.array([2.0, 3.0]),
    "a list": [2],
    "a square": np.array([[2.0]]),
    "a cube": np.ones((1, 1, 1)),
    "a set": {2},
    "a dict": {2: 3},
    "an object": object(),
    "objects": np.array([object()]),
    "masked": np.ma.masked,
    "masked array": np.ma.array([2.0], mask=[True]),
    "missing": pd.NA,
    "no time": pd.NaT,
    "a day": np.datetime64("2020-01-01"),
    "a date": datetime.date(2020, 1, 1),
    "a function": np.sin,
    "a class": int,
    "sparse": scipy.sparse.csr_matrix([[1.0]]),
    "a square memoryview": memoryview(np.ones((2, 2))),
    "long words": "y" * 5000,
    "a long list": list(range(5000)),
    "long-winded": LongWinded(),
}
SPANS = {"a span": np.timedelta64(5, "s"), "a timedelta": datetime.timedelta(5)}
TOO_LARGE = {
    "infinity": INF,
    "huge": 10**400,
    "long double": np.longdouble("1e400"),
    "huge decimal": Decimal("1e400"),
    "huge fraction": Fraction(10**400, 3),
    "half infinity": np.float16("inf"),
    "digits without end": int("9" * 4000) ** 2,
}
NONE, TRUTH, NEGATIVE, ZERO = {"None": None}, {"True": True}, {"-1": -1}, {"0": 0, "0.0": 0.0}
HALVES = {"0.5": 0.5, "3/2": Fraction(3, 2)}
BEYOND = {"2**70": 2**70}
WEIGHTS = NO_NUMBERS | SPANS | NONE | NEGATIVE | TOO_LARGE
NUMBERS = NO_NUMBERS | SPANS | TRUTH | TOO_LARGE

#: What names no cluster.
NO_LABELS = {
    "nan": NAN,
    "nan in a tuple": (NAN,),
    "nan deep in tuples": (1, ("a", (NAN, 2))),
    "nan in a frozenset": frozenset([NAN]),
    "complex nan": complex(NAN, 0.0),
    "long nan": np.longdouble("nan"),
    "decimal nan": Decimal("NaN"),
    "nan that signals": Decimal("sNaN"),
    "missing": pd.NA,
    "missing in a tuple": ("a", pd.NA),
    "no time": pd.NaT,
    "no time of numpy": np.datetime64("NaT", "ns"),
    "a list": [1],
    "a long list": list(range(5000)),
    "a set": {1},
    "a dict": {1: 2},
    "an array": np.array([1, 2]),
    "masked": np.ma.masked,
}
#: What is no sequence of four labels.
NO_LABEL_SEQUENCES = {
    "None": None,
    "a number": 4,
    "text": "abab",
    "bytes": b"abab",
    "bytearray": bytearray(b"abab"),
    "a set": {0, 1, 2, 3},
    "a frozenset": frozenset([0, 1, 2, 3]),
    "a dict": {0: 0, 1: 0, 2: 1, 3: 1},
    "too few": [0, 1],
    "one number": np.array(4),
    "a column": np.array([[0], [0], [1], [1]]),
    "a square memoryview": memoryview(np.zeros((2, 2))),
    "a masked array": np.ma.array([0, 0, 1, 1], mask=[0, 0, 0, 1]),
    "masked entries": [0, 0, 1, np.ma.masked],
    "nan": [0.0, 0.0, 1.0, NAN],
    "missing": pd.array([0, 0, 1, None], dtype="Int64"),
    "sparse": scipy.sparse.csr_matrix([[0, 0, 1, 1]]),
    "a table": pd.DataFrame({"c": LABELS}),
    "unhashable": [[0], [0], [1], [1]],
    "a class": int,
    "records with nan": np.full(4, NAN, dtype=[("a", float)]),
}
#: What is no array of samples (or no four of them with two features).
NO_SAMPLES = {
    "None": None,
    "a number": 4.0,
    "text": "abab",
    "a set": {(0.0, 0.0), (1.0, 1.0)},
    "a dict": {0: [0.0, 0.0]},
    "a generator": (row for row in X),
    "one sample": X[0],
    "a cube": np.zeros((4, 2, 1)),
    "one number": np.array(4.0),
    "ragged": [[0.0], [0.0, 1.0]],
    "texts": [["a", "b"]] * 4,
    "complex": np.ones((4, 2)) * 1j,
    "nan": [[0.0, NAN]] * 4,
    "infinity": [[0.0, INF]] * 4,
    "long double": np.full((4, 2), np.longdouble("1e400")),
    "huge": [[0.0, 10**400]] * 4,
    "too large": [[0.0, 1e200]] * 4,
    "objects": np.array([[object(), 1.0]] * 4),
    "decimals": [[Decimal(1), Decimal(2)]] * 4,
    "fractions": [[Fraction(1, 2), 1.0]] * 4,
    "days": np.array([["2020-01-01"] * 2] * 4, dtype="datetime64[D]"),
    "spans": np.ones((4, 2), dtype="timedelta64[s]"),
    "a masked array": np.ma.array(X, mask=[[0, 1]] * 4),
    "masked entries": [[0.0, np.ma.masked]] * 4,
    "masked rows": [np.ma.array([0.0, 1.0], mask=[0, 1])] * 4,
    "missing": pd.DataFrame({"a": [0, 1, 2, None], "b": 1}, dtype="Int64").to_numpy(),
    "sparse": scipy.sparse.csr_matrix(X),
    "a class": int,
}
NO_SAMPLE = {k: v for k, v in (NO_NUMBERS | TOO_LARGE).items() if k != "two numbers"}
SCIKIT_TAKES = {"decimals", "fractions"}  # and so do estimators of its kind
SCIKIT_WARNS = {"a column", "a table", "unhashable", "bytearray"}  # and takes them, too


def tracker(**options):
    t = icvi.Tracker(["CH"], **options)
    t.update_many(X, LABELS)
    return t


def conn_tracker():
    t = icvi.Tracker(["Conn"], bounds=(0.0, 10.0))
    t.update_many(X, LABELS)
    return t


def partition():
    p = icvi.Partition()
    p.add_many(X, LABELS)
    return p


def connectivity():
    c = icvi.Connectivity()
    c.update_many(EVENTS, OWNERS)
    return c


def bank():
    b = icvi.TrackerBank(["CH"])
    b.update_many(["k"] * 4, X, LABELS)
    return b


def timed():
    return icvi.Tracker(["CH"], window=datetime.timedelta(5))


def fitted(estimator, *y):
    return estimator.fit(X, *y)


def nothing():
    return None


#: What is called, on what, and with which values in place of an argument.
CALLS = {
    # numbers
    "update weight": (tracker, lambda t, v: t.update(X[0], 0, v), WEIGHTS),
    "update weight that fades": (
        lambda: tracker(half_life=3.0),
        lambda t, v: t.update(X[0], 0, v),
        WEIGHTS,
    ),
    "update_many weights": (tracker, lambda t, v: t.update_many(X, LABELS, v), NO_NUMBERS),
    "remove weight": (tracker, lambda t, v: t.remove(X[0], 0, v), WEIGHTS),
    "remove weight with Conn": (conn_tracker, lambda t, v: t.remove(X[0], 0, v), WEIGHTS),
    "relabel weight": (tracker, lambda t, v: t.relabel(X[0], 0, 1, v), WEIGHTS),
    "partition weight": (partition, lambda p, v: p.add(X[0], 0, v), WEIGHTS),
    "partition remove weight": (partition, lambda p, v: p.remove(X[0], 0, v), WEIGHTS),
    "event weight": (connectivity, lambda c, v: c.update(0, 1, "a", v), WEIGHTS),
    "event remove weight": (connectivity, lambda c, v: c.remove(1, 2, "a", v), WEIGHTS),
    "score weights": (
        nothing,
        lambda _, v: icvi.score(X, LABELS, weights=v),
        NO_NUMBERS | TOO_LARGE | NEGATIVE,
    ),
    "metric weights": (
        nothing,
        lambda _, v: metrics.xie_beni_score(X, LABELS, sample_weight=v),
        NO_NUMBERS | TOO_LARGE | NEGATIVE,
    ),
    "every": (
        tracker,
        lambda t, v: t.update_many(X, LABELS, every=v),
        NUMBERS | NONE | NEGATIVE | ZERO | HALVES | BEYOND,
    ),
    "check every": (
        tracker,
        lambda t, v: t.check_many(X, LABELS, every=v),
        NUMBERS | NONE | NEGATIVE | ZERO | HALVES | BEYOND,
    ),
    "watch every": (
        nothing,
        lambda _, v: icvi.watch(np.array(X), icvi.FuzzyART(), every=v),
        NUMBERS | NEGATIVE | ZERO | HALVES | BEYOND,
    ),
    "decay": (tracker, lambda t, v: t.decay(v), NUMBERS | NONE | NEGATIVE | ZERO | BEYOND),
    "decay of Conn": (
        conn_tracker,
        lambda t, v: t.decay(v),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "decay in a window": (
        lambda: tracker(window=3),
        lambda t, v: t.decay(v),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "decay of a partition": (
        partition,
        lambda p, v: p.decay(v),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "decay of connections": (
        connectivity,
        lambda c, v: c.decay(v),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "least_weight": (
        nothing,
        lambda _, v: icvi.Tracker(["CH"], half_life=3.0, least_weight=v),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "least_weight without half_life": (
        nothing,
        lambda _, v: icvi.Tracker(["CH"], least_weight=v),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "window": (
        nothing,
        lambda _, v: icvi.Tracker(["CH"], window=v),
        NO_NUMBERS | TRUTH | TOO_LARGE | NEGATIVE | ZERO | HALVES | BEYOND,
    ),
    "half_life": (
        nothing,
        lambda _, v: icvi.Tracker(["CH"], half_life=v),
        NO_NUMBERS | TRUTH | TOO_LARGE | NEGATIVE | ZERO | BEYOND,
    ),
    "I p": (nothing, lambda _, v: icvi.I(p=v), NUMBERS | NONE | NEGATIVE | ZERO),
    "NI epsilon": (nothing, lambda _, v: icvi.NI(v), NUMBERS),
    "rH epsilon": (nothing, lambda _, v: icvi.rH(v), NUMBERS | {"-1000": -1000.0}),
    "rH delta": (nothing, lambda _, v: icvi.rH(delta=v), NUMBERS | NEGATIVE),
    "rCIP delta": (nothing, lambda _, v: icvi.rCIP(delta=v), NUMBERS | NEGATIVE),
    "metric p": (
        nothing,
        lambda _, v: metrics.i_index_score(X, LABELS, p=v),
        NUMBERS | NONE | NEGATIVE | ZERO,
    ),
    "metric rho": (
        nothing,
        lambda _, v: metrics.conn_index_score(X, LABELS, rho=v),
        NUMBERS | NONE | NEGATIVE | BEYOND,
    ),
    "batch I p": (
        nothing,
        lambda _, v: batch.i_index_score(X, LABELS, p=v),
        NUMBERS | NONE | NEGATIVE | ZERO,
    ),
    "batch DB p": (
        nothing,
        lambda _, v: batch.davies_bouldin_score(X, LABELS, p=v),
        NO_NUMBERS | SPANS | TRUTH | NONE | NEGATIVE | ZERO,
    ),
    "batch DB q": (
        nothing,
        lambda _, v: batch.davies_bouldin_score(X, LABELS, q=v),
        NUMBERS | NONE | NEGATIVE | ZERO,
    ),
    "rho": (
        nothing,
        lambda _, v: icvi.FuzzyART(rho=v).fit(X),
        NUMBERS | NONE | NEGATIVE | BEYOND,
    ),
    "alpha": (
        nothing,
        lambda _, v: icvi.FuzzySMART(alpha=v).fit(X),
        NUMBERS | NONE | NEGATIVE | ZERO,
    ),
    "beta": (
        nothing,
        lambda _, v: icvi.FuzzyARTMAP(beta=v).fit(X, LABELS),
        NUMBERS | NONE | NEGATIVE | ZERO | BEYOND,
    ),
    "high bound": (
        nothing,
        lambda _, v: icvi.FuzzyART(bounds=(0.0, v)).fit(X),
        {k: NO_NUMBERS[k] for k in NO_NUMBERS if k not in ("a list", "two numbers")} | TOO_LARGE,
    ),
    "checkpoint_every": (
        nothing,
        lambda _, v: icvi.watch(np.array(X), icvi.FuzzyART(), checkpoint_every=v),
        NO_NUMBERS | SPANS | TRUTH | NONE | NEGATIVE,
    ),
    "report_every": (
        nothing,
        lambda _, v: icvi.watch(np.array(X), icvi.FuzzyART(), report="page.html", report_every=v),
        NO_NUMBERS | TRUTH | NEGATIVE | ZERO,
    ),
    "winner": (connectivity, lambda c, v: c.update(v, 0, "a"), NUMBERS | NONE | NEGATIVE | HALVES),
    "runner-up": (connectivity, lambda c, v: c.update(0, v, "a"), NUMBERS | HALVES),
    "winners": (
        connectivity,
        lambda c, v: c.update_many([[v, 0]], ["a"]),
        NO_NUMBERS | TOO_LARGE | NEGATIVE | HALVES | BEYOND,
    ),
    "winners of a tracker": (
        conn_tracker,
        lambda t, v: t.update(X[0], 0, winners=v),
        NUMBERS | HALVES,
    ),
    "prototype": (connectivity, lambda c, v: c.reassign(v, "a"), NUMBERS | NONE | HALVES | BEYOND),
    "time": (
        timed,
        lambda t, v: t.update(X[0], 0, time=v),
        _times := {
            k: v
            for k, v in (NO_NUMBERS | TOO_LARGE | TRUTH | SPANS | NONE).items()
            if k not in ("a day", "a date", "a list")
        },
    ),
    "times": (
        timed,
        lambda t, v: t.update_many(X, LABELS, time=[v] * 4),
        {k: v for k, v in _times.items() if k not in ("objects",)},
    ),
    # samples
    "update x": (tracker, lambda t, v: t.update(v, 0), NO_SAMPLE),
    "update_many X": (tracker, lambda t, v: t.update_many(v, LABELS), NO_SAMPLES),
    "partition x": (partition, lambda p, v: p.add(v, 0), NO_SAMPLE),
    "remove x": (tracker, lambda t, v: t.remove(v, 0), NO_NUMBERS | TOO_LARGE),
    "score X": (nothing, lambda _, v: icvi.score(v, LABELS), NO_SAMPLES),
    "batch X": (nothing, lambda _, v: batch.silhouette_score(v, LABELS), NO_SAMPLES),
    "bank X": (bank, lambda b, v: b.update_many(["k"] * 4, v, LABELS), NO_SAMPLES),
    "FuzzyART X": (
        lambda: fitted(icvi.FuzzyART(bounds=(0.0, 10.0))),
        lambda e, v: e.partial_fit(v),
        {k: v for k, v in NO_SAMPLES.items() if k not in SCIKIT_TAKES},
    ),
    "FuzzyARTMAP X": (
        lambda: fitted(icvi.FuzzyARTMAP(bounds=(0.0, 10.0)), LABELS),
        lambda e, v: e.partial_fit(v, LABELS),
        {k: v for k, v in NO_SAMPLES.items() if k not in SCIKIT_TAKES},
    ),
    "FuzzyARTMAP vectors": (
        lambda: fitted(icvi.FuzzyARTMAP(rho_b=0.5, bounds=(0.0, 10.0)), X),
        lambda e, v: e.partial_fit(X, v),
        {k: v for k, v in NO_SAMPLES.items() if k not in SCIKIT_TAKES},
    ),
    # labels
    "update label": (tracker, lambda t, v: t.update(X[0], v), NO_LABELS),
    "update_many label": (tracker, lambda t, v: t.update_many(X, [0, 0, 1, v]), NO_LABELS),
    "update_many labels": (tracker, lambda t, v: t.update_many(X, v), NO_LABEL_SEQUENCES),
    "relabel": (tracker, lambda t, v: t.relabel(X[0], 0, v), NO_LABELS),
    "remove label": (tracker, lambda t, v: t.remove(X[0], v), NO_LABELS),
    "noise_label": (nothing, lambda _, v: icvi.Tracker(["CH"], noise_label=v), NO_LABELS),
    "score noise_label": (nothing, lambda _, v: icvi.score(X, LABELS, noise_label=v), NO_LABELS),
    "score labels": (nothing, lambda _, v: icvi.score(X, v), NO_LABEL_SEQUENCES),
    "metric labels": (nothing, lambda _, v: metrics.pbm_score(X, v), NO_LABEL_SEQUENCES),
    "batch labels": (nothing, lambda _, v: batch.silhouette_score(X, v), NO_LABEL_SEQUENCES),
    "partition labels": (partition, lambda p, v: p.add_many(X, v), NO_LABEL_SEQUENCES),
    "connectivity label": (connectivity, lambda c, v: c.update(0, 1, v), NO_LABELS),
    "connectivity labels": (
        connectivity,
        lambda c, v: c.update_many(EVENTS, v),
        NO_LABEL_SEQUENCES,
    ),
    "reassign": (connectivity, lambda c, v: c.reassign(1, v), NO_LABELS),
    "merge": (connectivity, lambda c, v: c.merge_clusters("a", v), NO_LABELS),
    "key": (bank, lambda b, v: b.update(v, X[0], 0), NO_LABELS),
    "keys": (bank, lambda b, v: b.update_many(v, X, LABELS), NO_LABEL_SEQUENCES),
    "quantizer label": (
        lambda: icvi.Quantizer(bounds=(0.0, 10.0)),
        lambda q, v: q.update(X[0], v),
        NO_LABELS,
    ),
    "quantizer labels": (
        lambda: icvi.Quantizer(bounds=(0.0, 10.0)),
        lambda q, v: q.partial_fit(X, v),
        NO_LABEL_SEQUENCES,
    ),
    "class": (
        lambda: fitted(icvi.FuzzyARTMAP(bounds=(0.0, 10.0)), LABELS),
        lambda e, v: e.update(X[0], v),
        NO_LABELS | {"long double": np.longdouble("1e400"), "continuous": 1e300},
    ),
    "classes": (
        lambda: fitted(icvi.FuzzyARTMAP(bounds=(0.0, 10.0)), LABELS),
        lambda e, v: e.partial_fit(X, v),
        {k: v for k, v in NO_LABEL_SEQUENCES.items() if k not in SCIKIT_WARNS}
        | {"long doubles": np.full(4, np.longdouble("1e400")), "continuous": [0.5, 1, 1e300, 2]},
    ),
    # choices, flags, names, parts
    "indices": (nothing, lambda _, v: icvi.Tracker(v), NO_NUMBERS | TOO_LARGE | NONE),
    "index": (nothing, lambda _, v: icvi.score(X, LABELS, v), NO_NUMBERS | TOO_LARGE | NONE),
    "undefined": (
        nothing,
        lambda _, v: icvi.Tracker(["CH"], undefined=v),
        NO_NUMBERS | TOO_LARGE | NONE,
    ),
    "convention": (nothing, lambda _, v: icvi.Connectivity(v), NO_NUMBERS | TOO_LARGE | NONE),
    "border": (nothing, lambda _, v: icvi.Conn(border=v), NO_NUMBERS | TOO_LARGE | NONE),
    "metric": (
        nothing,
        lambda _, v: batch.silhouette_score(X, LABELS, metric=v),
        NO_NUMBERS | TOO_LARGE | NONE,
    ),
    "sort_by": (tracker, lambda t, v: t.diagnose_pairs(v), NO_NUMBERS | TOO_LARGE),
    "scatter": (nothing, lambda _, v: icvi.Partition(scatter=v), NO_NUMBERS | TOO_LARGE | NONE),
    "mean": (nothing, lambda _, v: icvi.rH(mean=v), NO_NUMBERS | TOO_LARGE | NONE),
    "log_rcip": (nothing, lambda _, v: icvi.rCIP(log_rcip=v), NO_NUMBERS | TOO_LARGE | NONE),
    "learn": (
        nothing,
        lambda _, v: icvi.watch(np.array(X), icvi.FuzzyART(), learn=v),
        NO_NUMBERS | TOO_LARGE | NONE,
    ),
    "overwrite": (
        nothing,
        lambda _, v: icvi.watch(np.array(X), icvi.FuzzyART(), overwrite=v),
        NO_NUMBERS | TOO_LARGE | NONE,
    ),
    "follow": (
        nothing,
        lambda _, v: open_source(np.array(X), follow=v),
        NO_NUMBERS | TOO_LARGE | NONE,
    ),
    "bad_rows": (
        nothing,
        lambda _, v: open_source(np.array(X), bad_rows=v),
        NO_NUMBERS | TOO_LARGE | NONE,
    ),
    "rows": (
        nothing,
        lambda _, v: open_source(np.array(X), rows=v),
        NO_NUMBERS | NONE | TRUTH | ZERO | NEGATIVE,
    ),
    "columns": (
        nothing,
        lambda _, v: open_source(np.array(X), columns=v).columns,
        {k: v for k, v in NO_NUMBERS.items() if k not in ("masked array",)} | TRUTH | NEGATIVE,
    ),
    "combine": (tracker, lambda t, v: t.combine(v), NO_NUMBERS | NONE),
    "combine connections": (connectivity, lambda c, v: c.combine(v), NO_NUMBERS | NONE),
    "quantizer": (
        nothing,
        lambda _, v: icvi.Tracker(["Conn"], quantizer=v),
        NO_NUMBERS | TRUTH | ZERO,
    ),
    "batch quantizer": (
        nothing,
        lambda _, v: batch.conn_index_score(X, LABELS, v),
        NO_NUMBERS | NONE,
    ),
    "trace": (
        nothing,
        lambda _, v: icvi.watch(np.array(X), icvi.FuzzyART(), trace=v),
        {k: v for k, v in NO_NUMBERS.items() if not isinstance(v, (str, bytes))} | TRUTH | ZERO,
    ),
    "load": (
        nothing,
        lambda _, v: icvi.load(v),
        {k: v for k, v in NO_NUMBERS.items() if not isinstance(v, (str, bytes))} | TRUTH | ZERO,
    ),
}
CASES = [
    pytest.param(*CALLS[call][:2], value, id=f"{call}: {name}")
    for call in CALLS
    for name, value in CALLS[call][2].items()
]


def content(thing):
    """All that it holds, to compare."""
    if isinstance(thing, icvi.TrackerBank):
        return {key: content(thing[key]) for key in thing}
    if thing is None or not hasattr(thing, "save"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        thing.save(Path(folder) / "state")
        return (Path(folder) / "state").read_bytes()


@pytest.mark.parametrize(("make", "call", "value"), CASES)
def test_what_cannot_be_taken_is_refused_in_few_words_and_changes_nothing(make, call, value):
    thing = make()
    before = content(thing)
    with pytest.raises((TypeError, ValueError)) as refused:
        call(thing, value)
    assert type(refused.value) in (TypeError, ValueError), refused.value
    assert 0 < len(str(refused.value)) <= 500
    assert content(thing) == before


@pytest.mark.parametrize("labels", [set(LABELS), frozenset(LABELS), dict(enumerate(LABELS))])
def test_labels_without_an_order_are_a_type_error_that_says_so(labels):
    for call in (icvi.score, icvi.Partition().add_many, tracker().update_many):
        with pytest.raises(TypeError, match="which has no order"):
            call(X[: len(labels)], labels)


def test_what_has_an_order_is_taken_as_labels():
    expected = icvi.score(X, LABELS)
    named = {"a": 0, "b": 0.5, "c": 1, "d": 2}
    assert icvi.score(X, (label for label in LABELS)) == expected
    assert icvi.score(X, memoryview(np.array(LABELS))) == expected
    assert icvi.score(X, np.ma.array(LABELS, mask=False)) == expected
    assert np.isnan(icvi.score(X, named.keys()))  # four clusters of one sample each
    assert icvi.score(X, [("a", 1), ("a", 1), ("b", 1), ("b", 1)]) == expected
    assert icvi.score(X, [frozenset("a")] * 2 + [frozenset("b")] * 2) == expected


def test_numbers_of_all_kinds_are_taken():
    for every in (2, 2.0, np.int8(2), np.float32(2), np.array(2), Decimal(2), Fraction(2)):
        assert len(icvi.Tracker(["CH"]).update_many(X, LABELS, every=every)) == 2
    assert len(icvi.Tracker(["CH"]).update_many(X, LABELS, every=2**63 - 1)) == 0
    assert icvi.I(p=Fraction(1, 2)).name == "I(p=0.5)"
    assert icvi.I(p=np.longdouble(3)).name == "I(p=3)"
    for weight in (2, True, np.float16(2.0), np.longdouble(2.0), Decimal(2), Fraction(2)):
        p = icvi.Partition()
        p.add([1.0], "a", weight)
        assert p.n_samples == float(weight)


def test_long_doubles_within_doubles_are_taken_as_doubles():
    exact = np.array(X, dtype=np.longdouble) / 3
    assert icvi.score(exact, LABELS) == icvi.score(exact.astype(float), LABELS)
    assert icvi.FuzzyART(rho=0.5).fit(exact).labels_.tolist() == [0, 0, 1, 1]


def test_a_chunk_of_many_classes_is_learnt_without_a_warning():
    rng = np.random.default_rng(0)
    e = icvi.FuzzyARTMAP(bounds=(0.0, 1.0))
    e.partial_fit(rng.random((40, 2)), np.arange(40))  # pytest makes a warning an error
    e.partial_fit(rng.random((40, 2)), np.arange(40.0))
    assert len(e.classes_) == 40
