from __future__ import annotations

import os
import random
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import pytest

# Compilation on first use must not look like a slow example, and a busy machine not like a bug.
hypothesis.settings.register_profile(
    "icvi", deadline=None, derandomize=True, print_blob=True, max_examples=60
)
hypothesis.settings.load_profile("icvi")

GOLDEN = Path(__file__).parent / "golden"

#: Files that take a minute: begun last, one of them would keep a single worker busy at the end.
LONG = {
    "test_connectivity_changes.py",
    "test_docs.py",
    "test_live_page.py",
    "test_spark_frames.py",
    "test_spark_kills.py",
    "test_study.py",
    "test_trace_files.py",
    "test_watch_kill.py",
    "test_watch_kill_sources.py",
    "test_watch_process.py",
    "test_watch_report.py",
}


#: Seconds for a test, and for what it needs: none waits for ever, whatever it waits for.
LIMIT = 2400


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, or shuffle the tests of every file, and the files."""
    seed = os.environ.get("ICVI_TEST_ORDER")
    if seed is None:
        items.sort(key=lambda item: item.path.name not in LONG)
        return
    chance = random.Random(seed)
    files = sorted({item.path for item in items})
    place = {path: number for number, path in enumerate(chance.sample(files, len(files)))}
    items[:] = sorted(chance.sample(items, len(items)), key=lambda item: place[item.path])


@contextmanager
def _limited(item: pytest.Item) -> Generator[None]:
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def fail(number: int, frame: object) -> None:
        raise TimeoutError(f"{item.nodeid} was not done after {LIMIT} s")

    before, left = signal.signal(signal.SIGALRM, fail), signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(left)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    with _limited(item):
        return (yield)


@pytest.fixture(scope="session")
def golden() -> Path:
    """Traces and values that independent implementations produced."""
    return GOLDEN


@pytest.fixture(scope="session")
def shared() -> Path:
    """Data sets of the paper and what the authors' toolbox gives on them."""
    path = Path(__file__).parents[2] / "shared"
    if not (path / "data").exists():
        pytest.skip("the paper's data sets are other people's and not part of this project")
    return path


@pytest.fixture
def server(tmp_path):
    """A running Redis server, for which redis-server must be installed or installable."""
    yield from running(tmp_path, log=True)


@pytest.fixture
def forgetful(tmp_path):
    """A Redis server that has what its last snapshot had when it is killed and started again."""
    yield from running(tmp_path, log=False)


def running(folder, log):
    from redis_server import Server

    server = Server(folder, log)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of Spark, for which Java must be installed or installable."""
    import spark_session

    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from spark_session.running(tmp_path_factory.mktemp("spark"), monkeypatch)
