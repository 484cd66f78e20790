"""Programs that tests run, from Debian's packages where these may be installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

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
    options = _OPTIONS if recommended else (*_OPTIONS, "--no-install-recommends")
    if shutil.which(name) is None and _may_install():
        # apt-get refuses to run twice at a time: the tests of another worker would be skipped.
        with FileLock(_LOCK, timeout=_WAIT):
            for package in packages:
                # Lists of packages may be missing, or name versions that are gone.
                for arguments in (["update", "-qq"], ["install", *options, package]):
                    if shutil.which(name) is None:
                        _apt_get(arguments)
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed and cannot be: apt-get needs root and a network")
    return found


def _may_install():
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def _apt_get(arguments):
    with contextlib.suppress(subprocess.TimeoutExpired):
        processes.run(
            ["apt-get", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_QUIETLY},
            timeout=300,
        )
