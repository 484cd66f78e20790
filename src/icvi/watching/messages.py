"""Error messages, and their wording for the command line."""

from __future__ import annotations

import re
import shlex

from icvi.wording import printable, without_passwords

#: Arguments in Python and the options that are typed for them; longer ones first.
_TYPED = {
    "overwrite=True (--overwrite)": "--overwrite",
    "overwrite=True": "--overwrite",
    "bad_rows='skip'": "--bad-rows skip",
    "on_data_loss='continue'": "--on-data-loss continue",
    "(on_alert)": "(--on-alert)",
    "follow=True": "--follow",
    "label= (--labels COL)": "--labels COL",
    "(label=, --labels)": "(--labels)",
    "columns=[...]": "--columns COL",
    "exclude=[...]": "--exclude COL",
    "columns='*'": "--columns '*'",
    "decimal=',' or decimal='.'": "--decimal , or --decimal .",
    "decimal=','": "--decimal ,",
    "header=False": "--no-header",
    "sep, decimal and header are for": "--sep, --decimal and --header are for",
    "besides those in exclude": "besides those of --exclude",
    "in columns and in exclude": "in --columns and in --exclude",
    "follow=False": "leave out --follow",
    "patience=...": "--patience",
    "(learn=True, no --no-learn)": "(no --no-learn)",
    "raise batch (--batch)": "raise --batch",
    "begin (--begin)": "--begin",
    "bounds (--bounds)": "--bounds",
    "icvi.compare (icvi compare)": "icvi compare",
    "truth (--truth)": "--truth",
    "truth= (--truth COL)": "--truth COL",
    "bounds=(low, high) (--bounds LOW HIGH)": "--bounds LOW HIGH",
    "give format='csv', 'ndjson' or 'parquet'": "give --format csv, ndjson or parquet",
    "or format='csv', 'ndjson' or 'parquet'": "or --trace-format csv, ndjson or parquet",
}

#: Arguments with names of columns in them.
_NAMED = re.compile(r"\b(exclude|label|time|scale)=(?:\[('.*?'|\".*?\")\]|('.*?'|\".*?\"))")
_NAMED_TYPED = {"label": "labels"}

#: A call of Python for which there is no command.
_RECOVER = re.compile(r"(icvi\.watching\.trace_files)\.(recover\('.*?', '.*?'\))")


def with_options(text: str) -> str:
    """A message with the options of the command line instead of arguments.

    >>> with_options("line 2: expected 3 fields, got 2 (bad_rows='skip' leaves such rows out)")
    'line 2: expected 3 fields, got 2 (--bad-rows skip leaves such rows out)'
    >>> with_options("exclude=['a b'] leaves it out, label='c' takes the labels from it")
    "--exclude 'a b' leaves it out, --labels c takes the labels from it"
    """
    for name, typed in _TYPED.items():
        text = text.replace(name, typed)
    text = _NAMED.sub(_typed, text)
    return _RECOVER.sub(r'python -c "from \1 import recover; \2"', text)


def _typed(found: re.Match[str]) -> str:
    option = _NAMED_TYPED.get(found[1], found[1])
    value = (found[2] or found[3])[1:-1]
    return f"--{option} {shlex.quote(value)}"


def described(error: BaseException) -> str:
    """The message of an error; it begins with the name of the file if there is one.

    >>> described(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: No such file or directory'
    """
    if isinstance(error, BrokenPipeError):
        return "the reader closed the pipe"
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if error.filename is None:
        return error.strerror
    return f"{printable(str(error.filename))}: {error.strerror}"


def error_text(error: BaseException) -> str:
    """The message and the notes of an error, for the command line."""
    notes = getattr(error, "__notes__", ())
    return without_passwords(with_options("\n".join([described(error), *notes])))
