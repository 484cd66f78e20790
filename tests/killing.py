"""Run a command many times in forked children, kill them at random moments, until it is done.

    python killing.py FOLDER SEED TRIALS SECONDS ARGUMENTS...

Forked, because a child then starts in no time and its kills hit the work, not the start. Prints one
JSON line per trial: how often it was killed and what the results are.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet

import icvi
import icvi.cli
import icvi.watching.command


def child(arguments):
    """The command in a process of its own."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
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


def ended(process, within):
    """The exit code, if it comes in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    return None


def trial(folder, arguments, chance, seconds):
    """Kill it until it is done; how often that was."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chdir(folder)
    kills = 0
    while True:
        process = child(arguments)
        # Ever more patience: it must be done some time.
        code = ended(process, chance.uniform(0.0, seconds) * (1 + kills / 20))
        if code is not None:
            return code, kills
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        kills += 1


def main():
    """All trials."""
    folder, seed, trials, seconds, *arguments = sys.argv[1:]
    del pyarrow.csv, pyarrow.parquet  # imported for the children
    chance = random.Random(int(seed))
    # Compiled kernels are loaded once, here; nothing that starts threads may run before a fork.
    icvi.Tracker("paper").update_many([[0.0], [1.0], [2.0]], [0, 0, 1])
    for number in range(int(trials)):
        place = Path(folder) / f"trial{number}"
        code, kills = trial(place, arguments, chance, float(seconds))
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(place.iterdir())
            if path.is_file()
        }
        sys.stdout.write(json.dumps({"code": code, "kills": kills, "files": files}) + "\n")
        sys.stdout.flush()


main()
