# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: tensors that are loaded from a file, gathered or copied to be saved, and states that are loaded."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import ROLE_CHECKPOINT, ROLE_OPTIMIZER_STATE
from memtrace._hooks import stated_calls
from memtrace._hooks.stated_calls import Calls
from memtrace._patching import patches
from memtrace._patching.quiet import quieter
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.optim import Optimizer

# Other functions that load or gather.
_OTHERS: Calls = {
    "safetensors.torch": ("load_file", "load"),
    "torch.distributed.checkpoint.state_dict": ("get_state_dict", "get_model_state_dict", "get_optimizer_state_dict"),
    "torch.distributed.fsdp.fully_sharded_data_parallel": (
        "FullyShardedDataParallel.full_optim_state_dict",
        "FullyShardedDataParallel.optim_state_dict",
    ),
    "deepspeed.runtime.engine": (
        "DeepSpeedEngine._consolidated_16bit_state_dict",
        "DeepSpeedEngine._zero3_consolidated_16bit_state_dict",
    ),
}


_OF_OPTIMIZER = {"state", "param_groups"}  # the keys of an optimizer's state dict


def watch(torch: ModuleType, session: Session) -> None:
    """Watches torch, and other libraries once they are imported."""
    load = session.with_role(ROLE_CHECKPOINT, torch.load)
    patches.put(torch, "load", load, "torch.load: labels loaded tensors as a checkpoint")
    patches.put(torch.serialization, "load", load, "torch.serialization.load: labels loaded tensors as a checkpoint")
    state_dict = session.with_role(ROLE_CHECKPOINT, torch.nn.Module.state_dict)
    patches.put(
        torch.nn.Module, "state_dict", state_dict, "torch.nn.Module.state_dict: labels a gathered state as a checkpoint"
    )
    _watch_optimizers(torch, session)
    _watch_copies(session)
    stated_calls.watch(session, ROLE_CHECKPOINT, _OTHERS)


def _watch_copies(session: Session) -> None:
    """Labels copies that copy.deepcopy makes of a state dict as checkpoints; they are on the same card."""
    original: Callable[..., object] = copy.deepcopy
    with_role = session.with_role(ROLE_CHECKPOINT, original)

    @functools.wraps(original)
    def deepcopy(value: object, *args: object, **kwargs: object) -> object:
        is_state = isinstance(value, dict) and (hasattr(value, "_metadata") or value.keys() == _OF_OPTIMIZER)
        return (with_role if is_state else original)(value, *args, **kwargs)

    patches.put(copy, "deepcopy", deepcopy, "copy.deepcopy: labels a copy of a state dict as a checkpoint")


def _watch_optimizers(torch: ModuleType, session: Session) -> None:
    """Labels loaded states at once, because memory may run out in the first step."""
    optimizer_class: type[Optimizer] = torch.optim.Optimizer
    original: Callable[..., object] = session.with_role(ROLE_OPTIMIZER_STATE, optimizer_class.load_state_dict)

    def label(optimizer: Optimizer) -> None:
        session.labels.optimizer(optimizer)
        session.labels.optimizer_states(optimizer, again=True)

    quiet_label = quieter(torch)(label)

    @functools.wraps(original)
    def load_state_dict(optimizer: Optimizer, *args: object, **kwargs: object) -> object:
        result = original(optimizer, *args, **kwargs)
        quiet_label(optimizer)
        return result

    patches.put(
        optimizer_class,
        "load_state_dict",
        load_state_dict,
        "torch.optim.Optimizer.load_state_dict: labels the states that it loads",
    )
