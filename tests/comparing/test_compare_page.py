"""The page of a comparison, looked at in a real browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans

import icvi
from chromium import Chromium
from pages import EVIL, SCRIPT, clean, model, shown, words

Y = np.arange(400) % 4
X = np.random.default_rng(0).normal(size=(400, 2)) + 9.0 * np.stack([Y // 2, Y % 2], axis=1)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def sweep():
    return icvi.compare(X, [KMeans(k, random_state=0) for k in (2, 3, 4, 5)], truth=Y)


def test_a_sweep_has_its_answer_its_table_its_elbow_and_its_curves(sweep, browser, tmp_path):
    path = tmp_path / "page.html"
    sweep.report(path)
    shown(browser, path)
    clean(browser, path)
    text = words(path)
    for sentence in str(sweep).split("\n"):
        assert sentence.split(": ", 1)[-1] in text
    rows = browser.run(
        "return [...document.querySelectorAll('#candidates tbody tr')].map(row => ["
        "row.querySelector('th').innerText.trim(), row.className,"
        "Number(row.querySelector('[data-index=CH]').dataset.value),"
        "row.querySelector('[data-index=CH]').classList.contains('best')])"
    )
    best = sweep.names.index(sweep.best)
    column = [index.name for index in sweep.indices].index("CH")
    assert [row[0] for row in rows] == sweep.names
    assert [row[1] for row in rows] == ["chosen" if i == best else "" for i in range(4)]
    assert [row[2] for row in rows] == sweep.readings[:, column].tolist()
    assert [row[3] for row in rows] == sweep.counted.marked[:, column].tolist()
    data = model(f"readings{column}")
    elbow = browser.run(f"const s = {data}; return [...s.data.x, ...s.data.y]")
    assert elbow == [2.0, 3.0, 4.0, 5.0, *sweep.readings[:, column]]
    last = browser.run(f"return {model('curves')}.data['v{best}_{column}'].at(-1)")
    assert last == sweep.readings[best, column]


@pytest.mark.parametrize("width", [1400, 400])
def test_the_page_is_no_wider_than_the_window(sweep, browser, tmp_path, width):
    path = tmp_path / "page.html"
    sweep.report(path)
    browser.resize(width, 900)
    try:
        shown(browser, path)
        assert browser.run("return document.documentElement.scrollWidth") == width
    finally:
        browser.resize(1400, 1000)


def test_names_are_text_and_nothing_else(browser, tmp_path):
    path = tmp_path / "page.html"
    given = {EVIL: KMeans(3, random_state=0), SCRIPT: KMeans(4, random_state=0)}
    c = icvi.compare(X, given, ["CH", "rH"], insight=False)
    c.report(path, note="stopped by hand")
    shown(browser, path)
    clean(browser, path)
    assert "Incomplete: stopped by hand." in words(path)
    assert EVIL in browser.run("return document.querySelector('#candidates').innerText")


def test_candidates_that_differ_in_more_have_no_elbow(tmp_path):
    path = tmp_path / "page.html"
    given = [KMeans(3, random_state=0), lambda X: X[:, 0] > 0]
    icvi.compare(X, given, ["CH"], insight=False).report(path)
    page = path.read_text(encoding="utf-8")
    assert 'id="elbow"' not in page
    assert 'id="curves"' in page


def test_a_page_that_exists_is_kept_unless_it_may_be_replaced(sweep, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        sweep.report(path)
    assert path.read_text() == "mine"
    sweep.report(path, overwrite=True)
    assert re.search("<title>Comparison on a ndarray</title>", path.read_text(encoding="utf-8"))


def test_a_comparison_without_samples_has_a_page_that_says_so(tmp_path):
    path = tmp_path / "page.html"
    c = icvi.compare(np.empty((0, 2)), [icvi.FuzzyART()], ["CH"])
    c.report(path)
    assert "There are no samples to compare the candidates on." in words(path)
