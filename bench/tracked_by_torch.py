# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script under torch's own MemTracker with fake tensors, and prints the peak that it finds, in bytes.

Usage: tracked_by_torch.py SCRIPT [ARGUMENTS]. Where no GPU is, a simulated card has to be there: fake tensors allocate
nothing, but autograd wants a device.
"""

import runpy
import sys
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker


def describe_as_fake() -> None:
    """Models of the examples come by way of the meta device, which a fake tensor cannot come from."""
    import weightless

    def on_card(make, dtype=torch.bfloat16, device="cuda"):
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with torch.device(device):
                return make()
        finally:
            torch.set_default_dtype(before)

    weightless.on_card = on_card


def forget_earlier_calls(tracker: MemTracker) -> None:
    """The tracker refuses a second call of a model unless its statistics by module are reset; peaks stay."""

    def before_forward(module: torch.nn.Module, _inputs: object) -> None:
        modules = tracker._mod_tracker
        if set(modules.parents) == {"Global"} and not modules.is_bw and module in tracker.memory_tracking:
            tracker.reset_mod_stats()

    torch.nn.modules.module.register_module_forward_pre_hook(before_forward)


def main() -> None:
    script = Path(sys.argv[1]).resolve()
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(script.parent))
    describe_as_fake()
    tracker = MemTracker()
    forget_earlier_calls(tracker)
    with FakeTensorMode(allow_non_fake_inputs=True), tracker:
        runpy.run_path(str(script), run_name="__main__")
    peaks = tracker.get_tracker_snapshot("peak")
    print(max(parts["Total"] for device, parts in peaks.items() if device.type == "cuda"))


if __name__ == "__main__":
    main()
