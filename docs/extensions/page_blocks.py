"""The code blocks of a page, run from top to bottom, and their output.

Python blocks share one namespace, shell blocks one folder. The build of the pages and the tests run
them in the same way.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<language>[^\s`]*) *(?P<argument>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)

_LONG = re.compile(r"\d+\.\d{13,}")

#: Blocks that the build of a page fills in: the output of the code, and a link to a file.
LIVE = ("{printed}", "{made}")
#: Replacements in commands that would never end, or that must not run in the folder of a page.
STAND_INS = {
    'pip install ".[all]"': "",  # tests/test_readme.py runs it, in the repository
    "tail -n +1 -f data.csv": "cat data.csv",  # would wait for more samples for ever
    " --follow": "",  # the same; tests of the sources follow files and streams
}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the rest of that line, the text, and its place."""

    language: str
    argument: str
    text: str
    span: tuple[int, int]
    line: int

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block; a backslash at its end continues a line."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [" ".join(line.split()) for line in lines if line.strip()]


def blocks(source: str) -> list[Block]:
    """All fenced blocks of a page in order."""
    return [
        Block(
            match["language"],
            match["argument"].strip(),
            match["text"],
            match.span(),
            source.count("\n", 0, match.start("text")) + 1,
        )
        for match in _BLOCK.finditer(source)
    ]


def run(
    source: str, where: str, folder: Path, stand_ins: Mapping[str, str] = STAND_INS
) -> Iterator[tuple[Block, str]]:
    """Run a page in a folder; gives every block with the last output.

    A block of text must be the output of the code block before it, or an excerpt of that.

    Parameters
    ----------
    source : str
        The page.
    where : str
        Its name, for errors.
    folder : Path
        Where files are written; created if it does not exist.
    stand_ins : mapping, optional
        Text to replace before a block runs, such as the port of a server. A command that becomes
        empty does not run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scope: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for block in blocks(source):
        if block.language == "python":
            printed = _run_python(_replaced(block.text, stand_ins), where, block, scope, folder)
        elif block.language == "sh":
            commands = (_replaced(command, stand_ins) for command in block.commands)
            outputs = (_run_command(c, where, block, folder) for c in commands if c)
            printed = "".join(outputs)
        elif block.language == "text" and _plain(block.text) not in _plain(printed):
            raise ValueError(
                f"{where}, line {block.line}: the page says\n{block.text}and its code printed\n"
                f"{printed}"
            )
        yield block, printed


def is_live(source: str) -> bool:
    """Whether a page shows its own output, so that the build runs it."""
    return any(block.language in LIVE for block in blocks(source))


def _plain(text: str) -> str:
    """Text without blanks at the ends of lines, and without the last digits of long numbers.

    Those depend on how many numbers the processor adds at once.
    """
    text = _LONG.sub(lambda found: f"{float(found[0]):.12g}", text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def _replaced(text: str, stand_ins: Mapping[str, str]) -> str:
    for old, new in stand_ins.items():
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
