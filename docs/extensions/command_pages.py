"""The reference of the command line, generated from the commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
from generated_files import GeneratedFolder

from icvi.cli.main import main


def write_commands(path: Path) -> None:
    """Write a section for every command to a file that the page includes."""
    context = click.Context(main, info_name="icvi")
    sections = [_section(main.commands[name], context) for name in main.list_commands(context)]
    GeneratedFolder(path.parent).write(path.name, "\n\n".join(sections) + "\n")


def _section(command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=command.name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [
        f"({context.command_path.replace(' ', '-')})=",
        f"## {context.command_path}",
        f"```text\n{usage}\n```",
        _text(command.help or ""),
    ]
    options = list(_options(command, context))
    if options:
        parts.append("\n\n".join(options))
    return "\n\n".join(part for part in parts if part)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """A definition list: what to type, and what it does."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or not record[1] or "--help" in parameter.opts:
            continue  # the help of the command explains its arguments
        option, help_ = record
        yield f"`{option}`\n: {_escaped(help_)}"


def _text(help_: str) -> str:
    """Help in paragraphs; click marks what must not be wrapped."""
    paragraphs = inspect.cleandoc(help_).split("\n\n")
    return "\n\n".join(
        f"```text\n{paragraph.partition(chr(8))[2].strip(chr(10))}\n```"
        if paragraph.startswith("\b")
        else _escaped(paragraph)
        for paragraph in paragraphs
    )


def _escaped(text: str) -> str:
    for sign in "*<>[]_$":
        text = text.replace(sign, f"\\{sign}")
    return re.sub(r"(?<![\w`-])--[a-z-]+", r"`\g<0>`", text)
