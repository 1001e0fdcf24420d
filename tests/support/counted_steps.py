# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A scenario of the corpus whose calls for memory are counted in each step; prints a JSON list, a number a step.

Usage: counted_steps.py SCRIPT ARGUMENTS..., on the simulated card. It counts the calls of the driver and the runtime
that map, unmap, create or release memory, or wait for the card (interpose/simulated_card/interface/card_control.h). It
does not count cudaStreamSynchronize, by which programs wait for values; allocators wait by other calls.
"""

import ctypes
import json
import runpy
import sys
from pathlib import Path

COUNTED = (
    *(b"cuMem" + name for name in (b"Create", b"Map", b"Unmap", b"SetAccess", b"Release", b"AddressReserve")),
    *(b"cuda" + name for name in (b"Malloc", b"Free", b"DeviceSynchronize", b"EventSynchronize")),
    *(b"cu" + name for name in (b"CtxSynchronize", b"StreamSynchronize", b"EventSynchronize")),
)
VISITOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


def main() -> None:
    script = Path(sys.argv[1])
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(script.parent))
    import case_util

    card = ctypes.CDLL("libcuda.so.1")
    steps, guarded = [], case_util.guarded

    def counted(tag, function):
        card.memtrace_card_log_calls(1)
        done = guarded(tag, function)
        calls = []
        card.memtrace_card_visit_calls(VISITOR(lambda _argument, call, _number: calls.append(call)), None)
        names = [call.replace(b"(", b" ").split()[0] for call in calls]
        steps.append(sum(name in COUNTED for name in names))
        return done

    case_util.guarded = counted
    runpy.run_path(str(script), run_name="__main__")
    print(json.dumps(steps))


if __name__ == "__main__":
    main()
