"""The peers' side of fuzzy ART: artlib, its Python class or the one with the C++ backend.

Runs in the peers' own environment and never imports icvi. As artlib's documentation asks for,
samples are scaled and complement coded beforehand; that time is not counted.
"""

from __future__ import annotations

import numpy as np
from artlib import FuzzyART as InPython  # type: ignore[import-not-found,unused-ignore]
from artlib.optimized.backends.cpp.FuzzyART import (  # type: ignore[import-not-found,unused-ignore]
    FuzzyART as InCpp,
)

from art import Model, serve_with
from clock import Job
from data import Floats

BACKENDS = {"Python": InPython, "C++": InCpp}


def prepare(job: Job, X: Floats) -> tuple[Model, Floats]:
    """Return artlib's model, and the samples complement coded by it."""
    model = BACKENDS[job["backend"]](**job["options"])
    model.set_data_bounds(np.zeros(job["d"]), np.ones(job["d"]))
    return model, model.prepare_data(X)


if __name__ == "__main__":
    serve_with(prepare)
