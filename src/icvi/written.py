"""Labels and time spans as JSON, and back: what they are must not be lost on the way."""

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
        f"cannot save {short(value)}, which is a {type(value).__name__}; what can be saved is "
        f"{_KINDS}"
    )


def from_json(written: Any) -> Any:
    """What `as_json` was given."""
    if not isinstance(written, dict):
        return written
    ((kind, value),) = written.items()
    match kind:
        case "bool":
            return bool(value)
        case "float":
            return float.fromhex(value)
        case "bytes":
            return base64.b64decode(value)
        case "tuple":
            return tuple(from_json(item) for item in value)
        case "datetime":
            return datetime.fromisoformat(value)
        case "date":
            return date.fromisoformat(value)
        case "timedelta":
            return timedelta(*value)
        case "ns":
            return np.timedelta64(value, "ns")
    raise ValueError(f"unknown kind of label: {kind}")
