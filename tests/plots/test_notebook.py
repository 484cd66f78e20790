"""What a notebook shows of trackers, traces and verdicts: numbers, and labels as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import icvi

EVIL = "<script>alert(1)</script>"
RNG = np.random.default_rng(0)
LABELS = np.array([EVIL, "b"], dtype=object)[np.arange(200) % 2]
X = RNG.normal(size=(200, 2)) + 9.0 * (np.arange(200) % 2)[:, None]


@icvi.index(name=EVIL, direction="max", range=(0.0, float("inf")))
def evil(s):
    """An index with a name that is HTML."""
    return s.k * 1.0


class Balanced(HTMLParser):
    """Reads HTML; every element that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags = [], [], set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def tracker():
    return icvi.Tracker(["CH", "SIL", evil], insight=True)


@pytest.fixture(scope="module")
def trace(tracker):
    return tracker.update_many(X, LABELS)


def test_a_tracker_shows_its_readings(tracker, trace):
    page = Balanced(tracker._repr_html_())
    assert "Tracker: 200 samples, 2 clusters" in page.words
    assert f"{tracker['SIL']:.4g}" in page.words
    assert EVIL in page.words
    assert "undefined because" not in page.words


def test_an_empty_tracker_says_why_there_are_no_readings():
    page = Balanced(icvi.Tracker(["CH"])._repr_html_())
    assert page.words[-2:] == ["–", "empty"]


def test_a_trace_shows_its_curves(trace):
    shown = trace._repr_html_()
    page = Balanced(shown)
    assert "Trace: 200 readings, samples 1 to 200" in page.words
    assert {"CH ↑", "SIL ↑", "clusters", f"{EVIL} ↑"} <= {*page.words}
    points = re.findall(r'points="([^"]+)"', shown)
    assert len(points) == 4
    places = np.array([pair.split(",") for pair in " ".join(points).split()], dtype=float)
    assert places[:, 0].min() >= 0.0
    assert places[:, 0].max() <= 160.0
    assert places[:, 1].min() >= 0.0
    assert places[:, 1].max() <= 28.0


def test_a_trace_without_readings_shows_itself_too():
    Balanced(icvi.Tracker(["CH"]).update_many(X[:3], LABELS[:3], every=5)._repr_html_())


def test_a_verdict_shows_its_sentences_and_readings():
    verdict = icvi.verdict(X, LABELS, ["CH", "SIL"])
    page = Balanced(verdict._repr_html_())
    assert page.words[0] == verdict.grade
    for sentence in str(verdict).splitlines():
        assert sentence in page.words
    assert {"CH", "SIL"} <= {*page.words}


def test_labels_and_names_are_text(tracker, trace):
    for each in (tracker, trace, icvi.verdict(X, LABELS, ["CH", "SIL"])):
        shown = each._repr_html_()
        assert "<script" not in shown
        assert not Balanced(shown).tags & {"script", "img"}
