"""A broker of Kafka that asks for a password, keeps what it was given, and refuses it.

It speaks as much of the protocol as a client needs to log in with SASL, in the clear or over TLS.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading

API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36
UNSUPPORTED, REFUSED = 35, 58
#: What it can do: the request, and its lowest and highest version.
KNOWN = [(3, 0, 1), (SASL_HANDSHAKE, 0, 1), (API_VERSIONS, 0, 0), (SASL_AUTHENTICATE, 0, 0)]


class PasswordBroker:
    """One that refuses everybody, with an error that repeats the password.

    Parameters
    ----------
    certificate : path, optional
        Of the server and its key, for TLS.
    """

    def __init__(self, certificate=None):
        self.given = []  # what clients have said: b"\0name\0password"
        self._tls = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._socket.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.settimeout(60)
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            opened.enter_context(connection)
            if self._tls is not None:  # the client has gone where it does not trust us
                connection = self._tls.wrap_socket(connection, server_side=True)
                opened.enter_context(connection)
            file = opened.enter_context(connection.makefile("rwb"))
            while size := file.read(4):
                answer = self._answer(file.read(*struct.unpack(">i", size)))
                file.write(struct.pack(">i", len(answer)) + answer)
                file.flush()

    def _answer(self, request):
        kind, version, number, name = struct.unpack(">hhih", request[:10])
        rest, head = request[10 + max(name, 0) :], struct.pack(">i", number)
        if kind == API_VERSIONS:
            known = b"".join(struct.pack(">hhh", *each) for each in KNOWN)
            return head + struct.pack(">hi", UNSUPPORTED if version else 0, len(KNOWN)) + known
        if kind == SASL_HANDSHAKE:
            return head + struct.pack(">hih", 0, 1, 5) + b"PLAIN"
        assert kind == SASL_AUTHENTICATE
        self.given.append(rest[4:])
        text = b"refused: " + rest[4:].rpartition(b"\0")[2]
        return head + struct.pack(">hh", REFUSED, len(text)) + text + struct.pack(">i", 0)
