"""The figures of the page, drawn with bokeh."""
