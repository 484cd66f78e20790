"""Samples in a topic of Kafka."""

from __future__ import annotations

from typing import Any

from icvi.inputs import as_number
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.kafka.address import parse_address
from icvi.streams.kafka.messages import KEY, Message, Values, format_of, value_of
from icvi.streams.kafka.reader import KafkaReader
from icvi.streams.row_by_row import Sample, read_rows, read_sample
from icvi.streams.source import Source, refuse_position
from icvi.wording import short


class KafkaSource(Source):
    """Reads messages of a topic: JSON objects or fields of CSV, and the key as a column.

    Parameters
    ----------
    url : str
        ``kafka://broker:port/topic``; several brokers are separated by commas. What follows a
        ``?`` are settings of librdkafka; a user and a password are those of SASL.
    wanted : Wanted
        Which columns to read; by default those that hold numbers, but not the key.
    rows, bad_rows, on_data_loss
        As in `Source`. Data is lost when brokers remove messages before they were read, or the
        topic is created again.
    follow : bool
        Wait for more messages at the end; otherwise what there is at the start is read.
    format : {"csv", "ndjson"}, optional
        What values are; found out from the first one by default.
    sep, decimal : str, optional
        CSV: the separator and the decimal mark.
    group : str
        Consumer group under which positions are committed, for tools that show how far behind it
        is. It decides nothing: partitions are assigned, not subscribed to.
    patience : float
        Seconds to keep trying when no broker can be reached.
    wait : float
        Seconds that messages wait for those of other partitions when following.

    Notes
    -----
    Messages of several partitions come in the order of (time, partition, offset), as far as they
    are in this order within their partitions. While following, a partition that has nothing is
    waited for, but not longer than `wait`; a message that comes later than that comes late.
    """

    def __init__(
        self,
        url: str,
        wanted: Wanted,
        *,
        rows: int = 8192,
        bad_rows: str = "error",
        follow: bool = False,
        on_data_loss: str = "stop",
        format: str | None = None,
        sep: str | None = None,
        decimal: str | None = None,
        group: str = "icvi",
        patience: float = 30.0,
        wait: float = 1.0,
    ) -> None:
        super().__init__(wanted, rows=rows, bad_rows=bad_rows, on_data_loss=on_data_loss)
        if format not in (None, "csv", "ndjson"):
            raise ValueError(
                f"expected format 'csv' or 'ndjson' for messages of Kafka, got {short(format)}"
            )
        for name, seconds in (("patience", patience), ("wait", wait)):
            if not as_number(seconds, name) >= 0.0:
                raise ValueError(f"expected {name} as seconds from 0 on, got {short(seconds)}")
        self._format, self._dialect = format, (sep or ",", decimal or ".")
        self._values: Values | None = None if format is None else Values(format, *self._dialect)
        self._pending: list[Message] = []  # read to know the columns, not handed on yet
        self._reader = KafkaReader(
            parse_address(url),
            group=group,
            rows=self._rows,
            follow=follow,
            wait=wait,
            patience=patience,
            loss=self._loss,
            stopped=self._stopped,
        )
        self._where = self._reader.where

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; reads the first messages if necessary."""
        if self._chosen is None:
            self._pending = self._messages()
        return self._chosen.features if self._chosen is not None else ()

    def start(self) -> Position:
        """The oldest messages."""
        return {**self._reader.start(), "format": self._format, "row": 0, "skipped": 0}

    def seek(self, position: Position) -> None:
        """Resume after a message of every partition."""
        if position.get("topic") != self._reader.topic:
            raise refuse_position(self._where, f"it is of the topic {position.get('topic')!r}")
        chosen = Chosen.of(position)
        if chosen is not None and not self._wanted.accepts(chosen):
            raise refuse_position(self._where, f"its columns were {chosen.names}")
        self._loss.resume(position)
        self._reader.resume(position)
        if position.get("format") is not None:
            self._values = Values(position["format"], *self._dialect)
        self._chosen, self._pending = chosen, []
        self._resume(position)

    def commit(self, position: Position) -> None:
        """Show the position to other tools; nothing depends on it."""
        self._reader.commit(position)

    def _release(self) -> None:
        self._reader.close()

    def _read_rows(self) -> Batch | None:
        messages = self._messages()
        if not messages:
            return None
        assert self._chosen is not None
        return read_rows(
            ((self._place(message), message) for message in messages),
            self._sample,
            self._chosen,
            self._times,
            self._bad,
        )

    def _messages(self) -> list[Message]:
        """The next messages; none at the end or when closed."""
        messages, self._pending = self._pending or self._reader.next(), []
        while messages and self._chosen is None:
            if self._values is None:
                self._values = Values(format_of(messages), *self._dialect)
            self._chosen = self._choose(messages, self._values)
            if self._chosen is None:
                messages = self._reader.next()
        return messages

    def _choose(self, messages: list[Message], values: Values) -> Chosen | None:
        """Choose columns by the first messages; None if none of them is valid."""
        numeric: dict[str, bool | None] = {}
        invalid: list[str] = []
        for message in messages:
            try:
                row = values.row(message)
            except ValueError as error:
                invalid.append(f"{self._place(message)}{error}")
                continue
            for name, value in row.items():
                numeric[name] = numeric.get(name) or values.is_number(value)
        if len(invalid) == len(messages):
            self._bad.report_each(range(len(invalid)), invalid.__getitem__)
            return None
        if KEY in numeric:
            numeric[KEY] = False
        return self._wanted.choose(list(numeric), numeric, self._where, {KEY: "key of messages"})

    def _sample(self, message: Message) -> Sample:
        assert self._values is not None
        assert self._chosen is not None
        values, row = self._values, self._values.row(message)

        def value(name: str) -> Any:
            return value_of(row, name)

        return read_sample(
            value, self._chosen, number=values.number, label=values.label, time=self._times.read
        )

    def _place(self, message: Message) -> str:
        return f"{self._where}, partition {message.partition}, message {message.offset}"

    def _position(self) -> Position:
        assert self._values is not None
        place = {**self._reader.position(), "format": self._values.format}
        return {**place, **self._loss.position(), **self._common_position()}
