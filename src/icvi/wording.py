"""Text for people: safe names, numbers, shares, directions, and the templates of pages.

Names of files, columns, labels and keys, and the answers of servers, are chosen by others. They
must not be able to move a cursor, set a colour or a title, reorder a line, run a script, or show
a password.
"""

from __future__ import annotations

import difflib
import math
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

#: Shown where there is no value.
DASH = "–"
#: Which values of an index are better, in a word and as a sign, by its direction.
BETTER = {"max": "larger", "min": "smaller"}
ARROWS = {"max": "↑", "min": "↓"}

_HIDDEN = "***"
_ENTRIES = 16  # a larger array is shown by its shape
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_repr = reprlib.Repr()
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = _repr.maxarray = 50
_repr.maxstring = _repr.maxlong = _repr.maxother = 200
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*://)(\S*)", re.IGNORECASE)


def printable(text: str, ascii_only: bool = False, *, instead: str = "?") -> str:
    r"""Replace every character that could move a cursor, set a colour or reorder a line.

    These are control characters (also the one-byte ones above ASCII), marks of direction,
    separators of lines and paragraphs, and halves of surrogate pairs.

    >>> printable("a\x1b[31mb\u202ec\n")
    'a?[31mb?c?'
    """
    text = "".join(c if c.isprintable() else instead for c in text)
    return text.encode("ascii", "replace").decode() if ascii_only else text


def short(value: object, most: int = 80) -> str:
    """A value in an error message: its repr, cut to a length; the shape of a large array.

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
    except Exception:  # a number with too many digits, or a __repr__ that fails
        text = f"<{type(value).__name__}>"
    text = printable(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 3] + "..."


def without_passwords(text: str) -> str:
    """Hide the passwords and the options (which may hold passwords) of all addresses in a text.

    A password may contain the characters that end it in an address; where that is possible, more
    is hidden. A caller that has the address itself uses `shown_address`, which knows its end.

    >>> without_passwords("icvi watch redis://me:s3cr3t@pw@localhost:6379/0/key")
    'icvi watch redis://me:***@localhost:6379/0/key'
    >>> without_passwords("rediss://localhost/0/key?password=secret: no answer")
    'rediss://localhost/0/key?***: no answer'
    >>> without_passwords("redis://localhost/0/key: no answer")
    'redis://localhost/0/key: no answer'
    """
    return _ADDRESS.sub(lambda found: found[1] + _without_password(found[2]), text)


def shown_address(address: str) -> str:
    """An address or a path, without its password.

    >>> shown_address("redis://me:my secret@localhost:6379/0/key"), shown_address("a b.csv")
    ('redis://me:***@localhost:6379/0/key', 'a b.csv')
    """
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{_without_password(rest)}"


def for_terminal(text: str) -> str:
    r"""Lines that are safe to print on a terminal.

    >>> for_terminal("redis://:secret@host/0/a\x07b\n  is not there")
    'redis://:***@host/0/a?b\n  is not there'
    """
    return "\n".join(printable(line) for line in without_passwords(text).split("\n"))


def _without_password(rest: str) -> str:
    """An address without its scheme and its password."""
    before, mark, options = re.match(r"([^?#]*)([?#]?)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
    if "@" in options:
        return _HIDDEN  # the password has a ? or # in it, or an option has an @
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
    """The most similar name as a question; empty where no name is similar.

    >>> did_you_mean("Sill", ["CH", "SIL"])
    ", did you mean 'SIL'?"
    """
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f", did you mean {by_lower[found[0]]!r}?" if found else ""


# -- numbers ---------------------------------------------------------------------------------


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits, or a dash where there is none.

    >>> number(0.98214), number(None), number(-12345.678), number(2.5e-16), number(math.inf)
    ('0.9821', '–', '−12,346', '2.5 × 10⁻¹⁶', '∞')
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    exponent = int(power)
    if value == 0.0:
        return "0"
    if -5 < exponent < digits:
        return _signed(f"{value:,.{digits}g}")
    if digits <= exponent < 7:
        return _signed(f"{value:,.0f}")
    return f"{_signed(f'{float(mantissa):g}')} × 10{str(exponent).translate(_RAISED)}"


def fixed(value: float | None, decimals: int = 4) -> str:
    """A number with so many decimals, for columns of numbers around 1.

    >>> fixed(1.0), fixed(-0.25, 2), fixed(None)
    ('1.0000', '−0.25', '–')
    """
    if value is None or math.isnan(value):
        return DASH
    return _signed(f"{value:.{decimals}f}")


def _signed(text: str) -> str:
    return text.replace("-", "−")


def count(value: float) -> str:
    """A count; a sum of weights need not be whole.

    >>> count(20000.0), count(12.25), count(math.nan)
    ('20,000', '12.25', '–')
    """
    return f"{value:,.0f}" if float(value).is_integer() else number(value)


def plural(n: float, word: str) -> str:
    """A count with its noun.

    >>> plural(1, "cluster"), plural(1500, "sample")
    ('1 cluster', '1,500 samples')
    """
    return f"{count(n)} {word}" if n == 1 else f"{count(n)} {word}s"


def percent(share: float | None) -> str:
    """A share in percent; 100 % and 0 % only where it is all or nothing.

    >>> percent(0.973), percent(0.9999), percent(0.0001), percent(0.034), percent(0.03)
    ('97 %', '> 99 %', '< 0.1 %', '3.4 %', '3 %')
    """
    if share is None or math.isnan(share):
        return DASH
    if 0.99 < share < 1.0:
        return "> 99 %"
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    decimals = 1 if share < 0.1 else 0
    return f"{100.0 * share:.{decimals}f}".removesuffix(".0") + " %"


def interval(low: float, high: float) -> str:
    """A range in the notation of intervals.

    >>> interval(-1.0, 1.0), interval(0.0, math.inf), interval(-math.inf, math.inf)
    ('[-1, 1]', '[0, ∞)', '(-∞, ∞)')
    """
    left = "(-∞" if low == -math.inf else f"[{low:g}"
    right = "∞)" if high == math.inf else f"{high:g}]"
    return f"{left}, {right}"


# -- words -----------------------------------------------------------------------------------


def listed(words: Iterable[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(["CH"]), listed(["CH", "SIL", "XB"])
    ('CH', 'CH, SIL and XB')
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def setting(value: object) -> str:
    """The value of an option in words.

    >>> setting(True), setting(None), setting(["a", "b"]), setting({"rho": 0.5})
    ('yes', '–', 'a, b', 'rho: 0.5')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {setting(entry)}" for key, entry in value.items()) or DASH
    if isinstance(value, list | tuple):
        return ", ".join(map(setting, value)) or DASH
    if value is None or value == "":
        return DASH
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def shortened(text: str, width: int, cut: str = "…", *, end: bool = False) -> str:
    """Text cut to so many columns of a terminal; `end` keeps its end instead of its beginning.

    >>> shortened("negentropy_increment", 8), shortened("/data/a.csv", 8, end=True)
    ('negentr…', '…a/a.csv')
    """
    from rich.cells import cell_len, set_cell_size  # some letters are two columns wide

    if cell_len(text) <= width:
        return text
    if width < len(cut):
        return cut[: max(width, 0)]
    if end:
        return cut + set_cell_size(text[::-1], width - len(cut))[::-1].lstrip()
    return set_cell_size(text, width - len(cut)).rstrip() + cut


# -- pages -----------------------------------------------------------------------------------


def page_text(text: str) -> str:
    r"""Text without line breaks and without characters that a page cannot show.

    >>> page_text("a\tb\x00")
    'a b\ufffd'
    """
    return printable(" ".join(text.split()), instead="\N{REPLACEMENT CHARACTER}")


def templates(package: str) -> Environment:
    """The jinja2 templates in the folder ``templates`` of a package; callers check for jinja2.

    Everything is escaped unless it is marked as HTML, and a name that is not defined is an error.
    The functions above are filters.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=lambda value: page_text(value) if type(value) is str else value,
        undefined=StrictUndefined,
    )
    environment.filters |= {each.__name__: _unbroken(each) for each in (number, fixed, percent)}
    environment.filters |= {each.__name__: each for each in (count, plural, setting)}
    return environment


def _unbroken(function: Callable[..., str]) -> Callable[..., Markup]:
    """The result of a function as HTML that no line break divides."""
    from markupsafe import escape

    def filtered(*arguments: Any) -> Markup:
        return escape(function(*arguments)).replace(" ", "\N{NO-BREAK SPACE}")

    return filtered
