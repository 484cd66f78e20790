"""Kill a watch whose source changes meanwhile: a Redis server, a topic, or a file that is rotated.

A topic has one partition, or three.

    python killing_sources.py SOURCE FOLDER SEED KILLS

Prints one JSON line: the digests of the trace and of the one that an undisturbed watch wrote, and
what was done to the source.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import icvi
import processes
from icvi.saving import container
from killing import child, ended, size
from redis_server import KEY, Server

SMART = ["--clusterer", "smart", "--rho-a", "0.9", "--rho-b", "0.7", "--bounds", "0", "8"]
SMART += ["--columns", "x", "--columns", "y"]
KEPT = ["--quiet", "--indices", "CH", "--trace", "t.csv", "--checkpoint", "kept"]
KEPT += ["--checkpoint-every", "0"]
ROWS = 12_000
LIMIT = 120.0  # seconds that one wait may take, at most


def samples():
    """Some clusters, one after the other."""
    rng = np.random.default_rng(0)
    return (np.arange(ROWS) // 2000)[:, None] + rng.random((ROWS, 2))


class RedisSource:
    """A server that is restarted, and a group that is destroyed, set back and set forward."""

    def __init__(self, folder, chance):
        self.server, self.chance = Server(folder), chance
        self.server.start()
        self.fields = [{"x": repr(x), "y": repr(y)} for x, y in samples().tolist()]
        self.added = 0
        self.arguments = ["watch", self.server.url, "--follow", *SMART, "--patience", "60", *KEPT]

    def add(self, rows):
        with self.server.client() as client, client.pipeline() as pipe:
            for fields in self.fields[self.added : self.added + rows]:
                pipe.xadd(KEY, fields)
            pipe.execute()
        self.added = min(ROWS, self.added + rows)

    def disturb(self):
        what = self.chance.choice(["restart", "xgroup_destroy", "back", "forward", "nothing"])
        if what == "restart":
            self.server.restart()
        with self.server.client() as client:
            if not client.exists(KEY) or not client.xinfo_groups(KEY):
                return "nothing"
            if what == "xgroup_destroy":
                client.xgroup_destroy(KEY, "icvi")
            elif what in ("back", "forward"):
                client.xgroup_setid(KEY, "icvi", "0" if what == "back" else "$")
        return what

    def whole(self):
        """What an undisturbed watch takes."""
        return ["watch", self.server.url, *SMART, "--group", "whole", *KEPT]

    def close(self):
        self.server.kill()


class KafkaTopic:
    """A topic whose broker goes away and comes back."""

    partitions = 1

    def __init__(self, folder, chance):
        del folder
        self.chance, self.added = chance, 0
        self.values = [json.dumps({"x": x, "y": y}) for x, y in samples().tolist()]
        command = [sys.executable, str(Path(__file__).with_name("kafka_cluster.py"))]
        command += [str(self.partitions)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = processes.begin(command, text=True, **pipes)
        self.url = self.process.stdout.readline().strip()
        self.arguments = ["watch", self.url, "--follow", *SMART, "--patience", "60", *KEPT]

    def tell(self, what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def add(self, rows):
        for number in range(self.partitions):
            places = range(self.added, min(ROWS, self.added + rows))
            mine = [i for i in places if self.owner(i) == number]
            # Some have the same time in two partitions.
            values, times = [self.values[i] for i in mine], [1_000_000 + i // 2 for i in mine]
            self.tell({"partition": number, "values": values, "times": times})
        self.added = min(ROWS, self.added + rows)

    def owner(self, i):
        """The partition of a message."""
        return i * i // 7 % self.partitions

    def disturb(self):
        what = self.chance.choice(["away", "nothing"])
        if what == "away":
            self.tell("away")
            time.sleep(self.chance.uniform(0.0, 0.5))
            self.tell("back")
        return what

    def whole(self):
        return ["watch", self.url, *SMART, "--group", "whole", *KEPT]

    def close(self):
        processes.end(self.process)


class KafkaPartitions(KafkaTopic):
    """A topic with several partitions, none of which is passed over however long it is silent.

    So their order is known. The last messages of some would wait for more of the others: the last
    run does not follow.
    """

    partitions = 3

    def __init__(self, folder, chance):
        super().__init__(folder, chance)
        self.last = [each for each in self.arguments if each != "--follow"]
        self.arguments = [*self.arguments, "--wait", "600"]
        self.path = folder / "sorted.csv"

    def whole(self):
        """All messages as rows of a file, sorted by time, partition and offset."""
        order = sorted(range(ROWS), key=lambda i: (i // 2, self.owner(i), i))
        rows = samples()[order].tolist()
        self.path.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in rows))
        return ["watch", str(self.path), *SMART, *KEPT]


class RotatedFile:
    """A file that grows, and is rotated by renaming, and by copying and truncating."""

    def __init__(self, folder, chance):
        self.path, self.chance = folder / "a.csv", chance
        self.lines = [f"{x!r},{y!r}\n" for x, y in samples().tolist()]
        self.added = 0
        self.path.write_text("")
        (folder / "whole.csv").write_text("x,y\n" + "".join(self.lines))
        self.arguments = ["watch", str(self.path), "--follow", *SMART, *KEPT]

    def add(self, rows):
        with open(self.path, "a") as file:
            if not file.tell():
                file.write("x,y\n")
            file.writelines(self.lines[self.added : self.added + rows])
        self.added = min(ROWS, self.added + rows)

    def disturb(self):
        what = self.chance.choice(["create", "copytruncate", "nothing"])
        if what != "nothing":
            for number in range(50, 0, -1):
                older = self.path.with_name(f"a.csv.{number}")
                if older.exists():
                    older.rename(self.path.with_name(f"a.csv.{number + 1}"))
            if what == "create":
                self.path.rename(self.path.with_name("a.csv.1"))
                self.path.write_text("")
            else:
                shutil.copyfile(self.path, self.path.with_name("a.csv.1"))
                os.truncate(self.path, 0)
        return what

    def whole(self):
        return ["watch", str(self.path.with_name("whole.csv")), *SMART, *KEPT]

    def close(self):
        """Nothing is open."""


SOURCES = {"redis": RedisSource, "kafka": KafkaTopic, "rotated": RotatedFile}
SOURCES["partitions"] = KafkaPartitions


def begun(checkpoint):
    """Whether samples are in a checkpoint."""
    return checkpoint.exists() and container.read(checkpoint)[0].get("seen", 0) > 0


def wait(process, until):
    """Wait until something is true; the exit code if the process ended before."""
    start = time.monotonic()
    while not until():
        code = ended(process)
        if code is not None:
            return code
        if time.monotonic() - start > LIMIT:
            os.kill(process, signal.SIGKILL)
            raise TimeoutError("the watch does not come to its end")
        time.sleep(0.002)
    return None


def wait_for_size(process, place, enough):
    """Wait until files have grown so much, or for a moment: there may not be so much to write."""
    limit = time.monotonic() + 2
    return wait(process, lambda: size(place) >= enough or time.monotonic() > limit)


def run(source, place, kills, chance):
    """Kill, disturb, resume; what was done, and how the last watch ended."""
    place.mkdir()
    os.chdir(place)
    done = []
    source.add(500)
    for _ in range(kills):
        process = child(source.arguments)
        grown = size(place) + chance.uniform(0, 60_000)
        # Before a watch has stored anything, there is nothing that it could lose.
        code = wait(process, lambda: begun(place / "kept" / "watch.icvi"))
        source.add(chance.randrange(ROWS // kills))
        done.append(source.disturb())
        source.add(chance.randrange(1, 200))
        code = wait_for_size(process, place, grown) if code is None else code
        if code is not None:  # it follows its source until it is stopped
            return done, code
        time.sleep(chance.uniform(0, 0.02))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        done.append("kill")
        source.add(chance.randrange(1, 200))
        done.append(source.disturb())
        source.add(1)
    source.add(ROWS)
    if hasattr(source, "last"):
        return done, wait(child(source.last), lambda: False)
    process = child(source.arguments)
    trace = place / "t.csv"
    code = wait(process, lambda: trace.exists() and trace.read_bytes().count(b"\n") > ROWS)
    if code is None:
        os.kill(process, signal.SIGTERM)
        code = wait(process, lambda: False)
    return done, code


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    """One trial."""
    kind, place, seed, kills = sys.argv[1:]
    chance, folder = random.Random(int(seed)), Path(place)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else 0)
    # Compiled kernels are loaded once, here; nothing that starts threads may run before a fork.
    icvi.watch(np.eye(3), icvi.FuzzySMART(rho_a=0.9, rho_b=0.7, bounds=(0, 1)), ["CH"]).run()
    source = SOURCES[kind](folder, chance)
    try:
        done, code = run(source, folder / "killed", int(kills), chance)
        (folder / "whole").mkdir()
        os.chdir(folder / "whole")
        undisturbed = wait(child(source.whole()), lambda: False)
    finally:
        source.close()
    found = {"code": code, "whole": undisturbed, "done": done}
    found["traces"] = [digest(folder / name / "t.csv") for name in ("killed", "whole")]
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
