"""Followed files that are rotated: nothing is lost, nothing is read twice, across stops as well."""

import gzip
import json
import os
import random
import shutil
import threading
import time

import pytest

import processes
from icvi.streams import DataLossError, open_source
from system_packages import find_program

HEADERS = {"csv": "x,c\n", "ndjson": ""}


def line(format, i):
    return f"{i},l{i}\n" if format == "csv" else f'{{"x": {i}, "c": "l{i}"}}\n'


class Log:
    """A file that is written to and rotated, and what was read of it."""

    def __init__(self, folder, format="csv", header=True):
        self.path, self.format, self.header = folder / f"a.{format}", format, header
        self.written, self.dates = 0, 0
        self.found, self.position = [], None
        self.path.write_text(HEADERS[format])

    def write(self, rows):
        if not self.path.exists() or (self.header and not self.path.stat().st_size):
            self.path.write_text(HEADERS[self.format])
        with open(self.path, "a") as file:
            file.writelines(line(self.format, i) for i in range(self.written, self.written + rows))
        self.written += rows

    def beside(self, added):
        return self.path.with_name(self.path.name + added)

    def shift(self):
        for number in range(20, 0, -1):
            for ending in ("", ".gz"):
                if self.beside(f".{number}{ending}").exists():
                    self.beside(f".{number}{ending}").rename(self.beside(f".{number + 1}{ending}"))

    # -- as logrotate does it --------------------------------------------------------------

    def create(self):
        self.shift()
        self.path.rename(self.beside(".1"))
        self.path.write_text("")

    def nocreate(self):
        self.shift()
        self.path.rename(self.beside(".1"))

    def copytruncate(self):
        self.shift()
        shutil.copyfile(self.path, self.beside(".1"))
        os.truncate(self.path, 0)

    def compress(self):
        self.create()
        data = self.beside(".1").read_bytes()
        self.beside(".1.gz").write_bytes(gzip.compress(data))
        self.beside(".1").unlink()

    def dateext(self):
        self.dates += 1
        self.path.rename(self.beside(f"-202401{self.dates:02d}"))
        self.path.write_text("")

    # -- reading ---------------------------------------------------------------------------

    def open(self, **options):
        source = open_source(self.path, label="c", follow=True, **options)
        if self.position is not None:
            source.seek(json.loads(json.dumps(self.position)))
        return source

    def take(self, source, rows):
        """Read until there are so many rows."""
        limit = threading.Timer(30, source.close)
        limit.start()
        for batch in source:
            assert batch.first == len(self.found)
            assert batch.labels.tolist() == [f"l{int(x)}" for x in batch.X.ravel()]
            self.found += batch.X.ravel().astype(int).tolist()
            self.position = batch.position
            if len(self.found) >= rows:
                break
        limit.cancel()
        assert not source.closed, f"{len(self.found)} rows came of {rows}"

    def read(self, up_to=None, **options):
        with self.open(**options) as source:
            self.take(source, self.written if up_to is None else up_to)

    def check(self):
        assert self.found == list(range(self.written))


WAYS = ["create", "nocreate", "copytruncate", "compress", "dateext"]


@pytest.fixture(params=HEADERS)
def log(request, tmp_path):
    return Log(tmp_path, request.param)


@pytest.mark.parametrize("how", WAYS)
def test_a_rotated_file_is_read_to_its_end_and_then_the_new_one(log, how):
    log.write(10)
    with log.open(rows=3) as source:
        log.take(source, 3)
        log.write(10)
        getattr(log, how)()
        log.write(10)
        log.take(source, 30)
        getattr(log, how)()
        log.write(1)
        log.take(source, 31)
    log.check()
    assert source.losses == ()


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("times", [1, 3])
def test_what_was_rotated_during_a_stop_is_read_first(log, how, times):
    log.write(10)
    log.read(4, rows=4)
    for _ in range(times):
        log.write(10)
        getattr(log, how)()
    log.write(2)
    log.read(rows=3)
    log.check()


@pytest.mark.parametrize("how", WAYS)
def test_rotated_several_times_between_two_looks_nothing_is_left_out(log, how):
    log.write(10)
    with log.open(rows=4) as source:
        log.take(source, 4)
        for _ in range(3):
            getattr(log, how)()
            log.write(10)
        log.take(source, 40)
    log.check()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("format", HEADERS)
def test_rotations_and_stops_at_random_moments(tmp_path, format, seed):
    rng = random.Random(seed)
    log = Log(tmp_path, format, header=rng.random() < 0.7)
    ways = [rng.choice(WAYS)] if rng.random() < 0.5 else ["create", "copytruncate", "nocreate"]
    log.write(3)
    log.read(1, rows=1)
    for _ in range(8):
        with log.open(rows=rng.choice([1, 3, 50])) as source:
            for _ in range(rng.randrange(4)):
                if log.written > len(log.found):
                    log.take(source, rng.randint(len(log.found) + 1, log.written))
                if rng.random() < 0.5:
                    getattr(log, rng.choice(ways))()
                log.write(rng.randrange(1, 6))
        if rng.random() < 0.5:
            getattr(log, rng.choice(ways))()
            log.write(rng.randrange(1, 6))
    log.read()
    log.check()


def test_lines_written_to_the_old_file_after_it_was_renamed_are_read(log):
    """A program that has not opened its new file yet writes to the old one."""
    log.write(3)
    with log.open() as source:
        log.take(source, 3)
        with open(log.path, "a", buffering=1) as writer:
            log.create()
            writer.write(line(log.format, 3))
            log.written = 4
            log.take(source, 4)
            writer.write(line(log.format, 4))
            log.written = 5
            log.take(source, 5)
        log.write(2)
        log.take(source, 7)
    log.check()


@pytest.mark.parametrize("stopped", [False, True])
def test_the_last_line_of_a_rotated_file_needs_no_end(log, stopped):
    log.write(3)
    os.truncate(log.path, log.path.stat().st_size - 1)
    with log.open() as source:
        log.take(source, 2)
        if not stopped:
            log.create()
            log.write(2)
            log.take(source, 5)
    if stopped:
        log.create()
        log.write(2)
        log.read()
    log.check()


def test_an_empty_file_may_be_rotated(log):
    log.write(2)
    with log.open() as source:
        log.take(source, 2)
        log.create()
        log.create()
        log.create()
        log.write(2)
        log.take(source, 4)
    log.check()


def test_a_new_file_with_other_columns_is_refused(tmp_path):
    log = Log(tmp_path)
    log.write(2)
    with log.open() as source:
        log.take(source, 2)
        log.create()
        log.path.write_text("x,d\n1,2\n")
        with pytest.raises(ValueError, match=r"a\.csv: expected the columns of .*without 'c' and"):
            next(iter(source))


def test_a_file_emptied_in_place_needs_no_second_header(tmp_path):
    log = Log(tmp_path, header=False)
    log.write(5)
    with log.open(rows=2) as source:
        log.take(source, 2)
        log.copytruncate()
        log.write(5)
        log.take(source, 7)
    log.read()
    log.check()


# -- what is lost ------------------------------------------------------------------------


def truncated(log):
    os.truncate(log.path, 0)


def deleted(log):
    log.path.unlink()
    log.path.write_text("")


@pytest.mark.parametrize("how", [truncated, deleted])
def test_a_file_that_is_gone_after_a_stop_is_reported(log, how):
    log.write(10)
    log.read(4, rows=4)
    how(log)
    log.write(3)
    with pytest.raises(
        DataLossError, match=r"a\.\w+ is another file, and no rotated copy of it .* after byte \d+"
    ):
        log.open()
    with log.open(on_data_loss="continue") as source:
        log.take(source, 7)
        assert log.found == [0, 1, 2, 3, 10, 11, 12]
        assert "is another file" in source.losses[0]
    log.write(2)
    with log.open() as source:  # reported once, remembered for good
        log.take(source, 9)
        assert len(source.losses) == 1
    assert log.found[-2:] == [13, 14]


def test_a_file_that_is_truncated_without_a_copy_is_reported(log):
    log.write(10)
    with log.open() as source:
        log.take(source, 10)
        os.truncate(log.path, 0)
        with pytest.raises(DataLossError, match=r"a\.\w+ was truncated while it was followed"):
            next(iter(source))
    os.truncate(log.path, 0)
    log.written, log.found, log.position = 0, [], None
    log.write(10)
    with log.open(on_data_loss="continue") as source:
        log.take(source, 10)
        os.truncate(log.path, 0)
        log.write(3)
        log.take(source, 13)
        assert len(source.losses) == 1
    log.check()


def test_a_file_that_is_deleted_while_it_is_followed_was_read_to_its_end(log):
    """As by ``rotate 0``: what is open can still be read."""
    log.write(10)
    with log.open(rows=4) as source:
        log.take(source, 4)
        deleted(log)
        log.write(3)
        log.take(source, 13)
    log.check()


def test_a_file_that_vanishes_is_waited_for(log):
    log.write(2)
    source = log.open()
    log.take(source, 2)
    log.path.unlink()
    batches = iter(source)
    timer = threading.Timer(0.7, log.write, [2])
    timer.start()
    limit = threading.Timer(30, source.close)
    limit.start()
    assert next(batches).X.ravel().tolist() == [2, 3]
    limit.cancel()
    timer.join(60)
    source.close()


def test_a_file_that_never_was_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"a\.csv"):
        open_source(tmp_path / "a.csv", follow=True)


# -- edited, not rotated -----------------------------------------------------------------


def test_a_file_replaced_by_the_same_and_more_is_continued(log):
    """As by an editor, or a program that writes a new file and renames it."""
    log.write(1000)
    with log.open() as source:
        log.take(source, 1000)
        other = log.path.with_name("new")
        shutil.copyfile(log.path, other)
        os.replace(other, log.path)
        log.write(3)
        log.take(source, 1003)
    shutil.copyfile(log.path, other)
    os.replace(other, log.path)
    log.write(3)
    log.read()
    log.check()


def without_lines(path, first, last):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:first] + lines[last:]))


def test_an_edit_before_the_position_is_refused(log):
    log.write(5000)
    log.read()
    without_lines(log.path, 4000, 4100)
    log.write(500)
    with pytest.raises(ValueError, match=r"it was edited: the bytes before byte \d+ are not"):
        log.open(on_data_loss="continue")


@pytest.mark.parametrize("replace", [False, True])
def test_an_edit_while_it_is_followed_is_refused(log, replace):
    log.write(5000)
    with log.open() as source:
        log.take(source, 5000)
        if replace:
            other = log.path.with_name("new")
            shutil.copyfile(log.path, other)
            without_lines(other, 4000, 4100)
            os.replace(other, log.path)
        else:
            without_lines(log.path, 4000, 4100)
        log.write(500)
        limit = threading.Timer(30, source.close)
        limit.start()
        with pytest.raises(ValueError, match="while it was followed, it was edited: the bytes"):
            next(iter(source))
        limit.cancel()


# -- the real one --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", ["create", "copytruncate", "nocreate", "create\ncompress", "create\ndateext"]
)
@pytest.mark.parametrize("stopped", [False, True])
def test_logrotate(tmp_path, options, stopped):
    program = shutil.which("logrotate", path="/usr/sbin:/sbin")
    program = program or find_program("logrotate", "logrotate")
    log = Log(tmp_path)
    settings = tmp_path / "settings"
    settings.write_text(f"{log.path} {{\nrotate 9\nmissingok\nsu root root\n{options}\n}}\n")
    if os.geteuid() != 0:
        settings.write_text(settings.read_text().replace("su root root\n", ""))
    settings.chmod(0o644)
    tmp_path.chmod(0o755)
    log.write(10)
    source = log.open(rows=4)
    log.take(source, 4)
    for turn in range(1 if "dateext" in options else 3):
        if stopped:
            source.close()
        log.write(5)
        command = [program, "-f", "-s", str(tmp_path / "state"), str(settings)]
        processes.run(command, check=True, capture_output=True, timeout=60)
        log.write(5)
        if stopped:
            source = log.open(rows=4)
        log.take(source, 20 + 10 * turn)
        time.sleep(0.01)
    source.close()
    log.check()


@pytest.mark.parametrize("how", ["create", "copytruncate", "dateext"])
def test_rotated_before_anything_was_stored_a_file_is_read_from_its_beginning(log, how):
    log.write(5)
    with log.open() as source:
        start = source.start()
        log.take(source, 5)  # and killed before that was stored
    log.write(5)
    getattr(log, how)()
    log.write(5)
    log.found, log.position = [], start
    log.read()
    log.check()
