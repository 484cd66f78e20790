"""What all pictures of the page have in common: size, letters, tools."""

from __future__ import annotations

from typing import Any

from bokeh.models import (
    BasicTicker,
    BasicTickFormatter,
    BoxZoomTool,
    GridPlot,
    NumeralTickFormatter,
    PanTool,
    PlainText,
    Range1d,
    ResetTool,
    TickFormatter,
    Toolbar,
    ToolProxy,
    WheelZoomTool,
)
from bokeh.plotting import figure
from bokeh.themes import Theme

from icvi.watching.report.views import View

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, SOFT, LINE, BLUE = "#1b2026", "#4a535d", "#d5dae0", "#1f5fa8"

_LETTERS = {"text_font": FONT, "text_font_style": "normal"}

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
                    f"{part}_{key}": v
                    for part in ("major_label", "axis_label")
                    for key, v in _LETTERS.items()
                },
            },
            "Grid": {"grid_line_color": "#e9ecef"},
            "Text": {"text_font": {"value": FONT}},
        }
    }
)


def panel(name: str, height: int, x_range: Range1d, view: View) -> Any:
    """A picture as wide as there is room, whose tools are in a `toolbar` elsewhere."""
    plot = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        x_range=x_range,
        y_range=Range1d(start=view.low, end=view.high),
        y_axis_type="log" if view.log else "linear",
        tools=[],
        toolbar_location=None,
    )
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=5, min_interval=1)
    if not view.log:
        plot.yaxis.ticker = BasicTicker(desired_num_ticks=5)
        plot.yaxis.formatter = _formatter(view)
    return plot


def _formatter(view: View) -> TickFormatter:
    """Numbers as people write them, powers of ten where they are too long for that."""
    if max(abs(view.low), abs(view.high)) < 1e7 and view.high - view.low > 1e-4:
        return NumeralTickFormatter(format="0,0.[00000]")
    return BasicTickFormatter(power_limit_high=6, power_limit_low=-4)


def plain_text(text: str) -> PlainText:
    """Text as it is: a string with dollar signs would be taken for a formula."""
    return PlainText(text=text)


def toolbar(plots: list[Any]) -> GridPlot:
    """One set of tools for several pictures: they are zoomed and reset together."""
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
    # The pictures themselves are laid out by the page, which knows how wide it is.
    return GridPlot(
        children=[], toolbar=shared, toolbar_location="above", name="tools", width=150, height=34
    )
