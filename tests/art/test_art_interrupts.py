"""ART estimators change all or nothing, and one caller at a time changes them."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import sklearn.utils.validation
from test_art_estimators import content

import icvi.saving.container
import interrupting
import processes
from icvi.art.categories import Module
from icvi.kernels.layout import LANES as BLOCK
from interrupting import Injector, interrupt_by_signals, interrupt_everywhere, interrupt_twice
from streams import blobs

X, LABELS = blobs(n=80, d=2)
UNSEEN, NAMES = X[60:], [f"cluster {label}" for label in LABELS[60:]]
BOUNDS = (X.min(axis=0), X.max(axis=0))


class Kind:
    """An estimator, and how it is given what it learns."""

    def __init__(self, make, y=None, one=None):
        self.make, self.y, self.one = make, y, one

    def targets(self, rows):
        return () if self.y is None else (self.y[rows],)

    def learn(self, name, rows):
        return lambda e: getattr(e, name)(X[rows], *self.targets(rows))

    def update(self, i):
        return lambda e: e.update(X[i], *([] if self.y is None else [self.y[i]]))

    def after(self, name, rows, **parameters):
        """Makes estimators that have learnt these."""
        e = self.make(bounds=BOUNDS, **parameters)
        self.learn(name, rows)(e)
        return lambda: copy.deepcopy(e)


KINDS = {
    "FuzzyART": Kind(lambda **p: icvi.FuzzyART(**{"rho": 0.9, "beta": 0.5, **p})),
    "FuzzySMART": Kind(lambda **p: icvi.FuzzySMART(**{"rho_a": 0.95, "rho_b": 0.8, **p})),
    "Quantizer": Kind(lambda **p: icvi.Quantizer(**{"rho": 0.93, "beta": 0.5, **p}), LABELS),
    "FuzzyARTMAP": Kind(lambda **p: icvi.FuzzyARTMAP(**{"rho": 0.9, **p}), LABELS % 3),
    "FuzzyARTMAP of numbers": Kind(
        lambda **p: icvi.FuzzyARTMAP(**{"rho": 0.9, "rho_b": 0.9, "bounds_y": (0, 9), **p}),
        X[:, 0].copy(),
    ),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


def state(e):
    """Everything inside; to ask for it is a call."""
    return content(e.__getstate__())


def vigilant(kind):
    """Parameters with which every sample founds a category."""
    names = kind.make().get_params()
    chosen = {"rho": 1.0, "rho_a": 1.0, "rho_b": 0.999}
    return {name: value for name, value in chosen.items() if names.get(name) is not None}


def full(kind):
    """Estimators whose modules have no room for one more category."""
    first = slice(0, BLOCK)
    made = kind.after("partial_fit", first, **vigilant(kind))
    for module in modules(made()):
        assert module.k == module.room == BLOCK
    return made


def modules(e):
    parts = [getattr(part, "module", part) for part in vars(e).values()]
    return [part for part in parts if isinstance(part, Module)]


#: Name -> (what makes the estimator, the call that is interrupted), for a kind.
CALLS = {
    "the first fit": lambda k: (k.make, k.learn("fit", slice(0, 40))),
    "another fit": lambda k: (k.after("fit", slice(0, 40)), k.learn("fit", slice(30, 80))),
    "the first chunk": lambda k: (k.make, k.learn("partial_fit", slice(0, 40))),
    "the first sample": lambda k: (lambda: k.make(bounds=BOUNDS), k.update(0)),
    "another large chunk": lambda k: (
        k.after("fit", slice(0, 40)),
        k.learn("partial_fit", slice(40, 80)),
    ),
    "another small chunk": lambda k: (
        k.after("fit", slice(0, 60)),
        k.learn("partial_fit", slice(60, 63)),
    ),
    "another sample": lambda k: (k.after("fit", slice(0, 60)), k.update(70)),
    "a sample that needs room": lambda k: (full(k), k.update(70)),
    "a chunk that needs room": lambda k: (full(k), k.learn("partial_fit", slice(16, 70))),
    "a small chunk that needs room": lambda k: (full(k), k.learn("partial_fit", slice(16, 20))),
}


@pytest.fixture(params=CALLS.values(), ids=CALLS)
def case(request, kind):
    return request.param(kind)


# -- interrupts --------------------------------------------------------------------------------


def test_an_interrupted_call_changes_nothing(case):
    assert interrupt_everywhere(*case, state) > 10


def test_the_way_back_may_be_interrupted_as_well(case):
    assert interrupt_twice(*case, state, most=6) > 10


def test_labels_that_join_leave_again():
    q, m = KINDS["Quantizer"], KINDS["FuzzyARTMAP"]
    names = [f"new {i}" for i in range(20)]  # more than there is room for
    moments = interrupt_everywhere(
        q.after("fit", slice(0, 40)), lambda e: e.partial_fit(UNSEEN, names), state, most=60
    )
    assert moments > 50
    assert interrupt_everywhere(q.make, lambda e: e.fit(UNSEEN, names), state, most=60) > 50
    assert interrupt_everywhere(
        m.after("fit", slice(0, 40)), lambda e: e.partial_fit(UNSEEN, np.arange(50, 70)), state
    )
    assert interrupt_everywhere(m.after("fit", slice(0, 40)), lambda e: e.update(X[70], 99), state)


def test_passes_of_a_fit_are_one_change():
    for name in ("FuzzyART", "FuzzyARTMAP"):
        kind = KINDS[name]
        made = kind.after("fit", slice(0, 40), max_iter=3)
        assert interrupt_everywhere(made, kind.learn("fit", slice(30, 80)), state) > 20


def test_names_of_features_come_and_go_with_the_fit(monkeypatch):
    kind = KINDS["FuzzyART"]
    # Inside of scikit-learn too, which sets them one after the other.
    places = (*interrupting.PLACES, sklearn.utils.validation.__file__)
    monkeypatch.setattr(interrupting, "PLACES", places)
    frame = pd.DataFrame(X[:10], columns=["a", "b"])
    y = kind.targets(slice(0, 10))
    plain = kind.after("fit", slice(0, 40))
    assert interrupt_everywhere(plain, lambda e: e.fit(frame, *y), state) > 100
    named = kind.make().fit(frame, *y)
    made = lambda: copy.deepcopy(named)  # noqa: E731
    assert interrupt_everywhere(made, kind.learn("fit", slice(0, 40)), state) > 50


def test_what_only_looks_may_be_interrupted(kind, monkeypatch):
    monkeypatch.setattr(icvi.saving.container, "write", lambda *_, **__: None)
    made = kind.after("fit", slice(0, 60))
    looks = [lambda e: e.predict(X), lambda e: e.save("e"), pickle.dumps, copy.copy]
    for look in looks:
        assert interrupt_everywhere(made, look, state) > 0


def test_new_parameters_are_kept_by_a_way_back_that_comes_later(kind):
    made, call = kind.after("fit", slice(0, 60)), kind.learn("partial_fit", slice(60, 80))
    e, before = made(), state(made())
    for first in range(1, 1000):
        e = made()
        Injector(first, 1).run(call, e)
        if e._undo is not None:  # the second interrupt has hit the way back
            break
    assert e._undo is not None
    e.set_params(alpha=0.5)
    e.remark = "mine"
    e.predict(X)
    assert e._undo is None
    assert vars(e).pop("remark") == "mine"
    assert e.set_params(alpha=kind.make().alpha).alpha == 1e-3
    assert state(e) == before


def test_real_signals_change_all_or_nothing(kind):
    rng = np.random.default_rng(0)
    samples = rng.uniform(*BOUNDS, (4, 400, 2))
    rows = rng.integers(0, len(X), (4, 400))
    finer = {"rho": 0.97} if "rho" in kind.make().get_params() else {"rho_a": 0.98, "rho_b": 0.97}
    e = kind.after("fit", slice(0, 60), **finer)()
    twin = copy.deepcopy(e)

    def learn(e, number):
        if number % 4 == 3:
            e.update(samples[0, number % 400], *(y[0] for y in kind.targets(rows[0])))
        else:
            e.partial_fit(samples[number % 4], *kind.targets(rows[number % 4]))

    counts = interrupt_by_signals(
        lambda number: learn(e, number), lambda: state(e), interrupts=150, longest=0.003
    )
    assert counts["interrupted"] > 0
    for number in range(counts["completed"]):
        learn(twin, number)
    assert state(e) == state(twin)


# -- other failures ----------------------------------------------------------------------------


def test_no_memory_to_grow_leaves_an_estimator_as_it_was(kind, monkeypatch):
    def fail(self):
        raise MemoryError

    e = full(kind)()
    before = state(e)
    with monkeypatch.context() as patched:
        patched.setattr(Module, "grow", fail)
        for call in (
            kind.update(70),
            *(kind.learn(n, slice(16, 80)) for n in ("partial_fit", "fit")),
        ):
            with pytest.raises(MemoryError):
                call(e)
            assert state(e) == before
    twin = full(kind)()
    for each in (e, twin):
        kind.learn("partial_fit", slice(16, 80))(each)
    assert state(e) == state(twin)


# -- threads -----------------------------------------------------------------------------------


class Meeting:
    """Samples that, when they are asked for, first do something else."""

    def __init__(self, samples, action):
        self.samples, self.actions = samples, [action]

    def __array__(self, dtype=None, copy=None):
        while self.actions:  # they are asked for more than once
            self.actions.pop()()
        return np.array(self.samples, dtype=dtype)


def calls(kind, e, samples, rows):
    y = kind.targets(rows)
    named = {
        "fit": lambda: e.fit(samples, *y),
        "partial_fit": lambda: e.partial_fit(samples, *y),
        "update": lambda: e.update(samples, *(target[0] for target in y)),
        "predict": lambda: e.predict(samples),
        "apply": lambda: e.apply(samples),
        "winners": lambda: e.winners(samples, LABELS[rows] * 0),
    }
    return {name: call for name, call in named.items() if hasattr(e, name)}


def test_a_call_that_meets_a_change_is_refused(kind, tmp_path):
    e = kind.after("fit", slice(0, 60))()
    rows = slice(60, 62)
    attributes = [name for name in dir(type(e)) if name.endswith("_") and not name.startswith("_")]
    refused = []

    def meet():
        meets = [*calls(kind, e, X[rows], rows).values(), lambda: e.save(tmp_path / "e")]
        meets += [lambda: pickle.dumps(e), lambda: copy.deepcopy(e), lambda: copy.copy(e)]
        meets += [
            lambda name=name: getattr(e, name)
            for name in attributes
            if name not in missing  # where there is no module B, for one
        ]
        for call in meets:
            with pytest.raises(RuntimeError, match=f"this {type(e).__name__} is in use"):
                call()
            refused.append(call)

    missing = [name for name in attributes if not hasattr(e, name)]
    twin = copy.deepcopy(e)
    e.partial_fit(Meeting(X[rows], meet), *kind.targets(rows))
    assert len(refused) > 8
    assert state(e) == state(twin.partial_fit(X[rows], *kind.targets(rows)))


def test_what_looks_is_refused_when_a_change_comes_in_between(kind):
    rows = slice(60, 62)
    for name in ("predict", "apply", "winners"):
        e = kind.after("fit", slice(0, 60))()
        change = kind.learn("partial_fit", slice(62, 80))
        meeting = Meeting(X[rows], lambda e=e, change=change: change(e))
        if name in (looking := calls(kind, e, meeting, rows)):
            with pytest.raises(RuntimeError, match="is in use"):
                looking[name]()
            twin = kind.after("fit", slice(0, 60))()
            change(twin)
            assert state(e) == state(twin)
            looking = calls(kind, e, X[rows], rows)
            np.testing.assert_array_equal(looking[name](), calls(kind, twin, X[rows], rows)[name]())


def test_many_threads_may_look_at_the_same_time(kind):
    e = kind.after("fit", slice(0, 60))()
    expected = e.predict(X)
    start = threading.Barrier(4)

    def look():
        start.wait(60)
        return all(np.array_equal(e.predict(X), expected) for _ in range(200))

    with ThreadPoolExecutor(4) as pool:
        assert all(done.result() for done in [pool.submit(look) for _ in range(4)])


HAMMER = """
import sys, threading
from test_art_interrupts import *

sys.setswitchinterval(1e-6)
kind = KINDS[sys.argv[1]]
e = kind.after("fit", slice(0, 20))()
learn, update = kind.learn("partial_fit", slice(0, 80)), kind.update(70)
start, learnt, strange = threading.Barrier(3), [], []

def work(calls):
    start.wait(60)
    for call in calls * 150:
        try:
            call(e)
            learnt.append(call)
        except RuntimeError as error:
            assert "is in use" in str(error), error

def guarded(calls):
    try:
        work(calls)
    except BaseException as error:
        strange.append(error)

looks = [lambda e: e.predict(X), pickle.dumps, lambda e: e.get_params(), lambda e: e.weights_]
if not hasattr(e, "weights_"):
    looks.pop()
threads = [threading.Thread(target=guarded, args=(c,)) for c in ([learn], [learn], looks)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not strange, strange
twin = kind.after("fit", slice(0, 20))()
for _ in range(learnt.count(learn)):
    learn(twin)
assert learnt.count(learn) > 0
assert state(e) == state(twin)
for call in (update, learn, kind.learn("fit", slice(0, 60))):
    call(e), call(twin)
    assert state(e) == state(twin)
print("works")
"""


@pytest.mark.parametrize("name", KINDS)
def test_threads_that_share_an_estimator_get_an_error_or_their_turn(name):
    done = processes.run(
        [sys.executable, "-X", "faulthandler", "-c", HAMMER, name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "works\n"), done.stderr
