"""The end of the program: at once, and nothing is left unwritten."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import processes

PROGRAM = """
import atexit, sys
atexit.register(print, "exit handlers run")
from icvi.__main__ import run
sys.argv = ["icvi", *sys.argv[1:]]
run()
"""


def test_exit_handlers_run_and_all_that_was_printed_arrives(tmp_path):
    with (tmp_path / "out.txt").open("wb") as out:
        command = [sys.executable, "-c", PROGRAM, "list", "--json"]
        ended = processes.run(command, stdout=out, stderr=-1)
    assert ended.returncode == 0, ended.stderr
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert len(lines) > 10
    assert lines[-1] == "exit handlers run"


def test_the_exit_code_is_that_of_the_command():
    command = [sys.executable, "-c", PROGRAM, "list", "--jsonn"]
    ended = processes.run(command, stdout=-1, stderr=-1)
    assert ended.returncode == 2
    assert b"No such option" in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_is_an_error():
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "icvi", "list", "--json"]
        ended = processes.run(command, stdout=full, stderr=-1)
    assert ended.returncode != 0
    assert b"No space left" in ended.stderr
