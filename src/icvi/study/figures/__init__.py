"""The figures of the study; the same results give the same files."""

from icvi.study.figures.comparison import draw_comparison
from icvi.study.figures.distributions import draw_distributions
from icvi.study.figures.orders import draw_orders
from icvi.study.figures.scenario import draw_scenario
from icvi.study.figures.style import save

__all__ = ["draw_comparison", "draw_distributions", "draw_orders", "draw_scenario", "save"]
