"""How commands end: errors in one line, Ctrl-C with the exit code that shells expect.

| code | when |
|---|---|
| 0 | done |
| 1 | an error that the message explains: `click.ClickException` |
| 2 | invalid options: `click.UsageError` |
| 3 | done, and there were alarms: `icvi.errors.ALARMED` |
| 128 + n | stopped by signal n, `icvi.errors.SIGNALLED`; 130 for Ctrl-C |
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from icvi.cli.signals import raising
from icvi.errors import INTERRUPTED
from icvi.wording import for_terminal

_FIRST = ("watch", "compare", "score", "list")


class Commands(click.Group):
    """Commands that Ctrl-C ends without a traceback, also while one is being loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a new user needs them."""
        first = [name for name in _FIRST if name in self.commands]
        return first + [name for name in super().list_commands(ctx) if name not in first]

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Parse what comes before the command."""
        with _errors_for_terminal():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with raising(), _errors_for_terminal():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@contextmanager
def reported_errors(stopped: str | None = None) -> Iterator[None]:
    """Report errors without a traceback.

    Parameters
    ----------
    stopped : str, optional
        Message for Ctrl-C.
    """
    try:
        yield
    except (ImportError, TypeError, ValueError, OSError) as error:
        from icvi.watching.messages import error_text

        raise click.ClickException(error_text(error)) from error
    except KeyboardInterrupt:
        if stopped is not None:
            click.echo(for_terminal(stopped), err=True)
        raise


@contextmanager
def _errors_for_terminal() -> Iterator[None]:
    """Remove passwords and escape sequences from what errors quote."""
    try:
        yield
    except click.ClickException as error:
        shown = for_terminal(error.format_message())
        # Some kinds of error put their message together when it is shown.
        error.format_message = lambda: shown  # type: ignore[method-assign]
        raise
