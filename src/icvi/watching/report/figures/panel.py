"""Theme, axes and tools that all figures of the page share."""

from __future__ import annotations

from typing import Any

from bokeh.models import (
    BasicTicker,
    BoxZoomTool,
    FixedTicker,
    GridPlot,
    LinearAxis,
    NumeralTickFormatter,
    PanTool,
    PlainText,
    Range1d,
    ResetTool,
    Toolbar,
    ToolProxy,
    WheelZoomTool,
)
from bokeh.plotting import figure
from bokeh.themes import Theme

from icvi.watching.report.figures.axis_range import AxisRange

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, SOFT, LINE, BLUE, RED = "#1b2026", "#4a535d", "#d5dae0", "#1f5fa8", "#c8372d"
_MARK = 7  # pixels of the tick of a new cluster

_FONT_STYLE = {"text_font": FONT, "text_font_style": "normal"}

THEME = Theme(
    json={
        "attrs": {
            "Plot": {
                "background_fill_color": None,
                "border_fill_color": None,
                "outline_line_color": None,
                "min_border_left": 72,
                "min_border_right": 16,
                "min_border_top": 6,
                "min_border_bottom": 26,
            },
            "Axis": {
                "axis_line_color": "#8792a0",
                "major_tick_line_color": "#8792a0",
                "major_tick_in": 0,
                "minor_tick_line_color": None,
                "major_label_text_color": SOFT,
                "major_label_text_font_size": "12px",
                "axis_label_text_color": SOFT,
                "axis_label_text_font_size": "13px",
                **{
                    f"{label}_{key}": v
                    for label in ("major_label", "axis_label")
                    for key, v in _FONT_STYLE.items()
                },
            },
            "Grid": {"grid_line_color": "#e9ecef"},
            "Text": {"text_font": {"value": FONT}},
        }
    }
)


def panel(name: str, height: int, x_range: Range1d, shown: AxisRange) -> Any:
    """An empty figure, as wide as the page allows; its tools are in a shared `toolbar`."""
    plot = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        x_range=x_range,
        y_range=Range1d(start=shown.low, end=shown.high),
        y_axis_type="log" if shown.log else "linear",
        tools=[],
        toolbar_location=None,
    )
    plot.xaxis.formatter = people_ticks()
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=5, min_interval=1)
    if not shown.log:
        plot.yaxis.ticker = BasicTicker(desired_num_ticks=5)
        plot.yaxis.formatter = people_ticks()
    return plot


def people_ticks() -> NumeralTickFormatter:
    """Numbers as people read them, 2.5 M: ticks.js finds these formatters by their tag."""
    return NumeralTickFormatter(format="0,0.[00000]", tags=["people"])


def mark_samples(plot: Any, marks: FixedTicker) -> None:
    """Red ticks below the frame, between its line and the numbers."""
    numbers = plot.xaxis[0]
    numbers.axis_line_color = numbers.major_tick_line_color = None
    numbers.major_label_standoff = 0
    axis: Any = LinearAxis()
    axis.ticker, axis.formatter = marks, NumeralTickFormatter(format=" ")
    axis.major_label_text_font_size, axis.major_label_standoff = "0px", 0
    axis.major_tick_out, axis.major_tick_line_width = _MARK, 1.2
    axis.major_tick_line_color = RED
    plot.below.insert(0, axis)


def plain_text(text: str) -> PlainText:
    """Text as it is: bokeh takes a string with dollar signs for a formula."""
    return PlainText(text=text)


def toolbar(plots: list[Any]) -> GridPlot:
    """One set of tools for several figures: they zoom and reset together."""
    kinds: dict[str, list[Any]] = {"zoom": [], "pan": [], "wheel": [], "reset": []}
    for plot in plots:
        tools = {
            "zoom": BoxZoomTool(dimensions="auto"),
            "pan": PanTool(),
            "wheel": WheelZoomTool(dimensions="width"),
            "reset": ResetTool(),
        }
        plot.add_tools(*tools.values())
        plot.toolbar.active_drag = tools["zoom"]
        plot.toolbar.active_scroll = None
        for kind, tool in tools.items():
            kinds[kind].append(tool)
    proxies = {kind: ToolProxy(tools=tools) for kind, tools in kinds.items()}
    shared = Toolbar(
        tools=list(proxies.values()),
        active_drag=proxies["zoom"],
        active_scroll=None,
        logo=None,
    )
    # The page lays out the figures themselves: it knows its width.
    return GridPlot(
        children=[], toolbar=shared, toolbar_location="above", name="tools", width=150, height=34
    )
