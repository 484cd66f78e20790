"""Figures with matplotlib: traces, paths, comparisons, silhouettes, CONNvis, the plane."""

from icvi.plots.comparisons import plot_comparison
from icvi.plots.connvis import plot_connvis
from icvi.plots.paths import plot_path
from icvi.plots.silhouettes import silhouette
from icvi.plots.traces import plot_traces

__all__ = ["plot_comparison", "plot_connvis", "plot_path", "plot_traces", "silhouette"]
