"""ARI and AMI of clusters and known classes."""

from __future__ import annotations

import math
from math import comb, fsum, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

import icvi
from icvi.watching.truth import Agreement
from icvi.watching.truth.mutual_information import expected_information
from watch_inputs import read_trace, samples, watch, write_samples

LABELLINGS = st.integers(1, 80).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 6), min_size=n, max_size=n),
        st.lists(st.sampled_from(["a", "b", "c", 4, 5]), min_size=n, max_size=n),
    )
)


def naive_expectation(a, b):
    """Of the mutual information, by counting tables."""
    n = sum(a)
    return fsum(
        comb(y, m) * comb(n - y, x - m) / comb(n, x) * m / n * log(n * m / (x * y))
        for x in a
        for y in b
        for m in range(max(1, x + y - n), min(x, y) + 1)
    )


def objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def agreed(classes, clusters, cuts=(), every=1):
    """All readings, where the samples come in pieces."""
    agreement, parts = Agreement(every), []
    ends = [*sorted({cut for cut in cuts if cut < len(classes)}), len(classes)]
    for first, stop in zip([0, *ends], ends):
        part = agreement.add(first, np.array(classes[first:stop]), objects(clusters[first:stop]))
        parts.append((part.ari, part.ami, part.curve))
    return agreement, *map(np.concatenate, zip(*parts))


def theirs(classes, clusters):
    """AMI of scikit-learn, whose older versions say 0 where every sample is alone in both."""
    if len({*classes}) == len({*clusters}) == len(classes):
        return 1.0
    return adjusted_mutual_info_score(classes, clusters)


@given(LABELLINGS)
def test_readings_are_those_of_scikit_learn(labellings):
    classes, clusters = labellings
    agreement, ari, ami, _ = agreed(classes, clusters)
    texts = [str(label) for label in clusters]
    for n in range(1, len(classes) + 1):
        assert ari[n - 1] == pytest.approx(adjusted_rand_score(classes[:n], texts[:n]), abs=1e-12)
        if not math.isnan(ami[n - 1]):
            assert ami[n - 1] == pytest.approx(theirs(classes[:n], texts[:n]), abs=1e-10)
    assert agreement.ari == ari[-1]
    assert agreement.ami == pytest.approx(theirs(classes, texts), abs=1e-10)


def test_readings_of_a_longer_stream_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 12, 20_000)
    clusters = np.where(rng.random(20_000) < 0.7, classes // 2, rng.integers(0, 60, 20_000))
    agreement = Agreement()
    for first in range(0, 20_000, 7_000):
        agreement.add(first, classes[first : first + 7_000], clusters[first : first + 7_000])
    assert agreement.ari == pytest.approx(adjusted_rand_score(classes, clusters), abs=1e-12)
    theirs = adjusted_mutual_info_score(classes, clusters)
    assert agreement.ami == pytest.approx(theirs, abs=1e-10)


@given(st.lists(st.integers(1, 12), min_size=2, max_size=6), st.data())
def test_the_expectation_is_that_over_all_tables(a, data):
    n = sum(a)
    cuts = data.draw(st.sets(st.integers(1, n - 1), min_size=1, max_size=5))
    b = np.diff([0, *sorted(cuts), n])
    found = expected_information(np.array(a), b, n)
    assert found == pytest.approx(naive_expectation(a, b.tolist()), rel=1e-12, abs=1e-15)


def test_what_is_left_out_of_the_expectation_is_too_small_to_matter():
    a, b = np.array([3000, 1000, 500]), np.array([4000, 500])
    assert np.sqrt(22.5 * 500) < 500 / 2  # something is left out
    found = expected_information(a, b, 4500)
    assert found == pytest.approx(naive_expectation(a.tolist(), b.tolist()), rel=1e-12)


@given(LABELLINGS, st.lists(st.integers(1, 80), max_size=5), st.integers(1, 7))
def test_readings_do_not_depend_on_how_samples_come(labellings, cuts, every):
    classes, clusters = labellings
    _, *whole = agreed(classes, clusters, every=every)
    _, *parts = agreed(classes, clusters, cuts, every=every)
    np.testing.assert_array_equal(whole, parts)
    assert len(whole[0]) == len(classes) // every
    _, ari, *_ = agreed(classes, clusters)
    np.testing.assert_array_equal(whole[0], ari[every - 1 :: every])


def test_the_ami_is_read_sixteen_times_while_a_stream_doubles():
    classes = np.arange(4096) % 3
    _, _, ami, curve = agreed(classes.tolist(), (classes % 2).tolist())
    read = np.flatnonzero(~np.isnan(ami)) + 1
    assert read[:34].tolist() == [*range(1, 33), 34, 36]
    assert sum((read >= 1024) & (read < 2048)) == 16
    assert not np.isnan(curve).any()
    assert curve[-10] == ami[read[-2] - 1]


@given(LABELLINGS, st.integers(0, 80))
def test_a_comparison_resumes_where_it_was(labellings, cut):
    classes, clusters = labellings
    agreement, *_ = agreed(classes[:cut], clusters[:cut])
    twin = Agreement()
    twin.resume(*agreement.keep())
    rest = np.array(classes[cut:], dtype=int), objects(clusters[cut:])
    one, other = agreement.add(cut, *rest), twin.add(cut, *rest)
    for name in ("ari", "ami", "curve"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_equal(twin.values, agreement.values)


# -- in a watch ----------------------------------------------------------------------------


@pytest.fixture
def data():
    X, labels = samples(400)
    return X, labels % 3, np.array([f"class {label}" for label in labels], dtype=object)


def same_as_scikit_learn(columns, truth):
    label = [str(each) for each in columns["label"]]
    for n in (1, 50, 233, len(label)):
        expected = adjusted_rand_score(truth[:n], label[:n])
        assert columns["ARI"][n - 1] == pytest.approx(expected, abs=1e-12)
    assert columns["AMI"][63] == pytest.approx(adjusted_mutual_info_score(truth[:64], label[:64]))
    assert math.isnan(columns["AMI"][64])


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
def test_a_column_of_classes_gives_two_columns_of_the_trace(data, ending, tmp_path):
    X, labels, truth = data
    source = write_samples(tmp_path / f"s.{ending}", X, labels.tolist(), known=truth.tolist())
    trace = tmp_path / f"t.{ending}"
    watched = icvi.watch(source, indices=["CH"], label="c", truth="known", trace=trace).run()
    assert watched.source.columns == ("x", "y")
    columns = read_trace(trace)
    assert list(columns) == ["sample", "label", "k", "CH", "ARI", "AMI"]
    same_as_scikit_learn(columns, truth.tolist())
    ami = adjusted_mutual_info_score(truth.tolist(), labels)
    assert watched.agreement["AMI"] == pytest.approx(ami)


def test_classes_may_be_given_beside_the_samples(data):
    X, labels, truth = data
    readings = list(icvi.watch((X, labels), indices=["CH"], truth=truth))
    columns = {"label": [reading.label for reading in readings]}
    columns |= {name: [reading[name] for reading in readings] for name in ("ARI", "AMI")}
    same_as_scikit_learn(columns, truth.tolist())
    assert list(readings[-1].values) == ["CH", "ARI", "AMI"]
    assert readings[64].why("AMI") == "not_read"
    assert readings[63].why("AMI") is readings[64].why("ARI") is None
    whole = np.column_stack([X, labels, labels % 2])
    last = [*icvi.watch(whole, indices=["CH"], columns=[0, 1], label=2, truth=3)][-1]
    assert last["ARI"] == pytest.approx(adjusted_rand_score(labels % 2, labels))


def test_samples_without_a_cluster_count_as_one_more_cluster(data):
    X, labels, truth = data
    watched = icvi.watch((X, labels), indices=["CH"], truth=truth, noise_label=2).run()
    assert watched.tracker.n_clusters == 2
    expected = adjusted_rand_score(truth.tolist(), labels)
    assert watched.agreement["ARI"] == pytest.approx(expected)


def test_the_comparison_is_part_of_the_checkpoint(data, tmp_path):
    X, labels, truth = data
    options = {"indices": ["CH"], "truth": truth, "rows": 64}
    icvi.watch((X, labels), **options, trace=tmp_path / "whole.csv").run()
    options |= {"trace": tmp_path / "t.csv", "checkpoint": tmp_path / "kept"}
    watched = icvi.watch((X, labels), **options)
    for _ in zip(range(7), watched.steps()):
        pass
    watched.close()
    watched = icvi.watch((X, labels), **options).run()
    assert 0 < watched.resumed < 400
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    with pytest.raises(ValueError, match=r"truth was 400 classes, checksum \w+ and is not set"):
        icvi.watch((X, labels), **{**options, "truth": None}).run()


def test_what_cannot_be_compared_is_refused(data, tmp_path):
    X, labels, truth = data
    for forgets in ({"window": 50}, {"half_life": 50}):
        with pytest.raises(ValueError, match="compares all samples so far"):
            icvi.watch((X, labels), truth=truth, **forgets)
    with pytest.raises(ValueError, match="so no row can be skipped"):
        icvi.watch((X, labels), truth=truth, bad_rows="skip")
    with pytest.raises(ValueError, match="got 399, and the stream has more samples"):
        icvi.watch((X, labels), indices=["CH"], truth=truth[:399]).run()
    with pytest.raises(TypeError, match="or as one class per sample: "):
        icvi.watch((X, labels), truth=[[1], [2]])
    source = write_samples(tmp_path / "s.csv", X, labels.tolist())
    with pytest.raises(ValueError, match="expected different columns for label and truth: 'c'"):
        icvi.watch(source, label="c", truth="c").run()
    with pytest.raises(ValueError, match="column 'x' cannot be both a feature and the truth"):
        icvi.watch(source, label="c", truth="x", columns=["x", "y"]).run()
    many = np.arange(6000)
    with pytest.raises(ValueError, match=r"different classes in .* samples: truth"):
        icvi.watch((np.zeros((6000, 1)), many % 2), indices=["CH"], truth=many).run()

    @icvi.index(direction="max")
    def AMI(state):
        return 0.0

    with pytest.raises(ValueError, match="an index is called AMI, and so is what truth adds"):
        icvi.watch((X, labels), indices=[AMI], truth=truth)


def test_the_command_shows_the_agreement_at_the_end(data, tmp_path):
    X, labels, truth = data
    source = write_samples(tmp_path / "s.csv", X, labels.tolist(), known=truth.tolist())
    result = watch(source, "--labels", "c", "--indices", "CH", "--truth", "known")
    assert result.exit_code == 0
    ami = adjusted_mutual_info_score(truth.tolist(), labels)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["AMI", f"{ami:.6g}", "larger"] in [row[:3] for row in rows]
    assert [row[0] for row in rows[-3:]] == ["CH", "ARI", "AMI"]
    result = watch(source, "--labels", "c", "--truth", "known", "--window", "50")
    assert "--truth compares all samples so far" in result.stderr
