"""Run a command again and again in forked children, and kill them at random moments.

    python killing.py FOLDER SEED KILLS BYTES ARGUMENTS...

A trial begins in an empty folder and ends when the command is done; there are as many as it takes
for so many kills. A moment is when the files in the folder have grown to a random size below BYTES,
and a bit: so kills hit the work on a slow machine as on a fast one. Forked, because a child then
starts in no time. Prints one JSON line per trial.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet

import icvi
import icvi.cli
import icvi.watching.command

MOST = 12  # kills in a trial: it must be done some time


def child(arguments):
    """The command in a process of its own."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["icvi", *arguments]
        icvi.cli.main(arguments, standalone_mode=False)
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
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


def ended(process):
    """The exit code of a child, if it has ended."""
    done, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def killed(process, folder, enough, pause):
    """Kill a child when the files are large enough; its exit code if it was done before."""
    while size(folder) < enough:
        if (code := ended(process)) is not None:
            return code
        time.sleep(0.0002)
    time.sleep(pause)
    if (code := ended(process)) is not None:
        return code
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def trial(folder, arguments, chance, most):
    """Kill it until it is done; the exit code, and how often that was."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    for kills in range(MOST):
        enough, pause = chance.uniform(0, most), chance.uniform(0, 0.02)
        code = killed(child(arguments), folder, enough, pause)
        if code is not None:
            return code, kills
    return os.waitstatus_to_exitcode(os.waitpid(child(arguments), 0)[1]), MOST


def main():
    """All trials."""
    folder, seed, kills, most, *arguments = sys.argv[1:]
    del pyarrow.csv, pyarrow.parquet  # imported for the children
    chance = random.Random(int(seed))
    # Compiled kernels are loaded once, here; nothing that starts threads may run before a fork.
    smart = icvi.FuzzySMART(rho_a=0.9, rho_b=0.7, bounds=(0.0, 1.0))
    icvi.watch(np.eye(3), smart, ["paper", "Conn"]).run()
    left, number = int(kills), 0
    while left > 0:
        place = Path(folder) / f"trial{number}"
        code, so_many = trial(place, arguments, chance, int(most))
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(place.iterdir())
            if path.is_file()
        }
        sys.stdout.write(json.dumps({"code": code, "kills": so_many, "files": files}) + "\n")
        sys.stdout.flush()
        left, number = left - so_many, number + 1


if __name__ == "__main__":
    main()
