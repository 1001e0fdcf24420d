# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Callbacks that say before the first step if a training does not fit.

`FitCallback` is for transformers' Trainer, `LightningFitCallback` for Lightning. Each framework is imported when its
callback is first named here.
"""

import importlib
from typing import Any

_MODULES = {
    "FitCallback": "memtrace._estimate.trainer_callback",
    "LightningFitCallback": "memtrace._estimate.lightning_callback",
}


def __getattr__(name: str) -> Any:  # a class; its framework may be missing
    """Returns a callback class. Raises ImportError if its framework is not installed."""
    if name not in _MODULES:
        raise AttributeError(f"memtrace.callbacks has no {name!r}. It has {', '.join(_MODULES)}.")
    return getattr(importlib.import_module(_MODULES[name]), name)
