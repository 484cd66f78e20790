"""What is compared, and what it is called."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans

import icvi
from icvi.comparing.candidates import candidates_of, sweep_of


def names(clusterers, **options):
    return [each.name for each in candidates_of(clusterers, **options)]


def test_clusterers_of_one_class_are_called_by_what_they_differ_in():
    several = [KMeans(2, random_state=1), KMeans(3, random_state=1), DBSCAN()]
    assert names(several) == ["KMeans n_clusters=2", "KMeans n_clusters=3", "DBSCAN"]


def test_a_function_is_called_by_its_name():
    def sides(X):
        return X[:, 0] > 0

    assert names([sides, KMeans()]) == ["sides", "KMeans"]


def test_names_of_a_dictionary_are_kept_and_ranges_in_it_are_told_apart():
    given = {"mine": KMeans(2), "art": "art rho=0.5", "many": "kmeans n_clusters=2..3"}
    assert names(given) == ["mine", "art", "many n_clusters=2", "many n_clusters=3"]


def test_names_are_longer_where_short_ones_are_the_same():
    specs = ["smart rho_a=0.8 rho_b=0.5..0.6/0.1", "smart rho_a=0.9 rho_b=0.5..0.6/0.1"]
    assert names(specs)[::2] == ["smart rho_a=0.8 rho_b=0.5", "smart rho_a=0.9 rho_b=0.5"]


def test_the_seed_and_the_bounds_are_for_clusterers_that_are_given_as_text():
    found = candidates_of(["kmeans", "art", "art rho=0.5 bounds=[0,2]"], seed=7, bounds=(0, 9))
    assert found[0].clusterer.random_state == 7
    assert found[1].clusterer.bounds == (0, 9)
    assert found[2].clusterer.bounds == [0, 2]


def test_one_clusterer_needs_no_list():
    assert names("birch") == ["birch"]
    assert names(icvi.FuzzyART()) == ["FuzzyART"]


def test_a_parameter_that_is_all_that_differs_is_found():
    found = sweep_of(candidates_of([KMeans(k) for k in (5, 2, 9)]))
    assert (found.parameter, found.values) == ("n_clusters", (5.0, 2.0, 9.0))


@pytest.mark.parametrize(
    "clusterers",
    [
        "kmeans",
        ["kmeans n_clusters=2..3", "birch"],
        [KMeans(2, n_init=1), KMeans(3, n_init=2)],
        [KMeans(init="random"), KMeans()],
        {"a": icvi.FuzzyART(bounds=(0, 1)), "b": icvi.FuzzyART(bounds=(0, 2))},
        {"a": icvi.FuzzyART(bounds=np.zeros((2, 3))), "b": icvi.FuzzyART(bounds=np.ones((2, 3)))},
    ],
)
def test_otherwise_there_is_no_such_parameter(clusterers):
    assert sweep_of(candidates_of(clusterers)) is None


model = KMeans()


@pytest.mark.parametrize(
    ("clusterers", "message"),
    [
        ([], "expected clusterers to compare, got none"),
        ({}, "expected clusterers to compare, got none"),
        (["kmeans n_clusters=2..3", "kmeans n_clusters=3"], "'kmeans n_clusters=3' more than once"),
        ([KMeans(2), KMeans(2)], "'KMeans' more than once"),
        ({"a": model, "b": model}, "the same object is given twice"),
        (["kmeans n_clusters=1..60", "birch n_clusters=1..60"], "120 clusterers are too many"),
        ("kmenas n_clusters=2..3", "unknown clusterer 'kmenas', did you mean 'kmeans'"),
        ("kmeans clusters=2..3", "MiniBatchKMeans has no parameter 'clusters'"),
    ],
)
def test_candidates_that_cannot_be_compared_are_refused(clusterers, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        candidates_of(clusterers)
