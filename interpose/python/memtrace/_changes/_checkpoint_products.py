# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Selective checkpointing of the first K of the repeated blocks, or of all: `checkpoint_products[=K]`.

The results of matrix products and of attention are kept; all else is computed again.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from memtrace._changes._change import Change
from memtrace._changes._checkpoint import checkpoint_first
from memtrace._process.session import Session

# Operators of torch.ops.aten, each with the overload `default`. Newer torches have more kinds of attention.
_KEPT = (
    "mm",
    "addmm",
    "bmm",
    "baddbmm",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
)


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies as `checkpoint` does. Does nothing with a torch before 2.4, which cannot keep results."""
    contexts = getattr(importlib.import_module("torch.utils.checkpoint"), "create_selective_checkpoint_contexts", None)
    if contexts is None:
        return
    kept = [getattr(torch.ops.aten, name).default for name in _KEPT if hasattr(torch.ops.aten, name)]
    checkpoint_first(torch, session, change, {"use_reentrant": False, "context_fn": functools.partial(contexts, kept)})
