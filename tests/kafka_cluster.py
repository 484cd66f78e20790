"""A cluster of Kafka for tests: the mock brokers inside librdkafka, which speak its protocol.

    python kafka_cluster.py PARTITIONS

runs one in a process of its own: it prints its address, and reads what to do, one line each: an
object with values to add, their times and their partition, or "away" and "back".
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import sys

import confluent_kafka

TOPIC = "samples"
_SIZE = 512


def _library():
    """The librdkafka that the package brings along."""
    folder = os.path.dirname(os.path.dirname(confluent_kafka.__file__))
    found = glob.glob(f"{folder}/confluent_kafka.libs/librdkafka*")
    library = ctypes.CDLL(found[0])
    for name in ("rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


class Cluster:
    """One broker, which can go away and come back, and topics with any number of partitions."""

    def __init__(self):
        self._library = library = _library()
        error = ctypes.create_string_buffer(_SIZE)
        self._client = ctypes.c_void_p(library.rd_kafka_new(0, None, error, _SIZE))
        self._cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(self._client, 1))
        self.brokers = library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._producer = confluent_kafka.Producer(
            {"bootstrap.servers": self.brokers, "log_level": 0, "linger.ms": 0}
        )

    def url(self, topic=TOPIC):
        return f"kafka://{self.brokers}/{topic}"

    def create(self, topic=TOPIC, partitions=1):
        create = self._library.rd_kafka_mock_topic_create
        assert create(self._cluster, topic.encode(), partitions, 1) == 0

    def add(self, values, topic=TOPIC, partition=0, keys=None, times=None):
        """Add messages and wait until they are there."""
        for number, value in enumerate(values):
            self._producer.produce(
                topic,
                value,
                key=None if keys is None else keys[number],
                partition=partition,
                timestamp=0 if times is None else times[number],
            )
            if number % 1000 == 999:
                self._producer.poll(0)
        assert self._producer.flush(60) == 0

    def go_away(self):
        self._library.rd_kafka_mock_broker_set_down(self._cluster, 1)

    def come_back(self):
        self._library.rd_kafka_mock_broker_set_up(self._cluster, 1)

    def close(self):
        self._producer.flush(0)
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._client)


def answer(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main():
    """A cluster that does what its standard input says."""
    cluster = Cluster()
    cluster.create(partitions=int(sys.argv[1]))
    answer(cluster.url())
    for line in sys.stdin:
        what = json.loads(line)
        if what == "away":
            cluster.go_away()
        elif what == "back":
            cluster.come_back()
        else:
            values = [value.encode() for value in what["values"]]
            cluster.add(values, partition=what["partition"], times=what["times"])
        answer("done")
    cluster.close()


if __name__ == "__main__":
    main()
