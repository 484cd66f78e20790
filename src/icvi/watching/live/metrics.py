"""The newest snapshot as metrics for Prometheus; a scrape never waits for the loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from icvi.insight.verdict import Grade
from icvi.optional import needed
from icvi.watching.live.served import Served

with needed("prometheus_client", "metrics", "/metrics"):
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.registry import Collector, CollectorRegistry

#: Grades as numbers: the larger the better, so that an alert can say "below touching".
GRADES: dict[Grade, int] = {"unknown": 0, "overlapping": 1, "touching": 2, "distinct": 3}


def exposition(live: Served, accept: str) -> tuple[bytes, str]:
    """The metrics in the format that a scraper accepts, and its content type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Snapshot(live))
    encode, kind = choose_encoder(accept)
    return encode(registry), kind


class _Snapshot(Collector):
    """Reads the newest snapshot when it is asked."""

    def __init__(self, live: Served) -> None:
        self._live = live

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        live, now = self._live, self._live.snapshot
        yield _gauge(
            "loop_lag_seconds",
            "Seconds since the loop last finished a step; 0 while it waits for samples.",
            live.lag,
        )
        yield _gauge("viewers", "Open live pages.", live.hub.viewers)
        if now is None:
            return
        yield _counter("samples", "Samples processed, also by earlier runs.", now.seen)
        yield _counter("skipped_rows", "Rows that could not be used.", now.skipped)
        yield _counter("lost_samples", "Samples gone before they were read.", now.lost)
        yield _gauge("clusters", "Number of clusters.", now.k)
        yield _gauge("noise_ratio", "Share of samples in no cluster.", now.noise)
        index = GaugeMetricFamily(
            "icvi_index", "Last reading of an index; NaN where undefined.", labels=["index"]
        )
        for name, value in zip(now.names, now.values.tolist()):
            index.add_metric([name], value)
        yield index
        yield from self._details(now.details)
        moment = "Unix time of the last "
        if live.last_sample is not None:
            yield _gauge("last_sample_timestamp_seconds", f"{moment}sample.", live.last_sample)
        if (written := live.checkpoint()) is not None:
            yield _gauge("last_checkpoint_timestamp_seconds", f"{moment}checkpoint.", written)

    def _details(self, details: Any) -> Iterable[Metric]:
        if details.grade is not None:
            yield _gauge(
                "grade",
                "How good the clustering is: 3 distinct, 2 touching, 1 overlapping, 0 unknown.",
                GRADES[details.grade],
            )
        yield _gauge("alarms_active", "Alarms raised and not withdrawn.", details.active)
        shown = details.clusters[: self._live.metrics_clusters]
        if not shown:
            return
        size = GaugeMetricFamily(
            "icvi_cluster_samples", "Samples of one of the largest clusters.", labels=["cluster"]
        )
        apart = GaugeMetricFamily(
            "icvi_cluster_silhouette", "Its silhouette, of centroids.", labels=["cluster"]
        )
        for cluster in shown:
            size.add_metric([cluster.name], cluster.count)
            apart.add_metric([cluster.name], cluster.silhouette)
        yield size
        yield apart


def _gauge(name: str, help: str, value: float) -> Metric:
    return GaugeMetricFamily(f"icvi_{name}", help, value=value)


def _counter(name: str, help: str, value: float) -> Metric:
    return CounterMetricFamily(f"icvi_{name}", help, value=value)
