"""The web server: a few paths, nothing else, and a thread for every connection.

What it may be asked is in `address`, what a viewer gets in `hub`, what the page is in `page`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import selectors
import socket
import threading
import time
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from icvi.watching.live.address import Address
from icvi.watching.live.health import health
from icvi.watching.live.page import Page
from icvi.watching.live.served import Served

#: Connections at the same time: viewers, pages that are loaded, scrapes.
CONNECTIONS = 64
_STALLED = 20.0  # seconds until a connection that takes nothing, or asks nothing, is closed
_BEAT = 5.0  # seconds between signs of life
_BUFFER = 1 << 18  # bytes that a stalled viewer holds back in the system
#: The head of a gzip stream without a name and a time.
_GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_FOREVER = "public, max-age=31536000, immutable"

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class Server:
    """Serves the page of a stream.

    Parameters
    ----------
    address : Address
        Where, and for whom. It is taken at once, so that one that is in use is refused early.
    live : Served
        The stream.
    """

    def __init__(self, address: Address, live: Served) -> None:
        try:
            self._http = _Http(address, live)
        except OSError as error:
            raise OSError(
                error.errno,
                f"cannot serve on {address.host}:{address.port} ({error.strerror}); give another "
                "address or port",
            ) from error
        self.running = False
        self._thread = threading.Thread(target=self._http.serve, name="icvi-http", daemon=True)

    @property
    def url(self) -> str:
        """The address of the page."""
        host, port = self._http.address.host, self._http.server_address[1]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    @property
    def page(self) -> Page:
        """What is served."""
        return self._http.page

    def start(self) -> None:
        """Answer from now on."""
        self.running = True
        self._thread.start()

    def close(self) -> None:
        """Stop, and give the address back."""
        if self.running:
            self._http.stop()
            self._thread.join()
        self.running = False
        self._http.server_close()
        self._http.close_connections()


class _Http(ThreadingHTTPServer):
    """One stream's server."""

    daemon_threads = True
    block_on_close = False
    timeout = 0  # a connection may have gone before it is accepted

    def __init__(self, address: Address, live: Served) -> None:
        self.address, self.live = address, live
        self.page = Page(live)
        self.secret = hashlib.sha256(f"cookie {address.token}".encode()).hexdigest()
        self._open: set[socket.socket] = set()
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._stop, self._stopped = socket.socketpair()
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        super().__init__((address.host, address.port), _Handler)

    def server_bind(self) -> None:
        """Take the address without asking the DNS for its name, which may take long."""
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.address.host, self.server_address[1]

    def serve(self) -> None:
        """Answer until it is stopped; `serve_forever` wakes up all the time to look for that."""
        with selectors.DefaultSelector() as selector:
            for each in (self.socket, self._stopped):
                selector.register(each, selectors.EVENT_READ)
            while all(key.fileobj is not self._stopped for key, _ in selector.select()):
                self.handle_request()

    def stop(self) -> None:
        """Answer no more."""
        self._stop.send(b".")

    def server_close(self) -> None:
        """Give the address back."""
        super().server_close()
        self._stop.close()
        self._stopped.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for a connection, unless there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection."""
        self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.discard(request)
            self._free.release()

    def close_connections(self) -> None:
        """Let no browser keep a connection, and ask a server that has ended."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A viewer that goes away is no error worth a message."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = _STALLED
    server: _Http

    def do_GET(self) -> None:
        """Answer a request."""
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        refused = self._refused()
        if refused is not None:
            self._send(refused[0], refused[1].encode())
        elif not self._known(query):
            self._send(
                HTTPStatus.UNAUTHORIZED,
                b"This page needs its token: open /?token=TOKEN, or send Authorization: Bearer "
                b"TOKEN.\n",
                headers={"WWW-Authenticate": 'Bearer realm="icvi"'},
            )
        elif parts.path == "/" and "token" in query and self.server.address.token is not None:
            # The token leaves the address bar, and comes back as a cookie that no script can read.
            cookie = f"{self._cookie}={self.server.secret}; Path=/; HttpOnly; SameSite=Lax"
            headers = {"Location": "/", "Set-Cookie": cookie}
            self._send(HTTPStatus.SEE_OTHER, b"", headers=headers)
        else:
            self._answer(parts.path, query)

    def _answer(self, path: str, query: dict[str, list[str]]) -> None:
        page = self.server.page
        if path == "/":
            nonce = secrets.token_urlsafe(18)
            headers = {"Content-Security-Policy": _POLICY.format(nonce=nonce)}
            self._send(HTTPStatus.OK, page.html(nonce), "text/html; charset=utf-8", headers)
        elif path == "/events":
            self._stream()
        elif path == "/healthz":
            well, facts = health(self.server.live, query)
            status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
            self._send(status, (json.dumps(facts) + "\n").encode(), "application/json")
        elif path == "/metrics":
            try:
                from icvi.watching.live.metrics import exposition

                body, kind = exposition(self.server.live, self.headers.get("Accept", ""))
            except ImportError as error:
                self._send(HTTPStatus.NOT_IMPLEMENTED, f"{error}\n".encode())
                return
            self._send(HTTPStatus.OK, body, kind)
        elif (asset := page.asset(path)) is not None:
            zipped = self._takes_gzip
            body = asset.zipped if zipped else asset.plain
            headers = {
                "Cache-Control": _FOREVER,
                "ETag": f'"{asset.name}"',
                "Vary": "Accept-Encoding",
            }
            if zipped:
                headers["Content-Encoding"] = "gzip"
            if self.headers.get("If-None-Match") == headers["ETag"]:
                self._send(HTTPStatus.NOT_MODIFIED, b"", headers=headers)
                return
            self._send(HTTPStatus.OK, body, asset.kind, headers)
        else:
            self._send(HTTPStatus.NOT_FOUND, b"There is nothing here.\n")

    def _refused(self) -> tuple[HTTPStatus, str] | None:
        """Why a request is refused whatever it asks for."""
        if not self.server.address.answers_to(self.headers.get("Host")):
            return (
                HTTPStatus.MISDIRECTED_REQUEST,
                "This server is not known by that name; --serve-name NAME adds one.\n",
            )
        # A page of another site must not take the places of viewers.
        foreign = self.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
        if foreign and self.headers.get("Sec-Fetch-Mode") != "navigate":
            return HTTPStatus.FORBIDDEN, "Other sites must not ask for this.\n"
        return None

    def _known(self, query: dict[str, list[str]]) -> bool:
        """Whether a request has the token: in the address, in a header, or as our cookie."""
        address = self.server.address
        if address.token is None:
            return True
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return address.accepts(given.strip())
        if "token" in query:
            return address.accepts(query["token"][0])
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(
            cookie.value.encode(), self.server.secret.encode()
        )

    @property
    def _cookie(self) -> str:
        # Servers on other ports of the machine have the same cookies.
        return f"icvi-{self.server.server_address[1]}"

    @property
    def _takes_gzip(self) -> bool:
        return "gzip" in self.headers.get("Accept-Encoding", "")

    def _stream(self) -> None:
        """Events, until the viewer or the server goes."""
        hub = self.server.live.hub
        viewer = hub.enter()
        if viewer is None:
            headers = {"Retry-After": "10"}
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, b"Too many viewers.\n", headers=headers)
            return
        try:
            zipped = self._takes_gzip
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
            self.send_response(HTTPStatus.OK)
            self._common_headers("text/event-stream; charset=utf-8")
            if zipped:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("X-Accel-Buffering", "no")
            self.send_header("Connection", "close")
            self.end_headers()
            if zipped:
                self.wfile.write(_GZIP)
            version, events = 0, [hub.greeting(), hub.beat(time.time())]
            while not hub.closed:
                pieces = (event.deflated if zipped else event.plain for event in events)
                self.wfile.write(b"".join(pieces))
                version, events = hub.wait(viewer, version, _BEAT)
                events = events or [hub.beat(time.time())]
        except OSError:
            pass  # the viewer has gone, or takes nothing
        finally:
            hub.leave(viewer)

    def _send(
        self,
        status: HTTPStatus,
        body: bytes,
        kind: str = "text/plain; charset=utf-8",
        headers: dict[str, str] | None = None,
    ) -> None:
        headers = {"Cache-Control": "no-store", **(headers or {})}
        self.send_response(status)
        self._common_headers(kind, headers.pop("Cache-Control"))
        for name, value in headers.items():
            self.send_header(name, value)
        if status is not HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _common_headers(self, kind: str, cache: str = "no-store") -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", cache)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")

    def version_string(self) -> str:
        """The name of the server, without versions."""
        return "icvi"

    def log_message(self, format: str, *given: Any) -> None:
        """Nothing: the terminal belongs to the watch."""
