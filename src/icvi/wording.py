"""What may be shown where people read: no passwords, and nothing that a terminal obeys.

Names of files, columns, labels and keys, and what servers answer, come from others. A user who
chooses them must not be able to move a cursor, set a colour or a title, reorder a line, or read
another user's password.
"""

from __future__ import annotations

import difflib
import math
import re
import reprlib
from collections.abc import Iterable

_HIDDEN = "***"
_ENTRIES = 16  # of an array that is shown with its entries

_repr = reprlib.Repr()
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = _repr.maxarray = 50
_repr.maxstring = _repr.maxlong = _repr.maxother = 200
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*://)(\S*)", re.IGNORECASE)


def printable(text: str, ascii_only: bool = False, *, instead: str = "?") -> str:
    r"""Text that moves no cursor and sets no colour, whatever a file or a label is called.

    Control characters (also those of one byte above ASCII), marks of direction, separators of
    lines and paragraphs, and halves of surrogate pairs are replaced.

    >>> printable("a\x1b[31mb\u202ec\n")
    'a?[31mb?c?'
    """
    text = "".join(c if c.isprintable() else instead for c in text)
    return text.encode("ascii", "replace").decode() if ascii_only else text


def short(value: object, most: int = 80) -> str:
    """What was given, for an error: its repr, or the beginning; of a large array what it is.

    >>> short("a"), short("a" * 100, 10), short([0] * 10**6, 10)
    ("'a'", "'aaaaa'...", '[0, 0, ...')
    >>> import numpy as np
    >>> print(short(np.array([1, 2])), "or", short(np.zeros((1000, 3))))
    array([1, 2]) or ndarray of shape (1000, 3)
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and math.prod(shape) > _ENTRIES:
        return f"{type(value).__name__} of shape {shape}"
    try:
        if isinstance(value, (str, bytes)) and len(value) > most - 2:
            text = f"{value[: most // 2]!r}..."
        else:
            text = _repr.repr(value)
    except Exception:  # a number with too many digits, or whatever a class does
        text = f"<{type(value).__name__}>"
    text = printable(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 3] + "..."


def without_passwords(text: str) -> str:
    """Text whose addresses have no passwords in them, and no options, which may be some, too.

    Passwords may contain what ends them in an address: where that could be, more is hidden.
    A caller that has the address itself uses `shown_address`, which knows where it ends.

    >>> without_passwords("icvi watch redis://me:s3cr3t@pw@localhost:6379/0/key")
    'icvi watch redis://me:***@localhost:6379/0/key'
    >>> without_passwords("rediss://localhost/0/key?password=secret: no answer")
    'rediss://localhost/0/key?***: no answer'
    >>> without_passwords("redis://localhost/0/key: no answer")
    'redis://localhost/0/key: no answer'
    """
    return _ADDRESS.sub(lambda found: found[1] + _without_password(found[2]), text)


def shown_address(address: str) -> str:
    """An address, or a path, that may have anything in it, without its password.

    >>> shown_address("redis://me:my secret@localhost:6379/0/key"), shown_address("a b.csv")
    ('redis://me:***@localhost:6379/0/key', 'a b.csv')
    """
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{_without_password(rest)}"


def for_terminal(text: str) -> str:
    r"""Lines that may go to a terminal.

    >>> for_terminal("redis://:secret@host/0/a\x07b\n  is not there")
    'redis://:***@host/0/a?b\n  is not there'
    """
    return "\n".join(printable(line) for line in without_passwords(text).split("\n"))


def _without_password(rest: str) -> str:
    """An address, without its scheme, for everybody to see."""
    before, mark, options = re.match(r"([^?#]*)([?#]?)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
    if "@" in options:
        return _HIDDEN  # of a password with ? or # in it, or of an option with @
    user, at, place = before.rpartition("@")
    name, colon, _ = user.partition(":")
    if at:
        return f"{name if colon else ''}{colon}{_HIDDEN}@{place}{_hidden(mark, options)}"
    server, slash, path = place.partition("/")
    host, port = re.match(r"(\[[^]]*\]|[^:]*):?(.*)", server, re.DOTALL).groups()  # type: ignore[union-attr]
    if re.fullmatch(r"[0-9]*\W*", port) is None:
        server = f"{host}:{_HIDDEN}"  # a password whose @ was forgotten
    return f"{server}{slash}{path}{_hidden(mark, options)}"


def _hidden(mark: str, options: str) -> str:
    end = options[len(options.rstrip(":;,.")) :]  # of the sentence
    return f"{mark}{_HIDDEN}{end}" if options else mark


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that helps; nothing where no name is near.

    >>> did_you_mean("Sill", ["CH", "SIL"])
    ", did you mean 'SIL'?"
    """
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f", did you mean {by_lower[found[0]]!r}?" if found else ""
