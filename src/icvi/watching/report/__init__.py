"""A watched stream as one page for a browser: curves, cluster sizes, the partition, words."""

from icvi.watching.report.output import Report
from icvi.watching.report.page_data import RunInfo
from icvi.watching.report.reservoir import Reservoir

__all__ = ["Report", "Reservoir", "RunInfo"]
