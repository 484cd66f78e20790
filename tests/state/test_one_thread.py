"""Linear algebra in one thread, for callers that are nested or in threads of their own."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import icvi
from icvi.state import one_thread as module
from icvi.state.one_thread import one_thread


def threads():
    """Threads of the libraries that numpy calls; scipy brings its own, which icvi does not use."""
    np.linalg.eigvalsh(np.eye(3))  # the library is loaded
    libraries = ThreadpoolController().select(user_api="blas").info()
    return [each["num_threads"] for each in libraries if "scipy" not in each["filepath"]]


def test_one_thread_inside_and_as_many_as_before_outside():
    before = threads()
    with one_thread():
        assert set(threads()) <= {1}
        with one_thread():
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before


def test_an_error_inside_restores_the_threads():
    before = threads()
    with pytest.raises(KeyboardInterrupt), one_thread():
        raise KeyboardInterrupt
    assert threads() == before


def test_callers_that_overlap_restore_what_the_first_has_found():
    before, inside, leave = threads(), threading.Event(), threading.Event()

    def stay():
        with one_thread():
            inside.set()
            leave.wait(30)

    other = threading.Thread(target=stay)
    with one_thread():
        other.start()
        assert inside.wait(30)
        assert set(threads()) <= {1}
    leave.set()
    other.join(30)
    assert threads() == before


def test_a_verdict_leaves_the_threads_as_they_were():
    before = threads()
    icvi.verdict(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    assert threads() == before


def test_a_caller_that_was_interrupted_on_its_way_out_leaves_no_limit():
    before = threads()
    module._Callers.found = module._controller().limit(limits=1, user_api="blas")
    with one_thread():
        assert set(threads()) <= {1}
    assert threads() == before
