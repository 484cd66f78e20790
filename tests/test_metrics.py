"""scikit-learn shaped functions give the scores of their indices."""

import inspect
import math

import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score as sklearn_calinski_harabasz

import icvi
from icvi import metrics
from naive import NAIVE
from streams import NAMES, blobs

INDEX_OF = {
    "calinski_harabasz_score": "CH",
    "centroid_silhouette_score": "SIL",
    "davies_bouldin_squared_score": "DB",
    "gd43_score": "GD43",
    "gd53_score": "GD53",
    "i_index_score": "I",
    "negentropy_increment_score": "NI",
    "partition_separation_score": "PS",
    "pbm_score": "PBM",
    "rcip_score": "rCIP",
    "rh_score": "rH",
    "wb_score": "WB",
    "xie_beni_score": "XB",
}

RIDGES = [{"epsilon": 3}, {"delta": 0.1}]
PARAMETERS = [
    *[("i_index_score", icvi.I, given) for given in ({"p": 1}, {"p": 0.5})],
    *[("negentropy_increment_score", icvi.NI, given) for given in RIDGES],
    *[("rh_score", icvi.rH, given) for given in [*RIDGES, {"mean": True}]],
    *[
        ("rcip_score", icvi.rCIP, given)
        for given in [*RIDGES, {"mean": True}, {"log_rcip": True}, {"log_rcip": True, "mean": True}]
    ],
]


def test_there_is_a_function_for_every_index_of_the_catalogue():
    assert metrics.__all__ == sorted([*INDEX_OF, "conn_index_score"])
    assert {*INDEX_OF.values()} == {*NAMES}


@pytest.mark.parametrize(("function", "name"), INDEX_OF.items())
class TestAFunction:
    def test_gives_the_score_of_its_index(self, function, name):
        X, labels = blobs()
        value = getattr(metrics, function)(X, labels)
        assert value == icvi.score(X, labels, name)
        assert value == pytest.approx(NAIVE[name](X, labels), rel=1e-9)

    def test_takes_the_weights_of_the_samples(self, function, name):
        X, labels = blobs()
        weights = np.random.default_rng(0).uniform(0.5, 3.0, size=len(X))
        value = getattr(metrics, function)(X, labels, sample_weight=weights)
        assert value == icvi.score(X, labels, name, weights=weights)
        assert value != icvi.score(X, labels, name)

    def test_is_undefined_where_its_index_is(self, function, name):
        value = getattr(metrics, function)([[0.0], [1.0]], ["a", "a"])
        assert value == 0.0 if name == "NI" else math.isnan(value)

    def test_refuses_bad_input(self, function, name):
        with pytest.raises(ValueError, match="as many labels as samples"):
            getattr(metrics, function)([[0.0], [1.0]], [0])

    def test_says_what_it_is_and_which_way_is_better(self, function, name):
        direction = next(index.direction for index in icvi.catalogue() if index.name == name)
        better = {"max": "larger is better", "min": "smaller is better"}[direction]
        assert better in inspect.getdoc(getattr(metrics, function))

    def test_takes_samples_and_labels_by_position_and_the_rest_by_name(self, function, name):
        first, second, *rest = inspect.signature(getattr(metrics, function)).parameters.values()
        assert (first.name, second.name) == ("X", "labels")
        assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(("function", "make", "given"), PARAMETERS)
def test_parameters_are_those_of_the_index(function, make, given):
    X, labels = blobs()
    value = getattr(metrics, function)(X, labels, **given)
    assert value == icvi.score(X, labels, make(**given))
    assert value != getattr(metrics, function)(X, labels)


@pytest.mark.parametrize(("n", "d", "k"), [(50, 1, 2), (200, 3, 5), (400, 20, 40)])
def test_calinski_harabasz_is_that_of_scikit_learn(n, d, k):
    X, labels = blobs(n, d, k)
    expected = sklearn_calinski_harabasz(X, labels)
    assert metrics.calinski_harabasz_score(X, labels) == pytest.approx(expected, rel=1e-12)


def test_the_module_is_an_attribute_of_the_package():
    assert icvi.metrics is metrics
