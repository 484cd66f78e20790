"""What a live page costs: CPU, bytes, memory, and the time to its first numbers.

    .venv/bin/python benchmarks/serving.py                  # a minute, 5 viewers, 100,000 rows/s
    .venv/bin/python benchmarks/serving.py --seconds 600    # ten minutes, for the memory

A process watches a stream at a fixed rate; viewers in another process read its events. CPU is
counted by threads, once the stream runs: those that serve, and the loop's own part for the page.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import icvi

PARTS = {
    "page": "in the loop",
    "reservoir": "  samples of the partition",
    "details": "  answer, clusters, sizes",
    "rest": "  snapshots",
    "serving": "in other threads",
    "publisher": "  changes, encoded once",
    "viewers": "  written to every viewer",
    "connections": "  new connections",
}
WARM = 10.0  # seconds before the measurement: compiling, the page, a history of some length


def watched(seconds: float, rate: int, d: int, k: int) -> None:
    """Watch a stream; print its address, then what it cost."""
    rng = np.random.default_rng(1902)
    labels = rng.integers(0, k, rate)
    X = 10.0 * rng.normal(size=(k, d))[labels] + rng.normal(size=(rate, d))
    facts: dict[str, Any] = {}
    parts = {"page": 0.0, "reservoir": 0.0, "details": 0.0}

    def chunks() -> Iterator[tuple[Any, Any]]:
        start, given, step = time.monotonic(), 0, max(1, rate // 20)
        while (now := time.monotonic() - start) < WARM + seconds:
            if now >= WARM and not facts:
                facts.update(measured())
            at = given % (rate - step)
            yield X[at : at + step], labels[at : at + step]
            given += step
            time.sleep(max(0.0, start + given / rate - time.monotonic()))

    def measured() -> dict[str, float]:
        loop = time.thread_time()  # this is its thread
        others = time.process_time() - loop
        facts = {"loop": loop, "serving": others, "rss": rss(), "seen": watch.seen}
        return {**facts, **parts, **by_thread()}

    def timed(part: str, call: Any) -> Any:
        def measuring(*given: Any) -> Any:
            start = time.thread_time()
            try:
                return call(*given)
            finally:
                parts[part] += time.thread_time() - start

        return measuring

    watch = icvi.watch(chunks(), serve=0)
    live: Any = watch._live
    live.take = timed("page", live.take)
    live._reservoir.take = timed("reservoir", live._reservoir.take)
    live._observer.look = timed("details", live._observer.look)
    print(watch.url, flush=True)
    end: dict[str, float] = {}
    for _ in watch.steps():
        end = measured()
    cost = {name: end[name] - facts[name] for name in facts}
    print(json.dumps(cost), flush=True)


def by_thread() -> dict[str, float]:
    """CPU seconds of the threads that serve; those of all viewers together."""
    found = {"publisher": 0.0, "connections": 0.0, "viewers": 0.0}
    kinds = {"icvi-live": "publisher", "icvi-http": "connections"}
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.native_id is not None:
            path = Path(f"/proc/self/task/{thread.native_id}/schedstat")
            found[kinds.get(thread.name, "viewers")] += int(path.read_text().split()[0]) / 1e9
    return found


def rss() -> float:
    """Memory in MiB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


class Viewer(threading.Thread):
    """Reads events as a browser does, and counts bytes."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self.first = self.full = self.after = 0.0
        self.counting = False

    def run(self) -> None:
        """Read until the server ends."""
        start = time.monotonic()
        with socket.create_connection(("127.0.0.1", self._port)) as connection:
            ask = f"GET /events HTTP/1.1\r\nHost: localhost:{self._port}\r\n"
            connection.sendall(f"{ask}Accept-Encoding: gzip\r\n\r\n".encode())
            unzip, head, seen = zlib.decompressobj(zlib.MAX_WBITS | 16), b"", b""
            while data := connection.recv(65536):
                if not head.endswith(b"done"):
                    head += data
                    if b"\r\n\r\n" not in head:
                        continue
                    data, head = head.partition(b"\r\n\r\n")[2], b"done"
                if not self.full:
                    self.first += len(data)
                    seen += unzip.decompress(data)
                    if b"event: full" in seen and seen.endswith(b"\n\n"):
                        self.full = time.monotonic() - start
                elif self.counting:
                    self.after += len(data)


def loaded(url: str) -> int:
    """Bytes of the page and all its files, compressed."""
    with urllib.request.urlopen(url) as answer:
        page = answer.read().decode()
    total = len(page)
    for path in re.findall(r'(?:src|href|data-figures)="/([^"]+)"', page):
        ask = urllib.request.Request(url + path, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(ask) as answer:
            total += len(answer.read())
    return total


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--viewers", type=int, default=5)
    parser.add_argument("--rate", type=int, default=100_000)
    parser.add_argument("--watch", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.watch:
        watched(given.seconds, given.rate, 2, 15)
        return
    command = [sys.executable, __file__, "--watch", "--seconds", str(given.seconds)]
    command += ["--rate", str(given.rate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        time.sleep(WARM / 2.0)
        page = loaded(url)
        viewers = [Viewer(int(url.rstrip("/").rpartition(":")[2])) for _ in range(given.viewers)]
        for viewer in viewers:
            viewer.start()
        time.sleep(WARM / 2.0 + 1.0)
        start = time.monotonic()
        for viewer in viewers:
            viewer.counting = True
        time.sleep(max(given.seconds - 5.0, 1.0))
        for viewer in viewers:
            viewer.counting = False
        elapsed = time.monotonic() - start
        cost = json.loads(process.stdout.readline())
    total = cost["loop"] + cost["serving"]
    page_cpu = cost["serving"] + cost["page"]
    rows = cost["seen"] / given.seconds
    print(f"{rows:,.0f} rows/s for {given.seconds:.0f} s, {given.viewers} viewers")
    print(f"CPU of the page and its server  {100 * page_cpu / total:6.2f} %  (at most 2)")
    cost["rest"] = cost["page"] - cost["reservoir"] - cost["details"]
    for name, about in PARTS.items():
        print(f"  {about:29} {100 * cost[name] / total:7.2f} %")
    print(f"CPU of the process              {100 * total / given.seconds:6.1f} % of a core")
    first = max(viewer.first for viewer in viewers)
    print(f"first load                      {(page + first) / 1000:6.0f} kB (at most 500)")
    print(f"  everything, as an event       {first / 1000:6.0f} kB")
    print(f"first numbers after             {max(v.full for v in viewers):6.2f} s")
    most = max(viewer.after for viewer in viewers) / elapsed / 1000
    print(f"changes                         {most:6.2f} kB/s (at most 5)")
    print(f"memory grew by                  {cost['rss']:6.1f} MiB (at most 5 in 10 minutes)")


if __name__ == "__main__":
    main()
