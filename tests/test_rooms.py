"""The package stays easy to find your way in: small folders, one direction, one door to Numba.

The layers between rooms, and cycles between the files of a room, are checked by `lint-imports`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "icvi"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
FOLDERS = sorted(path for path in [PACKAGE, *PACKAGE.rglob("*/")] if path.name != "__pycache__")
SOURCES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
#: All that only `kernels/compiler/` may touch: it changes from one version to the next.
INSIDES_OF_NUMBA = re.compile(r"llvmlite|numba\.(core|np|cpython)\b|numba\.extending\.intrinsic")


def imports(module: str) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a module imports, in functions and for types as well."""
    path = SOURCES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            source = ".".join([*above, *filter(None, [node.module])]) if node.level else node.module
            yield from ((source or "", alias.name) for alias in node.names)


def imported_modules(module: str) -> set[str]:
    """Modules of icvi that a module imports."""
    whole = {
        f"{source}.{name}" if f"{source}.{name}" in SOURCES else source
        for source, name in imports(module)
    }
    return whole & SOURCES.keys()


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_there_are_few_modules_at_the_root():
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    assert len(modules) <= 12, sorted(modules)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_has_few_files(folder):
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert len(files) <= 17, files


@pytest.mark.parametrize("name", ROOMS)
class TestARoom:
    def test_has_a_line_in_the_guide_for_contributors(self, name):
        assert re.search(rf"^\|.*`{name}/`", CONTRIBUTING, flags=re.MULTILINE)

    def test_has_its_tests_in_a_folder_of_the_same_name(self, name):
        assert any((ROOT / "tests" / name).glob("test_*.py"))


def test_tests_have_no_folder_without_a_room():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders <= {*ROOMS}


def test_every_path_in_the_guide_for_contributors_is_there():
    paths = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.(?:py|md|sh))?)`", CONTRIBUTING)
    assert len(paths) > len(ROOMS)
    missing = [path for path in paths if not ((ROOT / path).exists() or (PACKAGE / path).exists())]
    assert missing == []


def test_the_insides_of_numba_are_touched_behind_one_door():
    outside = [
        f"{module}: {source} {name}"
        for module in SOURCES
        if not module.startswith("icvi.kernels.compiler.")
        for source, name in imports(module)
        if INSIDES_OF_NUMBA.match(f"{source}.{name}")
    ]
    assert outside == []


def test_no_room_imports_a_private_name_of_another():
    reached = [
        f"{module}: {source} {name}"
        for module in SOURCES
        for source, name in imports(module)
        if source in SOURCES
        and re.match("_[^_]", name)
        and (room(source) != room(module) or room(source) not in ROOMS)
    ]
    assert reached == []


def test_no_module_imports_the_package_that_it_is_in():
    """Its `__init__` imports the module in turn; the contract about siblings does not see that."""
    inside = [
        f"{module}: {source}"
        for module in SOURCES
        for source in imported_modules(module)
        if module.startswith(f"{source}.") and source != "icvi"  # which has the version
    ]
    assert inside == []


def test_no_modules_import_each_other_in_a_circle():
    graph = TopologicalSorter({module: imported_modules(module) - {module} for module in SOURCES})
    try:
        graph.prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(error.args[1][::-1]))
