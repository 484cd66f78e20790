"""Streams that are served, for tests of the live page."""

from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
from contextlib import contextmanager

import numpy as np

import icvi
import processes
from icvi.watching.live.encoding import apply

TOKEN = "a-token-of-some-length"


def blobs(n, k=3, d=2, seed=0):
    """Samples of clusters that lie apart, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    places = 10.0 * np.random.default_rng(1).normal(size=(k, d))
    return places[labels] + rng.normal(size=(n, d)), labels


class Stream:
    """A watch on a thread of its own, fed by the test."""

    def __init__(self, serve="0", **options):
        self._queue = queue.Queue()
        options.setdefault("indices", ["CH", "SIL", "XB"])
        self.watch = icvi.watch(self._chunks(), serve=serve, **options)
        self.error = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.port = int(self.watch.url.rstrip("/").rpartition(":")[2])
        # Before the thread of the server has begun, connections wait in its queue.

    def _chunks(self):
        while (chunk := self._queue.get()) is not None:
            yield chunk

    def _run(self):
        try:
            self.watch.run()
        except BaseException as error:
            self.error = error

    def put(self, X, labels):
        """Give samples, and wait until they are processed."""
        expected = self.watch.seen + len(X)
        self._queue.put((X, labels))
        self.wait(lambda: self.watch.seen >= expected)

    def put_soon(self, X, labels):
        self._queue.put((X, labels))

    def wait(self, condition):
        until = time.monotonic() + processes.PATIENCE
        while not condition():
            assert self.error is None, self.error
            assert time.monotonic() < until, "waited for too long"
            time.sleep(0.01)

    def get(self, path="/", method="GET", **headers):
        """Status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=processes.PATIENCE)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=names)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def end(self):
        self._queue.put(None)
        self._thread.join(processes.PATIENCE)
        assert not self._thread.is_alive()
        self.watch.close()


@contextmanager
def streaming(**options):
    stream = Stream(**options)
    try:
        yield stream
    finally:
        stream.end()
    if stream.error is not None:
        raise stream.error


class Viewer:
    """Reads events without a browser."""

    def __init__(self, port, **headers):
        self.socket = socket.create_connection(("127.0.0.1", port), processes.PATIENCE)
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        lines = ["GET /events HTTP/1.1", f"Host: localhost:{port}", *lines, "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass
        if self.status == 200 and "Accept_Encoding" not in headers:
            assert self.file.readline() == b"retry: 500\n"
            assert self.file.readline() == b"\n"
        self.state, self.kinds = {}, []

    def event(self):
        """The next event but signs of life: its kind and its data."""
        while True:
            kind = self.file.readline().decode().removeprefix("event: ").strip()
            data = self.file.readline().decode().removeprefix("data: ").strip()
            assert self.file.readline() == b"\n", "the server has gone"
            if kind != "beat":
                return kind, data

    def follow(self, condition):
        """Apply events until the state is as wanted."""
        until = time.monotonic() + processes.PATIENCE
        while not (self.state and condition(self.state)):
            assert time.monotonic() < until, "waited for too long"
            kind, data = self.event()
            self.kinds.append(kind)
            if kind == "full":
                self.state.clear()
            apply(data, self.state)

    def close(self):
        self.file.close()
        self.socket.close()
