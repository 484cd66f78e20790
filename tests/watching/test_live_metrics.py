"""Metrics of a stream, and the dashboard and the rules that use them, in a real Prometheus."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import processes
from live_inputs import TOKEN, blobs, streaming
from prometheus_server import Prometheus, program

EXAMPLES = Path(__file__).parents[2] / "examples" / "monitoring"
DASHBOARD = json.loads((EXAMPLES / "grafana-dashboard.json").read_text(encoding="utf-8"))


def scraped(stream, **headers):
    """Samples by name and labels."""
    status, found, body = stream.get("/metrics", **headers)
    assert status == 200, body
    assert found["Content-Type"].startswith("text/plain")
    families = list(text_string_to_metric_families(body.decode()))
    assert all(family.documentation for family in families)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_metrics_are_those_of_the_stream(tmp_path):
    X, labels = blobs(900, k=4)
    names = np.array(["a", 'b"\\\n', "c", "noise"], dtype=object)[labels]
    options = {"noise_label": "noise", "checkpoint": tmp_path / "c", "alerts": ["k > 2"]}
    with streaming(indices="paper", **options) as stream:
        assert scraped(stream)["icvi_samples_total",] == 0
        stream.put(X, names)
        stream.wait(lambda: stream.watch._live.snapshot.seen == 900)
        stream.wait(lambda: stream.watch._live.snapshot.details.active == 1)
        found = scraped(stream)
        tracker = stream.watch.tracker
        for name, value in tracker.values.items():
            assert found["icvi_index", name] == value
        assert found["icvi_samples_total",] == 900
        assert found["icvi_clusters",] == 3
        assert found["icvi_noise_ratio",] == tracker.noise_share > 0.0
        assert found["icvi_skipped_rows_total",] == found["icvi_lost_samples_total",] == 0
        assert found["icvi_grade",] == 3
        assert found["icvi_alarms_active",] == 1
        assert found["icvi_loop_lag_seconds",] == 0
        live = stream.watch._live
        assert found["icvi_last_sample_timestamp_seconds",] == live.last_sample
        assert found["icvi_last_checkpoint_timestamp_seconds",] == live.checkpoint()
        # Every index of the paper, and no more than 20 in all.
        assert len(found) <= 20


def test_metrics_of_clusters_are_those_of_the_largest():
    X, labels = blobs(600, k=5)
    names = np.array(['<b>"\\\n', "b", "c", "d", "e"], dtype=object)[np.minimum(labels, labels**2)]
    with streaming(metrics_clusters=2) as stream:
        stream.put(X, names)
        stream.wait(lambda: len(stream.watch._live.snapshot.details.clusters) == 5)
        found = scraped(stream)
        sizes = {key[1]: value for key, value in found.items() if key[0] == "icvi_cluster_samples"}
        counts = stream.watch.tracker.counts
        assert sorted(sizes.values()) == sorted(counts)[-2:]
        assert {key[1] for key in found if key[0] == "icvi_cluster_silhouette"} == {*sizes}


def test_an_undefined_index_is_not_a_number():
    with streaming() as stream:
        stream.put(np.zeros((3, 2)), [0, 0, 0])
        stream.wait(lambda: stream.watch._live.snapshot.seen == 3)
        assert math.isnan(scraped(stream)["icvi_index", "CH"])


def test_a_scrape_does_not_wait_for_the_loop():
    with streaming() as stream, stream.watch._live._lock:
        assert scraped(stream)["icvi_samples_total",] == 0
        assert stream.get("/healthz")[0] == 200


def test_openmetrics_is_spoken_on_request():
    with streaming() as stream:
        accept = "application/openmetrics-text; version=1.0.0"
        status, headers, body = stream.get("/metrics", Accept=accept)
        assert status == 200
        assert "openmetrics" in headers["Content-Type"]
        assert body.endswith(b"# EOF\n")


def test_without_the_client_metrics_say_what_is_missing(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("prometheus_client")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "icvi.watching.live.metrics", raising=False)
    with streaming() as stream:
        status, _, body = stream.get("/metrics")
        assert status == 501
        assert b"pip install 'icvi[metrics]'" in body
        assert stream.get("/healthz")[0] == 200


# -- a real Prometheus ------------------------------------------------------------------------


def queries():
    """All queries of the dashboard, with its variables filled in."""
    values = {"job": ".*", "instance": ".*", "index": ".*", "__rate_interval": "5s"}
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            text = re.sub(r"\$(\w+)", lambda found: values[found[1]], target["expr"])
            yield panel["title"], text
    for note in DASHBOARD["annotations"]["list"]:
        yield note["name"], re.sub(r"\$(\w+)", lambda found: values[found[1]], note["expr"])


def test_the_rules_and_settings_are_valid():
    tool = program("promtool")
    for words in (["check", "rules", "alert-rules.yml"], ["check", "config", "prometheus.yml"]):
        done = processes.run([tool, *words], cwd=EXAMPLES, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    """A Prometheus that has scraped a stream of ours several times."""
    program()
    folder = tmp_path_factory.mktemp("prometheus")
    options = {"checkpoint": folder / "c", "alerts": ["k > 2"], "indices": "paper"}
    with streaming(token=TOKEN, metrics_clusters=3, **options) as stream:
        X, labels = blobs(300)
        stream.put(X, labels)
        rules = EXAMPLES / "alert-rules.yml"
        found = Prometheus(folder, f"127.0.0.1:{stream.port}", rules, TOKEN)
        try:
            processes.wait_until(lambda: found.query("icvi_samples_total"))
            stream.put(X, labels + 1)  # a new cluster
            processes.wait_until(lambda: found.query("rate(icvi_samples_total[5s]) > 0"))
            yield found
        finally:
            found.close()


@pytest.mark.parametrize(("title", "query"), list(queries()))
def test_every_query_of_the_dashboard_finds_something(prometheus, title, query):
    if title == "New cluster":
        query = query.replace("> 0", ">= 0")  # whether there was one in between is a race
    assert prometheus.query(query), title


def test_every_metric_is_on_the_dashboard_or_in_a_rule(prometheus):
    names = {row["metric"]["__name__"] for row in prometheus.query('{__name__=~"icvi_.*"}')}
    used = json.dumps(DASHBOARD) + (EXAMPLES / "alert-rules.yml").read_text(encoding="utf-8")
    assert {name for name in names if name not in used} <= {
        "icvi_viewers",
        "icvi_cluster_silhouette",
    }


def test_the_rules_are_loaded_and_hold_no_mistake(prometheus):
    for rule in rules(prometheus):
        assert rule["health"] in ("ok", "unknown"), rule
        assert isinstance(prometheus.query(rule["query"]), list)
    (alarms,) = [rule for rule in rules(prometheus) if rule["name"] == "IcviAlarms"]
    assert prometheus.query(alarms["query"])  # the rule of the test holds


def rules(prometheus):
    return [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]


def test_the_variables_of_the_dashboard_have_values(prometheus):
    for label in ("job", "instance", "index"):
        assert prometheus.get(f"label/{label}/values")
    names = {each["name"] for each in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)\}?", json.dumps(DASHBOARD))) - {"__all", "__rate_interval"}
    assert used <= names
