"""A stream that is being watched as a page in a browser, and as metrics for Prometheus."""

from icvi.watching.live.address import parse_address
from icvi.watching.live.recording import Live

__all__ = ["Live", "parse_address"]
