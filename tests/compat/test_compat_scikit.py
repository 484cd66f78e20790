"""Our indices as scorers of scikit-learn's searches, with the real scikit-learn."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import icvi
from icvi.compat.scikit_scorers import AllSamples, IndexScorer, make_scorer, scorers
from streams import NAMES, blobs

X, TRUTH = blobs(n=160, d=2, k=4, width=0.15, box=8.0, seed=5)
KMEANS = KMeans(4, n_init=1, random_state=0).fit(X)


@pytest.mark.parametrize("name", [*NAMES, "Conn"])
def test_a_score_is_that_of_the_predicted_labels_and_larger_is_better(name):
    (index,) = (entry for entry in icvi.catalogue() if entry.name == name)
    expected = icvi.score(X, KMEANS.predict(X), name)
    scorer = make_scorer(name)
    sign, prefix = (1, "") if index.direction == "max" else (-1, "neg_")
    assert scorer(KMEANS, X) == sign * expected
    assert scorer(KMEANS, X, y=TRUTH) == sign * expected
    assert type(scorer(KMEANS, X)) is float
    assert (scorer.name, repr(scorer)) == (prefix + name,) * 2


def searched(estimator, grid, **options):
    return GridSearchCV(estimator, grid, **{"cv": AllSamples(), **options}).fit(X)


@pytest.mark.parametrize("name", ["SIL", "CH", "DB", "XB", "PS"])
def test_a_grid_search_finds_the_number_of_clusters(name):
    search = searched(
        KMeans(n_init=10, random_state=0),
        {"n_clusters": [2, 3, 4, 5, 6]},
        scoring=make_scorer(name),
    )
    assert search.best_params_ == {"n_clusters": 4}
    best = icvi.score(X, search.best_estimator_.predict(X), name)
    assert search.best_score_ == pytest.approx(best if name in ("SIL", "CH", "PS") else -best)


def test_a_grid_search_finds_the_vigilance():
    search = searched(icvi.FuzzyART(), {"rho": [0.3, 0.8, 0.95]}, scoring=make_scorer("SIL"))
    scores = [
        icvi.score(X, icvi.FuzzyART(rho).fit(X).predict(X), "SIL") for rho in (0.3, 0.8, 0.95)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    assert search.best_params_ == {"rho": (0.3, 0.8, 0.95)[int(np.nanargmax(scores))]}


def test_a_search_by_several_indices_has_a_column_for_each():
    search = searched(
        KMeans(n_init=5, random_state=0),
        {"n_clusters": [3, 4, 5]},
        scoring=scorers(["SIL", "DB"]),
        refit="neg_DB",
    )
    for column, k in enumerate((3, 4, 5)):
        labels = KMeans(k, n_init=5, random_state=0).fit(X).predict(X)
        expected = icvi.scores(X, labels, ["SIL", "DB"])
        assert search.cv_results_["mean_test_SIL"][column] == pytest.approx(expected["SIL"])
        assert search.cv_results_["mean_test_neg_DB"][column] == pytest.approx(-expected["DB"])
    assert search.best_params_ == {"n_clusters": 4}


def test_a_random_search_and_cross_validation_take_scorers():
    search = RandomizedSearchCV(
        MiniBatchKMeans(random_state=0, n_init=5),
        {"n_clusters": [3, 4, 5]},
        n_iter=2,
        scoring=make_scorer("CH"),
        cv=AllSamples(),
        random_state=0,
    ).fit(X)
    assert search.best_score_ > 0
    folds = KFold(4, shuffle=True, random_state=0)
    found = cross_validate(
        KMeans(4, n_init=5, random_state=0), X, cv=folds, scoring=scorers(["CH"])
    )
    for score, (train, test) in zip(found["test_CH"], folds.split(X)):
        model = KMeans(4, n_init=5, random_state=0).fit(X[train])
        assert score == pytest.approx(icvi.score(X[test], model.predict(X[test]), "CH"))


def test_a_clusterer_that_cannot_predict_is_fitted_to_what_it_is_scored_on():
    dbscan = DBSCAN(eps=0.5, min_samples=3)
    expected = icvi.score(X[80:], dbscan.fit_predict(X[80:]), "CH", noise_label=-1)
    fitted = DBSCAN(eps=0.5, min_samples=3).fit(X[:80])  # as many, but others
    before = fitted.labels_.copy()
    assert make_scorer("CH")(fitted, X[80:]) == expected
    np.testing.assert_array_equal(fitted.labels_, before)
    search = searched(
        AgglomerativeClustering(), {"n_clusters": [2, 3, 4, 5]}, scoring=make_scorer("SIL")
    )
    assert search.best_params_ == {"n_clusters": 4}


def test_noise_is_left_out_unless_it_is_to_be_a_cluster():
    dbscan = DBSCAN(eps=0.12, min_samples=5)
    labels = dbscan.fit_predict(X)
    assert -1 in labels
    assert make_scorer("CH")(dbscan, X) == icvi.score(X, labels, "CH", noise_label=-1)
    assert make_scorer("CH", noise_label=None)(dbscan, X) == icvi.score(X, labels, "CH")


def test_pipelines_and_mixtures_are_scored_on_what_comes_in():
    pipeline = make_pipeline(StandardScaler(), KMeans(4, n_init=1, random_state=0)).fit(X)
    assert make_scorer("CH")(pipeline, X) == icvi.score(X, pipeline.predict(X), "CH")
    mixture = GaussianMixture(4, random_state=0).fit(X)
    assert make_scorer("NI")(mixture, X) == -icvi.score(X, mixture.predict(X), "NI")


def test_frames_are_scored_by_position():
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(160)[::-1])
    model = KMeans(4, n_init=1, random_state=0).fit(frame)
    assert make_scorer("CH")(model, frame) == icvi.score(X, model.predict(frame), "CH")
    search = GridSearchCV(
        KMeans(n_init=5, random_state=0),
        {"n_clusters": [3, 4]},
        scoring=make_scorer(),
        cv=AllSamples(),
    ).fit(frame)
    assert search.best_params_ == {"n_clusters": 4}


def test_an_undefined_score_is_nan_and_ranks_last():
    grid = {"n_clusters": [1, 4]}
    with pytest.warns(UserWarning, match="non-finite"):
        search = searched(KMeans(n_init=1, random_state=0), grid, scoring=make_scorer("SIL"))
    assert math.isnan(search.cv_results_["mean_test_score"][0])
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = searched(
            KMeans(n_init=1, random_state=0),
            grid,
            scoring=make_scorer("SIL", undefined="raise"),
            error_score=-7.0,
        )
    assert search.cv_results_["mean_test_score"][0] == -7.0
    one = KMeans(1, n_init=1).fit(X)
    with pytest.raises(icvi.UndefinedIndexError):
        make_scorer("CH", undefined="raise")(one, X)


def test_limits_are_negated_with_the_index():
    points = np.repeat([[0.0], [5.0]], 3, axis=0)
    model = KMeans(2, n_init=1).fit(points)
    assert make_scorer("CH", undefined="limit")(model, points) == math.inf
    assert make_scorer("XB", undefined="limit")(model, points) == 0.0


def test_scorers_travel_to_other_processes():
    scorer = pickle.loads(pickle.dumps(make_scorer(icvi.I(p=1), undefined="limit")))
    assert isinstance(scorer, IndexScorer)
    assert scorer(KMEANS, X) == icvi.score(X, KMEANS.predict(X), icvi.I(p=1))


def test_scorers_has_the_indices_of_a_group():
    assert list(scorers()) == [
        *("CH", "PBM", "SIL", "neg_NI", "neg_rCIP", "rH", "neg_XB", "neg_DB", "PS")
    ]


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(
        ValueError, match="expected one index, got 'paper'; use scorers for several"
    ):
        make_scorer("paper")
    with pytest.raises(TypeError, match="with predict or fit_predict, got StandardScaler"):
        make_scorer()(StandardScaler().fit(X), X)


def test_the_split_of_all_samples_is_one():
    split = AllSamples()
    assert split.get_n_splits(X) == 1
    ((train, test),) = split.split(X)
    np.testing.assert_array_equal(train, np.arange(160))
    np.testing.assert_array_equal(test, train)
    assert repr(split) == "AllSamples()"
