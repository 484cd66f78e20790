"""Topics of Kafka: our position is the truth, lost messages are noticed, brokers come and go."""

from __future__ import annotations

import json
import shutil
import threading
import time
import traceback
import urllib.request

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
import processes
from icvi.cli.main import main
from icvi.streams import DataLossError, open_source
from icvi.streams.kafka.address import parse_address
from icvi.streams.kafka.merging import Merging
from icvi.streams.kafka.messages import Message, Values
from kafka_cluster import TOPIC, Cluster
from kafka_sasl import PasswordBroker
from stream_inputs import concatenated

PATIENCE = 60.0
SHORT = {"patience": 30.0}


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture
def topic(cluster, request):
    """A topic of its own for every test, with one partition."""
    name = f"{TOPIC}-{abs(hash(request.node.nodeid))}"
    cluster.create(name)
    return name


def values(start, stop):
    rows = ({"x": i, "y": i / 7, "c": f"l{i % 3}", "t": i / 2} for i in range(start, stop))
    return [json.dumps(row).encode() for row in rows]


def first_column(source):
    return concatenated(source).X[:, 0].tolist()


def next_batch(batches):
    """The next batch; None is passed over, for a while."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if (batch := next(batches)) is not None:
            return batch
    raise AssertionError("waited for too long")


# -- reading ---------------------------------------------------------------------------------


def test_json_objects_are_read_end_to_end(cluster, topic):
    cluster.add(values(0, 100), topic, keys=[f"k{i}" for i in range(100)])
    with open_source(cluster.url(topic), label="c", time="t", rows=30, **SHORT) as source:
        assert source.columns == ("x", "y")
        batches = list(source)
    rows = concatenated(batches)
    assert max(map(len, batches)) <= 30
    assert rows.X.tolist() == [[i, i / 7] for i in range(100)]
    assert rows.labels.tolist() == [f"l{i % 3}" for i in range(100)]
    assert rows.time.tolist() == [i / 2 for i in range(100)]


def test_fields_of_csv_and_the_key_are_columns(cluster, topic):
    cluster.add(
        [f"{i},{i / 2},a".encode() for i in range(9)], topic, keys=[str(i % 2) for i in range(9)]
    )
    with open_source(cluster.url(topic), label="key", **SHORT) as source:
        rows = concatenated(source)
        assert source.columns == ("x1", "x2")
        assert rows.labels.tolist() == [str(i % 2) for i in range(9)] or rows.labels.tolist() == [
            i % 2 for i in range(9)
        ]
        assert rows.X[:, 1].tolist() == [i / 2 for i in range(9)]


def test_a_separator_and_a_decimal_comma_are_given(cluster, topic):
    cluster.add([b"1,5;2", b"2,5;3"], topic)
    with open_source(cluster.url(topic), sep=";", decimal=",", format="csv", **SHORT) as source:
        assert concatenated(source).X.tolist() == [[1.5, 2.0], [2.5, 3.0]]


def test_invalid_messages_are_named_or_skipped(cluster, topic):
    cluster.add([b"[1]", b'{"x": 1}', b'{"x": "a"}', b"{", b'{"y": 1}', b'{"x": 2}'], topic)
    with (
        open_source(cluster.url(topic), columns=["x"], **SHORT) as source,
        pytest.raises(ValueError, match=r"partition 0, message 0: expected an object"),
    ):
        list(source)
    with open_source(cluster.url(topic), columns=["x"], bad_rows="skip", **SHORT) as source:
        assert first_column(source) == [1.0, 2.0]
        assert source.skipped == 4
        assert "message 2, column 'x': expected a number, got 'a'" in source.reasons[1]


def test_where_no_message_is_valid_the_first_is_named_or_all_are_skipped(cluster, topic):
    cluster.add([b"[1]", b"[2]"], topic)
    with (
        open_source(cluster.url(topic), **SHORT) as source,
        pytest.raises(ValueError, match="object"),
    ):
        list(source)
    with open_source(cluster.url(topic), bad_rows="skip", **SHORT) as source:
        assert list(source) == []
        assert source.skipped == 2


def test_several_partitions_are_merged_by_time(cluster, topic):
    name = f"{topic}-three"
    cluster.create(name, 3)
    rng = np.random.default_rng(0)
    owners = rng.integers(0, 3, 500)
    for number in range(3):
        mine = np.flatnonzero(owners == number).tolist()
        times = [1_000_000 + i // 2 for i in mine]  # some are the same in two partitions
        cluster.add([json.dumps({"x": i}).encode() for i in mine], name, number, times=times)
    expected = sorted(range(500), key=lambda i: (i // 2, owners[i], i))
    for rows in (100, 8192):
        with open_source(cluster.url(name), rows=rows, **SHORT) as source:
            assert first_column(source) == expected
    with open_source(cluster.url(name), follow=True, **SHORT) as source:
        batches, found = source.batches(0.3), []
        while len(found) < 500:
            found += next_batch(batches).X[:, 0].tolist()
        assert found == expected


def test_a_partition_that_has_nothing_is_not_waited_for_longer_than_asked(cluster, topic):
    name = f"{topic}-two"
    cluster.create(name, 2)
    cluster.add(values(0, 10), name, 0)
    with open_source(cluster.url(name), label="c", follow=True, wait=0.1, **SHORT) as source:
        batches = source.batches(0.1)
        assert next_batch(batches).X[:, 0].tolist() == list(range(10))
        cluster.add(values(10, 12), name, 1)
        assert next_batch(batches).X[:, 0].tolist() == [10.0, 11.0]


# -- positions -------------------------------------------------------------------------------


def test_with_stored_positions_every_message_counts_once(cluster, topic):
    cluster.add(values(0, 200), topic)
    rng = np.random.default_rng(3)
    seen, position = [], None
    while len(seen) < 200:
        rows = int(rng.integers(1, 90))
        with open_source(cluster.url(topic), label="c", rows=rows, **SHORT) as source:
            if position is not None:
                source.seek(json.loads(json.dumps(position)))
            for batch in source:
                assert batch.first == len(seen)
                seen += batch.X[:, 0].tolist()
                position = batch.position
                source.commit(position)
                if rng.random() < 0.4:
                    break
    assert seen == list(range(200))


def test_with_several_partitions_stops_change_neither_the_samples_nor_their_order(cluster, topic):
    name = f"{topic}-stopped"
    cluster.create(name, 3)
    for number in range(3):
        mine = range(number, 240, 3)
        values = [json.dumps({"x": i}).encode() for i in mine]
        cluster.add(values, name, number, times=[1_000_000 + i for i in mine])
    rng, seen, position = np.random.default_rng(1), [], None
    for _ in range(10):
        with open_source(cluster.url(name), rows=int(rng.integers(5, 25)), **SHORT) as source:
            if position is not None:
                source.seek(json.loads(json.dumps(position)))
            batch = next(iter(source))
        assert batch.first == len(seen)
        seen += batch.X[:, 0].tolist()
        position = batch.position
    with open_source(cluster.url(name), **SHORT) as source:
        source.seek(position)
        seen += first_column(source)
    assert seen == list(range(240))


def test_a_group_decides_nothing(cluster, topic):
    cluster.add(values(0, 20), topic)
    for _ in range(2):
        with open_source(cluster.url(topic), label="c", rows=20, **SHORT) as source:
            [batch] = list(source)
            assert batch.X[:, 0].tolist() == list(range(20))
            source.commit(batch.position)


def test_messages_that_come_while_it_follows_are_read(cluster, topic):
    cluster.add(values(0, 5), topic)
    with open_source(cluster.url(topic), label="c", follow=True, **SHORT) as source:
        batches = source.batches(0.1)
        assert len(next_batch(batches)) == 5
        assert next(batches) is None
        cluster.add(values(5, 8), topic)
        assert next_batch(batches).X[:, 0].tolist() == [5.0, 6.0, 7.0]


def test_a_topic_that_is_not_there_is_an_error_or_waited_for(cluster, topic):
    name = f"{topic}-later"
    with (
        pytest.raises(ValueError, match="there is no such topic"),
        open_source(cluster.url(name), **SHORT) as source,
    ):
        list(source)
    with open_source(cluster.url(name), follow=True, label="c", **SHORT) as source:
        batches = source.batches(0.3)
        assert next(batches) is None
        cluster.create(name)
        cluster.add(values(0, 3), name)
        assert len(next_batch(batches)) == 3


def test_a_position_of_another_topic_or_of_other_columns_is_refused(cluster, topic):
    cluster.add(values(0, 5), topic)
    with open_source(cluster.url(topic), label="c", **SHORT) as source:
        [batch] = list(source)
    with (
        open_source(cluster.url(topic), label="c", **SHORT) as source,
        pytest.raises(ValueError, match="another stream: it is of the topic 'other'"),
    ):
        source.seek({**batch.position, "topic": "other"})
    with (
        open_source(cluster.url(topic), columns=["y"], **SHORT) as source,
        pytest.raises(ValueError, match="its columns were"),
    ):
        source.seek(batch.position)


# -- lost messages ---------------------------------------------------------------------------


def resumed(cluster, topic, changes, **options):
    """A source that resumes from a position that was changed in between."""
    with open_source(cluster.url(topic), label="c", rows=20, **SHORT) as source:
        position = next(iter(source)).position
    source = open_source(cluster.url(topic), label="c", rows=20, **SHORT, **options)
    source.seek({**position, **changes})
    return source


def test_messages_that_were_removed_before_they_were_read_are_an_error_or_counted(cluster):
    name = "trimmed"
    cluster.create(name)
    cluster.add(values(0, 20), name)
    with open_source(cluster.url(name), label="c", rows=20, **SHORT) as source:
        position = next(iter(source)).position
    # The mock broker keeps 5 MB of a partition.
    filler = json.dumps({"x": 1, "y": 2, "c": "a", "t": 0, "text": "." * 100_000}).encode()
    cluster.add([filler] * 80, name)
    with (
        open_source(cluster.url(name), label="c", **SHORT) as source,
        pytest.raises(DataLossError, match=r"partition 0: \d+ messages were removed before"),
    ):
        source.seek(position)
    with open_source(cluster.url(name), label="c", on_data_loss="continue", **SHORT) as source:
        source.seek(position)
        rows = sum(map(len, source))
        assert source.lost > 0
        assert source.lost + rows == 80
        assert "were removed before being read" in source.losses[0]


def test_a_topic_with_fewer_messages_than_were_read_is_another_one(cluster, topic):
    cluster.add(values(0, 30), topic)
    with pytest.raises(DataLossError, match="the topic was created again, or brokers have lost"):
        resumed(cluster, topic, {"offsets": {"0": 99}})
    with resumed(cluster, topic, {"offsets": {"0": 99}}, on_data_loss="continue") as source:
        assert first_column(source) == list(range(30))


def test_a_topic_whose_last_message_is_another_one_was_created_again(cluster, topic):
    cluster.add(values(0, 30), topic)
    with (
        resumed(cluster, topic, {"digests": {"0": "0" * 16}}) as source,
        pytest.raises(DataLossError, match="message 19 is another one than when it was read"),
    ):
        list(source)
    with resumed(cluster, topic, {"digests": {"0": "0" * 16}}, on_data_loss="continue") as source:
        assert first_column(source) == list(range(30))


# -- brokers ---------------------------------------------------------------------------------


def test_a_broker_that_goes_away_and_comes_back_is_waited_for(cluster, topic):
    cluster.add(values(0, 5), topic)
    with open_source(cluster.url(topic), label="c", follow=True, **SHORT) as source:
        batches = source.batches(0.2)
        assert len(next_batch(batches)) == 5
        cluster.go_away()
        back = threading.Timer(1.0, cluster.come_back)
        back.start()
        for _ in range(3):
            assert next(batches) is None
        back.join(10)
        cluster.add(values(5, 9), topic)
        assert next_batch(batches).X[:, 0].tolist() == [5.0, 6.0, 7.0, 8.0]


def test_without_a_broker_patience_ends_with_an_error_that_shows_no_password():
    url = "kafka://me:s3cr3t@127.0.0.1:1/topic?security.protocol=SASL_PLAINTEXT"
    with open_source(url, patience=0.2) as source, pytest.raises(ConnectionError) as failed:
        list(source)
    assert "no answer for" in str(failed.value)
    assert "s3cr3t" not in str(failed.value)
    assert "kafka://me:***@127.0.0.1:1/topic" in str(failed.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that signs itself, for 127.0.0.1, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt"]
    command += ["ec_paramgen_curve:prime256v1", "-subj", "/CN=broker", "-days", "2"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "c.pem"]
    processes.run(command, cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "key.pem").read_text() + (folder / "c.pem").read_text())
    return both


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_password_reaches_the_broker_and_is_not_in_the_error_when_it_is_refused(
    protocol, request
):
    over_tls = request.getfixturevalue("certificate") if protocol == "SASL_SSL" else None
    broker = PasswordBroker(over_tls)
    options = f"security.protocol={protocol}&sasl.mechanism=PLAIN"
    if over_tls is not None:
        options += f"&ssl.ca.location={over_tls}"
    url = f"kafka://me:s3cr3t%40x@127.0.0.1:{broker.port}/topic?{options}"
    with open_source(url, **SHORT) as source, pytest.raises(ValueError, match="us in") as failed:
        list(source)
    broker.close()
    refused = "".join(traceback.format_exception(failed.value))
    assert broker.given[0] == b"\0me\0s3cr3t@x"
    assert "refused: ***" in refused
    assert "s3cr3t" not in refused


def test_a_broker_whose_certificate_is_not_trusted_gets_no_password(certificate):
    broker = PasswordBroker(certificate)
    url = f"kafka://me:s3cr3t@127.0.0.1:{broker.port}/topic"  # over TLS, unless told otherwise
    with open_source(url, patience=0.5) as source, pytest.raises(ConnectionError):
        list(source)
    broker.close()
    assert broker.given == []


def test_a_password_is_in_nothing_that_a_watch_writes_or_serves(cluster, topic, tmp_path):
    cluster.add(values(0, 40), topic)
    place = cluster.url(topic).removeprefix("kafka://")
    url = f"kafka://me:s3cr3t@{place}?security.protocol=PLAINTEXT&ssl.key.password=s3cr3t"
    kept = ["--trace", "t/", "--checkpoint", "kept", "--report", "p.html", "--log", "json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(main, ["watch", url, "--labels", "c", "--indices", "CH", *kept])
    assert done.exit_code == 0, done.output
    assert "kafka://me:***@" in done.output
    assert "s3cr3t" not in done.output
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"watch.icvi", "p.html"} <= {path.name for path in written}
    assert [path.name for path in written if b"s3cr3t" in path.read_bytes()] == []
    with icvi.watch(url, label="c", indices=["CH"], serve=0, follow=True, **SHORT) as one:
        steps = one.steps()
        next(steps)
        paths = ["", "metrics", "healthz", one._live.server.page.figures[1:]]
        served = [urllib.request.urlopen(one.url + path, timeout=PATIENCE) for path in paths]
        served = b"".join(answer.read() for answer in served)
        _, [event] = one._live.hub.wait(one._live.hub.enter(), 0, PATIENCE)
        steps.close()
    assert b"kafka://me:***@" in served
    assert b"s3cr3t" not in served + event.plain


# -- addresses and options -------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "kafka://host",
        "kafka://host/",
        "kafka:///t",
        "kafka://host:x/t",
        "kafka://host/t/u",
        "kafka://:pw@host/t",
        "kafka://host/t?",
        "kafka://host/t?a",
        "kafka://a,,b/t",
    ],
)
def test_what_is_no_address_of_a_topic_is_refused(url):
    with pytest.raises(
        ValueError, match="expected an address such as kafka://broker:9092/topic"
    ) as e:
        parse_address(url)
    assert "pw@" not in str(e.value)


def test_settings_that_are_ours_or_unknown_are_refused():
    with pytest.raises(ValueError, match=r"group\.id is set by icvi"):
        parse_address("kafka://host/t?group.id=x")
    with pytest.raises(ValueError, match="are not settings of librdkafka") as refused:
        open_source("kafka://me:s3cr3t@host/t?nonsense=s3cr3t")
    assert "s3cr3t" not in str(refused.value)


def test_an_address_of_version_6_has_a_port_or_none():
    assert parse_address("kafka://[::1]/t").settings["bootstrap.servers"] == "[::1]:9092"
    assert parse_address("kafka://[::1]:1/t").settings["bootstrap.servers"] == "[::1]:1"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"consumer": "c"}, TypeError, "expected consumer with a Redis stream only"),
        ({"header": True}, ValueError, "have no header"),
        ({"format": "parquet"}, ValueError, "expected format 'csv' or 'ndjson'"),
        ({"patience": -1.0}, ValueError, "expected patience as seconds"),
        ({"wait": -1.0}, ValueError, "expected wait as seconds"),
    ],
)
def test_options_that_messages_cannot_have_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        open_source("kafka://127.0.0.1:1/t", **options)


def test_how_long_messages_wait_is_for_kafka_alone():
    with pytest.raises(TypeError, match="expected wait with a topic of Kafka only"):
        open_source(np.eye(3), wait=1.0)


# -- parts -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20)), max_size=30),
    st.lists(st.integers(1, 9), max_size=8),
)
def test_merged_messages_are_in_order_whatever_comes_first(drawn, cuts):
    """Reference: all messages, sorted; times rise within partitions."""
    queues = {
        number: sorted(when for owner, when in drawn if owner == number) for number in range(3)
    }
    messages = [
        Message(number, offset, when, None, b"")
        for number, times in queues.items()
        for offset, when in enumerate(times)
    ]
    merging, found = Merging(range(3), wait=1e9), []
    while messages:
        some = cuts.pop() if cuts else 3
        merging.add(messages[:some])
        messages = messages[some:]
        found += merging.take(2)
    for number in range(3):
        merging.end(number)
    while not merging.ended:
        found += merging.take(2)
    assert found == sorted(found, key=lambda m: (m.time, m.partition, m.offset))
    assert len(found) == len(drawn)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no value"),
        (b"\xff", "JSON"),
        (b"{", "not valid JSON"),
        (b"3", "expected an object"),
    ],
)
def test_values_that_are_no_objects_are_named(value, words):
    with pytest.raises(ValueError, match=words):
        Values("ndjson").row(Message(0, 0, 0, None, value))


def test_values_of_csv_that_are_no_rows_are_named():
    for value, words in ((b"", "expected one row"), (b"\xff", "is not UTF-8")):
        with pytest.raises(ValueError, match=words):
            Values("csv").row(Message(0, 0, 0, None, value))


def test_what_values_hold_is_checked():
    values = Values("ndjson")
    assert [values.is_number(each) for each in (1, 1.5, True, "1", None)] == [
        True,
        True,
        False,
        False,
        None,
    ]
    for bad in (True, [1], None):
        with pytest.raises(ValueError, match="expected a number"):
            values.number(bad)
    for bad in (None, "", [1]):
        with pytest.raises(ValueError, match="expected a label"):
            values.label(bad)


def test_a_watch_reads_a_topic_and_resumes_exactly_once(cluster, topic, tmp_path):
    cluster.add(values(0, 300), topic)
    options = {"label": "c", "columns": ["x", "y"], "indices": ["CH"], "rows": 50, **SHORT}
    with icvi.watch(cluster.url(topic), trace=tmp_path / "w.csv", **options) as whole:
        whole.run()
    kept = {"trace": tmp_path / "t.csv", "checkpoint": tmp_path / "kept", "checkpoint_every": 0.0}
    for _ in range(3):
        with icvi.watch(cluster.url(topic), **kept, **options) as one:
            for number, _ in enumerate(one.steps()):
                if number == 1:
                    break
    with icvi.watch(cluster.url(topic), **kept, **options) as one:
        one.run()
    assert one.resumed > 0
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()
