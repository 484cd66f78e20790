"""Errors in the words of the command line."""

from __future__ import annotations

#: What the library calls things, and how they are typed; longer ones first.
_TYPED = {
    "overwrite=True (--overwrite)": "--overwrite",
    "overwrite=True": "--overwrite",
    "bad_rows='skip'": "--bad-rows skip",
    "label= (--labels COL)": "--labels COL",
    "(label=, --labels)": "(--labels)",
    "columns=[...]": "--columns COL",
    "follow=False": "leave out --follow",
    "patience=...": "--patience",
    "(learn=True, no --no-learn)": "(no --no-learn)",
    "raise batch (--batch)": "raise --batch",
    "bounds=(low, high) (--bounds LOW HIGH)": "--bounds LOW HIGH",
    "say it: format='csv', 'ndjson' or 'parquet'": "say it: --format csv, ndjson or parquet",
    "or format='csv', 'ndjson' or 'parquet'": "or --trace-format csv, ndjson or parquet",
}


def in_options(text: str) -> str:
    """A message that names options as they are typed.

    >>> in_options("a.csv, line 2: expected 3 fields, got 2 (bad_rows='skip' leaves such rows out)")
    'a.csv, line 2: expected 3 fields, got 2 (--bad-rows skip leaves such rows out)'
    """
    for name, typed in _TYPED.items():
        text = text.replace(name, typed)
    return text


def told(error: BaseException) -> str:
    """What an error says, with its notes, and with the file first where it is about one.

    >>> told(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: No such file or directory'
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror is not None and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    return in_options("\n".join([text, *getattr(error, "__notes__", ())]))
