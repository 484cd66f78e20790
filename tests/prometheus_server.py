"""A Prometheus for tests: a real one, of our own."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import processes
from redis_server import free_port
from system_packages import find_program


def program(name="prometheus"):
    return find_program(name, "prometheus", recommended=False)


class Prometheus:
    """Scrapes one address every second, and answers queries."""

    def __init__(self, folder, target, rules, credentials=None):
        self.port = free_port()
        job = {"job_name": "icvi", "static_configs": [{"targets": [target]}]}
        if credentials is not None:
            job["authorization"] = {"credentials": credentials}
        settings = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
        settings["rule_files"] = [str(rules)]
        # JSON is YAML.
        (folder / "prometheus.yml").write_text(json.dumps(settings))
        self.process = processes.begin(
            [
                *(program(), f"--config.file={folder / 'prometheus.yml'}"),
                *(f"--storage.tsdb.path={folder / 'data'}", "--log.level=error"),
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def query(self, expression):
        """The result of a query now."""
        return self.get("query", query=expression)["result"]

    def get(self, what, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        until = time.monotonic() + processes.PATIENCE
        while True:
            try:
                with opener.open(url, timeout=processes.PATIENCE) as answer:
                    return json.load(answer)["data"]
            except urllib.error.HTTPError as error:
                with error:
                    text = error.read().decode()
                if error.code != 503:  # which says that it begins
                    raise AssertionError(f"{parameters}: {text}") from None
            except OSError:
                pass
            assert self.process.poll() is None, "Prometheus has ended"
            assert time.monotonic() < until, "Prometheus does not answer"
            time.sleep(0.1)

    def close(self):
        processes.end(self.process)
