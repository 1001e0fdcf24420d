# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A scenario of the corpus that also counts, wherever it reports, the bytes of its own objects by role.

Usage: counted_roles.py SCRIPT ARGUMENTS... Prints one JSON line a report: its tag, and for each card torch's numbers of
allocations and frees so far, which identify the moment, and the bytes of parameters, gradients and optimizer states.
They are sums over Python's objects, without memtrace.
"""

import gc
import json
import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import torch


def functional_copy(frame: FrameType) -> Iterator[torch.Tensor]:
    """Yields case A's arguments of functional_call in place of parameters: `ps` of its edited_model()."""
    copy = frame.f_locals.get("fm")
    for name, cell in zip(copy.__code__.co_freevars, copy.__closure__ or (), strict=True) if copy else ():
        if name == "ps":
            yield from cell.cell_contents.values()


def holders(frame: FrameType) -> tuple[list[torch.Tensor], list[torch.Tensor], list[object]]:
    """Returns all living parameters, their stand-ins in a functional call, and the states of the script's optimizers.

    It does not ask the modules: after case E's resizing accelerate still holds the output layer's old weight.
    """
    parameters = [value for value in gc.get_objects() if issubclass(type(value), torch.nn.Parameter)]
    optimizers = [value for value in frame.f_globals.values() if isinstance(value, torch.optim.Optimizer)]
    states = [value for optimizer in optimizers for state in optimizer.state.values() for value in state.values()]
    return parameters, list(functional_copy(frame)), states


def bytes_by_card(tensors: list[object]) -> Counter[int]:
    """Returns the bytes on each card, counting each storage once."""
    storages = {}
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.is_cuda:
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = (tensor.get_device(), storage.nbytes())
    sums: Counter[int] = Counter()
    for card, size in storages.values():
        sums[card] += size
    return sums


def main() -> None:
    script = Path(sys.argv[1])
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(script.parent))
    import case_util

    report = case_util.report

    def counted(tag: str, devices: list[int] | None = None) -> None:
        report(tag, devices)
        parameters, copies, states = holders(sys._getframe(1))
        sums = {
            "parameter": bytes_by_card(parameters + copies),
            "gradient": bytes_by_card([parameter.grad for parameter in parameters]),
            "optimizer_state": bytes_by_card(states),
        }
        for card in range(torch.cuda.device_count()):
            own = torch.cuda.memory_stats(card)
            moment = {"card": card, "born": own["allocation.all.allocated"], "gone": own["allocation.all.freed"]}
            print(json.dumps({"tag": tag} | moment | {role: sums[role][card] for role in sums}), flush=True)

    case_util.report = counted
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
