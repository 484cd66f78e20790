"""The study from one command: whole, the same every time, and resumed after a stop."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import processes
from icvi.cli.main import main
from icvi.datasets import GENERATORS, normalised, presented, read_csv
from icvi.study.batch_conn import compare
from icvi.study.drawing import draw
from icvi.study.experiment import INDICES, find_order, rand_index, run
from icvi.study.figures import draw_scenario
from icvi.study.scenarios import BEYOND, PAPER, SCENARIOS
from icvi.study.tasks import (
    Settings,
    largest_differences,
    run_orders,
    run_shown_order,
    run_sweep_point,
    search_order,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"
QUICK = ["study", "--quick", "--orders", "2"]


def files(folder):
    """Name and digest of every file of a study."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
    }


def icvi(*arguments):
    return processes.run(
        [sys.executable, "-m", "icvi", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=3 * processes.PATIENCE,
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "out"
    result = icvi(*QUICK, "--out", folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"open {folder / 'report.html'}\n"
    assert result.stderr == ""  # no bar where there is no terminal
    return folder


# -- scenarios ---------------------------------------------------------------------------------


def test_the_scenarios_of_the_paper_have_its_vigilances():
    assert {s.name: (s.rho_b, s.rho_a, s.paper_ari) for s in PAPER} == {
        "r15_correct": (0.88, 0.9, 0.9821),
        "r15_under": (0.61, 0.9, 0.2371),
        "d4_correct": (0.69, 0.9, 1.0),
        "d4_over": (0.80, 0.9, 0.9315),
    }
    assert {s.data for s in BEYOND} == {"overlapping", "unequal", "eight"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_vigilance_leads_to_what_the_scenario_is_named_for(name):
    scenario = SCENARIOS[name]
    data = normalised(GENERATORS[scenario.data](0))
    true = len(np.unique(data.labels))
    found = [run(scenario, data, seed) for seed in range(4)]
    k = np.median([e.n_clusters for e in found])
    assert {"under": k < true, "over": k > true, "correct": abs(k - true) <= 1}[scenario.kind]
    if scenario.kind == "correct":
        assert np.median([e.ari for e in found]) > 0.8


def test_an_experiment_watches_all_ten_indices_after_every_sample():
    scenario = SCENARIOS["unequal_under"]
    data = normalised(GENERATORS["unequal"](0))
    e = run(scenario, data, 3)
    X, truth = presented(data, 3)
    np.testing.assert_array_equal(e.X, X)
    np.testing.assert_array_equal(e.truth, truth)
    assert tuple(e.trace.names) == INDICES
    assert len(INDICES) == 10
    assert len(e.trace) == len(X)
    assert e.trace["Conn"][-1] == e.connectivity.value
    np.testing.assert_array_equal(np.flatnonzero(np.diff(truth)) + 1, e.changes)


def test_the_search_takes_the_order_closest_to_the_paper():
    scenario = SCENARIOS["d4_over"]
    data = normalised(GENERATORS["d4"](0))
    seed = find_order(scenario, data, range(25))
    distance = [abs(run(scenario, data, s).ari - scenario.paper_ari) for s in range(25)]
    assert distance[seed] == min(distance)
    assert find_order(SCENARIOS["eight_over"], data, range(7, 9)) == 7


def test_high_quality_has_the_true_number_of_clusters():
    settings = Settings(quick=True)
    scenario = SCENARIOS["r15_correct"]
    e = run(scenario, settings.load(scenario), search_order(settings, scenario))
    assert e.n_clusters == 15
    assert e.ari == pytest.approx(scenario.paper_ari, abs=0.01)


@pytest.mark.parametrize(
    ("name", "within"),
    [("r15_correct", 2e-3), ("r15_under", 5e-5), ("d4_correct", 0.0), ("d4_over", 2e-3)],
)
def test_the_papers_rand_indices_come_out_on_its_data(name, within):
    if not SHARED.exists():
        pytest.skip("the paper's data sets are other people's and not part of this project")
    scenario, settings = SCENARIOS[name], Settings(data=str(SHARED))
    e = run(scenario, settings.load(scenario), search_order(settings, scenario))
    assert e.ari == pytest.approx(scenario.paper_ari, abs=within)


# -- incremental against batch -----------------------------------------------------------------


def test_readings_of_the_stream_are_the_batch_values_to_rounding():
    e = run(SCENARIOS["unequal_over"], normalised(GENERATORS["unequal"](0)), 0)
    differences = largest_differences(e, every=50)
    assert set(differences) == set(INDICES) - {"Conn"}
    assert max(differences.values()) < 1e-9


@pytest.mark.parametrize("undefined", ["stream", "batch"])
def test_a_value_that_only_one_of_the_two_forms_has_is_an_infinite_difference(undefined):
    e = run(SCENARIOS["unequal_over"], normalised(GENERATORS["unequal"](0)), 0)
    curves = {name: e.trace[name].copy() for name in INDICES}
    compared = len(e.X) // 50 * 50 - 1
    assert np.isfinite(curves["CH"][compared])
    if undefined == "stream":
        curves["CH"][compared] = np.nan
    else:
        e = dataclasses.replace(e, labels=np.zeros_like(e.labels))  # one cluster: no batch value
    differences = largest_differences(dataclasses.replace(e, trace=curves), every=50)
    assert differences["CH"] == np.inf
    if undefined == "stream":
        assert differences["XB"] < 1e-9


def test_a_comparison_is_the_stream_and_its_batch_form():
    e = run(SCENARIOS["r15_under"], normalised(GENERATORS["r15"](0)), 5)
    coarse = compare(e, every=50)
    np.testing.assert_array_equal(coarse.incremental, e.trace["Conn"][coarse.samples - 1])
    assert coarse.batch[0] == 0.0  # one cluster
    assert 0.0 < np.abs(coarse.error).max() < 1.0


def test_a_finer_module_changes_the_prototypes_not_the_partition():
    settings, scenario = Settings(quick=True), SCENARIOS["r15_under"]
    found = [run_sweep_point(settings, scenario, 5, rho_a) for rho_a in (0.7, 0.96)]
    assert [entry["rho_a"] for entry in found] == [0.7, 0.96]
    assert found[0]["mse"] != found[1]["mse"]
    result = run_shown_order(settings, scenario, 5)
    assert result["n_clusters"] == 5
    assert len(result["comparison"]["samples"]) == 30


def test_the_sweep_goes_from_just_above_the_clusters_to_very_fine():
    for scenario in PAPER:
        sweep = Settings().vigilances(scenario)
        assert sweep[0] == pytest.approx(scenario.rho_b + 0.01)
        assert sweep[-1] == 0.96
        assert len(sweep) == 15


# -- the whole ---------------------------------------------------------------------------------


def test_a_study_has_everything_it_promises(study):
    names = [scenario.name for scenario in PAPER]
    for key in ("orders", "comparison", "distributions", *names):
        assert (study / "figures" / f"{key}.png").stat().st_size > 20_000
        assert (study / "figures" / f"{key}.pdf").read_bytes().startswith(b"%PDF")
    about = json.loads((study / "study.json").read_text())
    assert about["settings"] == {"seed": 0, "orders": 2, "data": "generated", "quick": True}
    assert {"icvi", "python", "numpy", "numba"} <= set(about["versions"])
    findings = json.loads((study / "findings.json").read_text())
    assert {"statement", "threshold", "share", "verdict", "expected"} <= set(findings[0])
    judged = [found for found in findings if found["verdict"] != "not seen"]
    assert len(judged) > 30
    page = (study / "report.html").read_text()
    assert all(SCENARIOS[name].title in page for name in names)


def test_the_order_that_is_drawn_is_one_of_the_orders():
    settings, scenario = Settings(seed=7, orders=3, quick=True), SCENARIOS["r15_under"]
    orders = run_orders(settings, scenario, range(3))
    drawn = search_order(settings, scenario)
    assert drawn in [order["seed"] for order in orders]
    nearest = min(orders, key=lambda order: abs(order["ari"] - scenario.paper_ari))
    assert drawn == nearest["seed"]


def test_traces_hold_samples_labels_winners_and_readings(study):
    table = pyarrow.parquet.read_table(study / "traces" / "r15_under.parquet")
    assert set(table.column_names) >= {"sample", "label", "k", "x1", "x2", "truth", *INDICES}
    assert table.num_rows == 600
    settings, scenario = Settings(quick=True, orders=2), SCENARIOS["r15_under"]
    e = run(scenario, settings.load(scenario), search_order(settings, scenario))
    np.testing.assert_array_equal(table["Conn"].to_numpy(), e.trace["Conn"])
    np.testing.assert_array_equal(table["winner"].to_numpy(), e.winners[:, 0])
    assert rand_index(table["truth"].to_numpy(), table["label"].to_numpy()) == e.ari


def test_the_same_seed_gives_the_same_bytes_in_one_process_too(study, tmp_path):
    result = icvi(*QUICK, "--out", tmp_path / "again", "--jobs", 1)
    assert result.returncode == 0, result.stderr
    assert files(tmp_path / "again") == files(study)


def test_a_study_that_lost_parts_is_completed_with_the_same_result(study, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    for name in ("parts/d4_over.shown.json", "parts/r15_under.orders_0.json", "report.html"):
        (copy / name).unlink()
    kept = copy / "parts" / "d4_correct.shown.json"
    before = kept.stat().st_mtime_ns
    assert icvi(*QUICK, "--out", copy).returncode == 0
    assert files(copy) == files(study)
    assert kept.stat().st_mtime_ns == before  # not run again


def test_processes_start_with_the_modules_of_all_tasks():
    """What cannot be preloaded is ignored silently, and every process imports it itself."""
    code = """
from icvi.study import runner, workers
class Stop(Exception): pass
def tasks(settings):
    yield "a", eval, ("sorted(m for m in __import__('sys').modules if m.startswith('icvi.study'))",)
def run(store, pool, tasks, title):
    for _, modules in pool.run(tasks):
        print(*modules)
    raise Stop
runner.search_tasks, runner._run = tasks, run
if __name__ == "__main__":
    import tempfile
    try:
        runner.run_study(tempfile.mkdtemp(), runner.Settings(quick=True), jobs=2)
    except Stop:
        pass
"""
    out = processes.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    needed = {function.__module__ for function in (draw, search_order, draw_scenario)}
    assert needed <= set(out.stdout.split())


def test_an_interrupted_study_says_how_to_go_on(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "icvi", "study", "--out", str(out), "--jobs", "2"]
    process = processes.begin(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        processes.wait_until(lambda: list(out.glob("parts/*.json")), process)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=processes.PATIENCE)
    finally:
        processes.end(process)
    assert process.returncode == 130
    assert f"stopped; finished results are in {out}, rerun the command to resume" in said
    assert "Traceback" not in said
    for part in out.glob("parts/*.json"):
        json.loads(part.read_text())
    assert not (out / "report.html").exists()


# -- the command line --------------------------------------------------------------------------


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_help_is_something_a_newcomer_can_act_on():
    result = call("study", "--help")
    assert result.exit_code == 0
    for option in ("--out", "--data", "--orders", "--seed", "--jobs", "--quick", "--overwrite"):
        assert option in result.output


def test_usage_errors_have_their_own_code(tmp_path):
    assert call("study").exit_code == 2
    assert call("study", "--out", tmp_path, "--orders", 0).exit_code == 2
    assert call("studio").exit_code == 2


def test_another_study_in_the_folder_is_not_mixed_in(study):
    before = files(study)
    result = call(*QUICK, "--seed", 1, "--out", study)
    assert result.exit_code == 1
    assert "contains another study (its seed is 0, not 1)" in result.output
    assert files(study) == before


def test_a_missing_data_file_is_named(tmp_path):
    result = call(*QUICK, "--data", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "r15.csv is missing: expected a file with the columns x1, x2" in result.output
    assert not (tmp_path / "out").exists()


def test_a_malformed_data_file_is_named_with_its_line(tmp_path):
    for name in ("r15.csv", "d4.csv"):
        (tmp_path / name).write_text("x1,x2,label\n0.1,0.2,1\n0.1,oops,1\n")
    result = call(*QUICK, "--data", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "r15.csv, line 3: expected a number in x2, got 'oops'" in result.output
    assert not (tmp_path / "out").exists()


def test_data_of_ones_own_are_read_instead(tmp_path):
    data = GENERATORS["r15"](4)
    rows = [f"{x},{y},{label}" for (x, y), label in zip(data.X, data.labels, strict=True)]
    (tmp_path / "r15.csv").write_text("\n".join(["x1,x2,label", *rows]))
    loaded = Settings(data=str(tmp_path)).load(SCENARIOS["r15_correct"])
    np.testing.assert_array_equal(loaded.X, normalised(read_csv(tmp_path / "r15.csv")).X)
    np.testing.assert_array_equal(loaded.X, normalised(data).X)
