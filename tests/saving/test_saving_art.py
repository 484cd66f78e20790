"""Saved ART estimators: bit for bit, or refused."""

from __future__ import annotations

import sys

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.base import clone

import icvi
import processes
from icvi.art.categories import Module, ModuleA
from icvi.art.scaling import Scaling
from icvi.art.targets import ModuleB
from icvi.labels import Labels
from icvi.saving import container
from streams import blobs

X, LABELS = blobs(n=200, d=3, k=6)
NAMES = np.array(["ash", "oak", "elm", "fir", "box", "bay"])[LABELS]
VECTORS = np.stack([X[:, 0] ** 2, X[:, 1]], axis=1)

#: What makes each kind of estimator, and the targets it learns.
KINDS = {
    "FuzzyART": (lambda **p: icvi.FuzzyART(0.85, **p), None),
    "FuzzyART, slow": (lambda **p: icvi.FuzzyART(0.8, 0.01, 0.3, max_iter=3, **p), None),
    "FuzzySMART": (lambda **p: icvi.FuzzySMART(0.95, 0.8, **p), None),
    "FuzzySMART, slow": (lambda **p: icvi.FuzzySMART(0.9, 0.7, 1e-7, 0.5, **p), None),
    "Quantizer": (lambda **p: icvi.Quantizer(0.9, **p), NAMES),
    "Quantizer, numbers": (lambda **p: icvi.Quantizer(0.9, beta=0.5, **p), LABELS),
    "FuzzyARTMAP": (lambda **p: icvi.FuzzyARTMAP(**p), LABELS),
    "FuzzyARTMAP, names": (lambda **p: icvi.FuzzyARTMAP(0.5, beta=0.5, **p), NAMES),
    "FuzzyARTMAP, objects": (lambda **p: icvi.FuzzyARTMAP(**p), NAMES.astype(object)),
    "FuzzyARTMAP, vectors": (lambda **p: icvi.FuzzyARTMAP(rho_b=0.9, **p), VECTORS),
    "FuzzyARTMAP, numbers": (lambda **p: icvi.FuzzyARTMAP(rho_b=0.8, **p), X[:, 2] ** 2),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


def pairs(y, part):
    return (X[part],) if y is None else (X[part], y[part])


def content(thing):
    """Everything inside, in a form that compares by value, dtype and bits."""
    match thing:
        case np.ndarray() if thing.dtype != object:
            return thing.dtype.str, thing.shape, thing.tobytes()
        case np.ndarray():
            return "object", thing.tolist()
        case dict():
            return {key: content(value) for key, value in thing.items()}
        case list() | tuple():
            return type(thing), [content(item) for item in thing]
        case Scaling() | Module() | ModuleA() | ModuleB() | Labels():
            return type(thing), content(vars(thing))
        case float():
            return type(thing), float(thing).hex()
    if type(thing).__module__.startswith("icvi."):
        return type(thing), content(vars(thing))
    return type(thing), thing


def learnt(estimator):
    # When parameters were last checked is not part of the state.
    return content({name: v for name, v in vars(estimator).items() if name != "_accepted"})


def there_and_back(estimator, path):
    estimator.save(path / "a.icvi")
    twin = icvi.load(path / "a.icvi")
    twin.save(path / "b.icvi")
    assert (path / "a.icvi").read_bytes() == (path / "b.icvi").read_bytes()
    return twin


def test_an_estimator_comes_back_to_the_bit(kind, tmp_path):
    make, y = kind
    estimator = make().fit(*pairs(y, slice(150)))
    twin = there_and_back(estimator, tmp_path)
    assert type(twin) is type(estimator)
    assert learnt(twin) == learnt(estimator)
    assert content(twin.predict(X)) == content(estimator.predict(X))


def test_one_that_has_learnt_nothing_comes_back_and_learns(kind, tmp_path):
    make, y = kind
    estimator = make()
    twin = there_and_back(estimator, tmp_path)
    assert learnt(twin) == learnt(estimator)
    assert learnt(twin.fit(*pairs(y, slice(None)))) == learnt(estimator.fit(*pairs(y, slice(None))))


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(st.integers(2, 60), min_size=1, max_size=4),
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
)
def test_it_goes_on_as_the_saved_one_would_have(tmp_path_factory, name, before, after):
    make, y = KINDS[name]
    estimator, at = make(), 0
    for n in before:
        part = slice(at, at + n)
        at += n
        if at <= len(X):
            estimator.partial_fit(*pairs(y, part))
    at = min(at, len(X))
    twin = there_and_back(estimator, tmp_path_factory.mktemp("art"))
    for n in after:
        part = slice(at, min(at + n, len(X)))
        at = part.stop
        if part.start < part.stop:
            for each in (estimator, twin):
                each.partial_fit(*pairs(y, part))
    assert learnt(twin) == learnt(estimator)
    for each in (estimator, twin):
        each.update(X[0], *([] if y is None else [y[0]]))
    assert learnt(twin) == learnt(estimator)


def test_learning_does_not_reach_the_file_nor_another_that_was_loaded_from_it(tmp_path):
    icvi.FuzzyART(0.8).fit(X[:50]).save(tmp_path / "a.icvi")
    one, other = icvi.load(tmp_path / "a.icvi"), icvi.load(tmp_path / "a.icvi")
    before = learnt(other)
    one.partial_fit(X[50:])
    assert learnt(other) == before == learnt(icvi.load(tmp_path / "a.icvi"))


def test_classes_that_were_given_first_stay_the_only_ones(tmp_path):
    m = icvi.FuzzyARTMAP().partial_fit(X[:50], NAMES[:50], classes=sorted(set(NAMES)))
    twin = there_and_back(m, tmp_path)
    assert twin.classes_.tolist() == sorted(set(NAMES))
    with pytest.raises(ValueError, match="not among the classes given first"):
        twin.update(X[0], "yew")


def test_classes_that_joined_late_keep_their_numbers(tmp_path):
    order = np.argsort(NAMES)[::-1]
    m = icvi.FuzzyARTMAP()
    for part in np.array_split(order, 6):
        m.partial_fit(X[part], NAMES[part])
    twin = there_and_back(m, tmp_path)
    np.testing.assert_array_equal(twin.map_, m.map_)
    assert twin.classes_.dtype == m.classes_.dtype
    for each in (m, twin):  # a longer name needs a wider dtype
        each.update(X[0], "rhododendron")
    assert learnt(twin) == learnt(m)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "U3"])
def test_labels_keep_their_dtype(dtype, tmp_path):
    y = (LABELS % 2).astype(dtype)
    twin = there_and_back(icvi.FuzzyARTMAP().fit(X, y), tmp_path)
    assert twin.classes_.dtype == np.dtype(dtype)
    assert twin.predict(X[:20]).dtype == np.dtype(dtype)


def test_names_of_features_come_back(tmp_path):
    frame = pd.DataFrame(X, columns=["width", "height", "depth"])
    twin = there_and_back(icvi.FuzzySMART().fit(frame), tmp_path)
    assert twin.feature_names_in_.tolist() == ["width", "height", "depth"]
    assert twin.feature_names_in_.dtype == object
    assert twin.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names"):
        twin.partial_fit(frame[["depth", "height", "width"]])
    twin.partial_fit(frame)


@pytest.mark.parametrize(
    "parameters",
    [
        {"rho": np.float32(0.7), "alpha": np.int64(1), "max_iter": np.int32(2)},
        {"bounds": (0, [1.5, 2.5, 3.5])},
        {"bounds": [np.array([-1.0, -2.0, -0.1]), np.float64(8)]},
        {"bounds": np.array([[-9.0] * 3, [9.0] * 3]), "out_of_bounds": "error"},
        {"bounds": np.array([-9, 9], dtype=np.int16)},
        {"rho": 0.1 + 0.2, "beta": 1},
    ],
)
def test_parameters_keep_their_types(parameters, tmp_path):
    estimator = icvi.FuzzyART(**parameters)
    twin = there_and_back(estimator, tmp_path)
    assert content(twin.get_params()) == content(estimator.get_params())
    assert learnt(clone(twin).fit(X)) == learnt(estimator.fit(X))


def test_a_series_of_bounds_comes_back_as_an_array(tmp_path):
    estimator = icvi.FuzzyART(bounds=(pd.Series([-1.0, -2.0, -3.0]), 9.0)).fit(X)
    twin = there_and_back(estimator, tmp_path)
    np.testing.assert_array_equal(twin.bounds[0], [-1.0, -2.0, -3.0])
    assert learnt(clone(twin).fit(X))["_module"] == learnt(estimator)["_module"]


def test_what_cannot_be_written_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.icvi"
    icvi.FuzzyART().save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="cannot save <object"):
        icvi.FuzzyART(bounds=object()).save(path)
    q = icvi.Quantizer().fit(X[:4], [frozenset({1}), frozenset({2})] * 2)
    with pytest.raises(TypeError, match="cannot save frozenset"):
        q.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class Own(icvi.FuzzyART):
    pass


def test_classes_of_your_own_are_to_be_pickled(tmp_path):
    with pytest.raises(
        TypeError, match=r"a file contains no code, .* your class Own adds; pickle it"
    ):
        Own().save(tmp_path / "a.icvi")


def test_damaged_files_are_refused(kind, tmp_path):
    make, y = kind
    make().fit(*pairs(y, slice(60))).save(tmp_path / "a.icvi")
    content = (tmp_path / "a.icvi").read_bytes()
    damaged = tmp_path / "b.icvi"
    for keep in (0, 7, 40, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:keep])
        with pytest.raises(ValueError, match=r"is empty|not a saved state|truncated|damaged"):
            icvi.load(damaged)
    for at in (60, len(content) // 3, len(content) - 9):
        damaged.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(ValueError, match="damaged"):
            icvi.load(damaged)


def test_a_kind_of_the_future_is_refused(tmp_path):
    container.write(tmp_path / "a.icvi", {"kind": "FuzzyHAL", "icvi": "9.0"}, {})
    with pytest.raises(ValueError, match="contains a FuzzyHAL, which this version of"):
        icvi.load(tmp_path / "a.icvi")


def test_another_process_goes_on_to_the_same_bits(tmp_path):
    estimator = icvi.FuzzySMART(0.95, 0.8).fit(X[:100])
    estimator.save(tmp_path / "a.icvi")
    np.save(tmp_path / "X.npy", X[100:])
    code = (
        "import sys, numpy as np, icvi; s = icvi.load('a.icvi');"
        "s.partial_fit(np.load('X.npy')).save('b.icvi')"
    )
    processes.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    estimator.partial_fit(X[100:])
    assert learnt(icvi.load(tmp_path / "b.icvi")) == learnt(estimator)
