"""Forty files as people have them: what is in them, how they are opened, and what is said then.

Every file is read (``rows`` are its first samples and labels) or refused; ``words`` is all that a
user sees on standard error.
"""

from __future__ import annotations

import gzip
from typing import NamedTuple

import numpy as np


class File(NamedTuple):
    content: bytes
    words: str
    rows: list | None = None  # of the features; None where the file is refused
    typed: str = "--labels c"
    name: str = "f.csv"


def lines(*rows):
    return "".join(f"{row}\n" for row in rows).encode()


TWO = [[1.5, 2.0], [3.0, 4.25], [5.0, 6.0]]
XYC = "using 2 of 3 columns: x, y; left out: c (labels)\n"
SEMICOLON = "f.csv: separator ';', decimal comma\n"
SKIP = " (--bad-rows skip leaves such rows out and counts them)\n"

WIDE = [f"pixel_{j}" for j in range(1500)]
CELLS = [[0.5 + (7 * i + j) % 9 for j in range(1500)] for i in range(3)]
PIXELS = lines(
    ",".join([*WIDE, "c"]),
    *(f"{','.join(map(str, row))},{label}" for label, row in enumerate(CELLS)),
)


def mixed_units():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=120), 1000 * rng.normal(size=120)]).round(4)
    rows = [f"{n},{x},{y},7,{n % 3},{n % 2}" for n, (x, y) in enumerate(X.tolist())]
    return lines("number,metres,grams,room,kind,c", *rows)


FILES = {
    # -- dialects --------------------------------------------------------------------------
    "ordinary": File(lines("x,y,c", "1.5,2,a", "3,4.25,b", "5,6,b"), XYC, TWO),
    "semicolons, decimal commas": File(
        lines("x;y;c", "1,5;2;a", "3;4,25;b", "5;6;b"), SEMICOLON + XYC, TWO
    ),
    "semicolons, decimal points": File(
        lines("x;y;c", "1.5;2;a", "3;4.25;b", "5;6;b"), "f.csv: separator ';'\n" + XYC, TWO
    ),
    "tabs": File(
        lines("x\ty\tc", "1.5\t2\ta", "3\t4.25\tb", "5\t6\tb"),
        "f.csv: separator tab\n" + XYC,
        TWO,
    ),
    "columns of spaces": File(
        lines("   x     y  c", " 1.5     2  a", "   3  4.25  b", "   5\t 6   b"),
        "f.csv: separator space\n" + XYC,
        TWO,
    ),
    "spaces, decimal commas": File(
        lines("x y c", "1,5 2 a", "3 4,25 b", "5 6 b"),
        "f.csv: separator space, decimal comma\n" + XYC,
        TWO,
    ),
    "bars": File(
        lines("x|y|c", "1.5|2|a", "3|4.25|b", "5|6|b"), "f.csv: separator '|'\n" + XYC, TWO
    ),
    "decimal commas in quotes": File(
        lines('"x","y","c"', '"1,5","2","a"', '"3","4,25","b"', '"5","6","b"'),
        "f.csv: decimal comma\n" + XYC,
        TWO,
    ),
    "thousands with commas": File(
        lines("x;y;c", "1,234.5;2;a", "12.5;1,000,000;b", "0;0;b"),
        "f.csv: separator ';', thousands separator ','\n" + XYC,
        [[1234.5, 2.0], [12.5, 1e6], [0.0, 0.0]],
    ),
    "thousands with points": File(
        lines("x;y;c", "1.234,5;2;a", "12,5;1.000.000;b", "0;0;b"),
        "f.csv: separator ';', decimal comma, thousands separator '.'\n" + XYC,
        [[1234.5, 2.0], [12.5, 1e6], [0.0, 0.0]],
    ),
    "thousands with spaces": File(
        "x;y;c\n1\u202f234,5;2;a\n12,5;1\u00a0000 000;b\n0;0;b\n".encode(),
        "f.csv: separator ';', decimal comma, thousands separator space\n" + XYC,
        [[1234.5, 2.0], [12.5, 1e6], [0.0, 0.0]],
    ),
    "thousands with apostrophes": File(
        lines("x,y,c", "1'234.5,2,a", "12.5,1'000'000,b", "0,0,b"),
        'f.csv: thousands separator "\'"\n' + XYC,
        [[1234.5, 2.0], [12.5, 1e6], [0.0, 0.0]],
    ),
    "a comma that may be both": File(
        lines("x;y;c", "1,234;2;a", "2,345;4;b"),
        "Error: f.csv: cannot tell whether '1,234' has a decimal comma or a thousands separator; "
        "give --decimal , or --decimal .\n",
    ),
    "a comma that is a decimal one": File(
        lines("x;y;c", "1,234;2;a", "2,345;4;b"),
        SEMICOLON + XYC,
        [[1.234, 2.0], [2.345, 4.0]],
        "--labels c --decimal ,",
    ),
    "a comma that separates thousands": File(
        lines("x;y;c", "1,234;2;a", "2,345;4;b"),
        "f.csv: separator ';', thousands separator ','\n" + XYC,
        [[1234.0, 2.0], [2345.0, 4.0]],
        "--labels c --decimal .",
    ),
    "points and commas": File(
        lines("x;y;c", "1,5;2.5;a", "2,5;3.5;b"),
        "Error: f.csv: some numbers have a decimal comma ('1,5'), others a decimal point ('2.5'); "
        "give --decimal , or --decimal .\n",
    ),
    "points and commas, decided": File(
        lines("x;y;c", "1,5;2.5;a", "2,5;3.5;b"),
        "f.csv: separator ';', decimal comma\n"
        "using 1 of 3 columns: x; left out: y (numbers such as '2.5'), c (labels)\n",
        [[1.5], [2.5]],
        "--labels c --decimal ,",
    ),
    "decimal commas between commas": File(
        lines("x,y", "1,5,2,5", "3,5,4,5"),
        "Error: f.csv, line 2: expected 2 fields like the header, got 4; decimal commas need "
        "another separator, or quotes around the numbers" + SKIP,
        typed="--labels y",
    ),
    "a decimal comma far below": File(
        lines("x;y;c", *["1;2;a"] * 150, "1,5;2;b"),
        "Error: f.csv, line 152, column 'x': expected a number, got '1,5': a decimal comma? give "
        "--decimal ," + SKIP,
    ),
    "one column of decimal commas": File(
        lines("x", "1,5", "2,5", "4,5"),
        "f.csv: separator ';', decimal comma\nusing the only column: x\n",
        [[1.5], [2.5], [4.5]],
        "",
    ),
    # -- headers ---------------------------------------------------------------------------
    "no header": File(
        lines("1.5,2,a", "3,4.25,b", "5,6,b"),
        "f.csv: no header, the columns are x1 to x3\n"
        "using 2 of 3 columns: x1, x2; left out: x3 (labels)\n",
        TWO,
        "--labels x3",
    ),
    "no header, semicolons": File(
        lines("1,5;2;a", "3;4,25;b", "5;6;b"),
        "f.csv: separator ';', decimal comma, no header, the columns are x1 to x3\n"
        "using 2 of 3 columns: x1, x2; left out: x3 (labels)\n",
        TWO,
        "--labels x3",
    ),
    "names in a comment": File(
        lines("# measured in May", "# x y c", "1.5 2 1", "3 4.25 2", "5 6 2"),
        "f.csv: separator space, no header, the columns are x to c\n" + XYC,
        TWO,
    ),
    "comments between rows": File(
        lines("# measured in May", "x,y,c", "1.5,2,a", "# a pause", "3,4.25,b", "5,6,b"), XYC, TWO
    ),
    "the index of pandas": File(
        lines(",x,y,c", "0,1.5,2,a", "1,3,4.25,b", "2,5,6,b"),
        "using 2 of 4 columns: x, y; left out: a column without a name, c (labels)\n",
        TWO,
    ),
    "columns that pandas numbered": File(
        lines("0,1,2", "1.5,2,1", "3,4.25,2", "5,6,2"),
        "using 2 of 3 columns: 0, 1; left out: 2 (labels)\n",
        TWO,
        "--labels 2",
    ),
    "a name twice": File(
        lines("x,x,c", "1,2,a"),
        "Error: f.csv, line 1: column 'x' appears twice; give it two names\n",
    ),
    "separators at the ends of lines": File(
        lines("x;y;c;", "1,5;2;a;", "3;4,25;b;", "5;6;b;"),
        SEMICOLON + "using 2 of 4 columns: x, y; left out: c (labels), a column without a name\n",
        TWO,
    ),
    "a separator at the end of the header": File(
        lines("x;y;c;", "1,5;2;a", "3;4,25;b", "5;6;b"), SEMICOLON + XYC, TWO
    ),
    "one row with a separator at its end": File(
        lines("x,y,c", "1.5,2,a,", "1.5,2,a", "3,4.25,b", "5,6,b"),
        XYC + "1 row was skipped:\n  f.csv, line 2: expected 3 fields like the header, got 4\n",
        TWO,
        "--labels c --bad-rows skip",
    ),
    "row names as R writes them": File(
        lines('"x" "y" "c"', '"1" 1.5 2 "a"', '"2" 3 4.25 "b"', '"3" 5 6 "b"'),
        "f.csv: separator space\n"
        "using 2 of 4 columns: x, y; left out: a column without a name, c (labels)\n",
        TWO,
    ),
    # -- encodings and lines ---------------------------------------------------------------
    "a byte order mark and carriage returns": File(
        b"\xef\xbb\xbf" + lines("x;y;c", "1,5;2;a", "3;4,25;b", "5;6;b").replace(b"\n", b"\r\n"),
        SEMICOLON + XYC,
        TWO,
    ),
    "UTF-16": File(
        "x,y,c\n1,2,a\n".encode("utf-16"),
        "Error: f.csv, line 1: this is UTF-16; convert the file, for instance with iconv -f utf-16 "
        "-t utf-8\n",
    ),
    "Latin-1": File(
        "größe;y;c\n1;2;a\n".encode("latin-1"),
        "Error: f.csv, line 1: byte 0xf6 is not UTF-8; convert the file, for instance with iconv "
        "-f latin1 -t utf-8\n",
    ),
    "compressed": File(
        gzip.compress(lines("x;y;c", "1,5;2;a", "3;4,25;b", "5;6;b"), mtime=0),
        "f.csv.gz: separator ';', decimal comma\n" + XYC,
        TWO,
        name="f.csv.gz",
    ),
    "nothing": File(
        b"", "Error: f.csv is empty; expected a header with the names of the columns\n"
    ),
    # -- gaps ------------------------------------------------------------------------------
    "a gap": File(
        lines("x;y;c", "1,5;2;a", ";4,25;b"),
        "Error: f.csv, line 3, column 'x': expected a number, got nothing" + SKIP,
    ),
    "gaps that are skipped": File(
        lines("x;y;c", "1,5;2;a", ";4,25;b", "3;NA;b", "3;4,25;b", "5;6;b"),
        SEMICOLON + XYC + "2 rows were skipped:\n"
        "  f.csv, line 3, column 'x': expected a number, got nothing\n"
        "  f.csv, line 4, column 'y': expected a number, got 'NA'\n",
        TWO,
        "--labels c --bad-rows skip",
    ),
    "an empty column": File(
        lines("x,empty,c", "1,,a", "2,,b"),
        "Error: f.csv: cannot tell whether 'empty' hold numbers, because the first rows are empty "
        "there; list the features: --columns COL, or leave these out: --exclude COL\n",
    ),
    "an empty column that is excluded": File(
        lines("x,empty,c", "1,,a", "2,,b"),
        "using 1 of 3 columns: x; left out: empty (excluded), c (labels)\n",
        [[1.0], [2.0]],
        "--labels c --exclude empty",
    ),
    # -- columns ---------------------------------------------------------------------------
    "a column of labels": File(
        lines("x,y,Target,when,who,c", "1.5,2,0,2024-05-01,u,a", "3,4.25,1,2024-05-02,v,b"),
        "using 2 of 6 columns: x, y; left out: Target (labels, by its name), when (times), who "
        "(text), c (labels)\n"
        "column 'Target' looks like labels by its name and is left out: --labels Target takes the "
        "labels from it, --columns '*' takes all columns as features\n",
        [[1.5, 2.0], [3.0, 4.25]],
    ),
    "a column of labels that is wanted": File(
        lines("x,y,Target,c", "1.5,2,0,a", "3,4.25,1,b"),
        "using 3 of 4 columns: x, y, Target; left out: c (labels)\n",
        [[1.5, 2.0, 0.0], [3.0, 4.25, 1.0]],
        "--labels c --columns *",
    ),
    "wide": File(
        lines(
            ",".join([*WIDE, "c"]),
            *(f"{','.join(map(str, row))},{i}" for i, row in enumerate(CELLS)),
        ),
        "using 1,500 of 1,501 columns: pixel_0, pixel_1, pixel_2, pixel_3, pixel_4, pixel_5, "
        "pixel_6, pixel_7 and 1,492 more; left out: c (labels)\n",
        CELLS,
    ),
    "wide, a part of it": File(
        lines(
            ",".join([*WIDE, "c"]),
            *(f"{','.join(map(str, row))},{i}" for i, row in enumerate(CELLS)),
        ),
        "using 10 of 1,501 columns: pixel_0, pixel_10, pixel_20, pixel_30, pixel_40, pixel_50, "
        "pixel_60, pixel_70, pixel_80, pixel_90; left out: pixel_1, pixel_2, pixel_3, pixel_4, "
        "pixel_5, pixel_6, pixel_7, pixel_8 and 1,482 more (not in columns), c (labels)\n",
        [[row[j] for j in range(0, 100, 10)] for row in CELLS],
        "--labels c --columns pixel_0,pixel_?0",
    ),
    "a column that is not there": File(
        lines("width,height,c", "1,2,a"),
        "Error: f.csv has no column 'hight', did you mean 'height'?; it has 'width', 'height', "
        "'c'\n",
        typed="--labels c --columns width,hight",
    ),
    "a pattern that nothing matches": File(
        lines("x,y,c", "1,2,a"),
        "Error: f.csv: no column matches 'pixel_*'; it has 'x', 'y', 'c'\n",
        typed="--labels c --exclude pixel_*",
    ),
    # -- units -----------------------------------------------------------------------------
    "mixed units, a row number, a constant and few whole numbers": File(
        mixed_units(),
        "using 5 of 6 columns: number, metres, grams, room, kind; left out: c (labels)\n"
        "feature 'room' never changes (7 in the first 120 samples); --exclude room leaves it out\n"
        "feature 'grams' has > 99 % of all variance, so the others hardly count; --scale standard "
        "gives all features the same weight\n"
        "feature 'number' counts the samples (0, 1, 2, ...): --exclude number leaves it out, "
        "--time number takes the times from it\n"
        "feature 'kind' has only 3 different values, all whole: if these are labels, --exclude "
        "kind leaves it out, --labels kind takes the labels from it\n",
        [],
    ),
    "mixed units that are scaled": File(
        mixed_units(),
        "using 2 of 6 columns: metres, grams; left out: number (excluded), room (excluded), kind "
        "(excluded), c (labels)\n",
        [],
        "--labels c --exclude number,room,kind --scale standard",
    ),
}
