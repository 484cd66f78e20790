"""Adaptive resonance theory: online clusterers that keep what they have learnt.

`FuzzyART` clusters, `FuzzySMART` clusters on two levels, `FuzzyARTMAP` classifies, and `Quantizer`
finds prototypes for the clusters of any other clusterer. All are scikit-learn estimators (which
needs scikit-learn) and learn one sample at a time as well as many.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

#: Where the classes are that pickles of version 0.1.0 look for in modules which are gone.
_MOVED = {
    "icvi.art.module": "icvi.art.categories",
    "icvi.art.module_a": "icvi.art.categories",
    "icvi.art.module_b": "icvi.art.targets",
    "icvi.art.classes": "icvi.art.targets",
}


class _MovedModule(ModuleType):
    """Finds the classes of a module that is gone, for unpickling; imports nothing before."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools ask every module for such names
            raise AttributeError(name)
        return getattr(import_module(_MOVED[self.__name__]), name)


for _name in _MOVED:
    sys.modules.setdefault(_name, _MovedModule(_name))
