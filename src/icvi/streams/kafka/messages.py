"""Messages of Kafka as rows: JSON objects or fields of CSV, and the key as one more column."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from icvi.optional import load
from icvi.streams.values import check_number, is_number, read_label, read_number
from icvi.wording import short

#: The column of the keys.
KEY = "key"
#: Formats of values.
FORMATS = ("csv", "ndjson")


class Message(NamedTuple):
    """One message."""

    partition: int
    offset: int
    time: int  # milliseconds since 1970; -1 where there is none
    key: bytes | None
    value: bytes | None


def format_of(messages: Sequence[Message]) -> str:
    """The format of values, by the first one that has some: objects of JSON begin with a brace."""
    first = next((message.value for message in messages if message.value), b"{")
    return "ndjson" if first.lstrip()[:1] in (b"{", b"[") else "csv"


class Values:
    """Reads values of one format.

    Parameters
    ----------
    format : {"csv", "ndjson"}
        What values are: fields, which are called x1, x2, ..., or JSON objects.
    sep, decimal : str
        CSV: what separates fields, and the decimal mark.

    Examples
    --------
    >>> Values("csv").row(Message(0, 0, 0, b"k", b'1.5,"a,b"'))
    {'key': 'k', 'x1': '1.5', 'x2': 'a,b'}
    >>> Values("ndjson").row(Message(0, 0, 0, None, b'{"x": 1.5}'))
    {'x': 1.5}
    """

    def __init__(self, format: str, sep: str = ",", decimal: str = ".") -> None:
        self.format, self._sep, self._decimal = format, sep, decimal
        self._decode = load("msgspec", "stream").json.decode

    def row(self, message: Message) -> dict[str, Any]:
        """The columns of a message; a column of the value wins over the key."""
        if message.value is None:
            raise ValueError(": the message has no value")
        try:
            key = {} if message.key is None else {KEY: message.key.decode()}
            if self.format == "csv":
                return {**key, **self._fields(message.value.decode())}
            found = self._decode(message.value)
        except UnicodeDecodeError as error:
            raise ValueError(f": {short(error.object)} is not UTF-8") from None
        except ValueError as error:
            text = short(message.value.decode(errors="replace"))
            raise ValueError(f": not valid JSON ({error}): {text}") from None
        if not isinstance(found, dict):
            raise ValueError(f': expected an object such as {{"x": 1.5}}, got {short(found)}')
        return {**key, **found}

    def _fields(self, text: str) -> dict[str, str]:
        rows = list(csv.reader([text.strip("\r\n")], delimiter=self._sep))
        if len(rows) != 1 or not rows[0]:
            raise ValueError(f"expected one row, got {short(text)}")
        return {f"x{j}": field for j, field in enumerate(rows[0], 1)}

    def is_number(self, value: Any) -> bool | None:
        """Whether a value is meant as a number; None where there is nothing."""
        if value is None or value == "":
            return None
        if isinstance(value, str):
            return self.format == "csv" and is_number(value.replace(self._decimal, "."))
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    def number(self, value: Any) -> float:
        """A number."""
        if isinstance(value, str):  # a field, or a key
            return read_number(value.replace(self._decimal, ".") if self._decimal != "." else value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"expected a number, got {short(value)}")
        return check_number(float(value))

    def label(self, value: Any) -> Any:
        """A label: text or a number."""
        if isinstance(value, str) and self.format == "csv":
            return read_label(value)
        if not isinstance(value, (str, int, float)) or value == "":
            raise ValueError(f"expected a label (text or number), got {short(value)}")
        return value


def value_of(row: Mapping[str, Any], name: str) -> Any:
    """What a row has in a column."""
    try:
        return row[name]
    except KeyError:
        raise ValueError("it is missing") from None
