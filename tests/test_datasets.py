"""Generated data have the geometry they promise; files are read with errors that help."""

import numpy as np
import pytest

from icvi import datasets
from icvi.datasets import GENERATORS, DataSet, normalised, presented, read_csv

SIZES = {
    "r15": [40] * 15,
    "d4": [500] * 4,
    "overlapping": [200] * 5,
    "unequal": [600, 300, 150, 75, 25],
    "eight": [150] * 6,
}


@pytest.mark.parametrize("name", GENERATORS)
class TestAGenerator:
    def test_has_clusters_of_the_promised_sizes(self, name):
        X, labels = GENERATORS[name](0)
        assert np.bincount(labels).tolist() == SIZES[name]
        assert X.shape == (sum(SIZES[name]), 8 if name == "eight" else 2)
        assert np.isfinite(X).all()

    def test_gives_the_same_data_for_the_same_seed_only(self, name):
        one, same, other = (GENERATORS[name](seed).X for seed in (3, 3, 4))
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


def test_rings_are_one_centre_and_two_rings_of_seven():
    X, labels = datasets.make_rings(0)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(15)])
    radii = np.linalg.norm(centers - 10.0, axis=1)
    assert radii[0] < 0.2
    assert ((radii[1:8] > 1.8) & (radii[1:8] < 2.3)).all()
    assert ((radii[8:] > 6.2) & (radii[8:] < 6.6)).all()
    angles = np.degrees(np.arctan2(*(centers[8:] - 10.0).T[::-1])) % 360
    np.testing.assert_allclose(np.diff(np.sort(angles)), 360 / 7, atol=3)


def test_two_clusters_of_d4_are_long_and_lean_towards_each_other():
    X, labels = datasets.make_d4(0)
    correlations = [np.corrcoef(X[labels == c].T)[0, 1] for c in range(4)]
    assert np.abs(correlations[:2]).max() < 0.15
    assert correlations[2] < -0.7
    assert correlations[3] > 0.7


def test_normalised_data_fill_the_unit_cube():
    X = normalised(datasets.make_unequal(0)).X
    np.testing.assert_array_equal(X.min(axis=0), 0.0)
    np.testing.assert_array_equal(X.max(axis=0), 1.0)
    constant = normalised(DataSet(np.array([[3.0, 1.0], [3.0, 2.0]]), np.array([0, 1])))
    np.testing.assert_array_equal(constant.X[:, 0], 0.0)


def test_a_presentation_goes_cluster_by_cluster_and_loses_nothing():
    data = datasets.make_rings(0)
    X, labels = presented(data, 5)
    changes = np.flatnonzero(np.diff(labels))
    assert len(changes) == 14
    order = np.lexsort(X.T)
    np.testing.assert_array_equal(X[order], data.X[np.lexsort(data.X.T)])
    again, other = presented(data, 5), presented(data, 6)
    np.testing.assert_array_equal(again.X, X)
    assert not np.array_equal(other.labels, labels)
    first = labels[0]
    assert not np.array_equal(X[:40], data.X[data.labels == first])  # shuffled inside


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x1,x2,label\n0.5,1e3,1\n-2,7,4\n")
    X, labels = read_csv(path)
    assert X.tolist() == [[0.5, 1000.0], [-2.0, 7.0]]
    assert labels.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the columns x1, x2, ..., label, got $"),
        ("a,b,label\n", "line 1: expected the columns x1, x2, ..., label, got a, b, label"),
        ("x1,x2\n1,2\n", "line 1: expected the columns"),
        ("label\n1\n", "line 1: expected the columns"),
        ("x1,x2,label\n", "expected at least one sample, got none"),
        ("x1,x2,label\n1,2,0\n1,2\n", "line 3: expected 3 entries, got 2"),
        ("x1,x2,label\n1,two,0\n", "line 2: expected a number in x2, got 'two'"),
        ("x1,x2,label\n1,nan,0\n", "line 2: expected a number in x2, got 'nan'"),
        ("x1,x2,label\n1,2,a\n", "line 2: expected a whole number in label, got 'a'"),
    ],
)
def test_a_malformed_file_is_named_with_line_and_expectation(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        read_csv(path)
    assert str(path) in str(error.value)
