"""What is shown holds no password and nothing that a terminal would obey."""

import io
import os
import pty
import subprocess
import sys
import traceback
import unicodedata

import pyarrow.parquet
import pytest
from click.testing import CliRunner
from jinja2 import UndefinedError
from rich.console import Console

import processes
from icvi import progress
from icvi.cli.main import main
from icvi.cli.score import ScoredFile
from icvi.streams import open_source
from icvi.streams.redis.address import parse_address
from icvi.tracking.table import Table
from icvi.watching.messages import error_text
from icvi.watching.settings import source_name
from icvi.wording import (
    for_terminal,
    number,
    percent,
    printable,
    shown_address,
    templates,
    without_passwords,
)

#: One of every kind that a terminal obeys or that changes what a line seems to say.
CONTROLS = (
    "\0\a\b\t\n\v\f\r\x1b\x7f\x80\x84\x85\x9b\x9d\x9f\xad\u061c\u200b\u200e\u200f\u2028\u2029"
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ufff9\udc80\udfff\U000e0041"
)
EVIL = f"a\x1b]0;title\x07\x1b[2J\x9b31m{CONTROLS}[red]z[/] [link=file:///] :smile:"

ADDRESSES = [
    "redis://:{}@host:6379/0/key",
    "redis://me:{}@host:6379/0/key",
    "rediss://me:{}@host/0/key",
    "redis://host:6379/0/key?password={}",
    "redis://host:6379/0/key?db=0&token={}&x=1",
    "redis://me:{}@host/0/key?password={}",
    "redis://[::1]:6379/0/key?secret={}",
    "unix://me:{}@/run/redis.sock?db=0",
    "unix:///run/redis.sock?db=0&password={}",
    "https://me:{}@host/file.csv",
]
PASSWORDS = ["s3cr3t", "s3cr3t@pw", "p@s3cr3t@", "s3cr3t/1", "a:s3cr3t", "s3cr3t:b", "x#s3cr3t"]
PASSWORDS += ["s3cr3t?y", "a%40s3cr3t", "s3cr3t&x=1", "a'\"s3cr3t", "@s3cr3t", "/s3cr3t@/x"]
PASSWORDS += ["?@s3cr3t", "#s3cr3t@", "///s3cr3t"]
ALL = [address.format(word, word) for address in ADDRESSES for word in PASSWORDS]
ALL += ["redis://s3cr3t@host:6379/0/key", "redis://a@s3cr3t@host:6379/0/key"]
ALL += ["redis://:s3cr3t/0/key", "redis://me:s3cr3t:b/0/key"]  # its @ and host forgotten


@pytest.mark.parametrize("address", ALL)
def test_no_part_of_a_password_is_shown(address):
    sentence = f"cannot reach {address}; is the server running?"
    for shown in (
        shown_address(address),
        without_passwords(address),
        without_passwords(sentence),
        for_terminal(sentence),
        source_name(address),
    ):
        assert "s3cr3t" not in shown
        assert "***" in shown
    assert shown_address(shown_address(address)) == shown_address(address)


def test_a_password_with_a_space_is_not_shown_where_the_address_is_known():
    assert shown_address("redis://:my s3cr3t@host/0/key") == "redis://:***@host/0/key"
    assert source_name("redis://:my s3cr3t@host/0/key") == "redis://:***@host/0/key"
    assert parse_address("redis://:my s3cr3t@host/0/key").shown == "redis://:***@host/0/key"


@pytest.mark.parametrize(
    "text",
    [
        "redis://localhost:6379/0/key",
        "redis://[::1]:6379/0/key: no answer",
        "rediss://host/3/a%40key, entry 1-0: expected a number",
        "unix:///run/redis.sock",
        "what?.csv: me@host is not a number",
        "C:\\data\\a.csv",
    ],
)
def test_what_holds_no_password_is_shown_as_it_is(text):
    assert without_passwords(text) == text


def test_the_user_and_the_place_are_still_shown():
    shown = shown_address("redis://me:s3cr3t@pw@host:6379/0/key?password=x")
    assert shown == "redis://me:***@host:6379/0/key?***"


def test_a_refused_address_does_not_quote_the_password_nor_does_what_it_was_raised_from():
    for url in ALL:
        with pytest.raises((TypeError, ValueError, OSError)) as refused:
            open_source(url.replace("host", "127.0.0.1").replace("6379", "1"), patience=0.0)
        # The lines of code that a traceback quotes hold no values.
        assert "s3cr3t" not in "".join(traceback.format_exception(refused.value)), url


def test_a_password_with_an_at_sign_reaches_the_server_whole():
    from redis.connection import parse_url

    address = parse_address("redis://me:s3cr3t@pw@host:6379/2/a%2Fb")
    assert (address.key, parse_url(address.server)["password"]) == ("a/b", "s3cr3t@pw")


def test_a_key_that_would_be_cut_off_at_a_number_sign_is_refused():
    with pytest.raises(ValueError, match="percent-encoded"):
        parse_address("redis://host:6379/0/a#b")


def is_harmless(text):
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text)


def test_nothing_that_a_terminal_obeys_is_printable():
    assert is_harmless(printable(CONTROLS))
    assert set(printable(CONTROLS)) == {"?"}
    assert printable("Größe 1 日本 ½ [red]") == "Größe 1 日本 ½ [red]"
    assert for_terminal("a\nb\x1bc") == "a\nb?c"
    assert all(is_harmless(printable(chr(c))) for c in range(sys.maxunicode + 1))


def scored(tmp_path, name):
    path = tmp_path / "data.parquet"
    table = pyarrow.table({name: [1.0, 2.0, 9.0, 8.0], "c": ["a", "a", "b", "b"]})
    pyarrow.parquet.write_table(table, path)
    options = {"columns": None, "indices": ["CH"], "noise_label": None, "bad_rows": "error"}
    options |= {"exclude": (), "scale": "none", "scale_from": None}
    return ScoredFile(str(path), label="c", format=None, **options)


def test_score_shows_column_names_as_text(tmp_path):
    name = EVIL.replace("\udc80\udfff", "")  # which no file has
    out = io.StringIO()
    scored(tmp_path, name).print(Console(file=out, force_terminal=True, width=1000))
    first = out.getvalue().splitlines()[0]
    assert is_harmless(first)
    assert "[red]z[/] [link=file:///] :smile:" in first
    assert scored(tmp_path, name).columns == (name,)  # as a program gets it


def test_errors_of_every_command_are_harmless_and_show_no_password():
    name = EVIL.translate(dict.fromkeys(map(ord, "\0\n\udfff")))  # which arguments cannot have
    for arguments in (
        ["score", name, "--labels", "c"],
        ["score", "x.csv", name, "--labels", "c"],
        ["score", "redis://:s3cr3t@pw@127.0.0.1/key", "--labels", "c"],
        ["score", "unix://:s3cr3t@/run/x?password=s3cr3t", "--labels", "c"],
        ["watch", name, "--labels", "c"],
        ["watch", "unix://:s3cr3t@/run/x?password=s3cr3t", "--labels", "c"],
        ["watch", "x.csv", name, "redis://:s3cr3t@pw@host/0/k", "--labels", "c"],
        ["warmup", name],
        ["study", "--out", __file__ + "/" + name],
        ["completion", name],
        ["score", f"--{name}"],
        [name],
        [f"--{name}"],
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code in (1, 2), arguments
        assert is_harmless(result.output.replace("\n", "")), arguments
        assert "s3cr3t" not in result.output
        assert "Error: " in result.output


def test_a_file_cannot_write_lines_of_its_own_into_an_error():
    error = FileNotFoundError(2, "No such file or directory", "a.csv\nall is well")
    assert error_text(error) == "a.csv?all is well: No such file or directory"


def test_what_was_left_out_of_a_score_is_reported_harmlessly(tmp_path):
    path = tmp_path / "evil\x1b[2J\u202e.csv"
    path.write_text("x,c\n1,a\n\x1b[31m,a\n2,b\n", encoding="utf-8")
    command = ["score", str(path), "--labels", "c", "--bad-rows", "skip"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0
    assert "1 row was skipped:" in result.output
    assert is_harmless(result.output.replace("\n", ""))


def test_a_bar_shows_its_title_as_text(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setenv("COLUMNS", "400")
    with progress.progress("reading [red]a[/red]\x1b]0;b\u202e.csv", 10) as advance:
        advance(5)
    shown = sys.stderr.getvalue()
    assert "reading [red]a[/red]?]0;b?.csv" in shown
    assert "\x1b]0;b" not in shown


def test_a_table_shows_names_and_cells_as_text():
    table = Table({"n\x1b[31m\u202e": [1.0, 2.0], "label": ["a\x9b2J", ("b\x1b",)]})
    assert is_harmless(repr(table).replace("\n", ""))
    assert table.names == ["n\x1b[31m\u202e", "label"]


def test_a_trace_on_a_terminal_is_harmless_and_in_a_pipe_it_is_what_it_is(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('x,c\n1,"\x1b[31mred\u202e"\n2,b\n', encoding="utf-8")
    command = [sys.executable, "-m", "icvi", "watch", str(path), "--labels", "c", "--quiet"]
    command += ["--indices", "CH", "--trace", "-", "--trace-format", "csv"]
    piped = processes.run(command, capture_output=True, timeout=300)
    assert piped.returncode == 0, piped.stderr
    assert '"\x1b[31mred\u202e"'.encode() in piped.stdout
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        done = processes.run(
            command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, timeout=300
        )
        os.close(theirs)
        assert done.returncode == 0, done.stderr
        shown = b""
        while True:
            try:
                more = terminal.read(65536)
            except OSError:  # the other end is closed, and all is read
                break
            if not more:
                break
            shown += more
    assert b'"?[31mred?"' in shown
    assert is_harmless(shown.decode().replace("\r\n", ""))


# -- pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["icvi.study", "icvi.watching.report"])
def test_a_page_shows_text_as_text(package):
    page = templates(package).from_string("{{ name }} {{ share | percent }} {{ made | safe }}")
    shown = page.render(name="<b>\x00\u202e", share=0.9999, made="<i>")
    assert shown == "&lt;b&gt;\ufffd\ufffd &gt;\xa099\xa0% <i>"


@pytest.mark.parametrize("package", ["icvi.study", "icvi.watching.report"])
def test_every_template_of_a_package_can_be_read(package):
    environment = templates(package)
    names = environment.list_templates()
    assert {"page.html", "page.css"} <= {*names}
    for name in names:
        assert environment.loader.get_source(environment, name)[0].strip()


def test_a_name_that_a_page_does_not_have_is_an_error():
    with pytest.raises(UndefinedError, match="'share' is undefined"):
        templates("icvi.study").from_string("{{ share | percent }}").render()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (9999.6, "10,000"),
        (123456.7, "123,457"),
        (-1e-5, "−1 × 10⁻⁵"),
        (0.0001, "0.0001"),
        (9.99999e6, "1 × 10⁷"),
        (1e300, "1 × 10³⁰⁰"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers_are_short_and_have_real_minus_signs(value, shown):
    assert number(value) == shown


def test_shares_are_whole_percent_unless_they_are_small():
    shares = (0.0, 1e-9, 0.001, 0.0999, 0.29, 0.985, 0.999999, 1.0, None, float("nan"))
    assert [percent(share) for share in shares] == [
        *("0 %", "< 0.1 %", "0.1 %", "10 %", "29 %", "98 %", "> 99 %", "100 %", "–", "–"),
    ]
