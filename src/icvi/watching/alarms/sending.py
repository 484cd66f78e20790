"""Reporting alarms: to a command of the shell, or to a function."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import IO

from icvi.insight.alarms import Alarm
from icvi.watching.alarms.alarm_lines import alarm_lines
from icvi.watching.step import Step
from icvi.wording import for_terminal, short

#: Seconds that a command may take.
LIMIT = 60.0
_MOST_OUTPUT = 1 << 16  # bytes of a command's output that are shown


class Sending:
    """Tells a command or a function about every alarm, one after the other.

    A command gets the alarm as a line of JSON on its standard input; what it prints goes to
    standard error. If it fails, takes too long or cannot be started, the stream continues with a
    warning, the first time for each of these. A function gets the `Alarm`; its errors are raised.

    Parameters
    ----------
    receiver : str or callable
        The command, which the shell runs, or the function.
    limit : float
        Seconds after which a command is killed.

    Attributes
    ----------
    warn : callable
        Called with the text of a warning.
    """

    def __init__(self, receiver: str | Callable[[Alarm], object], limit: float = LIMIT) -> None:
        if not callable(receiver) and not (isinstance(receiver, str) and receiver.strip()):
            raise TypeError(
                f"expected on_alert as a command or a function of an alarm, got {short(receiver)}"
            )
        self._receiver, self._limit = receiver, limit
        self._warned: set[str] = set()
        self.warn: Callable[[str], None] = warn

    def send(self, step: Step) -> bool:
        """Send the alarms of a step; whether there were any."""
        alarms = step.alarms
        if isinstance(self._receiver, str):
            for line in alarm_lines(step) if alarms else ():
                self._run(self._receiver, line)
        else:
            for alarm in alarms:
                self._receiver(alarm)
        return bool(alarms)

    def _run(self, command: str, line: bytes) -> None:
        try:
            # Into a file: a pipe would stay open as long as something runs in the background.
            with tempfile.TemporaryFile() as output:
                problem = self._problem(command, line, output)
                _show(output)
        except OSError as error:
            problem = f"could not be started: {error}"
        if problem is not None and (kind := problem.split()[0]) not in self._warned:
            self._warned.add(kind)
            self.warn(f"the command for alarms (on_alert) {problem}; this is reported once")

    def _problem(self, command: str, line: bytes, output: IO[bytes]) -> str | None:
        """Run a command; what went wrong, if anything did."""
        # A session of its own: Ctrl-C is for the watch, and all that the command has started can
        # be killed with it.
        process = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            process.communicate(line, timeout=self._limit)
        except subprocess.TimeoutExpired:
            return f"took longer than {self._limit:g} s and was killed"
        finally:
            if process.poll() is None:
                _kill(process)
        return f"failed with exit code {process.returncode}" if process.returncode else None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it has started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _show(output: IO[bytes]) -> None:
    """Print what a command has printed, without what could control the terminal."""
    output.seek(0)
    text = output.read(_MOST_OUTPUT).decode(errors="replace")
    if text and sys.stderr is not None:
        sys.stderr.write(for_terminal(text))
        sys.stderr.flush()


def warn(text: str) -> None:
    """Warn a caller in Python."""
    warnings.warn(text, RuntimeWarning, stacklevel=2)
