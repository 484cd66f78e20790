"""Every promise of the documentation names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "promises.md").read_text()
NAMED = re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_test_that_shows_a_promise_is_there(file, name):
    assert f"\ndef {name}(" in next(TESTS.rglob(file)).read_text()


def test_every_promise_names_a_test():
    promises = re.findall(r"^: (.*?)(?=\n\n|\Z)", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert len(promises) > 15
    for promise in promises:
        assert "::test_" in promise, promise
