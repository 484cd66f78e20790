"""The study's page: everything is in it, it needs nothing else, and it is sound HTML."""

from __future__ import annotations

import base64
import copy
import os
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

import study_inputs as made
from icvi.indices import catalogue
from icvi.study.experiment import INDICES
from icvi.study.report import GLOSSARY, render, write_report
from icvi.study.statements import together
from icvi.wording import percent

NAMES = ("r15_correct", "r15_under", "d4_correct", "d4_over", "eight_over")
VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """Elements of a page, with a complaint where they are not balanced."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    @property
    def words(self) -> str:
        """The text as it is read: with one space between words."""
        return " ".join(self.text.split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


Inputs = dict[str, Any]


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    results = made.results(NAMES)
    (tmp_path / "figures").mkdir()
    return {
        "study": made.study(),
        "results": results,
        "findings": made.findings(results),
        "figures": made.figures(tmp_path / "figures", NAMES),
    }


def written(path: Path, inputs: Inputs) -> Page:
    write_report(path, **inputs)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path: Path, inputs: Inputs) -> Page:
    return written(tmp_path / "report.html", inputs)


def test_every_scenario_and_every_finding_is_in_it(page, inputs):
    for result in inputs["results"].values():
        assert result["scenario"]["title"] in page.text
    for finding in inputs["findings"]:
        statement = finding["statement"]
        if finding["id"].startswith("abrupt"):
            statement = "The index jumps when a cluster emerges"
        assert page.text.count(statement) >= 2  # summary and table
        assert finding["verdict"] in page.text
    assert "{" not in page.text


def test_indices_stand_together_where_the_statement_is_the_same(page, inputs):
    found = [(percent(f["share"]), together(f)) for f in inputs["findings"][1:5]]
    ch, xb, db, ni = (f"{share}, {f['holds']} of {f['of']}" for share, f in found)
    assert f"As in the paper: it does for CH ({ch}); it does not for XB ({xb})." in page.words
    assert f"Only sometimes: DB ({db})." in page.words
    assert f"Contrary to the paper: it does not for NI ({ni})." in page.words
    assert f"({found[0][0]}".replace(" ", "\xa0") in page.text  # no line break before %
    assert "Counted where the step is > 5 % of the range." in page.text


def test_shares_are_in_words(page, inputs):
    counted = inputs["findings"][0]["scenarios"].values()
    holds, of = (sum(s[key] for s in counted) for key in ("holds", "of"))
    assert f"holds in {holds} of {of} orders" in page.text
    assert "3 came out as in the paper, 2 held only sometimes, 2 came out contrary" in page.words


def test_one_order_is_not_orders(tmp_path, inputs):
    finding = inputs["findings"][0]
    finding |= {"scenarios": {NAMES[0]: {"holds": 1, "of": 1, "share": 1.0}}, "share": 1.0}
    page = written(tmp_path / "report.html", inputs)
    assert "holds in 1 of 1 order (100 %)." in page.words


def test_all_indices_are_in_the_glossary(page):
    assert set(GLOSSARY) == set(INDICES)
    for index in catalogue():
        if index.name in GLOSSARY:
            assert index.title in page.text
            assert index.reference in page.text


def test_figures_are_inside_with_words_for_those_who_do_not_see_them(page, inputs):
    images = page.all("img")
    assert len(images) == len(inputs["figures"])
    start = "data:image/png;base64,"
    for image in images:
        assert image["alt"]
        assert image["src"].startswith(start)
        assert base64.b64decode(image["src"].removeprefix(start))[1:4] == b"PNG"


def test_nothing_is_loaded_from_elsewhere(page):
    assert page.all("script") == []
    assert "url(" not in page.source
    assert "@import" not in page.source
    for tag, attributes in page.elements:
        for key in ("src", "srcset", "href", "xlink:href", "data", "poster", "action"):
            address = attributes.get(key, "#")
            if tag == "a":
                assert address.startswith("#") or address == "https://arxiv.org/abs/1902.06711"
            else:
                assert address.startswith(("#", "data:"))


def test_links_lead_somewhere_and_names_are_unique(page):
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert not link["href"].startswith("#") or link["href"][1:] in ids
    labels = {a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a}
    assert labels <= set(ids)


def test_headings_are_in_order(page):
    levels = [int(tag[1]) for tag, _ in page.elements if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_headers_of_tables_say_what_they_head(page):
    assert page.all("th")
    assert all(header.get("scope") in ("col", "row") for header in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))


def test_markup_in_names_is_text(tmp_path, inputs):
    bad = '<script>alert("x")</script> & \'$co.'
    scenario = inputs["results"][NAMES[0]]["scenario"]
    scenario["title"] = bad
    inputs["findings"][0]["statement"] = bad
    inputs["findings"][0]["threshold"] = bad
    inputs["study"]["settings"]["data"] = bad
    inputs["study"]["versions"][bad] = bad
    inputs["results"][bad] = copy.deepcopy(inputs["results"][NAMES[0]])
    inputs["figures"][bad] = inputs["figures"][NAMES[0]]
    page = written(tmp_path / "report.html", inputs)
    assert page.all("script") == []
    assert page.text.count(bad) > 10


def test_missing_values_are_dashes(tmp_path, inputs):
    result = inputs["results"][NAMES[0]]
    result["final"] = dict.fromkeys(INDICES)
    for order in result["orders"]:
        order["final"] = {"NI": float("nan")}
    result["comparison"] = {"correlation": float("nan"), "mse": None}
    page = written(tmp_path / "report.html", inputs)
    assert "<td>–</td><td>–</td><td>–</td><td>–</td></tr>" in page.source
    for word in ("None", "nan", "null"):
        assert f">{word}<" not in page.source


def test_a_study_of_nothing_still_makes_a_page(tmp_path):
    empty = {"settings": {}, "versions": {}}
    page = written(
        tmp_path / "report.html", {"study": empty, "results": {}, "findings": [], "figures": {}}
    )
    assert page.all("img") == []


def test_a_scenario_without_orders_comparison_or_figure_makes_a_section(tmp_path, inputs):
    for result in inputs["results"].values():
        result.update(orders=[], comparison=None, sweep=[], largest_difference={})
    page = written(tmp_path / "report.html", inputs | {"figures": {}})
    assert "did not compare Conn_Index" in page.text


def test_differences_beyond_rounding_are_not_called_rounding(tmp_path, inputs):
    inputs["results"][NAMES[0]]["largest_difference"]["CH"] = 0.01
    page = written(tmp_path / "report.html", inputs)
    assert "more than rounding" in page.words


def test_a_value_that_only_one_form_has_is_on_the_page(tmp_path, inputs):
    inputs["results"][NAMES[0]]["largest_difference"]["CH"] = None  # as JSON keeps infinity
    page = written(tmp_path / "report.html", inputs)
    assert "defined in one form and undefined in the other" in page.words
    assert "one is undefined" in page.text
    assert "which is rounding" not in page.words


def test_a_correlation_that_is_undefined_is_not_counted_as_large(tmp_path, inputs):
    assert "or more in every scenario compared" in written(tmp_path / "a.html", inputs).words
    inputs["results"][NAMES[0]]["comparison"]["correlation"] = None
    page = written(tmp_path / "b.html", inputs)
    assert "or more in every scenario where both are defined and not constant" in page.words


def test_the_command_has_the_settings(tmp_path, inputs):
    inputs["study"]["settings"] |= {"data": "my data", "seed": 7, "quick": True}
    inputs["study"]["settings"]["files"] = {"r15.csv": "abc", "d4.csv": "def"}
    page = written(tmp_path / "report.html", inputs)
    assert "icvi study --out DIR --seed 7 --orders 20 --quick --data 'my data'" in page.text
    assert "r15.csv: abc, d4.csv: def" in page.text
    assert "generated from a seed" not in page.words


def test_the_same_results_give_the_same_bytes(tmp_path, inputs):
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    write_report(one, **inputs)
    write_report(two, **copy.deepcopy(inputs))
    assert one.read_bytes() == two.read_bytes()


def test_a_failure_leaves_the_old_page(tmp_path, inputs, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(FileNotFoundError):
        write_report(path, **inputs | {"figures": {"orders": tmp_path / "none.png"}})
    assert path.read_text() == "old"

    def full(*args: object, **options: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_report(path, **inputs)
    assert path.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["figures", "report.html"]


def test_a_number_that_is_missing_in_a_template_is_an_error(inputs):
    del inputs["results"][NAMES[0]]["n_prototypes"]
    with pytest.raises(UndefinedError, match="n_prototypes"):
        render(**inputs)
