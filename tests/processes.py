"""Processes that tests start: their signal handlers are known, and none runs for ever."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time

#: Seconds before a process that does nothing is taken for broken. A busy machine that compiles
#: everything for the first time may take a minute or two.
PATIENCE = 300.0

#: Python ignores these itself, and has children start without that.
_OWN = {"SIGPIPE", "SIGXFSZ"}

_CONTROLLED = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def known_signals():
    """Have children start with the default action for every signal, and none blocked.

    What a process ignores or blocks, its children ignore and block, too: the hang-up under nohup,
    Ctrl-C in the background of a shell, whatever a test before this one has left. What it handles
    they do not, so signals are handled here instead of being ignored.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return  # other threads cannot change handlers, other systems do not hand them down
    for number in signal.Signals:
        if number.name not in _OWN and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _take_no_notice)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _take_no_notice(number, frame):
    del number, frame


def begin(command, **options):
    """`subprocess.Popen`, with known signal handlers."""
    known_signals()
    return subprocess.Popen(command, **options)


def run(command, *, timeout=PATIENCE, check=False, **options):
    """`subprocess.run`, with known signal handlers and a limit."""
    known_signals()
    return subprocess.run(command, timeout=timeout, check=check, **options)


def end(process):
    """Kill a process that may still run, and close its pipes."""
    if process.poll() is None:
        process.kill()
    process.wait(PATIENCE)
    for file in (process.stdin, process.stdout, process.stderr):
        if file is not None:
            file.close()


def begin_in_terminal(command, columns=80, lines=24, **options):
    """A process that is controlled by a terminal of its own, and our end of the terminal.

    When our end is closed, the process gets a hang-up.
    """
    import termios
    from fcntl import ioctl

    ours, theirs = os.openpty()
    ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    command = [sys.executable, "-S", "-c", _CONTROLLED, *command]
    try:
        return begin(command, start_new_session=True, **ends, **options), ours
    finally:
        os.close(theirs)


def read_terminal(ours, seconds):
    """What was written to a terminal; b"" if that takes so many seconds, None at its end."""
    if not select.select([ours], [], [], seconds)[0]:
        return b""
    try:
        return os.read(ours, 65536)
    except OSError:  # no process has the other end any more
        return None


def wait_until(condition, process=None):
    """Look again and again; fail if it does not come true while the process runs."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "waited for too long"
        assert process is None or process.poll() is None, process.communicate(timeout=PATIENCE)
        time.sleep(0.02)
