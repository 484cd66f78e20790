"""Reads the partitions of a topic from positions of our own: no group decides what comes next."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from icvi.optional import load
from icvi.streams.data_loss import DataLoss
from icvi.streams.kafka.address import Address
from icvi.streams.kafka.merging import Merging
from icvi.streams.kafka.messages import Message
from icvi.streams.stopping import Stopped

_POLL = 0.2  # seconds to wait for messages
_ASK = 1.0  # seconds to wait for an answer of a broker, before it is asked again


class KafkaReader:
    """Reads all partitions of a topic.

    Parameters
    ----------
    address : Address
        Of the topic.
    group : str
        Under which positions are shown to other tools; it decides nothing.
    rows : int
        Messages at once, at most.
    follow : bool
        Whether to wait for more at the end.
    wait, patience : float
        Seconds that messages wait for those of other partitions, and seconds to keep trying when no
        broker can be reached.
    loss : DataLoss
        Where lost messages are reported.
    stopped : Stopped
        Ends the wait.
    """

    def __init__(
        self,
        address: Address,
        *,
        group: str,
        rows: int,
        follow: bool,
        wait: float,
        patience: float,
        loss: DataLoss,
        stopped: Stopped,
    ) -> None:
        self._kafka: Any = load("confluent_kafka", "kafka")
        self.topic, self.where = address.topic, address.shown
        self._rows, self._follow, self._wait = rows, follow, wait
        self._patience, self._loss, self._stopped = patience, loss, stopped
        self._unreachable: str | None = None  # why, until a broker answers
        self._refused: str | None = None  # why a broker does not let us in
        self._secrets = address.secrets
        settings: dict[str, Any] = {
            **address.settings,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "error_cb": self._note,
            "log_level": 0,
        }
        try:
            self._consumer: Any = self._kafka.Consumer(settings)
        except (self._kafka.KafkaException, TypeError, ValueError):
            # Its message may quote a password.
            raise ValueError(
                f"{self.where}: the options after ? are not settings of librdkafka, such as "
                f"?security.protocol=SSL (& in a password is written %26)"
            ) from None
        self._next: dict[int, int] = {}  # the offset after the last message that was handed on
        self._digests: dict[int, str] = {}  # of that message
        self._ends: dict[int, int] = {}  # where to end, unless we follow
        self._merging: Merging | None = None
        self._held: set[int] = set()  # partitions that are not fetched for the moment
        self._verify: dict[int, str] = {}  # digests that the first messages must have

    # -- positions -------------------------------------------------------------------------

    def position(self) -> dict[str, Any]:
        """Where the reader is, as plain JSON."""
        return {
            "topic": self.topic,
            "offsets": {str(number): offset for number, offset in self._next.items()},
            "digests": {str(number): digest for number, digest in self._digests.items()},
        }

    def start(self) -> dict[str, Any]:
        """A position before the oldest messages."""
        offsets = {number: low for number, (low, _) in self._watermarks().items()}
        return {**self.position(), "offsets": {str(n): low for n, low in offsets.items()}}

    def resume(self, position: dict[str, Any]) -> None:
        """Resume after a position; what was lost since then is reported now."""
        self._next = {int(number): int(at) for number, at in position["offsets"].items()}
        self._digests = {int(number): text for number, text in position["digests"].items()}
        self._assign()

    def commit(self, position: dict[str, Any]) -> None:
        """Show the position to other tools, which compute how far behind a group is."""
        places = [
            self._kafka.TopicPartition(self.topic, int(number), at)
            for number, at in position["offsets"].items()
        ]
        try:
            if places:
                self._consumer.commit(offsets=places, asynchronous=True)
        except self._kafka.KafkaException:
            pass  # the position in the checkpoint counts

    # -- reading ---------------------------------------------------------------------------

    def next(self) -> list[Message]:
        """The next messages; none at the end or when closed."""
        if self._merging is None:
            self._assign()
        while not self._stopped.is_set():
            if self._merging is None:  # no topic yet
                self._stopped.wait(_POLL)
                self._assign()
            elif self._fetch(self._merging):
                if found := self._merging.take(self._rows):
                    return self._handed_on(found)
                if self._merging.ended:
                    break
            else:
                self._assign()
            self._stopped.look()
        return []

    def close(self) -> None:
        """Leave the brokers."""
        self._consumer.close()

    def _handed_on(self, messages: list[Message]) -> list[Message]:
        for message in messages:
            self._next[message.partition] = message.offset + 1
        last = {message.partition: message for message in messages}
        self._digests |= {number: _digest(message) for number, message in last.items()}
        return messages

    def _fetch(self, merging: Merging) -> bool:
        """Fetch messages; False if positions have changed: partitions are to be assigned again."""
        found: list[Message] = []
        for each in self._consumer.consume(self._rows, _POLL):
            error = each.error()
            if error is None:
                number, offset = each.partition(), each.offset()
                message = Message(number, offset, each.timestamp()[1], each.key(), each.value())
                if number in self._verify and not self._is_same(message):
                    return False
                if offset < self._next[number]:
                    continue
                if offset < self._ends.get(number, offset + 1):
                    found.append(message)
                if offset + 1 >= self._ends.get(number, offset + 2):
                    merging.end(number)
                self._unreachable = None
            elif error.code() == self._kafka.KafkaError._PARTITION_EOF:  # noqa: SLF001  public there
                if not self._follow and each.offset() >= self._ends[each.partition()]:
                    merging.end(each.partition())
                self._unreachable = None
            elif self._have_positions_changed(error):
                return False
        merging.add(found)
        self._hold_back(merging)
        if self._unreachable is not None and not found:
            self._ask_again()
        return True

    def _hold_back(self, merging: Merging) -> None:
        """Do not fetch partitions that are far ahead of others."""
        if len(self._next) < 2:
            return
        place = self._kafka.TopicPartition
        ahead = {number for number in self._next if merging.waiting(number) > 4 * self._rows}
        if ahead != self._held:
            more = [place(self.topic, number) for number in ahead - self._held]
            fewer = [place(self.topic, number) for number in self._held - ahead]
            if more:
                self._consumer.pause(more)
            if fewer:
                self._consumer.resume(fewer)
            self._held = ahead

    def _assign(self) -> None:
        """Begin to read at our positions."""
        found = self._watermarks()
        if not found:
            self._merging = None
            if self._next:
                self._loss.report(f"{self.where}: the topic is gone", None)
                self._next, self._digests = {}, {}
            elif not self._follow:
                raise ValueError(
                    f"{self.where}: there is no such topic; is it spelt right? follow=True "
                    f"(--follow) waits for it"
                )
            return
        self._check(found)
        self._ends = {} if self._follow else {number: high for number, (_, high) in found.items()}
        self._merging = Merging(found, self._wait if len(found) > 1 else 0.0)
        if not self._follow:
            self._merging = Merging(found, float("inf"))
        self._held = set()
        places = []
        self._verify = {}
        for number, (low, _) in found.items():
            at = self._next.setdefault(number, low)
            if number in self._digests and low < at:
                self._verify[number] = self._digests[number]
                at -= 1  # the message before must be the one that was read
            places.append(self._kafka.TopicPartition(self.topic, number, at))
            if not self._follow and self._next[number] >= self._ends[number]:
                self._merging.end(number)
        self._consumer.assign(places)

    def _check(self, found: dict[int, tuple[int, int]]) -> None:
        """Report messages that are gone before they were read."""
        for number, at in list(self._next.items()):
            low, high = found.get(number, (0, 0))
            if at < low:
                lost = low - at
                self._loss.report(
                    f"{self.where}, partition {number}: {_were(lost)} removed before being read: "
                    f"the next one was {at:,}, the oldest one left is {low:,}",
                    lost,
                )
            elif at > high:
                self._loss.report(
                    f"{self.where}, partition {number}: {at:,} messages had been read, and it has "
                    f"{high:,}: the topic was created again, or brokers have lost messages; it "
                    f"would be read from its beginning"
                )
            else:
                continue
            self._next[number] = low
            self._digests.pop(number, None)

    def _is_same(self, message: Message) -> bool:
        """Whether the message read last is still there; if not, the topic is another one."""
        number = message.partition
        known = self._verify.pop(number)
        if message.offset != self._next[number] - 1 or _digest(message) == known:
            return True
        self._loss.report(
            f"{self.where}, partition {number}: message {message.offset:,} is another one than "
            f"when it was read: the topic was created again; it would be read from its beginning"
        )
        self._next.pop(number)
        self._digests.pop(number)
        return False

    # -- brokers that do not answer --------------------------------------------------------

    def _note(self, error: Any) -> None:
        code, known = error.code(), self._kafka.KafkaError
        if code == known._ALL_BROKERS_DOWN:  # noqa: SLF001
            self._unreachable = self._unreachable or self._said(error)
        elif code in (known._AUTHENTICATION, known.SASL_AUTHENTICATION_FAILED):  # noqa: SLF001
            self._refused = self._said(error)

    def _said(self, error: Any) -> str:
        """What an error says; a server may repeat the password that it refuses."""
        text = str(error.str())
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _check_let_in(self) -> None:
        if self._refused is not None:
            raise ValueError(
                f"{self.where}: the broker does not let us in ({self._refused}); are the user, the "
                f"password, security.protocol and sasl.mechanism right?"
            )

    def _have_positions_changed(self, error: Any) -> bool:
        """Whether an error means that; others are fatal, or pass."""
        code, known = error.code(), self._kafka.KafkaError
        lost = (known._AUTO_OFFSET_RESET, known.OFFSET_OUT_OF_RANGE)  # noqa: SLF001
        gone = (known._UNKNOWN_TOPIC, known._UNKNOWN_PARTITION, known.UNKNOWN_TOPIC_OR_PART)  # noqa: SLF001
        if code in lost or code in gone:
            return True  # assigning them again reports what is lost
        if error.fatal() or code in (known.TOPIC_AUTHORIZATION_FAILED, known._AUTHENTICATION):  # noqa: SLF001
            raise ValueError(f"{self.where}: {self._said(error)}")
        self._unreachable = self._unreachable or self._said(error)
        return False

    def _ask_again(self) -> None:
        """Find out whether a broker answers, for as long as there is patience."""
        self._watermarks()
        self._unreachable = None

    def _watermarks(self) -> dict[int, tuple[int, int]]:
        """The oldest offset and the next one of every partition; none where there is no topic."""
        start = time.monotonic()
        while True:
            try:
                found = self._ask()
                self._refused = None
                return found
            except self._kafka.KafkaException as failure:
                error = failure.args[0]
                if error.code() in (
                    self._kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED,
                    self._kafka.KafkaError._AUTHENTICATION,  # noqa: SLF001
                ):
                    raise ValueError(f"{self.where}: {self._said(error)}") from None
                self._check_let_in()
                waited = time.monotonic() - start
                if self._stopped.is_set() or waited >= self._patience:
                    raise ConnectionError(
                        f"{self.where}: no answer for {waited:.1f} s ({self._said(error)}); is the "
                        f"broker running and the address right? Nothing is lost: the position is "
                        f"ours; patience=... (--patience) waits longer"
                    ) from None
                self._stopped.wait(_POLL)
                self._stopped.alive()

    def _ask(self) -> dict[int, tuple[int, int]]:
        most = min(_ASK, max(self._patience, 0.1))
        self._consumer.poll(0)  # has errors reported
        topics = self._consumer.list_topics(self.topic, timeout=most).topics
        known = topics.get(self.topic)
        if known is None or not known.partitions:
            error = None if known is None else known.error
            unknown = (
                self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART,
                self._kafka.KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
            )
            if error is not None and error.code() not in unknown:
                raise self._kafka.KafkaException(error)
            return {}
        return {
            number: self._consumer.get_watermark_offsets(
                self._kafka.TopicPartition(self.topic, number), timeout=most
            )
            for number in sorted(known.partitions)
        }


def _digest(message: Message) -> str:
    """By which a message is recognised."""
    found = hashlib.blake2b(digest_size=8)
    for part in (message.key, message.value, b"%d" % message.time):
        found.update(b"-" if part is None else b"%d:" % len(part) + part)
    return found.hexdigest()


def _were(number: int) -> str:
    return "1 message was" if number == 1 else f"{number:,} messages were"
