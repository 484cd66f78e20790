"""A connection to a Redis server that may be unreachable for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from icvi.optional import load
from icvi.streams.redis.address import parse_address
from icvi.streams.stopping import Stopped

_T = TypeVar("_T")
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 5.0


class Connection:
    """A client whose calls are repeated while the server cannot be reached.

    Parameters
    ----------
    url : str
        ``redis://host:port/db/key``.
    patience : float
        Seconds to keep trying.
    stopped : Stopped
        Ends the wait.

    Attributes
    ----------
    key, where : str
        The key, and the address without a password, for errors.
    failures : int
        How often an answer was lost: the server may have done what was asked.
    """

    def __init__(self, url: str, patience: float, stopped: Stopped) -> None:
        self._redis = load("redis", "redis")
        server, self.key, self.where = parse_address(url)
        self._patience, self._stopped = patience, stopped
        self.failures = 0
        retry = load("redis.retry", "redis").Retry(load("redis.backoff", "redis").NoBackoff(), 0)
        # The client does not retry: `call` does, can be stopped, and reports what it waited for.
        try:
            self.client: Any = self._redis.Redis.from_url(
                server, retry=retry, socket_connect_timeout=5.0, socket_timeout=10.0
            )
            self.client.connection_pool.make_connection()  # checks the options
        except (TypeError, ValueError):  # whose message may quote a part of a password
            raise ValueError(
                f"{self.where}: the options after ? are not those of a Redis client, such as "
                f"?protocol=3 (& in a password is written %26)"
            ) from None

    def call(self, action: Callable[[], _T]) -> _T:
        """Do something with the server, and repeat it while the server cannot be reached."""
        delay, start = _FIRST_DELAY, time.monotonic()
        while True:
            try:
                return action()
            except (self._redis.ConnectionError, self._redis.TimeoutError) as error:
                if isinstance(error, self._redis.AuthenticationError):
                    raise ValueError(f"{self.where}: {error}") from error
                self.failures += 1
                waited = time.monotonic() - start
                if self._stopped.is_set() or waited + delay > self._patience:
                    raise ConnectionError(
                        f"{self.where}: no answer for {waited:.1f} s ({error}); is the server "
                        f"running and the address right? What is not acknowledged is delivered "
                        f"again after a restart; patience=... waits longer"
                    ) from error
                self._stopped.wait(delay)
                self._stopped.alive()
                delay = min(2.0 * delay, _LONGEST_DELAY)
            except self._redis.ResponseError as error:
                raise ValueError(f"{self.where}: {error}") from error

    def is_answer(self, error: Exception, words: str) -> bool:
        """Whether an error is an answer of the server with these words."""
        return isinstance(error, self._redis.ResponseError) and words in str(error)
