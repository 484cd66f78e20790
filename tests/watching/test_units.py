"""Features in different units: scaled, bounded by name, and named where they drown the others."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

import icvi
from icvi.streams.columns import Chosen
from icvi.watching.first_look import FirstLook, left_out_labels
from icvi.watching.scaling import SCALES, FeatureScaling
from watch_inputs import assert_same, read_trace, samples, watch, write_samples

THEIRS = {"standard": StandardScaler, "minmax": MinMaxScaler, "robust": RobustScaler}
LEARNING = [scale for scale in SCALES if scale != "none"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_units(n=300):
    """Samples whose first feature is in another unit, and their labels."""
    X, labels = samples(n)
    return X * [1000.0, 1.0], labels


# -- scaling -------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", LEARNING)
def test_features_are_scaled_as_scikit_learn_does(scale):
    X, _ = in_units()
    scaling = FeatureScaling(scale)
    theirs = THEIRS[scale]().fit(X[:100])
    first, later = (scaling.scaled(part, ("x", "y")) for part in (X[:100], X[100:]))
    np.testing.assert_allclose(first, theirs.transform(X[:100]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(later, theirs.transform(X[100:]), rtol=1e-9, atol=1e-12)


numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@settings(max_examples=40, deadline=None)
@given(
    X=arrays(float, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=numbers),
    scale=st.sampled_from(LEARNING),
    data=st.data(),
)
def test_a_sample_is_scaled_the_same_wherever_it_comes(X, scale, data):
    names = tuple("abc"[: X.shape[1]])
    scaling = FeatureScaling(scale)
    whole = scaling.scaled(X, names)
    assert np.isfinite(whole).all()
    resumed = FeatureScaling(scale)
    resumed.resume(*scaling.keep())
    at = data.draw(st.integers(0, len(X) - 1))
    assert resumed.scaled(X[at : at + 1], names).tobytes() == whole[at : at + 1].tobytes()
    constant = np.ptp(X, axis=0) == 0
    assert (whole[:, constant] == (X - scaling.keep()[1]["center"])[:, constant]).all()


def test_nothing_is_scaled_by_default():
    X, _ = in_units()
    assert FeatureScaling().scaled(X, ("x", "y")) is X
    assert FeatureScaling().keep() == ({}, {})


@pytest.mark.parametrize("scale", LEARNING)
def test_a_watch_reads_scaled_samples(scale, folder):
    X, labels = in_units()
    write_samples("s.csv", X, labels.tolist())
    typed = ["s.csv", "--labels", "c", "--indices", "CH", "--scale", scale, "--batch", "100"]
    result = watch(*typed, "--trace", "t.csv")
    assert result.exit_code == 0, result.output
    scaling = FeatureScaling(scale)
    scaled = np.vstack([scaling.scaled(part, ("x", "y")) for part in (X[:100], X[100:])])
    assert_same(read_trace("t.csv"), icvi.Tracker(["CH"]).update_many(scaled, labels))
    readings = list(icvi.watch((X, labels), indices="CH", scale=scale, batch=100))
    assert readings[-1]["CH"] == read_trace("t.csv")["CH"][-1]


def test_a_scale_is_learnt_from_another_file(folder):
    X, labels = in_units()
    write_samples("s.csv", X[100:], labels[100:].tolist())
    write_samples("before.csv", X[:100], labels[:100].tolist())
    arguments = ["--labels", "c", "--indices", "CH", "--scale-from", "before.csv"]
    assert watch("s.csv", *arguments, "--trace", "t.csv").exit_code == 0
    scaling = FeatureScaling("standard")
    scaling.scaled(X[:100], ("x", "y"))
    expected = icvi.Tracker(["CH"]).update_many(scaling.scaled(X[100:], ("x", "y")), labels[100:])
    assert_same(read_trace("t.csv"), expected)
    (folder / "other.csv").write_text("a,c\n1,2\n")
    message = watch("s.csv", *arguments[:-1], "other.csv").stderr
    assert "other.csv has no column 'x'; it has 'a', 'c'" in message
    (folder / "none.csv").write_text("x,y\n")
    message = watch("s.csv", *arguments[:-1], "none.csv").stderr
    assert "none.csv has no samples to learn the scale from" in message


def test_a_scale_that_is_none_of_ours_is_refused():
    X, labels = in_units()
    with pytest.raises(ValueError, match=r"expected scale to be .*'standard'.* got 'log'"):
        icvi.watch((X, labels), scale="log")
    with pytest.raises(ValueError, match="scale_from needs a scale: 'standard', 'minmax'"):
        icvi.watch((X, labels), scale_from="a.csv")


RESUMED = {
    "labels": ["--labels", "c", "--scale", "robust"],
    "art": ["--clusterer", "art", "--columns", "x,y", "--scale", "standard"],
    "bounds by name": ["--clusterer", "smart", "--columns", "x,y", "--bounds", "y=-9:9"],
    "kmeans": ["--clusterer", "kmeans", "--columns", "x,y", "--scale", "minmax"],
}


@pytest.mark.parametrize("case", RESUMED)
def test_a_watch_resumes_with_what_it_has_learnt(case, folder):
    X, labels = in_units(400)
    typed = [*RESUMED[case], "--indices", "CH", "--batch", "100", "--trace"]
    write_samples("s.csv", X, labels.tolist())
    whole = watch("s.csv", *typed, "whole.csv")
    assert whole.exit_code == 0, whole.output
    # The first 200 rows, and a line that stops the watch.
    lines = (folder / "s.csv").read_bytes().splitlines(keepends=True)
    (folder / "s.csv").write_bytes(b"".join(lines[:201]) + b"oops\n")
    kept = [*typed, "t.csv", "--checkpoint", "kept"]
    stopped = watch("s.csv", *kept)
    assert stopped.exit_code == 1
    (folder / "s.csv").write_bytes(b"".join(lines))
    resumed = watch("s.csv", *kept)
    assert resumed.exit_code == 0, resumed.output
    assert (folder / "t.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    if "--scale" in typed:
        other = [word if word not in SCALES else "none" for word in kept]
        refused = watch("s.csv", *other)
        assert "is the checkpoint of a watch with other settings: scale was" in refused.stderr


@pytest.mark.parametrize("clusterer", ["kmeans", "clustream", "streamkmeans"])
def test_the_same_command_gives_the_same_trace(clusterer, folder):
    if clusterer != "kmeans":
        pytest.importorskip("river")
    X, labels = samples(300, k=6)
    write_samples("s.csv", X, labels.tolist())
    for name in ("1.csv", "2.csv", "3.csv"):
        seed = ["--seed", "3"] if name == "3.csv" else []
        typed = ["s.csv", "--clusterer", clusterer, "--columns", "x,y", "--indices", "CH"]
        assert watch(*typed, *seed, "--trace", name, "--overwrite").exit_code == 0
    one, two, three = ((folder / f"{n}.csv").read_bytes() for n in (1, 2, 3))
    assert one == two
    assert one != three


def test_a_checkpoint_written_without_a_seed_resumes(folder):
    X, labels = samples(300)
    write_samples("s.csv", X, labels.tolist())
    typed = ["s.csv", "--clusterer", "kmeans", "--columns", "x,y", "--indices", "CH", "--batch"]
    typed += ["100", "--checkpoint", "kept", "--trace", "t.csv"]
    assert watch(*typed, "--param", "random_state=null").exit_code == 0
    with (folder / "s.csv").open("a") as file:
        file.write("1,2,0\n" * 100)
    assert watch(*typed, "--seed", "1").exit_code == 1
    resumed = watch(*typed)
    assert resumed.exit_code == 0, resumed.output
    assert len(read_trace("t.csv")["sample"]) == 400


# -- bounds by name ------------------------------------------------------------------------


def test_bounds_by_name_are_those_of_the_model(folder):
    X, labels = in_units()
    write_samples("s.csv", X, labels.tolist())
    typed = ["s.csv", "--clusterer", "art", "--columns", "x,y", "--indices", "CH", "--batch", "50"]
    bounds = ["--bounds", "y=-10:10", "--bounds", "x=-1e4:1e4"]
    result = watch(*typed, *bounds, "--trace", "t.csv")
    assert "takes the bounds" not in result.stderr
    art = icvi.FuzzyART(bounds=([-1e4, -10.0], [1e4, 10.0])).fit(X)
    assert read_trace("t.csv")["label"] == art.labels_.tolist()
    result = watch(*typed, *bounds[:2], "--trace", "t.csv", "--overwrite")
    assert "FuzzyART takes the bounds of the other features from the first 50" in result.stderr
    low, high = X[:50, 0].min(), X[:50, 0].max()
    art = icvi.FuzzyART(bounds=([low, -10.0], [high, 10.0])).fit(X)
    assert read_trace("t.csv")["label"] == art.labels_.tolist()
    readings = [*icvi.watch(X, icvi.FuzzyART(), "CH", bounds={"x2": (-10, 10)}, batch=50)]
    assert [reading.label for reading in readings] == art.labels_.tolist()


def test_bounds_of_what_is_no_feature_are_refused(folder):
    X, labels = in_units()
    write_samples("s.csv", X, labels.tolist())
    typed = ["s.csv", "--clusterer", "art", "--columns", "x,y", "--indices", "CH"]
    message = watch(*typed, "--bounds", "yy=0:1").stderr
    assert (
        "there are bounds for 'yy', which is no feature, did you mean 'y'?; expected one of"
        in message
    )
    with pytest.raises(ValueError, match=r"bounds by name, such as .* are for FuzzyART"):
        icvi.watch((X, labels), bounds={"x1": (0, 1)})
    with pytest.raises(ValueError, match="FuzzyART has bounds; leave out those by name"):
        icvi.watch(X, icvi.FuzzyART(bounds=(0, 1)), bounds={"x1": (0, 1)})
    with pytest.raises(ValueError, match="expected finite bounds of 'x1' with low <= high"):
        icvi.watch(X, icvi.FuzzyART(), bounds={"x1": (1, 0)})


def test_art_says_where_its_bounds_come_from_and_warns_while_it_clips():
    X = np.linspace(0.0, 10.0, 1000).reshape(-1, 1)
    watched = icvi.watch(X, icvi.FuzzyART(), "CH", batch=100, rows=100, insight=False)
    said = []
    watched.on_note(said.append)
    watched.on_warning(lambda text: said.append((watched.seen, text)))
    watched.run()
    assert said[0].startswith("FuzzyART takes the bounds of the features from the first 100")
    warned = [each for each in said if isinstance(each, tuple) and "clipped" in each[1]]
    # The share of clipped samples passes 0, 1, 5 and 25 % at once: half of 200 are clipped.
    assert [seen for seen, _ in warned] == [200]
    assert warned[0][1].startswith("100 of 200 samples so far (50 %) lay outside the bounds of the")
    assert watched.warnings[0].startswith(
        "900 of 1,000 samples lay outside the bounds of the first"
    )


def test_a_growing_share_of_clipped_samples_is_reported_again():
    X = np.zeros((10_000, 1))
    X[50] = 1.0
    X[150] = X[1000:1200] = X[9000:] = 2.0
    watched = icvi.watch(X, icvi.FuzzyART(), "CH", batch=100, rows=100, insight=False)
    warned = []
    watched.on_warning(lambda text: warned.append((watched.seen, text)))
    watched.run()
    clipped = [(seen, text.partition(" lay ")[0]) for seen, text in warned if "clipped" in text]
    assert clipped == [
        (200, "1 of 200 samples so far (0.5 %)"),
        (1100, "101 of 1,100 samples so far (9.2 %)"),
    ]


# -- a first look --------------------------------------------------------------------------


def looked(X, names=None, **options):
    names = names or tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return FirstLook(scaled=False).take(X, Chosen(names, **options), last=True)


def test_nothing_is_odd_about_ordinary_samples():
    X, _ = samples(300)
    assert looked(X) == []
    assert looked(np.round(X)) == []  # whole numbers throughout


def test_too_few_samples_say_nothing():
    assert looked(np.ones((19, 2))) == []
    assert len(looked(np.ones((20, 2)))) == 1


def test_features_are_named_where_they_are_none():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 1))
    steps = np.cumsum(rng.integers(1, 5, (200, 1)), axis=0)
    (only,) = looked(np.hstack([noise, np.full((200, 6), 3.0)]))
    assert only == (
        "6 features never change in the first 200 samples: 'x2', 'x3', 'x4', 'x5', 'x6' and 1 more"
    )
    found = looked(np.hstack([steps, noise * 200]), ("when", "x"))
    assert found == [
        "feature 'when' only ever increases, like a time or a number of the sample: "
        "exclude=['when'] leaves it out, time='when' takes the times from it"
    ]
    kinds = rng.integers(0, 3, (200, 1))
    assert (
        "feature 'y' has only 3 different values, all whole"
        in looked(np.hstack([noise, kinds]), ("x", "y"))[0]
    )
    assert looked(np.hstack([noise, kinds]), ("x", "y"), named=True) == []


def test_samples_are_gathered_until_there_are_enough():
    look = FirstLook(scaled=True)
    chosen = Chosen(("x", "y"))
    for _ in range(9):
        assert look.take(np.ones((10, 2)), chosen) == []
    assert len(look.take(np.ones((10, 2)), chosen)) == 1
    assert look.take(np.ones((100, 2)), chosen) == []


def test_labels_in_a_table_are_left_out_with_a_warning(folder):
    import pyarrow as pa

    table = pa.table({"x": [0.0, 1.0, 8.0], "target": [0, 0, 1]})
    with pytest.warns(UserWarning, match="column 'target' looks like labels by its name"):
        last = list(icvi.watch(table, icvi.FuzzyART(bounds=(0, 9)), "CH"))[-1]
    assert last.sample == 3
    chosen = Chosen(("x",), left_out={"target": "labels, by its name", "name": "text"})
    assert len(left_out_labels(chosen)) == 1
    json.dumps(chosen.left_out)
