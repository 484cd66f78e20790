"""Where a live page is served, and who may ask for it."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from icvi.wording import short

LOOPBACK = "127.0.0.1"
#: Characters of a token, at least: it must not be guessed. They need no quotes anywhere.
SHORTEST = 16


@dataclass(frozen=True)
class Address:
    """An address, and what a request needs.

    Parameters
    ----------
    host, port
        Where the server listens; port 0 is any free one.
    token : str, optional
        What a request must know.
    names : tuple of str
        Further names of the server, in small letters: of a proxy before it, or in the DNS.
    """

    host: str = LOOPBACK
    port: int = 0
    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return _is_loopback(self.host)

    def answers_to(self, header: str | None) -> bool:
        """Whether a Host header is one of ours.

        Another website can have its own name point to this machine, and read what is
        served here as if it were its own; but then the Host is that name.
        """
        host = _host_of(header or "")
        if host in self.names or host == self.host.lower():
            return True
        if self.loopback:
            return _is_loopback(host)
        # No name can be made to point elsewhere where there is none.
        return _is_loopback(host) or _is_ip(host)

    def accepts(self, given: str | None) -> bool:
        """Whether a token is ours; takes the same time for any that is not."""
        if self.token is None:
            return True
        ours, theirs = (hashlib.sha256((t or "").encode()).digest() for t in (self.token, given))
        return hmac.compare_digest(ours, theirs)


def parse_address(serve: str | int, token: str | None = None, names: Iterable[str] = ()) -> Address:
    """The address of ``[HOST:]PORT``.

    >>> parse_address("8080")
    Address(host='127.0.0.1', port=8080, names=())
    >>> parse_address("0.0.0.0:8080")
    Traceback (most recent call last):
        ...
    ValueError: 0.0.0.0 can be reached from other machines: give a token (--token)
    """
    host, port = _split(str(serve)) if not isinstance(serve, bool) else ("", "")
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(
            f"expected serve as PORT or HOST:PORT, such as 8080 or 127.0.0.1:8080, got "
            f"{short(serve)}"
        )
    if token is not None and not re.fullmatch(f"[A-Za-z0-9._~-]{{{SHORTEST},}}", token):
        raise ValueError(
            f"expected a token of {SHORTEST} or more letters, digits and -._~; make one with "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    if isinstance(names, str):
        names = [names]
    address = Address(host, int(port), token, tuple(_host_of(name) for name in names))
    if token is None and not address.loopback:
        raise ValueError(f"{host} can be reached from other machines: give a token (--token)")
    return address


def _split(text: str) -> tuple[str, str]:
    host, _, port = text.rpartition(":")
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, port


def _host_of(header: str) -> str:
    """The name in a Host header, without the port."""
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]*)(:[0-9]*)?", header.strip())
    return "" if found is None else found[1].strip("[]").lower().removesuffix(".")


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and ipaddress.ip_address(host).is_loopback)
