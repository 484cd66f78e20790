"""Pages that icvi writes: their text, and how a browser opens them."""

from __future__ import annotations

import html
import re

EVIL = "<img src=x onerror=window.hacked=1>"
SCRIPT = "</script><script>window.hacked=1</script>"


def words(path):
    """The text of a page as it is read, without scripts."""
    page = path.read_text(encoding="utf-8")
    page = re.sub(r"(?s)<(script|style).*?</\1>", " ", page)
    page = re.sub(r"</?(span|strong|a)\b[^>]*>", "", page)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def shown(browser, path):
    """Open a page and wait until everything is drawn."""
    browser.open(path)
    browser.wait("return !window.Bokeh || Bokeh.documents[0]?.is_idle")


def clean(browser, path):
    """Nothing went wrong, and nothing was asked for but the page."""
    assert browser.console() == []
    assert browser.requests() == [path.resolve().as_uri()]
    assert browser.run("return window.hacked ?? null") is None


def model(name):
    return f"Bokeh.documents[0].get_model_by_name({name!r})"
