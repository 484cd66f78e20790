"""The blocks of a page, and what they print when they are run from top to bottom.

Blocks of Python share one namespace, blocks of shell commands one folder. The build of the pages
and their test run them in the same way.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What a block whose output cannot be had yet waits for: "% needs icvi.watch" on the line above.
_BLOCK = re.compile(
    r"^(?:% needs (?P<needs>\S+)\n)?"
    r"^(?P<fence>`{3,})(?P<language>[^\s`]*) *(?P<argument>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind that, the text, and where it is."""

    language: str
    argument: str
    text: str
    needs: str | None
    span: tuple[int, int]
    line: int

    @property
    def commands(self) -> list[str]:
        """The lines of a block of shell commands; lines that end with a backslash go on."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [" ".join(line.split()) for line in lines if line.strip()]


def blocks(source: str) -> list[Block]:
    """All fenced blocks of a page in order."""
    return [
        Block(
            match["language"],
            match["argument"].strip(),
            match["text"],
            match["needs"],
            match.span(),
            source.count("\n", 0, match.start("text")) + 1,
        )
        for match in _BLOCK.finditer(source)
    ]


def is_here(name: str) -> bool:
    """Whether icvi has a name or module already; pages may be written ahead of it."""
    import icvi

    module, _, attribute = name.rpartition(".")
    if module == "icvi":
        return hasattr(icvi, attribute) or attribute in _commands()
    with contextlib.suppress(ImportError):
        __import__(name)
        return True
    return False


def _commands() -> list[str]:
    from icvi.cli import main

    return list(main.commands)


def run(
    source: str, where: str, folder: Path, stand_ins: dict[str, str] | None = None
) -> Iterator[tuple[Block, str | None]]:
    """Run a page in a folder: every block with what it printed, None where it waits.

    Parameters
    ----------
    source : str
        The page.
    where : str
        Its name, for errors.
    folder : Path
        Where files are written; made if need be.
    stand_ins : dict, optional
        Text to text, replaced before a block is run, such as the port of a server. A command that
        becomes empty is not run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scope: dict[str, Any] = {"__name__": "page"}
    for block in blocks(source):
        if block.needs is not None and not is_here(block.needs):
            yield block, None
        elif block.language == "python":
            yield block, _run_python(_replaced(block.text, stand_ins), where, block, scope, folder)
        elif block.language == "sh":
            printed = [
                _run_command(replaced, where, block, folder)
                for command in block.commands
                if (replaced := _replaced(command, stand_ins))
            ]
            yield block, "".join(printed)
        else:
            yield block, ""


def _replaced(text: str, stand_ins: dict[str, str] | None) -> str:
    for old, new in (stand_ins or {}).items():
        text = text.replace(old, new)
    return text


def _run_python(text: str, where: str, block: Block, scope: dict[str, Any], folder: Path) -> str:
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + text, where, "exec")
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(code, scope)
    return printed.getvalue()


def _run_command(command: str, where: str, block: Block, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    result = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        check=False,
    )
    if result.returncode:
        raise RuntimeError(
            f"{where}, line {block.line}: {command}\nended with {result.returncode}\n"
            f"{result.stdout}{result.stderr}"
        )
    return result.stdout
