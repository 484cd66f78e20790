"""Modules of the ART estimators return to where they were, to the bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from test_art_estimators import content

from icvi.art.categories import Module, ModuleA
from icvi.art.scaling import Scaling
from streams import blobs

X, LABELS = blobs(n=300, d=3)
SCALING = Scaling.learnt(X)


def module_a(n):
    a = ModuleA(SCALING)
    learn(a, slice(0, n))
    return a


def learn(a, rows, rho=0.95):
    return a.learn(X[rows], LABELS[rows], rho, 1e-3, 0.5)


CHANGES = {
    "nothing": lambda a: None,
    "many samples": lambda a: learn(a, slice(100, 300)),
    "so many that it grows": lambda a: learn(a, slice(0, 300), rho=1.0),
    "one sample": lambda a: a.learn_one(X[100:101], 0, 0.95, 1e-3, 0.5),
    "one sample of a new cluster": lambda a: a.learn_one(X[100:101], "new", 0.95, 1e-3, 0.5),
    "many new clusters": lambda a: a.learn(X, np.arange(100, 400), 0.95, 1e-3, 0.5),
    "clusters become one": lambda a: a.merge(0, 1),
    "a cluster becomes a new one": lambda a: a.merge("new", 1),
}


@pytest.mark.parametrize("n", [0, 2, 100])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_module_a_returns_to_its_snapshot(change, n):
    a, twin = module_a(n), module_a(n)
    before, columns = content(a), a.labels.columns
    saved = a.snapshot()
    change(a)
    for _ in range(2):  # twice is the same as once
        a.restore(saved)
        assert content(a) == before
        assert a.labels.columns is columns
    np.testing.assert_array_equal(learn(a, slice(0, 300)), learn(twin, slice(0, 300)))
    assert content(a) == content(twin)


def test_a_snapshot_is_no_reference_to_what_changes():
    a = module_a(100)
    saved = a.snapshot()
    kept = copy.deepcopy(saved)
    learn(a, slice(100, 300), rho=1.0)
    a.restore(saved)
    assert content(a.snapshot()) == content(kept)


def test_a_snapshot_copies_only_the_blocks_in_use():
    module = Module(4)
    module.W = np.zeros((64, *module.W.shape[1:]))
    assert module.snapshot()[1].size == 0
