# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sets `fused=True` for optimizers whose caller did not choose; it replaces `foreach`."""

from types import ModuleType

from memtrace._changes._change import Change
from memtrace._changes._optimizer_arguments import Arguments, adapt, groups_set, tensors
from memtrace._changes._program_line import program_line
from memtrace._process.session import Session


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from now on. Updates that cannot be fused (not floats, gradients through the update) stay as they are."""

    def fuse(arguments: Arguments) -> None:
        if arguments.get("fused") is not None or arguments.get("foreach") is True or arguments.get("differentiable"):
            return
        stepped = list(tensors(torch, arguments))
        if groups_set(arguments, "foreach", "fused"):
            return
        can_be = bool(stepped) and all(isinstance(t, torch.Tensor) and t.is_floating_point() for t in stepped)
        if can_be and change.found_and_made(type(arguments["self"]).__name__, program_line()):
            arguments["foreach"], arguments["fused"] = None, True

    adapt(torch, "fused", fuse)
