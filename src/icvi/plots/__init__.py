"""Figures with matplotlib: traces, paths, silhouettes, CONNvis, and the principal plane."""

from icvi.plots.connvis import plot_connvis
from icvi.plots.paths import plot_path
from icvi.plots.silhouettes import silhouette
from icvi.plots.traces import plot_traces

__all__ = ["plot_connvis", "plot_path", "plot_traces", "silhouette"]
