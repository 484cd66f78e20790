"""A stream as one page for a browser: curves, cluster sizes, the partition, what to look at."""

from icvi.watching.report.about import About
from icvi.watching.report.glimpse import Glimpse
from icvi.watching.report.output import Report

__all__ = ["About", "Glimpse", "Report"]
