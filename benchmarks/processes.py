"""The process tree: children that measure, and the environment the peers live in."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from clock import Job, Result

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".venv-peers"

# CPU time adds up over threads, so everybody gets one.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "LOKY")
}


def ask(script: str, job: Job, python: str = sys.executable) -> Result:
    """Run one measurement in a child process and return what it printed."""
    done = subprocess.run(
        [python, str(HERE / script)],
        input=json.dumps(job),
        env=os.environ | ONE_THREAD,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def peers_python() -> str:
    """Return the interpreter of the peers' environment, whether or not it exists."""
    folder = "Scripts" if os.name == "nt" else "bin"
    return str(PEERS / folder / "python")


def peers_versions() -> Result | None:
    """Return which peers are installed, or None when their environment is missing or broken."""
    try:
        return ask("peers.py", {"what": "versions"}, peers_python())
    except (OSError, subprocess.CalledProcessError):
        return None


def make_peers() -> None:
    """Create the peers' environment and install the versions in ``peers.txt``."""
    subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
    install = [peers_python(), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", str(HERE / "peers.txt")], check=True)


def processor() -> str:
    """Return the name of the processor, as well as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def machine() -> dict[str, str]:
    """Return what the numbers depend on."""
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {name: version(name) for name in ("numba", "numpy")}
