"""The pages of docs: every block runs, every command is one, and they build without a warning."""

from __future__ import annotations

import html.parser
import importlib
import os
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

import icvi
import processes
import spark_session
from icvi.cli.main import main
from icvi.study.experiment import INDICES
from redis_server import Server

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "extensions"))
page_blocks = importlib.import_module("page_blocks")
measured = importlib.import_module("measured")

MADE = ("_build", "_generated", "api", "indices")
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if path.relative_to(DOCS).parts[0] not in MADE
}

STAND_INS = page_blocks.STAND_INS


@pytest.fixture
def stand_ins(request, tmp_path):
    """What is replaced in a page; those about Redis, Kafka and Spark get what they need."""
    page = PAGES[request.node.callspec.params["page"]]
    for package in ("dask", "ray"):
        if f"import {package}\n" in page:
            pytest.importorskip(
                package, reason=f"{package} is not installed: pip install {package}"
            )
    if "SparkSession.builder" in page:
        with pytest.MonkeyPatch.context() as monkeypatch:
            spark_session.prepare(monkeypatch)
            try:
                yield {
                    **STAND_INS,
                    "SparkSession.builder": spark_session.builder_in_words(tmp_path),
                }
            finally:
                spark_session.end()
        return
    if "kafka://localhost:9092" in page:
        from kafka_cluster import Cluster

        cluster = Cluster()
        cluster.create("machine")
        yield {**STAND_INS, "localhost:9092": cluster.brokers}
        cluster.close()
        return
    if "localhost:6379" not in PAGES[request.node.callspec.params["page"]]:
        yield STAND_INS
        return
    server = Server(tmp_path)
    server.start()
    port = f"{server.port}"
    yield {**STAND_INS, "port=6379": f"port={port}", "localhost:6379": f"localhost:{port}"}
    server.kill()


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if "```" in text])
def test_a_page_runs_and_prints_what_it_says(page, tmp_path, request):
    if page_blocks.is_live(PAGES[page]):
        site = request.getfixturevalue("site")  # its build has run the page, and checks the same
        assert "{printed}" not in (site / f"{page}.html").read_text(encoding="utf-8")
    else:
        stand_ins = request.getfixturevalue("stand_ins")
        for _ in page_blocks.run(PAGES[page], page, tmp_path / "page", stand_ins):
            pass


def test_a_page_that_says_something_else_is_refused(tmp_path):
    source = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    with pytest.raises(ValueError, match="line 6: the page says\n3\nand its code printed\n2"):
        list(page_blocks.run(source, "sums", tmp_path))


def test_the_last_digits_of_long_numbers_may_be_others(tmp_path):
    source = "```python\nprint(0.1 + 0.2)\n```\n\n```text\n{}\n```\n"
    list(page_blocks.run(source.format("0.30000000000000009"), "sums", tmp_path))
    for other in ("0.30000000010000004", "0.3000", "1.30000000000000004"):
        with pytest.raises(ValueError, match="the page says"):
            list(page_blocks.run(source.format(other), "sums", tmp_path))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["list"], 0), (["score", "none.csv", "--labels", "a"], 1), (["score", "--colour"], 2)],
)
def test_exit_codes_are_those_of_the_page(arguments, code):
    assert f"\n| {code} | " in PAGES["command-line"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code


def test_every_stand_in_stands_for_something():
    commands = [
        command
        for source in PAGES.values()
        for block in page_blocks.blocks(source)
        for command in block.commands
    ]
    for old in STAND_INS:
        assert any(old in command for command in commands), old


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text_have_the_options_they_are_shown_with(page):
    text = " ".join(PAGES[page].replace("\\\n", " ").split())
    for name, rest in re.findall(r"\bicvi ([a-z]+)((?: [^`|;]*)?)(?=`|\||;)", text):
        if name not in main.commands:
            continue  # a sentence that begins with icvi
        parameters = main.commands[name].params
        options = {"--help"} | {o for p in parameters for o in (*p.opts, *p.secondary_opts)}
        unknown = [word for word in re.findall(r"(?<= )--[a-z-]+", rest) if word not in options]
        assert not unknown, f"icvi {name}{rest}"


# -- what the page about curves claims ---------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    return measured.measure(10)


def test_the_claims_about_final_readings_hold(found):
    right = {
        (index.name, kind): found.preferred(index.name, kind).share
        for index in icvi.catalogue()
        for kind in ("under", "over")
    }
    assert right["rH", "over"] == 0.0
    for name in ("CH", "NI", "WB"):
        assert min(right[name, "under"], right[name, "over"]) > 0.9
    for name in ("rCIP", "PS", "Conn", "GD53"):
        assert right[name, "under"] < 0.9
    for name in ("rCIP", "PS", "Conn"):
        assert right[name, "over"] > 0.95


def test_the_claims_about_new_clusters_hold(found):
    once = {
        (name, kind): found.better_at_once(name, kind).share
        for name in INDICES
        for kind in ("true", "split")
    }
    later = {
        (name, kind): found.better_later(name, kind).share
        for name in INDICES
        for kind in ("true", "split")
    }
    for kind in ("true", "split"):
        assert min(once[name, kind] for name in ("SIL", "DB", "XB")) > 0.5
        assert max(once[name, kind] for name in ("CH", "Conn", "PS", "rCIP")) < 0.5
    for name in ("Conn", "PS", "NI", "SIL"):
        assert later[name, "true"] > 0.5 > later[name, "split"]
    for name in ("CH", "XB"):
        assert abs(later[name, "true"] - later[name, "split"]) < 0.2
    assert found.rules["abrupt_NI"].share < 0.5


def test_the_claims_about_wrong_partitions_hold(found):
    under = {name: found.rules[f"under_{name}"].share for name in INDICES}
    over = {name: found.rules[f"over_{name}"].share for name in INDICES}
    assert min(under[name] for name in ("DB", "SIL", "PBM")) > 0.5
    assert max(under[name] for name in ("Conn", "PS", "rCIP")) < 0.5
    assert min(over[name] for name in ("PS", "Conn", "rCIP")) > 0.5
    assert max(over[name] for name in ("CH", "rH")) < 0.2


# -- the built pages ---------------------------------------------------------------------------


class Links(html.parser.HTMLParser):
    """What a page links to and loads, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places.update(filter(None, (given.get("id"), given.get("name"))))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        for key in ("src", "href") if tag != "a" else ():
            if given.get(key):
                self.loaded.append(given[key])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages, built from a copy without anything that an earlier build has left."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns(*MADE, "__pycache__"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    result = processes.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q"),
            *(str(folder / "docs"), str(folder / "site")),
        ],
        env={**os.environ, measured.ORDERS: "2"},
        timeout=3 * processes.PATIENCE,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def built(site):
    """The built pages by name."""
    return {path.relative_to(site).as_posix(): Links(path) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_public_name_is_in_the_reference(built):
    places = set().union(*(page.places for name, page in built.items() if name.startswith("api/")))
    modules = ["batch", "metrics", "streams", "spark", "compat.scikit_scorers"]
    modules += ["compat.river_metrics"]
    sections = ["plots"]  # whose names are in a section, without a page of the module
    public = [f"icvi.{name}" for name in icvi.__all__ if name not in modules + sections]
    for module in modules + sections:
        module_names = importlib.import_module(f"icvi.{module}").__all__
        public += [f"icvi.{module}.{name}" for name in module_names if name != "Position"]
    assert not [name for name in public if name not in places]
    assert all(f"module-icvi.{module}" in places for module in modules)


@pytest.mark.slow
def test_every_index_has_a_page_with_formula_and_picture(site):
    for index in icvi.catalogue():
        text = (site / "indices" / f"{index.name}.html").read_text(encoding="utf-8")
        assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in text
        assert f"{index.name}.png" in text


@pytest.mark.slow
def test_every_command_is_in_the_reference(site):
    text = (site / "command-line.html").read_text(encoding="utf-8")
    assert not [name for name in main.commands if f"icvi {name}" not in text]


@pytest.mark.slow
def test_no_page_links_to_what_is_not_there(site, built):
    broken = []
    for name, page in built.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            target = target.resolve()
            known = built.get(os.path.relpath(target, site.resolve()))
            missing = known and parts.fragment and unquote(parts.fragment) not in known.places
            if missing or not target.exists():
                broken.append((name, link))
    assert not broken


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(built):
    assert not [
        (name, link)
        for name, page in built.items()
        for link in page.loaded
        if urlsplit(link).netloc
    ]
