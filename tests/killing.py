"""Run a command again and again in forked children, and end them at random moments in many ways.

    python killing.py FOLDER SEED STOPS BYTES WAYS ARGUMENTS...

A trial begins in an empty folder and ends when the command is done; there are as many as it takes
to end children so many times in each of the ways, which are separated by commas:

    KILL       SIGKILL
    TERM, HUP  SIGTERM, SIGHUP: the child ends by itself
    STOP-KILL  SIGSTOP, then SIGKILL
    STOP-CONT  SIGSTOP, then SIGCONT; some time later SIGKILL
    FULL       no file can become larger than a random size, as on a full disk
    PART       SIGKILL when some more files are in t/, the folder of a trace: around a rollover

A moment is when the files in the folder have grown to a random size below BYTES, and a bit: so
signals hit the work on a slow machine as on a fast one. Forked, because a child then starts in no
time. Prints one JSON line per trial.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import click
import numpy as np
import pyarrow.csv
import pyarrow.parquet

import icvi
import icvi.cli.main
import icvi.watching.command

MOST = 12  # ends of children in a trial: it must be done some time
TRIALS = 60
PATIENCE = 120.0  # seconds for a child that was asked to end
KEPT = "kept"  # the checkpoint directory
DISK_FULL = 75  # exit code of a child that said so


def child(arguments, limit=resource.RLIM_INFINITY):
    """The command in a process of its own, which takes signals as one of a shell does."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead, as of a disk
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        sys.argv = ["icvi", *arguments]
        icvi.cli.main.main(arguments, standalone_mode=False)
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    except click.ClickException as error:
        if os.strerror(errno.EFBIG) in error.message:
            code = DISK_FULL
        else:
            sys.stderr.write(f"{error.message}\n")
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
    finally:
        sys.stderr.flush()
        os._exit(code)


def size(folder):
    """Bytes of all files, which come and go."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
    return total


def files_of_trace(folder):
    """How many files the folder of a trace has, unfinished ones too."""
    return sum(len(names) for _, _, names in os.walk(os.path.join(folder, "t")))


def ended(process):
    """The exit code of a child, if it has ended."""
    done, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def run_until(process, folder, enough, pause, measure=size):
    """Wait until the files are large enough; the exit code of a child that was done before."""
    while measure(folder) < enough:
        if (code := ended(process)) is not None:
            return code
        time.sleep(0.0005)
    time.sleep(pause)
    return ended(process)


def finished(process):
    """The exit code of a child that is about to end."""
    until = time.monotonic() + PATIENCE
    while (code := ended(process)) is None:
        if time.monotonic() > until:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise TimeoutError("a child that was asked to end did not")
        time.sleep(0.001)
    return code


def kill(process):
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def stop(process):
    """Stop a child; its exit code if it ended just before."""
    os.kill(process, signal.SIGSTOP)
    _, status = os.waitpid(process, os.WUNTRACED)
    return None if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)


def end(way, arguments, folder, most, chance):
    """Begin a child and end it in one way; None, or its exit code if that did not end it."""
    if way == "FULL":
        # The largest of the files is about a third of all.
        code = finished(child(arguments, int(chance.uniform(0, most / 3))))
        return None if code == DISK_FULL else code
    process = child(arguments)
    if way == "PART":
        enough, pause = files_of_trace(folder) + chance.randint(1, 3), chance.uniform(0, 0.004)
        code = run_until(process, folder, enough, pause, files_of_trace)
        if code is None:
            kill(process)
        return code
    enough, pause = chance.uniform(0, most), chance.uniform(0, 0.02)
    if (code := run_until(process, folder, enough, pause)) is not None:
        return code
    if way in ("TERM", "HUP"):
        number = getattr(signal, f"SIG{way}")
        os.kill(process, number)
        code = finished(process)
        # At the very start, Python has not been told yet what to do about it.
        return None if code in (128 + number, -number) else code
    if way.startswith("STOP"):
        if (code := stop(process)) is not None:
            return code
        if way == "STOP-CONT":
            os.kill(process, signal.SIGCONT)
            later = chance.uniform(enough, most)
            if (code := run_until(process, folder, later, pause)) is not None:
                return None if code == 0 else code
    kill(process)
    return None


def trial(folder, arguments, chance, most, ends):
    """End children until the command is done; its exit code."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    for _ in range(MOST):
        way = min(ends, key=lambda way: (ends[way], chance.random()))
        code = end(way, arguments, folder, most, chance)
        if code is not None:
            return code
        ends[way] += 1
    return finished(child(arguments))


def main():
    """All trials."""
    folder, seed, stops, most, ways, *arguments = sys.argv[1:]
    del pyarrow.csv, pyarrow.parquet  # imported for the children
    chance, ends = random.Random(int(seed)), Counter(dict.fromkeys(ways.split(","), 0))
    # Compiled kernels are loaded once, here; nothing that starts threads may run before a fork.
    smart = icvi.FuzzySMART(rho_a=0.9, rho_b=0.7, bounds=(0.0, 1.0))
    icvi.watch(np.eye(3), smart, ["paper", "Conn"]).run()
    for number in range(TRIALS):
        if min(ends.values()) >= int(stops):
            break
        place = Path(folder) / f"trial{number}"
        code = trial(place, arguments, chance, int(most), ends)
        files = {
            str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(place.rglob("*"))
            if path.is_file() and path.parent.name != KEPT
        }
        left = sorted(path.name for path in place.rglob("*.tmp"))
        line = {"code": code, "ends": ends, "files": files, "left": left, "folder": str(place)}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
