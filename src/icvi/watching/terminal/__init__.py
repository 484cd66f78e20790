"""What `icvi watch` shows while it runs: a table that is redrawn in place, or plain lines."""

from icvi.watching.terminal.view import Outcome, View, view_for

__all__ = ["Outcome", "View", "view_for"]
