"""The live page in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from chromium import Chromium
from live_inputs import TOKEN, Stream, Viewer, blobs, streaming
from pages import EVIL, SCRIPT, model

DRAWN = "return Number(document.body.dataset.drawn) >= {} && Bokeh.documents[0]?.is_idle"

#: On a busy machine the last sample may be a while ago.
CONNECTED = (
    "return ['live', 'no new samples'].includes(document.querySelector('#link').innerText.trim())"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Chromium(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


def looked_at(browser, stream, samples):
    """Open the page and wait until it shows so many samples."""
    browser.open("about:blank")  # a page before it may still ask its own server
    browser.open(stream.watch.url)
    browser.wait(DRAWN.format(samples))


def asked_for_nothing_else(browser, stream):
    """All requests went to our server, and nothing went wrong."""
    found = browser.requests()
    assert found
    assert all(url.startswith(stream.watch.url) for url in found), found
    assert browser.console() == []
    assert browser.run("return window.hacked ?? null") is None


def press(browser, key):
    event = f"new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}})"
    browser.run(f"document.body.dispatchEvent({event})")


def test_the_page_moves_with_the_stream(browser):
    X, labels = blobs(6000, k=4)
    with streaming(indices="paper", alerts=["k > 3"]) as stream:
        few = labels < 3
        stream.put(X[few][:2000], labels[few][:2000])
        looked_at(browser, stream, 2000)
        ends = f"return [...{model('curves')}.data.samples].at(-1)"
        assert browser.run(ends) == 2000
        assert browser.run("return document.querySelector('#k').textContent") == "3"
        assert browser.run("return document.querySelectorAll('.panels figure').length") == 10
        assert browser.run(CONNECTED)
        # Nothing moves about while numbers, tables and curves change.
        browser.run(
            "window.shifts = []; new PerformanceObserver((list) => {"
            "for (const e of list.getEntries()) shifts.push(e.value)"
            "}).observe({type: 'layout-shift'})"
        )
        stream.put(X[:4000], labels[:4000])
        browser.wait(DRAWN.format(6000))
        assert browser.run(ends) == 6000
        browser.wait("return document.querySelectorAll('.clusters tbody tr').length === 4")
        assert browser.run("return document.querySelector('.active').innerText").startswith("k > 3")
        assert "1 active" in browser.run("return document.querySelector('.alarms h2').innerText")
        values = stream.watch.tracker.values
        shown = browser.run("return window.icviState.values")
        assert shown == [float(f"{value:.6g}") for value in values.values()]
        assert sum(browser.run("return window.shifts")) < 0.01
        # The script adds changes up as the encoder does.
        second = Viewer(stream.port)
        second.follow(lambda state: state["now"][0] == 6000)
        browser.wait("return Object.keys(window.icviState.points.rows).length === 600")
        for part in ("history", "recent", "clusters", "sizes", "created", "styles"):
            rows = browser.run(f"return window.icviState.{part}.rows.map((row) => row ?? null)")
            assert rows == list(second.state[part].values()), part
        second.close()
        assert browser.run(f"return {model('samples')}.data.x.length") == 600
        asked_for_nothing_else(browser, stream)


def test_curves_can_be_zoomed_and_followed(browser):
    X, labels = blobs(12_000)
    with streaming(indices=["SIL", "CH"]) as stream:
        stream.put(X[:11_000], labels[:11_000])
        looked_at(browser, stream, 11_000)
        span = f"const r = {model('k')}.x_range; return [r.start, r.end]"
        assert browser.run(span) == [0.5, 11_000.5]
        browser.click("[data-range='1000']")
        assert browser.run(span) == [10_000.5, 11_000.5]
        stream.put(X[11_000:], labels[11_000:])
        browser.wait(DRAWN.format(12_000))
        assert browser.run(span) == [11_000.5, 12_000.5]  # follows the stream
        browser.run("document.querySelector('.panels').scrollIntoView({block: 'center'})")
        x, y, width, height = browser.run(
            "const r = document.querySelector('#root-k').getBoundingClientRect();"
            "return [r.x, r.y, r.width, r.height]"
        )
        middle = y + height / 2
        browser.drag((x + 0.5 * width, middle), (x + 0.75 * width, middle + 3))
        browser.wait(f"{span.replace('return', 'return r.end - r.start < 900 &&')}")
        start, end = browser.run(span)
        assert browser.run("return document.querySelectorAll('[aria-pressed=true]').length") == 0
        press(browser, "-")
        assert browser.run(span)[1] - browser.run(span)[0] > end - start
        press(browser, "a")
        assert browser.run(span) == [0.5, 12_000.5]
        asked_for_nothing_else(browser, stream)


def test_the_page_is_dark_or_light_and_fits_any_screen(browser):
    with streaming(indices=["SIL", "CH"]) as stream:
        stream.put(*blobs(1500, d=4))
        looked_at(browser, stream, 1500)
        colour = f"return {model('k')}.left[0].major_label_text_color"
        back = "return getComputedStyle(document.body).backgroundColor"
        first = browser.run(colour), browser.run(back)
        browser.click("#theme")
        browser.wait(DRAWN.format(1500))
        browser.wait(f"return {model('curves')}.data.samples.length > 0")
        second = browser.run(colour), browser.run(back)
        assert first[0] != second[0]
        assert first[1] != second[1]
        browser.click("#theme")
        for width in (400, 1400, 1920):
            browser.resize(width, 900)
            browser.wait(f"return document.documentElement.scrollWidth <= {width}")
        browser.resize(1400, 1000)
        browser.click(".clusters tbody tr")
        picked = browser.run(f"return {model('samples')}.selected.indices.length")
        assert 0 < picked < 600
        browser.run("document.querySelector('#keys').click()")
        assert browser.run("return document.querySelector('#help').open") is True
        browser.run("document.querySelector('#help').close()")
        asked_for_nothing_else(browser, stream)


def test_the_page_connects_again_to_a_restarted_server(browser, tmp_path):
    X, labels = blobs(3000)
    options = {"checkpoint": tmp_path / "c", "indices": ["CH", "SIL"]}
    stream = Stream(**options)
    stream.put(X[:1500], labels[:1500])
    looked_at(browser, stream, 1500)
    stream.end()
    browser.wait("return document.querySelector('#link').innerText.includes('ended')")
    again = Stream(serve=str(stream.port), **options)
    try:
        again.put_soon(X[:1500], labels[:1500])  # a generator must repeat what was read
        again.wait(lambda: again.watch.seen == 1500)
        again.put(X[1500:], labels[1500:])
        browser.wait(DRAWN.format(3000))
        browser.wait(CONNECTED)
        assert browser.run(f"return {model('curves')}.data.samples[0]") <= 4
    finally:
        again.end()


def test_a_page_with_a_token_opens_by_its_link(browser):
    with streaming(token=TOKEN) as stream:
        stream.put(*blobs(100))
        browser.open(stream.watch.url)
        assert "token" in browser.run("return document.body.innerText")
        browser.open(f"{stream.watch.url}?token={TOKEN}")
        browser.wait(DRAWN.format(100))
        assert browser.run("return location.href") == stream.watch.url
        assert browser.run("return document.cookie") == ""


INJECTED = [
    EVIL,
    SCRIPT,
    "\"'><svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "{{7*7}}${window.hacked=1}",
    "$$\\href{javascript:window.hacked=1}{x}$$",
    "<!--\u2028-->\u202e\x00",
    "__proto__",
    "constructor",
]


def test_labels_and_columns_are_text(browser):
    X, labels = blobs(900, k=len(INJECTED), d=2)
    names = np.array(INJECTED, dtype=object)[labels]
    with streaming() as stream:
        stream.put(X, names)
        stream.watch._live.run.columns = [EVIL, "$$\\alert{1}$$" + SCRIPT]
        stream.put(X, names)
        looked_at(browser, stream, 1800)
        rows = "document.querySelectorAll('.clusters tbody th')"
        browser.wait(f"return {rows}.length === {len(INJECTED)}")
        shown = browser.run(f"return [...{rows}].map((e) => e.innerText)")
        assert any(EVIL in text for text in shown)
        assert any("</script>" in text for text in shown)
        assert browser.run("return document.querySelectorAll('main img, main script').length") == 0
        axis = browser.run(f"return {model('partition')}.below[0].axis_label.text")
        assert axis == EVIL
        browser.click(".clusters tbody tr:last-child")
        asked_for_nothing_else(browser, stream)
