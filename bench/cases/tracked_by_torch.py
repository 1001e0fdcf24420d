# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script under torch's own MemTracker with fake tensors, and prints the peak that it finds, in bytes.

Usage: tracked_by_torch.py SCRIPT [ARGUMENTS]. Without a GPU this needs a simulated card: fake tensors allocate nothing,
but autograd needs a device.
"""

import runpy
import sys
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker


def make_at_once() -> None:
    """Makes the examples' models without the meta device, from which a fake tensor cannot be created."""
    import weightless

    def described(make, dtype=torch.bfloat16):
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with torch.device("cuda:0"):
                return make()
        finally:
            torch.set_default_dtype(before)

    weightless.described = described
    torch.nn.Module.to_empty = lambda module, device: module


class NoHandle:
    """A stand-in for the hook on a frozen parameter."""

    def remove(self) -> None:
        """Does nothing."""


def help_along(tracker: MemTracker) -> None:
    """Makes the tracker accept what it refuses: a model's second call, and a model with frozen parameters."""

    def before_forward(module: torch.nn.Module, _inputs: object) -> None:
        modules = tracker._mod_tracker
        if set(modules.parents) != {"Global"} or modules.is_bw:
            return
        if module in tracker.memory_tracking:
            tracker.reset_mod_stats()  # the peak stays
        for parameter in module.parameters():
            if not parameter.requires_grad and parameter not in tracker._param_to_grad_hook_handles:
                tracker._param_to_grad_hook_handles[parameter] = (NoHandle(), NoHandle())

    torch.nn.modules.module.register_module_forward_pre_hook(before_forward)


def main() -> None:
    script = Path(sys.argv[1]).resolve()
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(script.parent))
    make_at_once()
    tracker = MemTracker()
    help_along(tracker)
    with FakeTensorMode(allow_non_fake_inputs=True), tracker:
        runpy.run_path(str(script), run_name="__main__")
    peaks = tracker.get_tracker_snapshot("peak")
    print(max(parts["Total"] for device, parts in peaks.items() if device.type == "cuda"))


if __name__ == "__main__":
    main()
