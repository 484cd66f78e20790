"""What is stated about versions is tested, and the sources that are given away are whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import processes

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"docs", "test", "dev"}


def requirements() -> list[Requirement]:
    """What users need: the core and the extras."""
    extras = PROJECT["optional-dependencies"]
    texts = PROJECT["dependencies"] + [
        text for name, extra in extras.items() if name not in FOR_DEVELOPERS for text in extra
    ]
    return [each for each in map(Requirement, texts) if each.name != "icvi"]


def pinned(name: str) -> dict[str, Version]:
    """Versions in a constraints file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(package): Version(version) for package, version in pairs}


def lower_bounds(requirement: Requirement) -> list[Version]:
    return [Version(part.version) for part in requirement.specifier if part.operator == ">="]


# -- versions ----------------------------------------------------------------------------------


def test_the_lowest_versions_that_are_tested_are_the_lowest_that_are_stated():
    stated = {canonicalize_name(each.name): lower_bounds(each) for each in requirements()}
    assert {name: [version] for name, version in pinned("constraints-lowest.txt").items()} == stated


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_the_versions_of_development_are_among_those_that_are_stated(requirement):
    assert pinned("constraints.txt")[canonicalize_name(requirement.name)] in requirement.specifier


def test_numba_has_an_upper_bound_next_to_the_version_that_is_tested():
    (numba,) = [each for each in requirements() if each.name == "numba"]
    tested = pinned("constraints.txt")["numba"]
    assert Version(f"{tested.major}.{tested.minor}.999") in numba.specifier
    assert Version(f"{tested.major}.{tested.minor + 1}") not in numba.specifier


def test_the_pythons_that_are_stated_are_those_that_are_tested():
    script = (ROOT / "tools" / "test_pythons.sh").read_text(encoding="utf-8")
    tested = re.search(r'^supported="(.+)"$', script, flags=re.MULTILINE)[1].split()
    name = "Programming Language :: Python :: "
    stated = [
        entry.removeprefix(name) for entry in PROJECT["classifiers"] if entry.startswith(name)
    ]
    assert [version for version in stated if "." in version] == tested
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_times_of_numpy_are_made_with_their_units():
    """Numpy 2.5, which Python 3.11 does not have, warns of others."""
    bare = re.compile(r"(?:datetime64|timedelta64)\((?:'NaT'|\"NaT\"|-?\d+)\)")
    sources = [path for part in ("src", "tests", "docs") for path in (ROOT / part).rglob("*.py")]
    assert sources
    assert [path for path in sources if bare.search(path.read_text(encoding="utf-8"))] == []


# -- make test-pythons -------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path):
    """A directory in which a stand-in runs the tests, and a way to put interpreters on the PATH."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "constraints.txt").write_text("numba==1\nnumpy==2\n")
    shutil.copy(ROOT / "tools" / "test_pythons.sh", tmp_path / "tools")
    (tmp_path / "tools" / "run_tests.sh").write_text(
        'echo "ran $*"; cat "$3"; case "$2" in *3.12*) exit 1; esac\n'
    )
    for tool in ("sh", "grep", "cat", "mkdir"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    return tmp_path


def put(path: Path, exit_code: int) -> None:
    """Something that says whether it is the Python that is looked for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    path.chmod(0o755)


def run_script(machine: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return processes.run(
        ["sh", "tools/test_pythons.sh", *options],
        cwd=machine,
        env={"PATH": str(machine / "bin"), "HOME": str(machine)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_each_python_of_the_machine_is_tested_and_the_others_are_named(machine):
    put(machine / "bin" / "python3.11", 0)
    put(machine / ".pyenv" / "versions" / "3.13.7" / "bin" / "python", 0)
    done = run_script(machine, "-m", "not slow")
    assert done.returncode == 0, done.stderr
    assert (
        "ran .venv-3.11 python3.11 constraints.txt -m not slow\nnumba==1\nnumpy==2\n" in done.stdout
    )
    newer = machine / ".pyenv" / "versions" / "3.13.7" / "bin" / "python"
    ran = f"ran .venv-3.13 {newer} .venv-3.13/constraints.txt -m not slow\nnumba==1\npassed"
    assert ran in done.stdout  # and no numpy
    assert done.stdout.endswith("passed: 3.11 3.13; failed: none; not on this machine: 3.12 3.14\n")


def test_one_python_that_fails_fails_all_and_the_others_are_tested_nevertheless(machine):
    for version in ("3.11", "3.12", "3.13"):
        put(machine / "bin" / f"python{version}", 0)
    done = run_script(machine)
    assert done.returncode == 1
    assert done.stdout.endswith("passed: 3.11 3.13; failed: 3.12; not on this machine: 3.14\n")


def test_a_shim_that_runs_nothing_is_no_python(machine):
    put(machine / "bin" / "python3.11", 127)
    done = run_script(machine)
    assert done.returncode == 1
    absent = "passed: none; failed: none; not on this machine: 3.11 3.12 3.13 3.14\n"
    assert done.stdout == absent


# -- the source distribution -------------------------------------------------------------------


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> list[str]:
    """Names of the files in the source distribution."""
    from hatchling.builders.sdist import SdistBuilder

    (path,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")))
    with tarfile.open(path) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asks git which files there are")
def test_the_source_distribution_holds_the_repository(sdist):
    listed = processes.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    there = {name for name in listed if (ROOT / name).exists()}
    missing = there - {*sdist}
    assert {name for name in missing if not name.startswith(".")} == set()


def test_tests_can_be_run_from_the_source_distribution(sdist):
    for name in ("Makefile", "constraints.txt", "constraints-lowest.txt", "CONTRIBUTING.md"):
        assert name in sdist
    for folder in ("src", "tests", "docs", "examples", "benchmarks", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            assert os.fspath(path.relative_to(ROOT)) in sdist


def test_no_leftovers_are_given_away(sdist):
    leftovers = ("__pycache__", ".nbi", ".nbc", "_build", ".venv", "benchmarks/results")
    assert [name for name in sdist if any(part in name for part in leftovers)] == []


# -- the wheel ---------------------------------------------------------------------------------


def test_the_wheel_holds_the_templates_and_the_style_of_pages(tmp_path):
    from hatchling.builders.wheel import WheelBuilder

    (path,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    sources = [
        each for each in (ROOT / "src").rglob("*") if each.suffix in (".html", ".css", ".js")
    ]
    assert len(sources) >= 7
    assert {each.relative_to(ROOT / "src").as_posix() for each in sources} <= names
