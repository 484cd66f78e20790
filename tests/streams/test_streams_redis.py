"""A real Redis server: entries come at least once, and exactly once with stored positions."""

import json
import threading
import time

import numpy as np
import pytest

from icvi.streams import DataLossError, open_source
from redis_server import KEY
from stream_inputs import concatenated


def test_entries_are_read_end_to_end(server):
    server.add(0, 100)
    with open_source(server.url, label="c", time="t", rows=30) as source:
        assert source.columns == ("x", "y")
        batches = list(source)
        assert [len(batch) for batch in batches] == [30, 30, 30, 10]
        rows = concatenated(batches)
        assert rows.X[:, 0].tolist() == list(range(100))
        assert rows.X[:, 1].tolist() == [i / 7 for i in range(100)]
        assert rows.labels.tolist() == [f"l{i % 3}" for i in range(100)]
        assert rows.time.tolist() == [i / 2 for i in range(100)]
        assert server.pending() == 100
        source.commit(batches[1].position)
        assert server.pending() == 40
        source.commit(batches[3].position)
        assert server.pending() == 0


def test_what_was_not_committed_comes_first_after_a_restart(server):
    server.add(0, 50)
    with open_source(server.url, columns=["x"], rows=20) as source:
        batches = [batch for batch, _ in zip(source, range(2))]
        source.commit(batches[0].position)
    server.add(50, 60)
    with open_source(server.url, columns=["x"], rows=20) as source:
        assert concatenated(source).X.ravel().tolist() == list(range(20, 60))


def test_with_stored_positions_every_entry_counts_once(server):
    server.add(0, 200)
    rng = np.random.default_rng(3)
    seen, position = [], None
    while len(seen) < 200:
        # Stored, then stopped before the commit: the worst moment.
        with open_source(server.url, label="c", rows=int(rng.integers(1, 40))) as source:
            if position is not None:
                source.seek(json.loads(json.dumps(position)))
            for batch in source:
                assert batch.first == len(seen)
                seen += batch.X[:, 0].tolist()
                position = batch.position
                if rng.random() < 0.3:
                    break
                if rng.random() < 0.5:
                    source.commit(position)
    assert seen == list(range(200))


def test_the_server_is_killed_and_comes_back_in_the_middle(server):
    server.add(0, 100)
    source = open_source(server.url, columns=["x"], follow=True, rows=10, patience=20)
    seen = []

    def restart():
        server.kill()
        time.sleep(1.0)
        server.start()
        server.add(100, 150)

    timer = threading.Timer(60, source.close)
    timer.start()
    restarting = threading.Thread(target=restart)
    for batch in source:
        seen += batch.X.ravel().tolist()
        if len(seen) == 50:
            restarting.start()
            time.sleep(0.5)
        source.commit(batch.position)
        if len(seen) >= 150:
            break
    restarting.join(60)
    timer.cancel()
    source.close()
    assert seen == list(range(150))
    assert server.pending() == 0


def test_a_server_that_does_not_come_back_is_an_error_that_helps(server):
    server.add(0, 10)
    source = open_source(server.url, columns=["x"], rows=5, patience=1.0)
    batches = iter(source)
    next(batches)
    server.kill()
    start = time.monotonic()
    with pytest.raises(
        ConnectionError, match=r"redis://127.0.0.1:\d+/0/samples: no answer for .* s"
    ):
        next(batches)
    assert time.monotonic() - start < 5.0
    with pytest.raises(ConnectionError, match="is the server running and the address right"):
        open_source(server.url, patience=0.3)


def test_a_password_is_never_shown():
    with pytest.raises(ConnectionError) as error:
        open_source("redis://user:secret@127.0.0.1:1/0/k", patience=0.1)
    assert "secret" not in str(error.value)
    with pytest.raises(
        ValueError, match=r"expected an address such as redis://localhost:6379/0/key"
    ):
        open_source("redis://:secret@localhost/key")


def test_bad_entries_are_named_or_left_out(server):
    server.add(0, 1)
    with server.client() as client:
        for fields in (
            {"x": "abc", "y": 1, "c": "a"},
            {"x": 1, "c": "a"},
            {"x": "nan", "y": 1, "c": "a"},
            {"x": 1, "y": b"\xff", "c": "a"},
            {"x": 1, "y": 1, "c": ""},
        ):
            client.xadd(KEY, fields)
    server.add(1, 2)
    with open_source(server.url, columns=["x", "y"], label="c", bad_rows="skip") as source:
        assert concatenated(source).X[:, 0].tolist() == [0, 1]
    assert source.skipped == 5
    for reason, message in zip(
        source.reasons,
        [
            "got 'abc'",
            "'y': the field is missing",
            "got 'nan'",
            "is not UTF-8",
            "label, got nothing",
        ],
    ):
        assert "/0/samples, entry " in reason
        assert message in reason
    with (
        open_source(server.url, columns=["x", "y"], label="c") as source,
        pytest.raises(ValueError, match="column 'x': expected a number, got 'abc'"),
    ):
        list(source)


def test_entries_deleted_after_they_were_delivered_are_lost(server):
    server.add(0, 3)
    with open_source(server.url, columns=["x"]) as source:
        (batch,) = source
    with server.client() as client:
        client.xdel(KEY, batch.position["id"])
    with (
        open_source(server.url, columns=["x"]) as source,
        pytest.raises(DataLossError, match="1 entry was deleted from the stream before being"),
    ):
        list(source)
    with open_source(server.url, columns=["x"], on_data_loss="continue") as source:
        assert concatenated(source).X.ravel().tolist() == [0, 1]
    assert (source.lost, source.skipped) == (1, 0)
    assert batch.position["id"] in source.losses[0]


def test_two_consumers_share_a_group_and_groups_do_not_share(server):
    server.add(0, 40)
    one = open_source(server.url, columns=["x"], rows=10, consumer="one")
    two = open_source(server.url, columns=["x"], rows=10, consumer="two")
    a, b = next(iter(one)), next(iter(two))
    assert sorted([*a.X.ravel(), *b.X.ravel()]) == list(range(20))
    with pytest.raises(ValueError, match="position is of another stream"):
        two.seek(a.position)
    with open_source(server.url, columns=["x"], group="other") as other:
        assert len(concatenated(other).X) == 40
    one.close()
    two.close()


def test_waiting_ends_with_close_and_a_key_of_another_kind_is_refused(server):
    source = open_source(server.url, follow=True)
    threading.Timer(0.5, source.close).start()
    assert list(source) == []
    with server.client() as client:
        client.set("text", "a")
    with pytest.raises(ValueError, match="/0/text: WRONGTYPE"):
        open_source(server.url.replace(KEY, "text"))
