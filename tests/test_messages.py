"""Messages stay short, whatever is given: every argument of every public function is tried."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import icvi
import icvi.batch
import icvi.metrics
from icvi.streams import open_source
from icvi.wording import short

LONGEST = 500
N = 100_000
LARGE = {
    "array": np.arange(float(N)),
    "matrix": np.ones((N // 2, 2)),
    "labels": np.arange(N),
    "list": list(range(N)),
    "tuple": tuple(range(N)),
    "words": [f"word {i}" for i in range(N)],
    "nested": [[i] * 9 for i in range(N // 9)],
    "dict": {i: i for i in range(N)},
}

X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 8.0], [9.0, 8.0], [4.0, 4.0], [5.0, 4.0]])
LABELS = [0, 0, 1, 1, 2, 2]
WINNERS = np.array([[0, -1], [1, 0], [2, 1], [3, 2], [4, 3], [5, 4]])

#: What parameters without a default take, by their names; and where a name means something else.
VALID: dict[str, Any] = {
    "X": X, "x": X[0], "labels": LABELS, "label": 0, "old": 0, "new": 1, "index": "CH",
    "name": "CH", "key": "a", "keys": list("aabbaa"), "into": 0, "source": 1, "factor": 0.5,
    "prototypes": [0, 1], "prototype": 0, "winners": WINNERS, "winner": 0, "runner_up": 1,
    "quantizer": icvi.Quantizer(), "path": "no/where.icvi", "what": X, "y": LABELS,
    "width": 10, "count": 3, "time": 5.0, "values": [1.0],
    "buffer": icvi.Partition().to_bytes(),
}  # fmt: skip
UNLIKE: dict[str, dict[str, Any]] = {
    "Tracker.relabel_many": {"old": LABELS, "new": LABELS[::-1]},
    "Partition.relabel_many": {"old": LABELS, "new": LABELS[::-1]},
    "Connectivity.plot": {"prototypes": X},
    "Connectivity.combine": {"other": icvi.Connectivity()},
    "Panes.combine": {"other": icvi.Panes(10, 3, ["CH"])},
    "Panes.update_many": {"time": range(6)},
    "Partition.combine": {"other": icvi.Partition()},
    "Tracker.combine": {"other": icvi.Tracker(["CH"])},
    "TrackerBank.combine": {"other": icvi.TrackerBank(["CH"])},
    "batch.conn_index": {"winners": WINNERS, "owners": None},
    "watch": {"source": (X, LABELS)},
    "compare": {"source": X, "clusterers": "art rho=0.5"},
    "NI": {}, "rCIP": {}, "rH": {}, "I": {}, "Conn": {},
}  # fmt: skip

#: Objects for others to subclass or made by us alone, and what takes a function.
NOT_CALLED = {"Comparison", "Index", "Path", "State", "Trace", "index"}
#: A partition has others, for trackers.
PARTITION = {
    "add", "add_many", "remove", "remove_many", "relabel", "relabel_many", "merge_clusters",
    "decay", "combine", "save", "to_bytes", "sort_labels",
}  # fmt: skip
ESTIMATORS = {"FuzzyART", "FuzzyARTMAP", "FuzzySMART", "MicroWard", "Quantizer"}


def tracker() -> icvi.Tracker:
    t = icvi.Tracker(["CH"])
    t.update_many(X, LABELS)
    return t


def panes() -> icvi.Panes:
    p = icvi.Panes(10, 3, ["CH"])
    p.update_many(X, LABELS, range(6))
    return p


def partition() -> icvi.Partition:
    p = icvi.Partition()
    p.add_many(X, LABELS)
    return p


def connectivity() -> icvi.Connectivity:
    c = icvi.Connectivity()
    c.update_many(WINNERS, LABELS)
    return c


def bank() -> icvi.TrackerBank:
    b = icvi.TrackerBank(["CH"])
    b.update_many(list("aabbaa"), X, LABELS)
    return b


UNLIKE["Tracker.apply"] = {"path": tracker().coarsen()}

MADE = {
    "Tracker": tracker,
    "Panes": panes,
    "Partition": partition,
    "Connectivity": connectivity,
    "TrackerBank": bank,
    "Trace": lambda: icvi.Tracker(["CH"]).update_many(X, LABELS),
}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and method by name; a method makes its object anew at each call."""
    for name in icvi.__all__:
        thing = getattr(icvi, name)
        raised = isinstance(thing, type) and issubclass(thing, BaseException)
        called = callable(thing) and not isinstance(thing, icvi.Index)
        if called and not raised and name not in NOT_CALLED | ESTIMATORS:
            yield name, thing
    for name, make in MADE.items():
        for method, function in inspect.getmembers(type(make()), inspect.isfunction):
            ours = name == "Partition" and method not in PARTITION
            if (not method.startswith("_") or method == "__getitem__") and not ours:
                yield f"{name}.{method}", on_new(make, method, function)
    for module in (icvi.metrics, icvi.batch):
        for name in module.__all__:
            yield f"{module.__name__.removeprefix('icvi.')}.{name}", getattr(module, name)
    for name in sorted(ESTIMATORS):
        yield name, fitted(getattr(icvi, name))
    yield "open_source", lambda what, **options: [*open_source(what, **options)]


def on_new(make: Callable[[], Any], method: str, function: Any) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        return getattr(make(), method)(**arguments)

    parameters = list(inspect.signature(function).parameters.values())[1:]
    call.__signature__ = inspect.Signature(parameters)
    return call


def fitted(kind: Any) -> Callable[..., Any]:
    """An estimator looks at its parameters when it learns."""

    def call(**parameters: Any) -> Any:
        return kind(**parameters).partial_fit(X, LABELS)

    call.__signature__ = inspect.signature(kind)
    return call


FUNCTIONS = dict(functions())
FUNCTIONS["open_source"].__signature__ = inspect.signature(open_source)


def arguments_of(name: str) -> tuple[dict[str, Any], list[str]]:
    """Valid arguments of a function, and the names of all that it takes."""
    parameters = [
        p
        for p in inspect.signature(FUNCTIONS[name]).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    known = VALID | UNLIKE.get(name, {})
    needed = [p.name for p in parameters if p.default is p.empty]
    return {each: known[each] for each in needed}, [p.name for p in parameters]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if arguments_of(name)[1]])
def test_no_message_prints_what_is_large(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    valid, parameters = arguments_of(name)
    long = []
    for parameter in parameters:
        for kind, large in LARGE.items():
            try:
                FUNCTIONS[name](**{**valid, parameter: large})
            except Exception as error:
                text = "\n".join([str(error), *getattr(error, "__notes__", ())])
                if len(text) > LONGEST:
                    long.append((parameter, kind, type(error).__name__, text[:200], len(text)))
    assert long == []


def test_no_message_lists_all_clusters():
    c = icvi.Connectivity()
    many = np.arange(2000)
    c.update_many(np.column_stack([many, many - 1]), many)
    with pytest.raises(ValueError, match="label 'b' is unknown; expected one of") as error:
        c.merge_clusters(0, "b")
    assert len(str(error.value)) < LONGEST


def test_other_settings_of_a_checkpoint_are_shown_in_part(tmp_path):
    wide = np.random.default_rng(0).normal(size=(6, 3000))

    def watched(columns):
        names = [f"column {column}" for column in columns]
        table = pa.table(dict(zip(names, wide.T)))
        return icvi.watch(
            table, lambda X: np.zeros(len(X)), ["CH"], columns=names, checkpoint=tmp_path / "kept"
        )

    watched(range(3000)).run()
    with pytest.raises(
        ValueError, match="is the checkpoint of a watch with other settings: columns was"
    ) as error:
        watched(range(1, 3000)).run()
    assert len(str(error.value)) < LONGEST + len(str(tmp_path))


def test_what_is_short_is_shown_as_it_is():
    for value in (3, "abc", None, [1, 2], ("a", 1), {"a": 1}, 1.5, timedelta(seconds=3)):
        assert short(value) == repr(value)
    assert short(np.arange(3)) == "array([0, 1, 2])"


@pytest.mark.parametrize("kind", LARGE)
def test_what_is_large_is_shown_in_part(kind):
    assert len(short(LARGE[kind])) < 120
    assert "\n" not in short(LARGE[kind])
    assert len(short([LARGE[kind]] * 20)) < 120


def test_what_cannot_be_shown_is_named():
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

    assert "Silent" in short(Silent())


def test_watch_with_labels_says_label():
    with pytest.raises(
        TypeError, match=r"watch\(\) has no argument 'labels', did you mean 'label'"
    ):
        icvi.watch(X, labels=LABELS)


@pytest.mark.parametrize("function", [icvi.watch, open_source])
def test_options_of_a_source_are_given_by_their_own_names(function):
    with pytest.raises(TypeError, match="has no argument 'source_options'"):
        function(X, source_options={"group": "g"})


@pytest.mark.parametrize("function", [icvi.watch, open_source])
@pytest.mark.parametrize(
    ("wrong", "right"), [("labels", "label"), ("column", "columns"), ("times", "time")]
)
def test_a_mistyped_argument_of_a_source_is_named_with_the_right_one(function, wrong, right):
    with pytest.raises(TypeError, match=f"'{wrong}', did you mean '{right}'"):
        function(X, **{wrong: 1})


def test_arguments_of_redis_belong_to_redis():
    with pytest.raises(TypeError, match="expected group with a Redis stream only, got a ndarray"):
        open_source(np.ones((100, 2)), group="g")
    with pytest.raises(TypeError, match="'grup', did you mean 'group'"):
        open_source("redis://localhost:1/0/key", grup="g")
