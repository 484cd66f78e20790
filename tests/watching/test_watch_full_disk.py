"""On a full disk a watch names what did not fit, loses nothing, and resumes when there is room."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager

import pytest

import icvi
import processes
from watch_inputs import PATIENCE, samples, watch, write_samples

resource = pytest.importorskip("resource")

X, LABELS = samples(3000)
OUTPUTS = ("t.parquet", "page.html", "m.icvi")
TYPED = ("--columns", "x", "--columns", "y", "--trace", "t.parquet")
TYPED += ("--clusterer", "smart", "--report", "page.html")
TYPED += ("--save-model", "m.icvi", "--checkpoint", "kept", "--quiet")
# What is kept for insight would make checkpoints larger than the page.
TYPED += ("--no-insight", "--alert", "k > 2")


@contextmanager
def at_most(size):
    """No file may become larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def sizes(folder):
    return {path.name: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """The folder of a watch that had room enough."""
    write_samples(tmp_path / "s.csv", X, LABELS.tolist())
    (tmp_path / "whole").mkdir()
    monkeypatch.chdir(tmp_path / "whole")
    result = watch("../s.csv", *TYPED)
    assert result.exit_code == 0, result.output
    return tmp_path / "whole"


def refused(reason, path):
    """Run the command where there is no room for some files; those that it names."""
    result = watch(path, *TYPED)
    assert result.exit_code == 1, result.output
    assert os.strerror(reason) in result.stderr
    assert not [name for name in sizes(path.parent) if name.endswith(".tmp")]
    return re.findall(rf"^(?:Error: )?([^\s:]+): .*{os.strerror(reason)}", result.stderr, re.M)


def assert_like(whole, folder):
    for name in ("t.parquet", "t.alarms.ndjson"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    model, other = (icvi.load(place / "m.icvi") for place in (whole, folder))
    assert model.weights_.tobytes() == other.weights_.tobytes()
    assert {*OUTPUTS} <= set(os.listdir(folder))
    assert not [name for name in sizes(folder) if name.endswith(".tmp")]


def test_files_that_may_not_grow_are_named_one_after_the_other_and_resumed(whole, monkeypatch):
    folder = whole.parent / "limited"
    folder.mkdir()
    monkeypatch.chdir(folder)
    path, size = whole.parent / "s.csv", sizes(whole)
    assert size["page.html"] == max(size.values())
    named = []
    for limit in (100, size["m.icvi"] // 2, size["watch.icvi"] - 1, size["page.html"] - 1):
        with at_most(limit):
            named.append(refused(errno.EFBIG, path))
    checkpoint, journal, page = "kept/watch.icvi", "kept/trace.arrows", "page.html"
    # A checkpoint on the way may be larger than the last one, and than the page.
    assert named == [[checkpoint], [journal, page], [checkpoint, page], [checkpoint]]
    result = watch(path, *TYPED)
    assert result.exit_code == 0, result.output
    assert_like(whole, folder)


def mount(folder, options):
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return processes.run(command, capture_output=True, timeout=PATIENCE, text=True)


@pytest.fixture
def disk(whole, monkeypatch):
    """Sets the size of a small disk, which is the working directory."""
    folder = whole.parent / "disk"
    folder.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk; files that may not grow are tested anyway")
    done = mount(folder, "size=64k")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr}")
    monkeypatch.chdir(folder)
    try:
        yield lambda size: mount(folder, f"remount,size={size}").check_returncode()
    finally:
        os.chdir(whole)
        processes.run(["umount", str(folder)], check=True, timeout=PATIENCE)


def test_a_disk_that_is_full_at_any_place_loses_nothing(whole, disk):
    path, size = whole.parent / "s.csv", sizes(whole)
    everything = sum(-(-each // 4096) * 4096 for each in size.values())
    named = set()
    for room in range(everything // 8, everything, everything // 8):
        disk(room)
        named.update(refused(errno.ENOSPC, path))
    assert {"kept/watch.icvi", "page.html"} <= named
    disk(2 * everything)
    result = watch(path, *TYPED)
    assert result.exit_code == 0, result.output
    assert_like(whole, type(whole)(os.getcwd()))
