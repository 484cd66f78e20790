"""Where a Redis stream is: redis://host:port/db/key."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from icvi.wording import shown_address


class Address(NamedTuple):
    """The server with its database, the key of the stream, and both as they may be shown."""

    server: str
    key: str
    shown: str


def parse_address(url: str) -> Address:
    """The parts of an address; what is refused is shown without its password.

    >>> parse_address("redis://:secret@localhost:6379/0/a%20key")
    Address(server='redis://:secret@localhost:6379/0', key='a key', shown='redis://:***@localhost:6379/0/a%20key')
    """
    shown = shown_address(url)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # its message may quote a part of the password
        raise _refused(shown) from None
    database, _, key = parts.path.lstrip("/").partition("/")
    if not (database.isascii() and database.isdigit()) or not key or parts.fragment:
        raise _refused(shown)
    server = urlunsplit((parts.scheme, parts.netloc, f"/{database}", parts.query, ""))
    return Address(server, unquote(key), shown)


def _refused(shown: str) -> ValueError:
    return ValueError(
        f"expected an address such as redis://localhost:6379/0/key (host, port, number of the "
        f"database, key of the stream; / ? # @ : and % in a password or key percent-encoded), got "
        f"{shown}"
    )
