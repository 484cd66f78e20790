"""A real Redis server that loses things: every entry counts once, and every gap is reported."""

import json
import threading

import numpy as np
import pytest

from icvi.streams import DataLossError, open_source
from redis_server import KEY


def rows_of(server, position=None, **options):
    """What is read to the end of the stream, the position after it, and the source."""
    with open_source(server.url, columns=["x"], **options) as source:
        if position is not None:
            source.seek(json.loads(json.dumps(position)))
        found = []
        for batch in source:
            found += batch.X.ravel().astype(int).tolist()
            position = batch.position
            source.commit(position)
    return found, position, source


def some(server, number, **options):
    """The position after the first rows, which are not acknowledged."""
    with open_source(server.url, columns=["x"], rows=number, **options) as source:
        return next(iter(source)).position


def asked(server, name, *arguments, **options):
    with server.client() as client:
        return getattr(client, name)(KEY, *arguments, **options)


# -- the group is only a help ------------------------------------------------------------


def ids(server):
    return [name.decode() for name, _ in asked(server, "xrange")]


SPOILED = {
    "destroyed": lambda s: asked(s, "xgroup_destroy", "icvi"),
    "set back to the beginning": lambda s: asked(s, "xgroup_setid", "icvi", "0"),
    "set back": lambda s: asked(s, "xgroup_setid", "icvi", ids(s)[40]),
    "set forward": lambda s: asked(s, "xgroup_setid", "icvi", "$"),
    "all acknowledged": lambda s: asked(s, "xack", "icvi", *ids(s)),
    "consumer deleted": lambda s: asked(s, "xgroup_delconsumer", "icvi", "icvi"),
    "created at the end": lambda s: (
        asked(s, "xgroup_destroy", "icvi"),
        asked(s, "xgroup_create", "icvi", "$"),
    ),
}


@pytest.mark.parametrize("how", SPOILED)
def test_whatever_became_of_the_group_every_entry_counts_once(server, how):
    server.add(0, 300)
    position = some(server, 100)
    SPOILED[how](server)
    server.add(300, 400)
    found, _, source = rows_of(server, position, rows=70)
    assert found == list(range(100, 400))
    assert (source.lost, source.losses) == (0, ())
    assert server.pending() == 0


@pytest.mark.parametrize("how", SPOILED)
def test_what_becomes_of_the_group_while_it_is_read_does_not_matter(server, how):
    server.add(0, 300)
    found = []
    with open_source(server.url, columns=["x"], rows=50) as source:
        for batch in source:
            found += batch.X.ravel().tolist()
            if len(found) in (100, 200):
                SPOILED[how](server)
    assert found == list(range(300))
    assert source.lost == 0


def test_a_group_that_was_read_by_a_stranger_does_not_hide_entries(server):
    server.add(0, 100)
    position = some(server, 10)
    with server.client() as client:
        for _ in range(3):  # under our own name
            ((_, entries),) = client.xreadgroup("icvi", "icvi", {KEY: ">"}, count=20)
            client.xack(KEY, "icvi", *[name for name, _ in entries])
    assert rows_of(server, position)[0] == list(range(10, 100))


def test_reading_a_key_that_is_not_there_does_not_create_it(server):
    with pytest.raises(ValueError, match="/0/samples: there is no stream under this key"):
        open_source(server.url)
    source = open_source(server.url, columns=["x"], follow=True)
    timer = threading.Timer(0.7, source.close)
    timer.start()
    assert list(source) == []
    timer.join(60)
    with server.client() as client:
        assert client.exists(KEY) == 0


def test_a_followed_key_is_waited_for_and_read_from_its_beginning(server):
    source = open_source(server.url, columns=["x"], follow=True)
    timer = threading.Timer(0.5, lambda: server.add(0, 5))
    limit = threading.Timer(30, source.close)
    timer.start()
    limit.start()
    found = []
    for batch in source:
        found += batch.X.ravel().tolist()
        if len(found) >= 5:
            break
    limit.cancel()
    timer.join(60)
    source.close()
    assert found == list(range(5))


# -- gaps --------------------------------------------------------------------------------


def trim(server, left):
    asked(server, "xtrim", maxlen=left, approximate=False)


def test_entries_trimmed_before_they_were_read_are_counted(server):
    server.add(0, 100)
    position = some(server, 30)
    trim(server, 50)
    with pytest.raises(
        DataLossError,
        match=rf"/0/samples: 20 entries were trimmed before being read: the last one read was "
        rf"{position['id']}, the oldest one left is .*on_data_loss='continue'",
    ):
        rows_of(server, position)
    found, after, source = rows_of(server, position, on_data_loss="continue")
    assert found == list(range(50, 100))
    assert source.lost == 20
    server.add(100, 110)
    # Reported once, counted for good.
    found, _, source = rows_of(server, after)
    assert found == list(range(100, 110))
    assert source.lost == 20
    assert "20 entries were trimmed" in source.losses[0]


@pytest.mark.parametrize("left", [70, 71, 90])
def test_what_was_read_may_be_trimmed(server, left):
    server.add(0, 100)
    position = some(server, 30)
    trim(server, left)
    found, _, source = rows_of(server, position)
    assert found == list(range(30, 100))
    assert (source.lost, source.losses) == (0, ())


def test_a_stream_that_was_emptied_is_a_gap_only_where_it_was_not_read(server):
    server.add(0, 40)
    read, at_end = some(server, 10), rows_of(server, group="other")[1]
    trim(server, 0)
    assert rows_of(server, at_end, group="other")[0] == []
    with pytest.raises(DataLossError, match=r"30 entries were trimmed .* nothing is left"):
        rows_of(server, read)
    server.add(40, 45)
    found, _, source = rows_of(server, at_end, group="other")
    assert (found, source.lost) == (list(range(40, 45)), 0)
    found, _, source = rows_of(server, read, on_data_loss="continue")
    assert (found, source.lost) == (list(range(40, 45)), 30)


def slowly(server, **options):
    """Rows that are read while the stream is trimmed."""
    found = []
    with open_source(server.url, columns=["x"], rows=10, **options) as source:
        for batch in source:
            found += batch.X.ravel().astype(int).tolist()
            if len(found) == 20:
                trim(server, 40)
    return found, source


def test_a_reader_that_is_too_slow_notices_it_while_it_reads(server):
    server.add(0, 100)
    with pytest.raises(DataLossError, match="40 entries were trimmed before being read"):
        slowly(server)
    asked(server, "delete")
    server.add(0, 100)
    found, source = slowly(server, on_data_loss="continue")
    assert found == [*range(20), *range(60, 100)]
    assert source.lost == 40


def test_entries_deleted_before_they_were_read_are_counted_when_the_rest_is_read(server):
    server.add(0, 100)
    position = some(server, 30)
    names = ids(server)
    asked(server, "xdel", *names[40:45], names[99], names[3])
    found, _, source = rows_of(server, position, on_data_loss="continue", rows=20)
    assert found == [*range(30, 40), *range(45, 99)]
    assert source.lost == 6
    with pytest.raises(DataLossError, match="6 entries were deleted or trimmed before being read"):
        rows_of(server, position, rows=20)


def test_an_entry_that_was_read_and_deleted_is_no_gap(server):
    server.add(0, 100)
    position = some(server, 30)
    asked(server, "xdel", *ids(server)[:30])
    found, _, source = rows_of(server, position)
    assert found == list(range(30, 100))
    assert (source.lost, source.losses) == (0, ())


def test_trimmed_and_deleted_together_are_counted(server):
    server.add(0, 100)
    position = some(server, 30)
    names = ids(server)
    trim(server, 60)
    asked(server, "xdel", names[70], names[72])
    found, _, source = rows_of(server, position, on_data_loss="continue")
    assert found == [*range(40, 70), 71, *range(73, 100)]
    assert source.lost == 12


@pytest.mark.parametrize("seed", range(6))
def test_all_entries_are_read_or_counted_whatever_is_trimmed(server, seed):
    rng = np.random.default_rng(seed)
    server.add(0, 10)
    added, found, position = 10, list(range(5)), some(server, 5)
    for _ in range(25):
        more = int(rng.integers(1, 40))
        server.add(added, added + more)
        added += more
        if rng.random() < 0.3:
            trim(server, int(rng.integers(0, 60)))
        if rng.random() < 0.2 and (names := ids(server)):
            asked(server, "xdel", *rng.choice(names, 2))
        if rng.random() < 0.2 and asked(server, "xlen"):
            SPOILED[str(rng.choice(["set back to the beginning", "set forward"]))](server)
        options = {"rows": int(rng.integers(1, 30)), "on_data_loss": "continue"}
        with open_source(server.url, columns=["x"], **options) as source:
            source.seek(json.loads(json.dumps(position)))
            for batch in source:
                found += batch.X.ravel().astype(int).tolist()
                position = batch.position
                if rng.random() < 0.3:
                    break
    last, position, source = rows_of(server, position, on_data_loss="continue")
    found += last
    assert found == sorted(set(found))
    assert len(found) + source.lost == added


# -- another stream, and one that went back ------------------------------------------------


def again(server, values, first=None):
    asked(server, "delete")
    with server.client() as client:
        for number, value in enumerate(values):
            client.xadd(KEY, {"x": value}, id="*" if first is None else f"{first + number}-0")


@pytest.mark.parametrize("first", [None, 1])
def test_another_stream_under_the_key_is_reported(server, first):
    """Created again by the clock, its entries come later; with numbers of its own, earlier."""
    server.add(0, 50)
    position = rows_of(server)[1]
    again(server, range(1000, 1020), first)
    with pytest.raises(DataLossError, match="/0/samples: another stream is under this key: it"):
        rows_of(server, position)
    found, _, source = rows_of(server, position, on_data_loss="continue")
    assert found == list(range(1000, 1020))
    assert "read from its beginning" in source.losses[0]


def test_the_same_identifiers_with_other_content_are_another_stream(server):
    again(server, range(50), first=1)
    position = some(server, 20)
    again(server, range(100, 150), first=1)
    with pytest.raises(DataLossError, match="entry 20-0 has other fields than when it was read"):
        rows_of(server, position)
    assert rows_of(server, position, on_data_loss="continue")[0] == list(range(100, 150))
    again(server, range(50), first=1)  # written again, the same
    assert rows_of(server, position)[0] == list(range(20, 50))


def test_a_stream_that_is_deleted_while_it_is_followed_is_reported(server):
    server.add(0, 10)
    source = open_source(server.url, columns=["x"], follow=True)
    limit = threading.Timer(30, source.close)
    limit.start()
    batches = iter(source)
    next(batches)
    asked(server, "delete")
    with pytest.raises(DataLossError, match="the stream is gone, deleted or expired"):
        next(batches)
    limit.cancel()
    with server.client() as client:
        assert client.exists(KEY) == 0


def test_a_server_that_restarts_from_an_older_snapshot_counts_nothing_twice(forgetful):
    forgetful.add(0, 1000)
    forgetful.snapshot()
    forgetful.add(1000, 2000)
    found, position, _ = rows_of(forgetful)
    forgetful.restart()
    forgetful.add(2000, 2100)
    rest, position, source = rows_of(forgetful, position)
    assert found + rest == list(range(2100))
    assert source.lost == 0
    assert "the server has returned to an earlier state of the stream" in source.losses[0]
    forgetful.add(2100, 2200)
    assert rows_of(forgetful, position)[0] == list(range(2100, 2200))


def test_entries_that_a_restart_lost_before_they_were_read_are_counted(forgetful):
    forgetful.add(0, 100)
    forgetful.snapshot()
    forgetful.add(100, 200)
    position = some(forgetful, 150)
    forgetful.restart()
    forgetful.add(200, 250)
    with pytest.raises(DataLossError, match=r"an earlier state .* at least 50 entries that were"):
        rows_of(forgetful, position)
    found, _, source = rows_of(forgetful, position, on_data_loss="continue")
    assert (found, source.lost) == (list(range(200, 250)), 50)


def test_a_restart_is_survived_while_the_stream_is_followed(forgetful):
    forgetful.add(0, 100)
    forgetful.snapshot()
    forgetful.add(100, 200)
    source = open_source(forgetful.url, columns=["x"], follow=True, rows=40)
    limit = threading.Timer(60, source.close)
    limit.start()
    found = []
    for batch in source:
        found += batch.X.ravel().tolist()
        if len(found) == 200:
            forgetful.restart()
            forgetful.add(200, 230)
        if len(found) == 230:
            break
    limit.cancel()
    source.close()
    assert found == list(range(230))
    assert source.lost == 0
    assert len(source.losses) == 1


# -- older positions, older servers, shared groups -----------------------------------------

BEFORE = ("key", "group", "consumer", "id", "row", "skipped", "columns", "label", "time")


def of_the_version_before(position):
    return {name: position[name] for name in (*BEFORE, "time_kind")}


def test_positions_of_the_version_before_are_resumed(server):
    server.add(0, 100)
    old = of_the_version_before(some(server, 30))
    assert rows_of(server, old)[0] == list(range(30, 100))
    asked(server, "xgroup_setid", "icvi", "0")
    assert rows_of(server, old)[0] == list(range(30, 100))
    trim(server, 40)
    with pytest.raises(DataLossError, match="an unknown number of entries, perhaps none, were"):
        rows_of(server, old)
    found, position, _ = rows_of(server, old, on_data_loss="continue")
    assert found == list(range(60, 100))
    assert rows_of(server, position)[0] == []


def test_a_server_that_does_not_count_says_that_some_may_be_missing(server, monkeypatch):
    """Before Redis 7, a server does not say how many entries were ever added."""
    from icvi.streams.redis.stream_info import StreamInfo

    whole = StreamInfo.of

    def older(answer):
        new = ("entries-added", "max-deleted-entry-id", "recorded-first-entry-id")
        return whole({name: value for name, value in answer.items() if name not in new})

    monkeypatch.setattr(StreamInfo, "of", older)
    server.add(0, 100)
    position = some(server, 30)
    assert rows_of(server, position)[0] == list(range(30, 100))
    trim(server, 71)
    assert rows_of(server, position)[0] == list(range(30, 100))
    trim(server, 40)
    with pytest.raises(DataLossError, match="an unknown number of entries, perhaps none, were"):
        rows_of(server, position)
    found, _, source = rows_of(server, position, on_data_loss="continue")
    assert (found, source.lost, len(source.losses)) == (list(range(60, 100)), 0, 1)


def test_consumers_that_share_a_group_resume_with_their_own_part(server):
    server.add(0, 80)
    parts, positions = {"one": [], "two": []}, {}
    for turn in range(4):
        for name, part in parts.items():
            source = open_source(server.url, columns=["x"], rows=10, consumer=name)
            if name in positions:
                source.seek(positions[name])
            batch = next(iter(source))
            part += batch.X.ravel().astype(int).tolist()
            positions[name] = batch.position
            if turn % 2:
                source.commit(batch.position)
            source.close()
    assert sorted(parts["one"] + parts["two"]) == list(range(80))


def test_what_another_consumer_read_stays_read_when_it_has_left(server):
    server.add(0, 40)
    positions = {}
    for name in ("one", "two", "one"):
        with open_source(server.url, columns=["x"], rows=10, consumer=name) as source:
            if name in positions:
                source.seek(positions[name])
            batch = next(iter(source))
            source.commit(batch.position)
            positions.setdefault(name, batch.position)
    asked(server, "xgroup_delconsumer", "icvi", "two")
    # As after a kill: the position is older than what was read since.
    found = rows_of(server, positions["one"] | {"shared": True}, consumer="one")[0]
    assert found == list(range(30, 40))


def test_a_shared_group_that_was_destroyed_is_reported(server):
    server.add(0, 80)
    positions = {}
    for name in ("one", "two", "one"):
        with open_source(server.url, columns=["x"], rows=10, consumer=name) as source:
            if name in positions:
                source.seek(positions[name])
            positions[name] = next(iter(source)).position
    asked(server, "xgroup_destroy", "icvi")
    with pytest.raises(DataLossError, match="group 'icvi' was deleted or set back, and other"):
        rows_of(server, positions["one"], consumer="one")


@pytest.mark.parametrize("how", SPOILED)
def test_a_group_that_is_spoiled_before_anything_was_stored_does_not_matter(server, how):
    """The place where reading began is a position, too."""
    server.add(0, 100)
    with open_source(server.url, columns=["x"], rows=30) as source:
        next(iter(source))
        source.commit(next(iter(source)).position)
    with open_source(server.url, columns=["x"], rows=10) as source:
        start = json.loads(json.dumps(source.start()))
        assert next(iter(source)).X[0, 0] == 60
    SPOILED[how](server)
    assert rows_of(server, start)[0] == list(range(60, 100))


def test_a_stream_that_does_not_exist_begins_at_its_first_entry(server):
    with open_source(server.url, columns=["x"], follow=True) as source:
        start = source.start()
    server.add(0, 10)
    asked(server, "xgroup_create", "icvi", "$")
    assert rows_of(server, start)[0] == list(range(10))
