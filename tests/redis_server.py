"""A Redis server for tests: a real one, of our own."""

from __future__ import annotations

import socket
import subprocess
import time

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

import processes
from system_packages import find_program

KEY = "samples"


def program():
    return find_program("redis-server", "redis-server")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """A Redis server of our own that keeps its data when it is killed.

    Without a log it only has what `snapshot` wrote last.
    """

    def __init__(self, folder, log=True):
        self.program, self.folder, self.log = program(), folder, log
        self.port = self.process = None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0/{KEY}"

    def start(self):
        """Start it, again on the same port; another one may be taken before the first start."""
        again = self.port is not None
        while True:
            self.port = self.port if again else free_port()
            self._begin()
            if self._answers():
                return
            processes.end(self.process)
            assert not again, f"port {self.port} was taken meanwhile"

    def _begin(self):
        self.process = processes.begin(
            [
                *(self.program, "--port", str(self.port), "--dir", str(self.folder), "--save", ""),
                *("--appendonly", "yes" if self.log else "no", "--appendfsync", "always"),
                *("--bind", "127.0.0.1"),
            ],
            stdout=subprocess.DEVNULL,
        )

    def _answers(self):
        """Whether it is this server that answers on the port, and not another one."""
        until = time.monotonic() + processes.PATIENCE
        with self.client() as client:
            while self.process.poll() is None:
                assert time.monotonic() < until, "the server does not answer"
                try:
                    return client.info("server")["process_id"] == self.process.pid
                except redis.ConnectionError:
                    time.sleep(0.05)
        return False

    def kill(self):
        processes.end(self.process)

    def snapshot(self):
        with self.client() as client:
            client.save()

    def restart(self):
        self.kill()
        self.start()

    def client(self):
        # A server that has just started may still be loading; old clients do not try again.
        again = Retry(ConstantBackoff(0.1), 100)
        return redis.Redis(port=self.port, retry=again, retry_on_error=[redis.BusyLoadingError])

    def add(self, start, stop):
        with self.client() as client, client.pipeline() as pipe:
            for i in range(start, stop):
                pipe.xadd(KEY, {"x": i, "y": f"{i / 7!r}", "c": f"l{i % 3}", "t": i / 2})
            pipe.execute()

    def pending(self, group="icvi"):
        with self.client() as client:
            return client.xpending(KEY, group)["pending"]
