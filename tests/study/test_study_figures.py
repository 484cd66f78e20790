"""Figures show what they should, are not blank, and come out the same every time."""

import matplotlib.image
import numpy as np
import pytest

from icvi.datasets import GENERATORS, DataSet, normalised
from icvi.study import figures
from icvi.study.batch_conn import Comparison, compare
from icvi.study.experiment import INDICES, run
from icvi.study.scenarios import PAPER, SCENARIOS, Scenario
from icvi.study.tasks import final_readings


@pytest.fixture(scope="module")
def experiment():
    scenario = SCENARIOS["unequal_correct"]
    return run(scenario, normalised(GENERATORS["unequal"](0)), 1)


@pytest.fixture(scope="module")
def page(experiment):
    return figures.draw_scenario(experiment)


def curves(page):
    """Axes of the ten curves with their twins, by the name on the axis."""
    found = {axes.get_ylabel().split()[0]: axes for axes in page.axes if axes.get_ylabel()}
    return {name: axes for name, axes in found.items() if name not in ("x2", "k", "principal")}


def is_blank(path):
    pixels = matplotlib.image.imread(path)[..., :3]
    return len(np.unique(pixels.reshape(-1, 3), axis=0)) < 20


def test_a_page_has_ten_curves_from_the_second_cluster_on(page, experiment):
    found = curves(page)
    assert len(found) == len(INDICES)
    first = int(np.argmax(experiment.trace.k >= 2))
    line = found["CH"].lines[-1]
    np.testing.assert_array_equal(line.get_xdata(), experiment.trace.samples[first:])
    np.testing.assert_array_equal(line.get_ydata(), experiment.trace["CH"][first:])
    assert found["CH"].get_xlim()[0] == experiment.trace.samples[first]


def test_dashed_lines_stand_where_true_clusters_begin(page, experiment):
    lines = [x for x in curves(page)["SIL"].lines if x.get_linestyle() == "--"]
    first = experiment.trace.samples[int(np.argmax(experiment.trace.k >= 2))]
    expected = [change for change in experiment.changes if change >= first]
    assert [line.get_xdata()[0] for line in lines] == expected


def test_the_number_of_clusters_is_below_the_curves_of_each_column(page, experiment):
    found = [axes for axes in page.axes if axes.get_ylabel() == "k"]
    assert len(found) == 2
    first = int(np.argmax(experiment.trace.k >= 2))
    for axes in found:
        np.testing.assert_array_equal(axes.lines[-1].get_ydata(), experiment.trace.k[first:])


def test_partitions_of_the_same_data_have_the_same_scales(experiment):
    data = normalised(GENERATORS["unequal"](0))
    coarse = run(SCENARIOS["unequal_under"], data, 1)
    one = curves(figures.draw_scenario(experiment, [coarse]))
    two = curves(figures.draw_scenario(coarse, [experiment]))
    for name in INDICES:
        assert one[name].get_ylim() == two[name].get_ylim()
        assert one[name].get_yscale() == two[name].get_yscale()
        low, high = one[name].get_ylim()
        for each in (experiment, coarse):
            values = each.trace[name][int(np.argmax(each.trace.k >= 2)) :]
            values = values[np.isfinite(values)]
            assert values.max() < high
            # A logarithmic axis leaves out what is close to underflow.
            assert low < values.min() or one[name].get_yscale() == "log"


def test_files_are_not_blank_and_the_same_twice(tmp_path, experiment):
    one = figures.save(figures.draw_scenario(experiment), tmp_path / "one")
    two = figures.save(figures.draw_scenario(experiment), tmp_path / "two")
    assert [path.suffix for path in one] == [".png", ".pdf"]
    assert not is_blank(one[0])
    for a, b in zip(one, two, strict=True):
        assert a.read_bytes() == b.read_bytes()


@pytest.mark.parametrize("data", ["eight", "one cluster"])
def test_other_data_make_a_page_too(tmp_path, data):
    if data == "eight":
        scenario = SCENARIOS["eight_over"]
        found = run(scenario, normalised(GENERATORS["eight"](0)), 0)
        assert "principal axis 1" in [a.get_xlabel() for a in figures.draw_scenario(found).axes]
    else:
        X = np.random.default_rng(0).random((30, 2))
        lonely = DataSet(X, np.zeros(30, dtype=np.int64))
        found = run(Scenario("one", "d4", "under", 0.0), lonely, 0)
        assert found.n_clusters == 1
    assert not is_blank(figures.save(figures.draw_scenario(found), tmp_path / "page")[0])


def test_orders_have_a_panel_each_with_numbered_clusters(experiment, tmp_path):
    figure = figures.draw_orders([experiment] * 3)
    shown = [axes for axes in figure.axes if axes.get_title()]
    assert len(shown) == 3
    assert [text.get_text() for text in shown[0].texts] == ["1", "2", "3", "4", "5"]
    assert not is_blank(figures.save(figure, tmp_path / "orders")[0])


def test_comparisons_show_both_curves_their_difference_and_the_sweep(experiment, tmp_path):
    comparison = compare(experiment, every=50)
    sweep = [
        {"rho_a": 0.7, "correlation": 0.9, "mse": 0.1},
        {"rho_a": 0.9, "correlation": None, "mse": 0.2},
    ]
    figure = figures.draw_comparison([experiment] * 2, [comparison] * 2, [sweep] * 2)
    assert len(figure.axes) == 8
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert {"batch", "incremental"} <= set(labels)
    error = next(x for x in figure.axes[2].lines if len(x.get_xdata()) == len(comparison.samples))
    np.testing.assert_array_equal(error.get_ydata(), comparison.error)
    assert not is_blank(figures.save(figure, tmp_path / "comparison")[0])


def points(axes):
    return [line.get_ydata().tolist() for line in axes.lines if line.get_marker() == "o"]


def test_of_a_few_orders_each_is_a_point(experiment):
    one = {"ari": 0.9, "n_clusters": 5, "final": final_readings(experiment)}
    other = {**one, "ari": 0.8, "final": {**one["final"], "CH": None}}
    results = {scenario.name: [one, other, one] for scenario in PAPER}
    figure = figures.draw_distributions(results)
    assert [axes.get_title().split()[0] for axes in figure.axes[2:]] == list(INDICES)
    assert points(figure.axes[0]) == [[0.8, 0.9, 0.9]] * len(PAPER)
    assert not figure.axes[0].patches
    (at,) = [place for place, name in enumerate(INDICES) if name == "CH"]
    assert points(figure.axes[2 + at]) == [[one["final"]["CH"]] * 2] * len(PAPER)


def test_a_few_vigilances_are_dots_without_a_line(experiment):
    comparison = compare(experiment, every=50)
    for n, style in ((3, "None"), (9, "-")):
        sweep = [{"rho_a": 0.1 * i, "correlation": 0.9, "mse": 0.1} for i in range(n)]
        figure = figures.draw_comparison([experiment], [comparison], [sweep])
        assert figure.axes[2].lines[0].get_linestyle() == style
        assert figure.axes[2].lines[0].get_marker() == "o"


def test_distributions_have_a_box_per_scenario_and_panel(experiment, tmp_path):
    one = {"ari": 0.9, "n_clusters": 5, "final": final_readings(experiment)}
    other = {**one, "ari": 0.8, "final": {**one["final"], "CH": None}}
    results = {scenario.name: [one, other, one] * 7 for scenario in PAPER}
    figure = figures.draw_distributions(results)
    assert len(figure.axes) == 2 + len(INDICES)
    assert len(figure.axes[0].patches) == len(PAPER)
    stars = [line for line in figure.axes[0].lines if line.get_marker() == "*"]
    assert sorted(line.get_ydata()[0] for line in stars) == sorted(s.paper_ari for s in PAPER)
    assert not is_blank(figures.save(figure, tmp_path / "distributions")[0])


def test_the_error_of_equal_curves_is_zero():
    same = Comparison(np.arange(1, 4), np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3]))
    assert same.mse == 0.0
    assert same.correlation == pytest.approx(1.0)
    assert np.isnan(Comparison(np.arange(2), np.ones(2), np.ones(2)).correlation)
