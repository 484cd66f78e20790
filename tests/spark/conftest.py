from __future__ import annotations

import pytest

import spark_session


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of Spark, for the tests of a file."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from spark_session.running(tmp_path_factory.mktemp("spark"), monkeypatch)
