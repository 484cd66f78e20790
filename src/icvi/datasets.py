"""Labelled data sets to try indices on: generated from a seed, or read from a file.

Each has the true cluster of every sample, in order of clusters; `presented` gives an order of
presentation.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class DataSet(NamedTuple):
    """Samples and the true cluster of each."""

    X: NDArray[np.float64]
    labels: NDArray[np.int64]


def make_rings(seed: int = 0) -> DataSet:
    """Fifteen round clusters of 40: one in the centre, seven close around it, seven far around.

    The geometry of R15 (Veenman, Reinders, Backer 2002).

    >>> X, labels = make_rings()
    >>> X.shape, len(set(labels.tolist()))
    ((600, 2), 15)
    """
    angles = 2.0 * math.pi * np.arange(7) / 7.0
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    centers = 10.0 + np.concatenate([np.zeros((1, 2)), 2.05 * ring, 6.4 * ring])
    return _gaussians(seed, centers, [0.28 * np.eye(2)] * 15, [40] * 15)


def make_d4(seed: int = 0) -> DataSet:
    """Four Gaussians of 500: two small and round, two long and leaning towards each other.

    The geometry of the paper's D4.
    """
    small, diagonal = 0.071 * np.eye(2), math.sqrt(0.5)
    along, across = 0.312, 0.101
    down = diagonal * np.array([[along, -along], [across, across]])
    up = diagonal * np.array([[along, along], [across, -across]])
    centers = np.array([[-5.0, 0.0], [-1.5, 0.0], [1.0, 1.0], [1.0, -1.0]])
    return _gaussians(seed, centers, [small, small, down, up], [500] * 4)


def make_overlapping(seed: int = 0) -> DataSet:
    """Five Gaussians of 200 that touch their neighbours."""
    centers = np.array([[0.0, 0.0], [4.2, 0.0], [2.1, 3.6], [8.4, 0.6], [6.3, 4.2]])
    return _gaussians(seed, centers, [0.75 * np.eye(2)] * 5, [200] * 5)


def make_unequal(seed: int = 0) -> DataSet:
    """Five Gaussians of 600, 300, 150, 75 and 25 samples."""
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0], [3.0, 10.5]])
    return _gaussians(seed, centers, [0.6 * np.eye(2)] * 5, [600, 300, 150, 75, 25])


def make_eight(seed: int = 0) -> DataSet:
    """Six Gaussians of 150 in eight dimensions, at corners of a cube."""
    corners = np.random.default_rng(8).permutation(256)[:6]
    centers = ((corners[:, None] >> np.arange(8)) & 1).astype(float)
    return _gaussians(seed, centers, [0.08 * np.eye(8)] * 6, [150] * 6)


#: Generators by the name of their data set.
GENERATORS: dict[str, Callable[[int], DataSet]] = {
    "r15": make_rings,
    "d4": make_d4,
    "overlapping": make_overlapping,
    "unequal": make_unequal,
    "eight": make_eight,
}


def _gaussians(
    seed: int,
    centers: NDArray[np.float64],
    factors: list[NDArray[np.float64]],
    sizes: list[int],
) -> DataSet:
    """Samples of N(center, factor' factor), cluster by cluster."""
    rng = np.random.default_rng(seed)
    clusters = [
        center + rng.standard_normal((size, len(center))) @ factor
        for center, factor, size in zip(centers, factors, sizes, strict=True)
    ]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return DataSet(np.concatenate(clusters), labels.astype(np.int64))


def read_csv(path: str | Path) -> DataSet:
    """Samples from a file with columns x1, x2, ... and label; the first line names them.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing or malformed; the message has the line and what was expected.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: expected a file with the columns x1, x2, ..., label"
        )
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        features = [f"x{i}" for i in range(1, len(names))]
        if len(names) < 2 or names != [*features, "label"]:
            raise ValueError(
                f"{path}, line 1: expected the columns x1, x2, ..., label, got {', '.join(names)}"
            )
        X, labels = [], []
        for line, row in enumerate(rows, 2):
            if len(row) != len(names):
                raise ValueError(
                    f"{path}, line {line}: expected {len(names)} entries, got {len(row)}"
                )
            X.append([_number(path, line, *cell) for cell in zip(names, row[:-1])])
            labels.append(_integer(path, line, row[-1]))
    if not X:
        raise ValueError(f"{path}: expected at least one sample, got none")
    return DataSet(np.array(X), np.array(labels, dtype=np.int64))


def _number(path: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{path}, line {line}: expected a number in {name}, got {text!r}")
    return value


def _integer(path: Path, line: int, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"{path}, line {line}: expected a whole number in label, got {text!r}"
        ) from None


def normalised(data: DataSet) -> DataSet:
    """Scale every feature to [0, 1]; a constant one becomes 0."""
    low, high = data.X.min(axis=0), data.X.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return DataSet((data.X - low) / span, data.labels)


def presented(data: DataSet, seed: int) -> DataSet:
    """Present the data cluster by cluster: clusters in random order, each one shuffled."""
    rng = np.random.default_rng(seed)
    clusters = rng.permutation(np.unique(data.labels))
    order = np.concatenate(
        [rng.permutation(np.flatnonzero(data.labels == cluster)) for cluster in clusters]
    )
    return DataSet(data.X[order], data.labels[order])
