"""`icvi watch`: rules, the file of alarms, the command, and the exit code."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from alarm_inputs import LABELS, N, X
from icvi.errors import ALARMED
from watch_inputs import run, watch, write_samples

RULES = ["--alert", "SIL < 0.6 for 50", "--alert", "k >= 4"]
SIL = ["s.csv", "--labels", "c", "--indices", "SIL"]
QUIET = ["--no-insight", "--quiet"]
SHELL = pytest.mark.skipif(os.name != "posix", reason="commands are for a shell of Unix")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_samples("s.csv", X, LABELS.tolist())
    return tmp_path


def done(*arguments, code=0):
    result = watch(*arguments)
    assert result.exit_code == code, result.output
    return result


def alarms(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_alarms_about_clusters_are_on_unless_turned_off():
    done(*SIL, "--trace", "with.csv")
    assert {line["action"] for line in alarms("with.alarms.ndjson")} == {"merge"}
    done(*SIL, "--trace", "without.csv", "--no-insight")
    assert not Path("without.alarms.ndjson").exists()
    assert Path("with.csv").read_bytes() == Path("without.csv").read_bytes()


def test_rules_and_their_file_are_named():
    result = done(*SIL, *RULES, "--no-insight", "--alarms", "a.ndjson")
    assert {line["rule"] for line in alarms("a.ndjson")} == {"SIL < 0.6 for 50", "k >= 4"}
    assert "alarms: a.ndjson" in result.stderr.splitlines()


def test_clusters_must_be_as_far_apart_as_asked():
    done(*SIL, "--alarms", "a.ndjson", "--distinct", "0.001")
    assert alarms("a.ndjson") == []


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (
            "SILL < 0.5",
            "about 'SILL', which is not watched, did you mean 'SIL'?; expected one of SIL, k",
        ),
        ("SIL below 0.5", "expected an alert such as 'SIL < 0.5' or 'SIL < 0.5 for 100'"),
    ],
)
def test_a_rule_that_is_none_is_refused_before_the_stream_is_opened(rule, problem):
    result = done("not-there.csv", *SIL[1:], "--alert", rule, code=1)
    assert problem in result.stderr
    assert "not-there" not in result.stderr


@pytest.mark.parametrize(
    "option", [["--alarms", "a.ndjson"], ["--on-alert", "cat"], ["--fail-on-alert"]]
)
def test_options_for_alarms_need_some(option):
    result = done(*SIL, "--no-insight", *option, code=2)
    assert f"{option[0]} needs an --alert, or no --no-insight" in result.stderr


def test_the_exit_code_says_whether_an_alarm_was_raised():
    assert ALARMED == 3
    done(*SIL, *QUIET, *RULES)
    done(*SIL, *QUIET, *RULES, "--fail-on-alert", code=3)
    done(*SIL, *QUIET, "--alert", "k > 9", "--fail-on-alert")
    done(*SIL, "--quiet", "--fail-on-alert", code=3)


def test_an_alarm_that_was_withdrawn_counts_too():
    done(*SIL, *QUIET, "--alert", "k < 2", "--alarms", "a.ndjson", "--fail-on-alert", code=3)
    assert [line["event"] for line in alarms("a.ndjson")] == ["raised", "withdrawn"]


def test_an_alarm_of_an_earlier_run_counts_too():
    options = [*SIL, *QUIET, "--alert", "k < 2", "--checkpoint", "kept"]
    done(*options)
    done(*options, "--fail-on-alert", code=3)
    done(*options, "--fail-on-alert", "--overwrite", code=3)


def test_an_error_is_an_error_whatever_the_alarms():
    with open("s.csv", "a") as file:
        file.write("x,y,z\n")
    done(*SIL, *QUIET, *RULES, "--fail-on-alert", code=1)


@SHELL
def test_a_command_is_told_and_the_trace_on_standard_output_is_nothing_but_the_trace():
    script = "import sys; open('told', 'a').write(sys.stdin.read()); print('printed')"
    command = shlex.join([sys.executable, "-S", "-c", script])
    options = [*RULES, "--no-insight", "--trace", "-", "--trace-format", "csv"]
    code, out, messages = run(*SIL, *options, "--on-alert", command, "--alarms", "a.ndjson")
    assert code == 0, messages
    assert out.count("\n") == N + 1
    assert "printed" not in out
    assert Path("told").read_bytes() == Path("a.ndjson").read_bytes()
    assert messages.splitlines().count("printed") == len(alarms("a.ndjson")) > 1


@SHELL
def test_a_command_that_fails_is_a_warning_that_names_the_option():
    result = done(*SIL, *QUIET, *RULES, "--on-alert", "exit 7")
    assert result.stderr == (
        "the command for alarms (--on-alert) failed with exit code 7; this is reported once\n"
    )


def test_the_command_to_resume_has_the_command_for_alarms_without_passwords():
    with open("s.csv", "a") as file:
        file.write("x,y,z\n")
    command = "true https://me:secret@host/a -d @- | cat"
    options = ["--checkpoint", "kept", "--on-alert", command]
    result = done(*SIL, *RULES, *options, code=1)
    shown = result.stderr.partition("to resume: ")[2]
    assert shlex.split(shown)[-1] == "true https://me:***@host/a -d @- | cat"
    assert "secret" not in result.output
