"""Where a topic of Kafka is: kafka://broker:port/topic."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from icvi.wording import shown_address

#: Settings that icvi depends on: positions would be wrong with others.
_OURS = (
    "auto.offset.reset",
    "bootstrap.servers",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "group.id",
    "metadata.broker.list",
)
_PORT = "9092"
#: sasl.password, ssl.key.password, ssl.key.pem, sasl.oauthbearer.client.secret, ...
_SECRET = re.compile(r"password|secret|\.pem$|\.config$")


class Address(NamedTuple):
    """The topic, the settings of a client of librdkafka, and the address as it may be shown."""

    topic: str
    settings: dict[str, str]
    shown: str

    @property
    def secrets(self) -> list[str]:
        """Values of settings that must not be shown, the longest first."""
        found = {v for name, v in self.settings.items() if v and _SECRET.search(name)}
        return sorted(found, key=len, reverse=True)


def parse_address(url: str) -> Address:
    """The parts of an address; what is refused is shown without its password.

    >>> parse_address("kafka://me:s%40crt@one,two:9093/my.topic?security.protocol=SASL_SSL").settings
    {'bootstrap.servers': 'one:9092,two:9093', 'sasl.username': 'me', 'sasl.password': 's@crt', \
'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'PLAIN'}
    """
    shown = shown_address(url)
    rest, mark, query = url.partition("://")[2].partition("?")
    place, _, topic = rest.partition("/")
    user, at, brokers = place.rpartition("@")
    name, _, password = user.partition(":")
    servers = [_with_port(broker) for broker in brokers.split(",")]
    if not topic or "/" in topic or "#" in topic or None in servers or (at and not name):
        raise _refused(shown)
    settings = {"bootstrap.servers": ",".join(map(str, servers))}
    if at:
        settings |= {"sasl.username": unquote(name), "sasl.password": unquote(password)}
    given = parse_qsl(query, keep_blank_values=True)
    if mark and (not given or any(not value for _, value in given)):
        raise _refused(shown)
    for setting, value in given:
        if setting in _OURS:
            raise ValueError(f"{shown}: {setting} is set by icvi; leave it out")
        settings[setting] = value
    if at:
        settings.setdefault("security.protocol", "SASL_SSL")
        settings.setdefault("sasl.mechanism", "PLAIN")
    return Address(unquote(topic), settings, shown)


def _with_port(broker: str) -> str | None:
    """The address of a broker with its port; None where it is none."""
    host, colon, port = broker.rpartition(":")
    if not colon or broker.endswith("]"):  # [::1] is an address without a port
        return f"{broker}:{_PORT}" if broker else None
    return broker if host and port.isascii() and port.isdigit() else None


def _refused(shown: str) -> ValueError:
    return ValueError(
        f"expected an address such as kafka://broker:9092/topic (brokers separated by commas, "
        f"?name=value for settings of librdkafka; / ? # @ : , and % in a name or password "
        f"percent-encoded), got {shown}"
    )
