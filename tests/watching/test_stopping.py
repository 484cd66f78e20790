"""Signals that meet an import."""

from __future__ import annotations

import importlib
import signal
import sys
import time

import pytest

from icvi.watching.stopping import Stopping

MODULE = """
import signal
signal.raise_signal(signal.SIGINT)
complete = True
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "met_by_a_signal.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "met_by_a_signal"
    sys.modules.pop("met_by_a_signal", None)


def import_and_wait(module):
    importlib.import_module(module)
    time.sleep(30)  # the interrupt ends this


def test_an_import_is_completed_before_waiting_is_interrupted(module):
    with Stopping() as stopping:
        with pytest.raises(KeyboardInterrupt), stopping.waiting():
            import_and_wait(module)
        assert sys.modules[module].complete
        assert stopping.asked == signal.SIGINT


def test_an_interrupt_that_was_put_off_reaches_the_next_wait(module):
    with Stopping() as stopping:
        with stopping.waiting():
            importlib.import_module(module)
        with pytest.raises(KeyboardInterrupt), stopping.waiting():
            time.sleep(30)
