"""Tables of golden numbers, read into arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def read(path: Path) -> np.ndarray:
    return np.genfromtxt(path, delimiter=",", names=True)


def features(table: np.ndarray) -> np.ndarray:
    names = [name for name in table.dtype.names if name.startswith("x")]
    return np.column_stack([table[name] for name in names])
