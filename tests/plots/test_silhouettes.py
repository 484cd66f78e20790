"""The silhouette plot shows the coefficients of `icvi.batch.silhouette_samples`."""

from __future__ import annotations

import numpy as np
import pytest

import icvi
from icvi.batch import silhouette_samples
from icvi.plots import silhouettes

RNG = np.random.default_rng(0)
LABELS = np.array(["a", "b", "$c^"])[np.arange(120) % 3]
X = RNG.normal(size=(120, 2)) + 3.0 * (np.arange(120) % 3)[:, None]


def bars(axes):
    """The lengths of the bars of each cluster, from above."""
    return [np.unique(np.round(part.get_paths()[0].vertices[:, 0], 9)) for part in axes.collections]


def test_every_sample_is_a_bar_as_long_as_its_coefficient():
    (axes,) = icvi.plots.silhouette(X, LABELS).axes
    s = silhouette_samples(X, LABELS)
    means = {label: s[label == LABELS].mean() for label in np.unique(LABELS)}
    order = sorted(means, key=means.get, reverse=True)
    for found, label in zip(bars(axes), order, strict=True):
        mine = np.round(s[label == LABELS], 9)
        assert {*mine.tolist()} <= {*found.tolist()}
        assert {*found.tolist()} <= {*mine.tolist(), 0.0}
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == [f"{label}\n40, mean {means[label]:.2f}".replace("-", "−") for label in order]
    assert axes.get_title() == "120 samples, 3 clusters"
    assert axes.get_xlabel() == f"silhouette coefficient; mean {s.mean():.2f}"


def test_names_are_text_and_no_formulas(tmp_path):
    icvi.plots.silhouette(X, LABELS).savefig(tmp_path / "plot.png", dpi=40)
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_of_many_samples_some_are_drawn_and_the_figure_says_so(monkeypatch):
    monkeypatch.setattr(silhouettes, "MOST", 50)
    (axes,) = icvi.plots.silhouette(X, LABELS).axes
    assert axes.get_title() == "50 of 120 samples, drawn at random; 3 clusters"
    counts = [int(text.get_text().split("\n")[1].split(",")[0]) for text in axes.get_yticklabels()]
    assert sum(counts) == 50
    (again,) = icvi.plots.silhouette(X, LABELS, seed=0).axes
    (other,) = icvi.plots.silhouette(X, LABELS, seed=1).axes
    assert again.get_xlabel() == axes.get_xlabel() != other.get_xlabel()


def test_many_clusters_have_no_names():
    (axes,) = icvi.plots.silhouette(X, np.arange(120) // 2).axes
    assert axes.get_yticklabels() == []
    assert axes.get_ylabel() == "60 clusters, the best above"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"] * 120, "expected at least two clusters, got 1"),
        (["a", "b"], "expected as many labels as samples"),
    ],
)
def test_what_has_no_silhouette_is_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        icvi.plots.silhouette(X, labels)
