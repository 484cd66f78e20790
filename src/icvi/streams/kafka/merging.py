"""Messages of several partitions in one order: by time, partition and offset."""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterable

from icvi.streams.kafka.messages import Message


class Merging:
    """Hands on the message with the smallest (time, partition, offset) of those that can come next.

    That is known when every partition has a message, or has ended. Where a partition has none for
    the moment, the others wait for it, but not longer than a while.

    Parameters
    ----------
    partitions : iterable of int
        The partitions.
    wait : float
        Seconds that messages wait for those of other partitions.

    Examples
    --------
    >>> merging = Merging([0, 1], wait=60.0)
    >>> merging.add([Message(0, 0, 5, None, b""), Message(0, 1, 9, None, b"")])
    >>> merging.take(10)
    []
    >>> merging.add([Message(1, 0, 7, None, b"")])
    >>> [message.time for message in merging.take(10)]
    [5, 7]
    >>> merging.end(1)
    >>> [message.time for message in merging.take(10)]
    [9]
    """

    def __init__(
        self,
        partitions: Iterable[int],
        wait: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wait, self._clock = wait, clock
        self._queues: dict[int, deque[Message]] = {number: deque() for number in partitions}
        self._ended: set[int] = set()
        self._since = dict.fromkeys(self._queues, clock())  # when each had something last

    def add(self, messages: Iterable[Message]) -> None:
        """Messages have come, those of a partition in order."""
        now = self._clock()
        for message in messages:
            self._queues[message.partition].append(message)
            self._since[message.partition] = now

    def end(self, partition: int) -> None:
        """A partition has ended: no message waits for it any more."""
        self._ended.add(partition)

    @property
    def ended(self) -> bool:
        """Whether all partitions have ended, and everything was handed on."""
        return len(self._ended) == len(self._queues) and not any(self._queues.values())

    def waiting(self, partition: int) -> int:
        """How many messages of a partition wait."""
        return len(self._queues[partition])

    def take(self, most: int) -> list[Message]:
        """The next messages in order, at most so many; none where others may come before them."""
        now = self._clock()
        heads = [_key(queue[0]) for queue in self._queues.values() if queue]
        heapq.heapify(heads)
        missing = [
            number
            for number, queue in self._queues.items()
            if not queue and number not in self._ended and now - self._since[number] < self._wait
        ]
        taken: list[Message] = []
        while heads and len(taken) < most and not missing:
            number = heads[0][1]
            queue = self._queues[number]
            taken.append(queue.popleft())
            if queue:
                heapq.heapreplace(heads, _key(queue[0]))
                continue
            heapq.heappop(heads)
            if number not in self._ended and len(self._queues) > 1:
                missing = [number] if now - self._since[number] < self._wait else []
        return taken


def _key(message: Message) -> tuple[int, int, int]:
    return message.time, message.partition, message.offset
