# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Remedies that `memtrace fit` tries without touching the script: MEMTRACE_FIT_CHANGES=NAME[=VALUE],...

Each change is a module with `watch(torch, session, change)`; docs/design/fit.md, "Remedies", explains them.
"""

import importlib
from types import ModuleType

from memtrace._changes._change import Change
from memtrace._session import Session
from memtrace._vocabulary import FIT_CHANGED

NAMES = (
    "adam8bit",
    "balanced",
    "bf16",
    "checkpoint",
    "freeze",
    "fused",
    "lora",
    "loop",
    "mean_resizing",
    "offload",
    "second_card",
    "share",
)


def start(torch: ModuleType, session: Session, wanted: str) -> None:
    """Makes the changes that `wanted` names; ignores unknown names."""
    changes = [Change(*word.partition("=")[::2]) for word in wanted.split(",") if word]
    for change in changes:
        if change.name in NAMES:
            importlib.import_module(f"memtrace._changes._{change.name}").watch(torch, session, change)

    def annotate() -> None:
        for change in changes:
            session.core.annotate(f"{FIT_CHANGED}.{change.name}", str(change.places))

    session.before_close.append(annotate)
