"""No test waits for ever, and processes that tests start do not depend on how the tests were."""

from __future__ import annotations

import ast
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

import conftest
import processes

HERE = Path(__file__).parent

#: What waits until something happens; with an argument, for so long at most.
WAITS = {"wait", "communicate", "join", "acquire"}
#: What starts a process; `processes` does it for all tests.
STARTS = {"run", "Popen", "call", "check_call", "check_output", "fork", "forkpty", "system"}

HANDLERS = """
import json, signal, sys
found = {number: signal.getsignal(number) for number in signal.valid_signals()}
ignored = [number for number, handler in found.items() if handler is signal.SIG_IGN]
json.dump([ignored, sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))], sys.stdout)
"""

#: Runs a command like nohup does, in the background of a shell, with signals blocked besides.
DEAF = """
import os, signal, sys
numbers = signal.SIGHUP, signal.SIGINT, signal.SIGTERM
for number in numbers:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def calls(path):
    """Line, object and name of everything that a file calls as ``object.name(...)``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = len(node.args) + len(node.keywords)
            yield node.lineno, ast.unparse(node.func.value), node.func.attr, given


@pytest.mark.parametrize("path", sorted(HERE.rglob("*.py")), ids=lambda path: path.name)
def test_whatever_waits_has_a_limit_and_whatever_starts_has_known_signal_handlers(path):
    for line, owner, name, given in calls(path):
        assert name not in WAITS or given, f"line {line}: {owner}.{name}() waits without a limit"
        starts = (owner == "subprocess" or name.startswith("fork")) and name in STARTS
        allowed = path.name in ("processes.py", "killing.py")
        assert not starts or allowed, f"line {line}: use `processes`, not {owner}.{name}"


def test_children_have_the_default_handlers_whatever_is_ignored_or_blocked_here():
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT)}
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, before)
    try:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        done = processes.run([sys.executable, "-c", HANDLERS], capture_output=True)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        for number, handler in before.items():
            signal.signal(number, handler)
    # These two are what every Python ignores by itself.
    assert json.loads(done.stdout) == [[signal.SIGPIPE, signal.SIGXFSZ], []]


@pytest.mark.slow
def test_a_closed_terminal_is_noticed_in_tests_that_run_under_nohup():
    name = "test_a_terminal_that_is_closed_leaves_complete_files"
    tests = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"watching/test_watch_process.py::{name}",
    ]
    done = processes.run([sys.executable, "-c", DEAF, *tests], cwd=HERE, capture_output=True)
    assert done.returncode == 0, done.stdout
    assert b"1 passed" in done.stdout


def test_a_terminal_that_is_closed_hangs_up():
    code = "import time; print('ready', flush=True); time.sleep(600)"
    process, ours = processes.begin_in_terminal([sys.executable, "-c", code], env=os.environ)
    seen, until = b"", time.monotonic() + processes.PATIENCE
    while b"ready" not in seen:
        assert time.monotonic() < until
        seen += processes.read_terminal(ours, 1.0)
    os.close(ours)
    assert process.wait(processes.PATIENCE) == -signal.SIGHUP


def test_a_test_that_waits_for_ever_fails(request, monkeypatch):
    monkeypatch.setattr(conftest, "LIMIT", 1)
    with (
        pytest.raises(TimeoutError, match="was not done after 1 s"),
        conftest._limited(request.node),
    ):
        time.sleep(600)
