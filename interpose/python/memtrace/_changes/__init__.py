# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Remedies that `memtrace fit` tries without touching the script: MEMTRACE_FIT_CHANGES=NAME[=VALUE],...

Each change is a module with `watch(torch, session, change)`; docs/design/fit.md, "Remedies", explains them.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

from memtrace._changes._change import Change
from memtrace._core.vocabulary import FIT_CHANGED, FIT_MISSING
from memtrace._process.session import Session

NAMES = (
    "activations_on_host",
    "adam8bit",
    "balanced",
    "bf16",
    "checkpoint",
    "checkpoint_products",
    "freeze",
    "fused",
    "graph_pool",
    "liger",
    "loop",
    "lora",
    "mean_resizing",
    "micro",
    "offload",
    "pieces",
    "second_card",
    "set_to_none",
    "share",
    "states_on_host",
)
# The package that makes the change.
_PACKAGES = {"adam8bit": "bitsandbytes", "balanced": "accelerate", "liger": "liger_kernel", "lora": "peft"}
# Changes of which few programs have a place, and the module that such programs have imported.
_USED_WITH = {"liger": "transformers.trainer"}


def start(torch: ModuleType, session: Session, wanted: str) -> list[Change]:
    """Makes the changes that `wanted` names; ignores unknown names, and those whose package is not installed."""
    changes = [Change(*word.partition("=")[::2]) for word in wanted.split(",") if word]
    for change in changes:
        if change.name in NAMES and _is_available(change.name):
            importlib.import_module(f"memtrace._changes._{change.name}").watch(torch, session, change)

    def annotate() -> None:
        for change in changes:
            session.core.annotate(f"{FIT_CHANGED}.{change.name}", change.facts())

    session.before_close.append(annotate)
    return changes


def annotate_missing(annotate: Callable[[str, str], None]) -> None:
    """Names the package of each change that cannot be made because the package is not installed."""
    for name, package in _PACKAGES.items():
        if not _is_available(name) and _USED_WITH.get(name, "sys") in sys.modules:
            annotate(f"{FIT_MISSING}.{name}", package)


def missing_package(change: str) -> str:
    """Returns the package that the change needs and that is not installed; "" if there is none."""
    return "" if _is_available(change) else _PACKAGES[change]


def _is_available(change: str) -> bool:
    package = _PACKAGES.get(change)
    try:
        return package is None or importlib.util.find_spec(package) is not None
    except ValueError:  # the program made a module of this name itself
        return True
