"""Programs that tests run, from Debian's packages where these may be installed."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

import processes

_LOCK = Path(tempfile.gettempdir()) / f"icvi-tests-packages-{getattr(os, 'getuid', int)()}.lock"
_WAIT = 900  # seconds, for other workers that install something, too
_OPTIONS = ("-y", "-qq", "-o", "DPkg::Lock::Timeout=300")
# Servers are not started as services: tests start their own.
_QUIETLY = {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}


def find_program(name, *packages, recommended=True):
    """The path of a program, after installing the first of some packages that brings it.

    With the packages that it recommends, or without. Skips the test where there is none.
    """
    if shutil.which(name) is None:
        _install(name, packages, () if recommended else ("--no-install-recommends",))
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed and cannot be: apt-get needs root and a network")
    return found


@functools.cache  # without a network it takes long to fail, and would for every test
def _install(name, packages, options):
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    # apt-get refuses to run twice at a time: the tests of another worker would be skipped.
    with contextlib.suppress(Timeout), FileLock(_LOCK, timeout=_WAIT):
        for package in packages:
            # Lists of packages may be missing, or name versions that are gone.
            for arguments in (["update", "-qq"], ["install", *_OPTIONS, *options, package]):
                if shutil.which(name) is None:
                    _apt_get(arguments)


def _apt_get(arguments):
    with contextlib.suppress(subprocess.TimeoutExpired):
        processes.run(
            ["apt-get", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_QUIETLY},
            timeout=300,
        )
