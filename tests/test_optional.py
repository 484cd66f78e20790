"""Packages that are not installed: the sentence says which, and the extra that brings it."""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import icvi.spark
import processes
from icvi.optional import check, load, needed

SOURCES = Path(__file__).parents[1] / "src" / "icvi"

#: Package, the extra that a message may name for it, and what needs it.
USES = [
    ("pandas", "pandas", "trace().to_pandas()"),
    ("pandas", "pandas", "tracker().diagnose_clusters().to_pandas()"),
    ("pandas", "pandas", "tracker().diagnose_pairs().to_pandas()"),
    ("pyarrow", "arrow", "trace().to_arrow()"),
    ("pyarrow", "stream", "rows('a.csv', 'x,y\\n1,2\\n')"),
    ("pyarrow", "stream", "rows('a.parquet', 'PAR1')"),
    ("pyarrow", "stream", "rows('a.ndjson', '{\"x\": 1, \"t\": \"2024-05-01\"}\\n', time='t')"),
    ("pyarrow", "stream", "watched(trace='a.parquet')"),
    ("pyarrow", "stream", "run('score', written('a.csv', 'x,c\\n1,2\\n'), '--labels', 'c')"),
    ("pyarrow", "study", "run('study', '--out', 'out')"),
    ("msgspec", "stream", "rows('a.ndjson', '{\"x\": 1}\\n')"),
    ("msgspec", "stream", "watched(trace='a.csv')"),
    ("msgspec", "stream", "watched(trace='a.ndjson')"),
    ("filelock", "stream", "watched(checkpoint='folder')"),
    ("redis", "redis", "list(open_source('redis://localhost:1/0/key'))"),
    ("confluent_kafka", "kafka", "list(open_source('kafka://localhost:1/topic'))"),
    ("redis", "redis", "run('watch', 'redis://localhost:1/0/key', '--labels', 'c')"),
    ("matplotlib", "plot", "trace().plot()"),
    ("matplotlib", "plot", "plot_traces({'': trace()})"),
    ("matplotlib", "plot", "icvi.Connectivity().plot([[0.0, 0.0]])"),
    ("matplotlib", "plot", "icvi.plots.silhouette([[0.0], [1.0], [5.0]], [0, 0, 1])"),
    ("matplotlib", "study", "run('study', '--out', 'out')"),
    ("bokeh", "report", "watched(report='page.html')"),
    ("bokeh", "report", "run('watch', *WATCH, '--report', 'page.html')"),
    ("bokeh", "report", "Report('page.html', tracker()).finish()"),
    ("bokeh", "report", "trace().report('page.html')"),
    ("bokeh", "report", "watched(serve=0)"),
    ("jinja2", "report", "watched(serve=0)"),
    ("prometheus_client", "metrics", "importlib.import_module('icvi.watching.live.metrics')"),
    ("pyarrow", "stream", "run('report', written('a.csv', 'sample,k,CH\\n1,1,2\\n'))"),
    ("jinja2", "report", "watched(report='page.html')"),
    ("jinja2", "report", "Report('page.html', tracker()).finish()"),
    ("jinja2", "study", "run('study', '--out', 'out')"),
    ("river", "river", "importlib.import_module('icvi.compat.river_metrics')"),
    ("river", "river", "run('watch', *WATCH[:1], '--clusterer', 'denstream')"),
    ("sklearn", "art", "icvi.FuzzyART"),
    ("sklearn", "art", "icvi.FuzzySMART"),
    ("sklearn", "art", "icvi.MicroWard"),
    ("sklearn", "art", "icvi.FuzzyARTMAP"),
    ("sklearn", "art", "icvi.Quantizer"),
    ("sklearn", "art", "run('watch', *WATCH[:1], '--clusterer', 'art')"),
    ("sklearn", "art", "run('watch', *WATCH[:1], '--clusterer', 'birch')"),
    ("sklearn", "art", "make_scorer('CH')(Fitted(), [[0.0], [1.0]])"),
    ("sklearn", "study", "run('study', '--out', 'out')"),
    *(("pyspark", "spark", f"icvi.spark.{name}") for name in icvi.spark.__all__),
    ("pyarrow", "spark", "icvi.spark.scores"),
    ("joblib", "art", "load_model('model.joblib')"),
    ("joblib", "art", "check_savable(Fitted(), 'other.joblib')"),
]

PACKAGES = sorted({package for package, _, _ in USES})

#: A process in which a package cannot be imported, and what its user calls.
CHILD = """
import importlib, json, sys

sys.modules[sys.argv[1]] = None

import numpy as np
from click.testing import CliRunner

import icvi
from icvi.cli.main import main
from icvi.compat.scikit_scorers import make_scorer
from icvi.plots.traces import plot_traces
from icvi.streams import open_source
from icvi.watching.labellers.models import check_savable, load_model
from icvi.watching.report import Report

X, LABELS = np.array([[0.0], [1.0], [8.0], [9.0]]), [0, 0, 1, 1]
WATCH = ["a.csv", "--labels", "c"]


class Fitted:
    def fit_predict(self, X): ...


def tracker():
    t = icvi.Tracker(["CH"])
    t.update_many(X, LABELS)
    return t


def trace():
    return icvi.Tracker(["CH"]).update_many(X, LABELS)


def written(name, text):
    with open(name, "w") as file:
        file.write(text)
    return name


def rows(name, text, **options):
    with open_source(written(name, text), **options) as source:
        return list(source)


def watched(**outputs):
    return icvi.watch((X, LABELS), indices=["CH"], **outputs).run()


def run(*arguments):
    written("a.csv", "x,c\\n1,2\\n3,4\\n")
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done
    raise ImportError(done.output)


written("model.joblib", "")
for use in json.loads(sys.argv[2]):
    try:
        said = f"nothing, but gave {eval(use)!r}"
    except ImportError as error:
        said = str(error)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What is said without a package, by what is used."""

    @cache
    def without(package: str) -> dict[str, str]:
        uses = [use for name, _, use in USES if name == package]
        done = processes.run(
            [sys.executable, "-c", CHILD, package, json.dumps(uses)],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path_factory.mktemp(package),
        )
        assert done.returncode == 0, done.stderr
        return dict(zip(uses, map(json.loads, done.stdout.splitlines()), strict=True))

    return without


@pytest.mark.parametrize(("package", "extra", "use"), USES)
def test_what_is_missing_is_named_with_one_extra(said, package, extra, use):
    message = said(package)[use]
    title = {"sklearn": "scikit-learn"}.get(package, package)
    sentence = rf"\S.* needs {title}; install it with: pip install 'icvi\[{extra}\]'"
    assert re.fullmatch(rf"(Error: )?{sentence}", message.strip())


def test_the_core_works_without_any_extra(tmp_path):
    code = """
import sys
for package in sys.argv[1:]:
    sys.modules[package] = None
import numpy as np
import icvi
X, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), [0, 0, 1, 1]
t = icvi.Tracker(["paper", "Conn"], bounds=(0.0, 10.0))
t.update_many(X, labels)
t.save("t.icvi")
assert icvi.load("t.icvi").values == t.values
assert icvi.scores(X, labels)["CH"] == 128.0
watch = icvi.watch((X, labels), indices=["CH"]).run()
assert watch.tracker["CH"] == 128.0
print(t["CH"])
"""
    done = processes.run(
        [sys.executable, "-c", code, *PACKAGES],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "128.0\n"), done.stderr


def test_a_package_that_is_too_old_is_named_with_its_version(tmp_path, monkeypatch):
    (tmp_path / "oldish.py").write_text("__version__ = '0.3'\n")
    monkeypatch.syspath_prepend(tmp_path)
    sentence = r"^a page needs a newer oldish than 0\.3; .* pip install 'icvi\[report\]'$"
    with pytest.raises(ImportError, match=sentence), needed("oldish", "report", "a page"):
        from oldish import newest  # noqa: F401


def test_a_package_that_misses_another_says_so_itself(tmp_path, monkeypatch):
    (tmp_path / "halved.py").write_text("import not_there_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'not_there_at_all'$"):
        load("halved", "plot")


def test_checking_imports_nothing(tmp_path, monkeypatch):
    (tmp_path / "explosive.py").write_text("raise RuntimeError\n")
    monkeypatch.syspath_prepend(tmp_path)
    check("explosive", "plot")
    with pytest.raises(ImportError, match="this needs absent_one; install it with"):
        check("absent_one", "plot")


# -- nothing is forgotten ----------------------------------------------------------------------

#: Modules that are imported where `needed` guards, or where the package made the object given.
GUARDED = {
    "art/fuzzy_artmap.py",  # art/scikit.py was imported before
    "comparing/report/figures.py",  # comparing/report/output.py guards
    "batch/groups/codes.py",  # asked about a column of the package, or looks for pyarrow first
    "batch/groups/frames.py",  # asked about a frame of the package
    "study/experiment.py",  # study/__init__.py checks
    "study/tasks.py",
    "wording.py",  # callers check for jinja2
    "watching/live/figures.py",  # watching/live/page.py guards
    "watching/labellers/parameters.py",  # asked about a class of river
    "watching/labellers/river_labels.py",  # asked about an object of river
    "watching/labellers/scikit_labels.py",  # asked about an estimator of scikit-learn
    "plots/connvis.py",  # draws into axes
    "plots/ticks.py",  # formats the axis of a figure
}
#: `spark/__init__.py` checks before it imports one of its modules.
GUARDED_FOLDERS = ("study/figures/", "watching/report/", "spark/")


def unguarded(path: Path) -> list[str]:
    """Optional packages that a module imports outside of `needed` and of type checking."""
    found = []

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.With) and "needed(" in ast.unparse(node.items[0]):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found.extend(name for name in names if name.partition(".")[0] in PACKAGES)
        for child in ast.iter_child_nodes(node):
            look(child)

    look(ast.parse(path.read_text(encoding="utf-8")))
    return found


def test_every_import_of_an_optional_package_is_guarded():
    bare = {
        path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if unguarded(path)
    }
    assert {name for name in bare if not name.startswith(GUARDED_FOLDERS)} == GUARDED


def test_every_extra_is_tested():
    project = (SOURCES.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    table = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = ", table, flags=re.MULTILINE))
    assert {extra for _, extra, _ in USES} == extras - {"all", "docs", "test", "dev"}
