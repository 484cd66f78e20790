"""A trace is a table of readings that can be looked at, exported and drawn."""

import csv
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import icvi
from icvi.plots.traces import plot_traces

INDICES = ["CH", "XB", icvi.I(p=1)]
NAMES = ["CH", "XB", "I(p=1)"]
LABELS = ["a", "a", "b", "b", "a", "c"]
X = [[0.0, 0.0], [1.0, 0.0], [8.0, 8.0], [8.0, 9.0], [0.0, 1.0], [4.0, 0.0]]


def trace_of(labels=LABELS, indices=INDICES, every=1, **options):
    return icvi.Tracker(indices, **options).update_many(X, labels, every=every)


@pytest.fixture(scope="module")
def trace():
    return trace_of()


# -- what it holds -----------------------------------------------------------------------------


def test_columns_hold_the_reading_after_every_sample(trace):
    t = icvi.Tracker(INDICES)
    for i, (x, label) in enumerate(zip(X, LABELS, strict=True)):
        t.update(x, label)
        for name in NAMES:
            assert trace[name][i] == pytest.approx(t[name], nan_ok=True, rel=1e-14)


def test_a_column_is_an_array_of_floats(trace):
    for name in NAMES:
        assert isinstance(trace[name], np.ndarray)
        assert trace[name].dtype == np.float64
        assert trace[name].shape == (6,)


def test_it_knows_clusters_labels_and_samples_of_every_row(trace):
    assert trace.k.tolist() == [1, 1, 2, 2, 2, 3]
    assert trace.labels.tolist() == LABELS
    assert trace.samples.tolist() == [1, 2, 3, 4, 5, 6]
    assert trace.k.dtype.kind == trace.samples.dtype.kind == "i"


def test_rows_of_every_second_sample_name_the_sample_before_the_reading():
    trace = trace_of(every=2)
    assert trace.samples.tolist() == [2, 4, 6]
    assert trace.labels.tolist() == ["a", "b", "c"]
    assert trace.k.tolist() == [1, 2, 3]


def test_samples_are_counted_over_the_whole_stream():
    t = icvi.Tracker("CH")
    t.update_many(X, LABELS)
    t.update(X[0], "a")
    assert t.update_many(X, LABELS).samples.tolist() == [8, 9, 10, 11, 12, 13]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([0, 0, 1, 1, 0, -5], "i"), (np.array(LABELS), "U"), ([0.5, 0.5, 1, 1, 0.5, 2], "O")],
)
def test_labels_keep_their_kind(labels, kind):
    trace = trace_of(labels)
    assert trace.labels.dtype.kind == kind
    assert trace.labels.tolist() == list(labels)


@pytest.mark.parametrize("labels", [[(0, 1), (0, 1), (1, 0), None, (0, 1), "c"]])
def test_labels_of_any_type_stay_what_they_are(labels):
    assert trace_of(labels).labels.tolist() == labels


def test_its_length_is_the_number_of_readings(trace):
    assert len(trace) == 6
    assert len(trace_of(every=4)) == 1
    assert len(trace_of(every=7)) == 0


def test_it_contains_and_iterates_over_the_names(trace):
    assert list(trace) == trace.names == NAMES
    assert "CH" in trace
    assert "DB" not in trace
    assert dict.fromkeys(trace).keys() == {*NAMES}


def test_a_column_is_found_by_object(trace):
    np.testing.assert_array_equal(trace[icvi.I(p=1)], trace["I(p=1)"])


def test_it_says_why_readings_are_undefined(trace):
    assert trace.why("CH") == ["k<2", "k<2", None, None, None, None]
    assert trace.why(icvi.I(p=1)) == trace.why("CH")
    nan = [math.isnan(value) for value in trace["XB"]]
    assert nan == [reason is not None for reason in trace.why("XB")]


def test_it_says_which_direction_is_better(trace):
    assert [trace.direction(name) for name in NAMES] == ["max", "min", "max"]
    assert trace.direction(icvi.I(p=1)) == "max"


@pytest.mark.parametrize("look", ["__getitem__", "why", "direction"])
@pytest.mark.parametrize("name", ["DB", "ch", icvi.I(p=3)])
def test_a_column_that_is_not_there_says_which_are(trace, look, name):
    shown = name if isinstance(name, str) else name.name
    with pytest.raises(KeyError) as error:
        getattr(trace, look)(name)
    assert f"{shown!r} is not in the trace; it holds {NAMES}" in str(error.value.args[0])


def test_its_representation_says_what_it_holds(trace):
    assert repr(trace) == "Trace(6 readings of CH, XB, I(p=1))"


def test_it_is_public():
    assert isinstance(trace_of(), icvi.Trace)


# -- parts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [slice(3), slice(2, 5), slice(-2, None), slice(None, None, 2)])
def test_a_part_has_the_readings_of_its_rows(trace, rows):
    part = trace[rows]
    assert isinstance(part, icvi.Trace)
    assert part.names == trace.names
    for name in NAMES:
        np.testing.assert_array_equal(part[name], trace[name][rows])
        assert part.why(name) == trace.why(name)[rows]
    for column in ("k", "samples", "labels"):
        np.testing.assert_array_equal(getattr(part, column), getattr(trace, column)[rows])


def test_a_part_is_a_copy():
    trace = trace_of()
    trace[:2].k[:] = 7
    assert trace.k.tolist() == [1, 1, 2, 2, 2, 3]


def test_parts_that_lie_side_by_side_share_the_alarms_between_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2)) + 9.0 * (np.arange(800) % 2)[:, None]
    trace = icvi.Tracker("CH", insight=True).update_many(X, np.zeros(800, dtype=int), every=7)
    assert trace.alarms
    found = [alarm for cut in range(0, len(trace), 3) for alarm in trace[cut : cut + 3].alarms]
    assert found == trace.alarms
    assert trace[5:5].alarms == []


def test_a_part_that_goes_backwards_is_refused(trace):
    with pytest.raises(ValueError, match="expected a slice that goes forward"):
        trace[::-1]


# -- tables ------------------------------------------------------------------------------------


def test_a_frame_has_a_row_per_reading(trace):
    frame = trace.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["sample", "label", "k", *NAMES]
    assert frame["sample"].tolist() == trace.samples.tolist()
    assert frame["label"].tolist() == LABELS
    assert frame["k"].tolist() == trace.k.tolist()
    for name in NAMES:
        np.testing.assert_array_equal(frame[name], trace[name])


def test_an_arrow_table_has_a_row_per_reading(trace):
    table = trace.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.column_names == ["sample", "label", "k", *NAMES]
    assert table["sample"].to_pylist() == trace.samples.tolist()
    assert table["label"].to_pylist() == LABELS
    assert table["k"].to_pylist() == trace.k.tolist()
    for name in NAMES:
        np.testing.assert_array_equal(table[name].to_numpy(), trace[name])


TABLE_LABELS = {
    "integers": [0, 0, 1, 1, 0, 2],
    "floats": [0.5, 0.5, 1.5, 1.5, 0.5, 2.5],
    "an array": np.array([3, 3, 1, 1, 3, 2]),
    "tuples": [(0, 1), (0, 1), (1, 0), (1, 0), (0, 1), (2, 2)],
    "with None": ["a", "a", None, None, "a", "b"],
    "mixed types": [0, 0, "b", "b", 0, (1, 2)],
}


@pytest.mark.parametrize("labels", TABLE_LABELS.values(), ids=TABLE_LABELS)
def test_tables_can_be_made_whatever_the_labels_are(labels):
    trace = trace_of(labels)
    assert trace.to_pandas()["label"].shape == (6,)
    assert trace.to_arrow().num_rows == 6


def test_tables_of_no_readings_have_the_columns_all_the_same():
    trace = trace_of(every=10)
    assert list(trace.to_pandas().columns) == trace.to_arrow().column_names
    assert len(trace.to_pandas()) == trace.to_arrow().num_rows == 0


def test_tables_show_undefined_readings_as_the_tracker_treats_them():
    flat = np.repeat(np.eye(2), 3, axis=0)  # both clusters are single points
    limit = icvi.Tracker("CH", undefined="limit").update_many(flat, [0, 0, 0, 1, 1, 1])
    assert limit.to_pandas()["CH"].tolist()[3:] == [math.inf] * 3
    assert limit.to_arrow()["CH"].to_pylist()[3:] == [math.inf] * 3


# -- pictures ----------------------------------------------------------------------------------


def test_a_csv_file_reads_back_to_the_last_bit(tmp_path):
    labels = ["a,b", 'quo"te', "a,b", "", 'quo"te', "a,b"]
    trace = trace_of(labels, indices=["CH", "XB", "WB"], undefined="limit")
    trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["sample", "label", "k", "CH", "XB", "WB"]
    samples, found, k, *values = zip(*rows, strict=True)
    assert [*map(int, samples)] == trace.samples.tolist()
    assert list(found) == labels
    assert [*map(int, k)] == trace.k.tolist()
    for name, column in zip(("CH", "XB", "WB"), values, strict=True):
        read = [float(text) if text else math.nan for text in column]
        np.testing.assert_array_equal(read, trace[name])


def test_undefined_readings_are_empty_fields(trace, tmp_path):
    trace.to_csv(tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_text().splitlines()[:2] == [
        "sample,label,k,CH,XB,I(p=1)",
        "1,a,1,,,",
    ]


def test_a_csv_file_that_cannot_be_written_leaves_the_old_one(trace, tmp_path, monkeypatch):
    path = tmp_path / "trace.csv"
    path.write_text("old")

    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("icvi.files.os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        trace.to_csv(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["trace.csv"]


def panels(figure):
    """The axes that show an index; the last shows the number of clusters."""
    return [axes for axes in figure.axes if axes.get_ylabel() not in ("", "clusters")]


def curve(axes):
    """The line of an index, which is the last one drawn."""
    return axes.get_lines()[-1]


def marks(axes):
    """Where red ticks below an axis are."""
    (line,) = [line for line in axes.get_lines() if line.get_gid() == "new clusters"]
    assert not line.get_clip_on()
    return line.get_xdata().tolist()


def test_a_plot_has_a_panel_per_index_and_one_for_the_number_of_clusters(trace):
    figure = trace.plot()
    assert isinstance(figure, Figure)
    assert [axes.get_ylabel() for axes in panels(figure)] == ["CH ↑", "XB ↓", "I(p=1) ↑"]
    *_, clusters = figure.axes
    assert len(figure.axes) == len(NAMES) + 1
    assert clusters.get_ylabel() == "clusters"
    np.testing.assert_array_equal(curve(clusters).get_ydata(), trace.k)


def test_a_plot_shows_the_readings(trace):
    for axes, name in zip(panels(trace.plot()), NAMES, strict=True):
        np.testing.assert_array_equal(curve(axes).get_xdata(), trace.samples)
        np.testing.assert_array_equal(curve(axes).get_ydata(), trace[name])


def test_new_clusters_are_ticks_below_every_axis(trace):
    for axes in trace.plot().axes:
        assert marks(axes) == [1, 3, 6]


def test_a_plot_shows_the_indices_that_are_asked_for(trace):
    figure = trace.plot(names=["XB"])
    assert [axes.get_ylabel() for axes in panels(figure)] == ["XB ↓"]
    with pytest.raises(KeyError, match="DB"):
        trace.plot(names=["DB"])


def test_a_plot_marks_changes_with_lines(trace):
    plain, marked = trace.plot(), trace.plot(changes=[2, 5])
    for before, axes in zip(panels(plain), panels(marked), strict=True):
        assert len(axes.get_lines()) == len(before.get_lines()) + 2


def test_traces_are_drawn_side_by_side(trace):
    figure = plot_traces({"good": trace, "bad": trace_of([*"abcabc"])})
    assert len(figure.axes) == 2 * (len(NAMES) + 1)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["good", "bad"]


def test_a_plot_of_a_bounded_index_shows_its_whole_scale():
    (axes,) = panels(trace_of(indices=["SIL"]).plot())
    assert axes.get_ylim() == pytest.approx((-1.16, 1.16))
    assert trace_of(indices=["SIL"]).range("SIL") == (-1.0, 1.0)


def test_a_flat_curve_looks_flat_in_a_plot():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 50.0 * labels[:, None]
    trace = icvi.Tracker(["PS"]).update_many(X, labels)
    late = icvi.Tracker(["PS"])
    late.update_many(X, labels)
    flat = late.update_many(X[:4], labels[:4])
    (axes,) = panels(flat.plot())
    low, high = axes.get_ylim()
    assert high - low >= 0.1 * abs(trace["PS"][-1])
    assert np.ptp(flat["PS"]) < 0.2 * (high - low)


def test_an_index_that_cannot_be_negative_is_drawn_from_zero_on():
    (axes,) = panels(trace_of(indices=["XB"]).plot())
    low, high = axes.get_ylim()
    assert low < 0.0 < high
    assert -low < 0.1 * high


PICTURES = {
    "the paper's indices": lambda: trace_of(indices="paper"),
    "one index": lambda: trace_of(indices="CH"),
    "undefined readings alone": lambda: trace_of([0] * 6, indices="CH"),
    "infinite limits": lambda: trace_of(range(6), indices=["GD43"], undefined="limit"),
    "one reading": lambda: trace_of(every=6),
    "no readings": lambda: trace_of(every=10),
    "noise alone": lambda: trace_of([-1] * 6, noise_label=-1),
}


@pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES)
def test_a_plot_can_be_saved_as_a_picture(make, tmp_path):
    path = tmp_path / "trace.png"
    make().plot().savefig(path, dpi=40)
    assert path.read_bytes().startswith(b"\x89PNG\r\n")
