"""MicroWard: a bounded number of micro-clusters, Ward's path over them, a level that is chosen."""

from __future__ import annotations

import copy
import pickle

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import icvi
import naive_micro
from icvi.clustering.levels import Micro, choose_groups, choosing_indices, readings
from icvi.indices import select
from icvi.kernels.linkage import WARD, link
from icvi.kernels.micro.choosing import CH, DB, READINGS, SIL, read_path
from icvi.kernels.micro.layout import LIMIT
from interrupting import interrupt_by_signals, interrupt_everywhere
from streams import blobs

ARRAYS = ("M", "owners", "scale", "counters", "numbers")


@parametrize_with_checks(
    [
        icvi.MicroWard(),
        icvi.MicroWard("CH", 30, half_life=50.0, scale="none", refresh=0.5),
    ]
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def content(m):
    """Everything that was learnt, to the last bit."""
    micro = vars(m).get("_micro")
    arrays = [] if micro is None else [getattr(micro, name).tobytes() for name in ARRAYS]
    labels = vars(m).get("labels_")
    return arrays, None if labels is None else labels.tolist()


def stream(n=600, k=4, d=2, seed=0, far=9.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    centers = far * np.array([[0.0, 0.0], [1.0, 0.1], [0.1, 1.0], [1.2, 1.1], [2.0, 0.4]])[:k]
    X = rng.normal(size=(n, d))
    X[:, :2] += centers[truth]
    return X, truth


# -- micro-clusters ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["spread", "none"])
@pytest.mark.parametrize(("d", "seed"), [(1, 0), (2, 1), (4, 2)])
def test_micro_clusters_are_those_of_the_definition(d, seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, d)) + 6.0 * rng.integers(3, size=(150, d))
    X = X * np.exp(rng.normal(size=d)) + 50.0
    X[::7] = X[0]  # some come again
    # Nothing is chosen between, because that adapts the scale, too.
    m = icvi.MicroWard(max_micro=16, scale=scale, refresh=1.0)
    m.fit(X[:1])
    micro = m._micro
    micro.numbers[:] = 0.0, 1.0, 1e9, 0.0
    micro.counters[:] = [1, 1, -(10**6), 1, 0, 0]
    micro.scale[1] = 1.0
    m.partial_fit(X[1:])
    expected, limit = naive_micro.learn(X, 16, scaled=scale == "spread")
    assert m.n_choices_ == 0
    np.testing.assert_allclose(m.micro_counts_, [each.n for each in expected])
    np.testing.assert_allclose(m.micro_centers_, [each.center for each in expected], atol=1e-9)
    assert m._micro.numbers[LIMIT] == pytest.approx(limit)


def test_there_are_never_more_micro_clusters_than_allowed():
    X = np.random.default_rng(0).uniform(size=(2000, 3))
    m = icvi.MicroWard(max_micro=20)
    for chunk in np.array_split(X, 40):
        m.partial_fit(chunk)
        assert 2 <= len(m.micro_counts_) <= 20
    assert m.micro_counts_.sum() == pytest.approx(2000.0)
    mean = m.micro_counts_ @ m.micro_centers_ / 2000.0
    np.testing.assert_allclose(mean, X.mean(axis=0))


def test_what_is_kept_does_not_grow_with_the_stream():
    X, _ = stream(4000)
    m = icvi.MicroWard().partial_fit(X[:1000])
    before = sum(getattr(m._micro, name).nbytes for name in ARRAYS)
    m.partial_fit(X[1000:])
    assert sum(getattr(m._micro, name).nbytes for name in ARRAYS) == before


# -- levels --------------------------------------------------------------------------------------


def some_micro(m=24, d=3, seed=0):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(m, d)) + 4.0 * rng.integers(3, size=(m, 1))
    return Micro(rng.integers(1, 9, size=m).astype(float), V, rng.uniform(0.1, 2.0, size=m))


def merge_order(micro):
    m = len(micro.n)
    pairs = np.empty((m - 1, 2), dtype=np.int64)
    link(WARD, micro.n.copy(), micro.V.copy(), np.zeros((0, 0, 0)), pairs, np.empty(m - 1))
    return pairs


@numba.njit
def read_levels(n, V, CP, pairs, table):
    read_path(n, V, CP, pairs, table)


@pytest.mark.parametrize("seed", range(3))
def test_compiled_readings_are_those_of_the_indices(seed):
    micro = some_micro(seed=seed)
    pairs, table = merge_order(micro), np.empty((11, READINGS))
    read_levels(*micro, pairs, table)
    expected = readings(micro, choosing_indices(["DB", "CH", "SIL"]), pairs, 12)
    np.testing.assert_allclose(table[:, [DB, CH, SIL]], expected, rtol=1e-9)


@pytest.mark.parametrize("by", [("DB",), ("CH",), ("DB", "CH", "SIL"), ("XB", "GD43")])
def test_the_level_with_the_least_mean_rank_is_chosen(by):
    micro = some_micro()
    k, groups = choose_groups(micro, choosing_indices(by))
    table = readings(micro, choosing_indices(by), merge_order(micro), 6)
    signs = [-1.0 if index.direction == "max" else 1.0 for index in select(by)]
    ranks = [(sign * column).argsort().argsort() for sign, column in zip(signs, table.T)]
    mean = np.mean(ranks, axis=0)
    assert k == 2 + int(np.argmin(mean))
    found = {frozenset(np.flatnonzero(groups == g).tolist()) for g in range(k)}
    assert found == naive_micro.ward(micro.n, micro.V, k)


@pytest.mark.parametrize("index", ["CH", "DB"])
def test_it_finds_as_many_clusters_as_there_are_in_any_order(index):
    X, truth = stream(800, k=5)
    for order in (np.arange(800), np.argsort(truth, kind="stable"), np.arange(800)[::-1]):
        for by in (index, ("DB", "CH", "SIL"), "vote"):
            m = icvi.MicroWard(by).fit(X[order])
            assert m.n_clusters_ == 5
            assert adjusted_rand_score(truth[order], m.labels_) > 0.99


def test_the_order_of_samples_changes_little():
    X, truth = stream(600, far=6.0)
    rng = np.random.default_rng(3)
    found = []
    for _ in range(6):
        order = rng.permutation(len(X))
        found.append(icvi.MicroWard().fit(X[order]).predict(X))
    scores = [adjusted_rand_score(found[0], each) for each in found[1:]]
    assert min(scores) > 0.9
    assert adjusted_rand_score(truth, found[0]) > 0.9


def test_units_of_features_do_not_matter():
    X, _ = stream(500)
    plain = icvi.MicroWard().fit(X)
    other = icvi.MicroWard().fit(X * [2.0**20, 2.0**-15] + [2.0**10, 0.0])
    assert adjusted_rand_score(plain.labels_, other.labels_) > 0.99
    unscaled = icvi.MicroWard(scale="none").fit(X * [1e6, 1.0])
    assert adjusted_rand_score(plain.labels_, unscaled.labels_) < 0.9


def test_a_feature_that_is_constant_at_first_counts_when_it_changes():
    X, _ = stream(400)
    X = np.column_stack([X[:, :1] * 0.01, np.zeros(400)])
    m = icvi.MicroWard(max_micro=40).partial_fit(X)
    X[:, 1] = 1.0
    m.partial_fit(X)
    sides = {round(float(y)) for y in m.cluster_centers_[:, 1]}
    assert sides == {0, 1}
    assert ((m.cluster_centers_[:, 1] < 0.01) | (m.cluster_centers_[:, 1] > 0.99)).all()


# -- labels --------------------------------------------------------------------------------------


def test_labels_stay_while_the_stream_goes_on():
    X, truth = stream(3000, k=3)
    m = icvi.MicroWard().partial_fit(X[:300])
    before = m.predict(X[:300])
    for chunk in np.array_split(X[300:], 9):
        m.partial_fit(chunk)
        np.testing.assert_array_equal(m.predict(X[:300]), before)
    assert m.n_choices_ > 10
    assert adjusted_rand_score(truth[:300], before) == 1.0


def test_a_new_cluster_gets_a_new_label_and_the_others_keep_theirs():
    X, truth = stream(2000, k=4)
    old = truth < 3
    m = icvi.MicroWard().partial_fit(X[old])
    before = m.predict(X[old])
    m.partial_fit(X[~old])
    np.testing.assert_array_equal(m.predict(X[old]), before)
    new = set(m.predict(X[~old]).tolist())
    assert len(new) == 1
    assert new.isdisjoint(before.tolist())
    assert m.clusters_.tolist() == sorted({*before.tolist(), *new})


def test_a_cluster_that_was_merged_for_a_while_gets_its_label_back():
    X, _ = stream(900, k=3)
    m = icvi.MicroWard().fit(X)
    before = m.predict(X)
    micro, chosen = m._micro, m._settings()
    merged = micro.labels == m.clusters_[-1]
    micro.owners[0, : micro.n_micro][merged] = m.clusters_[0]  # as a choice of two would
    assert m.n_clusters_ == 2
    micro.choose(chosen)
    np.testing.assert_array_equal(m.predict(X), before)


def test_labels_after_fit_are_numbered_by_appearance_and_equal_to_predictions():
    X, _ = stream(700, k=5, seed=2)
    m = icvi.MicroWard().fit(X)
    _, first = np.unique(m.labels_, return_index=True)
    assert (np.diff(first) > 0).all()
    assert m.clusters_.tolist() == list(range(m.n_clusters_))
    np.testing.assert_array_equal(m.labels_, m.predict(X))
    np.testing.assert_array_equal(m.labels_, clone(m).fit_predict(X))


@pytest.mark.parametrize("half_life", [None, 60.0])
@pytest.mark.parametrize("by", [("DB", "CH", "SIL"), "DB", ("XB", "CH")])
def test_a_fit_learns_what_partial_fit_learns_and_chooses_once(by, half_life):
    X, _ = stream(500, k=5, far=5.0)
    X[::9] = X[3]  # some come again
    once = icvi.MicroWard(by, 40, half_life=half_life).fit(X)
    often = icvi.MicroWard(by, 40, half_life=half_life).partial_fit(X)
    assert once.n_choices_ == 1
    assert often.n_choices_ > 10
    often._micro.choose(often._settings())
    for name in ("M", "scale", "numbers"):
        np.testing.assert_array_equal(getattr(once._micro, name), getattr(often._micro, name))
    assert adjusted_rand_score(once.micro_labels_, often.micro_labels_) == 1.0


@given(seed=st.integers(0, 10**6), m=st.integers(2, 40), by=st.sampled_from(["DB", "CH", "vote"]))
@settings(max_examples=20, deadline=None)
def test_the_compiled_choice_is_that_of_the_indices_one_by_one(seed, m, by):
    micro = some_micro(m, seed=seed)
    three = ("DB", "CH", "SIL") if by == "vote" else (by,)
    state = icvi.MicroWard(three, scale="none").fit(micro.V)._micro
    state.M[0, :m], state.M[4, :m] = micro.n, micro.CP
    state.choose(icvi.MicroWard(three, scale="none")._settings())
    places = Micro(micro.n, micro.V - micro.V[0], micro.CP)
    k, groups = choose_groups(places, choosing_indices(three))
    assert len(set(state.labels.tolist())) == k
    assert adjusted_rand_score(state.labels, groups) == 1.0


def test_samples_that_are_all_the_same_are_one_cluster():
    m = icvi.MicroWard().fit(np.full((50, 2), 3.0))
    assert (m.n_clusters_, set(m.labels_.tolist())) == (1, {0})
    assert m.update([3.0, 4.0]) in (0, 1)
    assert m.n_clusters_ == 2


# -- chunks --------------------------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_chunks_do_not_matter(data):
    seed = data.draw(st.integers(0, 10**6))
    n = data.draw(st.integers(2, 300))
    cuts = data.draw(st.lists(st.integers(1, n - 1), max_size=5, unique=True))
    half_life = data.draw(st.sampled_from([None, 20.0]))
    X, _ = stream(n, seed=seed, far=data.draw(st.sampled_from([0.0, 3.0, 9.0])))
    whole = icvi.MicroWard(max_micro=24, half_life=half_life).partial_fit(X)
    parts = icvi.MicroWard(max_micro=24, half_life=half_life)
    labels = []
    for chunk in np.split(X, sorted(cuts)):
        labels += parts.partial_fit(chunk).labels_.tolist()
    single = icvi.MicroWard(max_micro=24, half_life=half_life)
    assert [single.update(x) for x in X] == labels == whole.labels_.tolist()
    assert content(parts)[0] == content(whole)[0] == content(single)[0]


# -- forgetting ----------------------------------------------------------------------------------


def test_clusters_that_end_are_forgotten_with_a_half_life():
    X, truth = stream(3000, k=4)
    stays = X[np.isin(truth, (0, 3))]
    X = np.concatenate([X, stays, stays])
    assert icvi.MicroWard().partial_fit(X).n_clusters_ == 4
    m = icvi.MicroWard(half_life=100.0).partial_fit(X)
    assert m.n_clusters_ == 2
    assert m.cluster_counts_.sum() == pytest.approx(1.0 / (1.0 - 0.5**0.01), rel=0.02)


def test_weights_with_a_half_life_are_those_of_the_definition():
    X, _ = stream(200)
    m = icvi.MicroWard(half_life=20.0).partial_fit(X)
    weights = 0.5 ** (np.arange(199, -1, -1) / 20.0)
    kept = m.micro_counts_.sum()
    assert kept <= weights.sum() + 1e-9
    assert kept >= weights.sum() - 0.01 * 200
    mean = m.micro_counts_ @ m.micro_centers_ / kept
    np.testing.assert_allclose(mean, weights @ X / weights.sum(), atol=0.5)


def test_a_long_stream_with_a_short_half_life_neither_overflows_nor_starves():
    X, _ = stream(3000, k=2)
    m = icvi.MicroWard(half_life=2.0).partial_fit(X)  # weights double 1,500 times
    assert np.isfinite(m._micro.M).all()
    assert m.cluster_counts_.sum() == pytest.approx(1.0 / (1.0 - 0.5**0.5), rel=0.1)


# -- all or nothing ------------------------------------------------------------------------------


REFUSED = {
    "nan": [[0.0, np.nan]],
    "infinite": [[np.inf, 0.0]],
    "too large": [[1e200, 0.0]],
    "other features": [[1.0, 2.0, 3.0]],
    "no samples": np.empty((0, 2)),
    "text": [["a", "b"]],
}


@pytest.mark.parametrize("samples", REFUSED.values(), ids=REFUSED)
def test_refused_samples_change_nothing(samples):
    X, _ = stream(100)
    m = icvi.MicroWard().partial_fit(X)
    before = content(m)
    for call in (m.partial_fit, m.predict, m.update, lambda s: m.update(np.asarray(s)[0])):
        with pytest.raises((ValueError, TypeError, IndexError)):
            call(samples)
        assert content(m) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"by": "NI"}, "no covariances"),
        ({"by": "rH"}, "rH cannot choose"),
        ({"by": "Conn"}, "prototypes"),
        ({"by": "nonsense"}, "nonsense"),
        ({"by": []}, "at least one index"),
        ({"max_micro": 7}, "max_micro to be a whole number from 8 to 4096, got 7"),
        ({"max_micro": 50.5}, "max_micro"),
        ({"max_micro": True}, "max_micro"),
        ({"half_life": 0.5}, "half_life to be a number of samples from 1 on"),
        ({"half_life": float("nan")}, "half_life"),
        ({"half_life": "10"}, "half_life"),
        ({"scale": "minmax"}, "scale to be one of"),
        ({"refresh": 0.0}, "refresh to be a number above 0"),
        ({"refresh": None}, "refresh"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    X, _ = stream(50)
    m = icvi.MicroWard().partial_fit(X)
    before = content(m)
    m.set_params(**parameters)
    for call in (m.partial_fit, m.fit, lambda X: m.update(X[0])):
        with pytest.raises(ValueError, match=message):
            call(X)
        assert content(m) == before
    fresh = icvi.MicroWard(**parameters)
    with pytest.raises(ValueError, match=message):
        fresh.partial_fit(X)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_predicting_changes_nothing():
    X, _ = stream(200)
    m = icvi.MicroWard().partial_fit(X)
    before = content(m)
    m.predict(X + 100.0)
    assert content(m) == before


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_resumes_as_the_original_would(copied):
    X, _ = blobs(n=200, d=3)
    m = icvi.MicroWard(max_micro=30).fit(X[:150])
    twin = copied(m)
    before = content(m)
    twin.partial_fit(X[150:])
    assert content(m) == before
    assert content(m.partial_fit(X[150:])) == content(twin)


def test_a_parameter_that_changes_in_place_is_noticed():
    by = ["CH"]
    m = icvi.MicroWard(by).partial_fit(stream(50)[0])
    by[0] = "rH"
    with pytest.raises(ValueError, match="rH"):
        m.update([0.0, 0.0])


def learnt(m):
    """All that is inside, as a call returns it."""
    inside = m.__getstate__()
    micro = inside.pop("_micro", None)
    arrays = None if micro is None else [getattr(micro, name).tolist() for name in ARRAYS]
    return arrays, {name: np.asarray(value).tolist() for name, value in inside.items()}


CALLS = {
    "update": lambda m: m.update([9.0, 9.0]),
    "partial_fit": lambda m: m.partial_fit(stream(30, seed=5)[0]),
    "fit": lambda m: m.fit(stream(12, seed=6)[0]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_interrupted_call_changes_nothing(call):
    known = icvi.MicroWard(max_micro=12).partial_fit(stream(60)[0])
    interrupt_everywhere(lambda: copy.deepcopy(known), call, learnt, most=40)


def test_signals_interrupt_all_or_nothing():
    X, _ = stream(400)
    m = icvi.MicroWard(max_micro=20).partial_fit(X)
    interrupt_by_signals(lambda _: m.partial_fit(X), lambda: learnt(m), interrupts=20, seconds=5.0)
