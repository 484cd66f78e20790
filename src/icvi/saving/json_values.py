"""Labels and time spans as JSON, and back, without loss of type or precision."""

from __future__ import annotations

import base64
from collections.abc import Hashable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from icvi.wording import short

_KINDS = "int, float, str, bytes, bool, None, date, datetime, timedelta, or a tuple of these"


def as_json(value: Hashable) -> Any:
    """A label or a time span in terms of JSON; strings and whole numbers are themselves."""
    match value:
        case bool():
            return {"bool": int(value)}
        case None | int() | str() if type(value) in (int, str, type(None)):
            return value
        case float() if type(value) is float:
            return {"float": value.hex()}
        case bytes() if type(value) is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        case tuple() if type(value) is tuple:
            return {"tuple": [as_json(item) for item in value]}
        case datetime() if value.fold == 0 and type(value) is datetime:
            return {"datetime": value.isoformat()}
        case date() if type(value) is date:
            return {"date": value.isoformat()}
        case timedelta() if type(value) is timedelta:
            return {"timedelta": [value.days, value.seconds, value.microseconds]}
        case np.timedelta64():
            return {"ns": int(value.astype("timedelta64[ns]").astype(np.int64))}
    raise TypeError(
        f"cannot save {short(value)}, which is a {type(value).__name__}; expected {_KINDS}"
    )


def from_json(encoded: Any) -> Any:
    """The value that `as_json` has encoded; a `ValueError` for what it never returns."""
    if not isinstance(encoded, (dict, list)):
        return encoded
    try:
        match encoded:
            case dict() if len(encoded) == 1:
                return _decoded(*next(iter(encoded.items())))
        raise ValueError("expected a kind and a value")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{encoded!r:.80} is not a label or time span ({error})") from None


def _decoded(kind: str, value: Any) -> Any:
    match kind, value:
        case "bool", 0 | 1 if type(value) is int:
            return bool(value)
        case "float", str():
            return float.fromhex(value)
        case "bytes", str():
            return base64.b64decode(value, validate=True)
        case "tuple", list():
            return tuple(from_json(item) for item in value)
        case "datetime", str():
            return datetime.fromisoformat(value)
        case "date", str():
            return date.fromisoformat(value)
        case "timedelta", [int(), int(), int()]:
            return timedelta(*value)
        case "ns", int() if type(value) is int:
            return np.timedelta64(value, "ns")
    raise ValueError(f"unknown kind {kind!r:.40}")
