"""Every block of the README runs, and its table is the catalogue."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

import icvi
import processes

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()

# Commands about a file that a block before them has written.
ON_A_FILE = ("icvi watch", "icvi compare")

# Commands that a test cannot run in full: it would run itself, or install peers for minutes.
STAND_INS = {
    "make test": ["make", "--dry-run", "test"],
    "make bench": ["make", "--dry-run", "bench"],
    'pip install ".[all]"': [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", ".[all]")
    ],
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return [line for block in blocks("sh") for line in block.splitlines() if line.strip()]


def test_python_blocks_run_in_order_and_what_they_show_is_what_comes_out(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert len(blocks("python")) >= 4
    scope: dict[str, object] = {"__name__": "readme"}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), scope)
    for picture in ("curves.png", "connvis.png", "silhouette.png"):
        assert (tmp_path / picture).stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert "nan k<2" in printed
    # The command that is shown reads a file that a block before it has written.
    (watching,) = [command for command in commands() if command.startswith("icvi watch")]
    done = processes.run(
        [sys.executable, "-m", *watching.split()], capture_output=True, text=True, check=True
    )
    assert "trace: trace.parquet\nreport: page.html\n" in done.stderr
    assert (tmp_path / "page.html").stat().st_size > 100_000
    (comparing,) = [command for command in commands() if command.startswith("icvi compare")]
    compared = processes.run(
        [sys.executable, "-m", *shlex.split(comparing)], capture_output=True, text=True, check=True
    )
    assert "report: compare.html\n" in compared.stderr
    assert "is the best of 5 candidates" in compared.stdout
    for shown in blocks("text"):
        assert shown in printed or shown in done.stdout


def test_the_commands_are_the_ones_tested():
    expected = {"make demo", "make test", "make bench", 'pip install ".[all]"'}
    expected |= {"icvi study --out study"}
    assert {command for command in commands() if not command.startswith(ON_A_FILE)} == expected


def test_pictures_are_there_and_ask_nobody_for_anything():
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", README)
    assert pictures
    for picture in pictures:
        content = (ROOT / picture).read_bytes()
        assert len(content) > 5_000
        assert b"url(http" not in content


@pytest.mark.parametrize(
    "command", sorted({command for command in commands() if not command.startswith(ON_A_FILE)})
)
def test_commands_run(command, tmp_path):
    if command == "icvi study --out study":
        quick = ["study", "--quick", "--orders", "1", "--out", str(tmp_path / "study")]
        STAND_INS[command] = [sys.executable, "-m", "icvi", *quick]
    result = processes.run(
        STAND_INS.get(command, command.split()),
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        timeout=3 * processes.PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    if command == "make demo":
        assert (ROOT / "demo.png").exists()
        assert "→ correct" in result.stdout


def test_the_table_lists_the_catalogue_with_directions():
    rows = re.findall(r"^\| (`.*?) \| .*? \| (larger|smaller) \|", README, re.MULTILINE)
    listed = {name: word for names, word in rows for name in re.findall(r"`(\w+)`", names)}
    expected = {i.name: "larger" if i.direction == "max" else "smaller" for i in icvi.catalogue()}
    assert listed == expected
