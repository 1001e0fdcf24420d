# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains with our allocator while its k-th driver call fails, for every k, and checks what must hold afterwards.

Arguments: the error's number, and "once" or "for-ever". Prints one line of JSON: how many cases, how they ended, and
what did not hold. With "record" it trains as often as before the first case and no call fails: a plan is made of that.
"""

import collections
import ctypes
import gc
import itertools
import json
import os
import sys
import time
import warnings

import torch
from torch import nn

MIB = 1 << 20
# Driver calls of the allocator (allocator/cuda/driver.h) once it has started. torch itself makes none of them.
OURS = (
    "cuMemAddressReserve|cuMemAddressFree|cuMemCreate|cuMemRelease|cuMemMap|cuMemUnmap|cuMemSetAccess|cuMemGetInfo|"
    "cuEventCreate|cuEventRecord|cuEventQuery|cuEventSynchronize|cuCtxSynchronize|cuCtxSetCurrent|cuStreamIsCapturing"
)
# Calls of an allocation: if the card is full, the program gets that error.
ALLOCATING = {"cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess"}
OUT_OF_MEMORY = 2
WORDS = {
    1: "invalid argument",
    OUT_OF_MEMORY: "out of memory",
    4: "driver shutting down",
    700: "an illegal memory access was encountered",  # due to earlier work; any call may return it
    999: "unknown error",
}

card = ctypes.CDLL("libcuda.so.1")
Visitor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


class Live(ctypes.Structure):
    """`memtrace_card_live` of card_control.h."""

    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64)
        for name in ("allocations", "handles", "mappings", "reservations", "pinned", "streams", "events")
    ]


def live():
    """Returns the counts of what the process holds of the card; events are kept for reuse and so not counted."""
    now = Live(ctypes.sizeof(Live))
    card.memtrace_card_get_live(ctypes.byref(now))
    return {name: getattr(now, name) for name in ("allocations", "handles", "mappings", "reservations")}


def plan(failures=""):
    said = ctypes.create_string_buffer(400)
    assert card.memtrace_card_plan_failures(failures.encode(), said, len(said)) == 0, said.value


def log_calls(on):
    card.memtrace_card_log_calls(int(on))


def our_calls():
    """Returns the allocator's driver calls since log_calls(True), such as "cuMemMap(2097152) = 0"."""
    calls = []
    card.memtrace_card_visit_calls(Visitor(lambda _, call, __: calls.append(call.decode())), None)
    ours = set(OURS.split("|"))
    return [call for call in calls if name_of(call) in ours]


def name_of(call):
    return call.split("(")[0].split(" ")[0]


side = torch.cuda.Stream()


def train(shared_tensors=3):
    """Begins and ends with no memory, and takes every path by which the allocator calls the driver."""
    model = nn.Sequential(nn.Linear(512, 1024, device="cuda"), nn.ReLU(), nn.Linear(1024, 16, device="cuda"))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        inputs = torch.zeros(512, 512).to("cuda")
        with torch.cuda.stream(side):
            prefetched = torch.empty(3 * MIB, device="cuda")
        prefetched.record_stream(torch.cuda.current_stream())
        shared = [torch.empty(MIB // 2, device="cuda") for _ in range(shared_tensors)]
        for tensor in shared:
            tensor.record_stream(side)
        del shared, tensor, prefetched
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.empty_cache()
    in_a_pool()
    graph()
    short_of_memory()


def in_a_pool():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        torch.empty(4 * MIB, device="cuda")
    del pool
    torch.cuda.empty_cache()


def graph():
    buffer = torch.zeros(MIB, device="cuda")
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(2):
            buffer = (buffer + 1) * 2
    captured.replay()


def short_of_memory():
    """Another stream's cache is in the way, and the batch is too large, which the program finds out by trying."""
    total = torch.cuda.get_device_properties(0).total_memory
    with torch.cuda.stream(side):
        torch.empty(total * 3 // 8, dtype=torch.uint8, device="cuda")
    waiting = torch.empty(total // 8, dtype=torch.uint8, device="cuda")
    waiting.record_stream(side)
    del waiting
    batch = total
    while True:
        try:
            torch.empty(batch, dtype=torch.uint8, device="cuda")
            return
        except torch.OutOfMemoryError:
            batch = batch * 5 // 8
            if batch < MIB:
                raise


def give_everything_back():
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()


def problems_of_state():
    """Yields disagreements between the statistics, the snapshot and the card, which must agree in any case."""
    stats = torch.cuda.memory_stats()
    for kind in ("allocation", "allocated_bytes", "active", "active_bytes", "requested_bytes", "reserved_bytes"):
        for pool in ("all", "small_pool", "large_pool"):
            now, allocated, freed = (stats[f"{kind}.{pool}.{what}"] for what in ("current", "allocated", "freed"))
            if now != allocated - freed:
                yield f"{kind}.{pool}: {now} are {allocated} less {freed}"
        if stats[f"{kind}.all.current"] != sum(stats[f"{kind}.{p}.current"] for p in ("small_pool", "large_pool")):
            yield f"{kind}: small and large are not all"
    blocks = [block for segment in torch.cuda.memory_snapshot() for block in segment["blocks"]]
    sums = {
        "reserved_bytes": sum(block["size"] for block in blocks),
        "allocated_bytes": sum(block["size"] for block in blocks if block["state"] == "active_allocated"),
        "active_bytes": sum(block["size"] for block in blocks if block["state"] != "inactive"),
    }
    for kind, size in sums.items():
        if stats[f"{kind}.all.current"] != size:
            yield f"{kind}: {stats[f'{kind}.all.current']}, and the blocks have {size}"


def problems_of_error(failed, error, how, once):
    """Yields errors of a wrong kind or text; `how` is None if all went well, else the exception's facts."""
    if how is None:
        return
    kind, code, text = how
    if kind == "OutOfMemoryError" and error == OUT_OF_MEMORY and not (once and failed in ALLOCATING):
        if not text.startswith("CUDA out of memory. Tried to allocate "):
            yield f"says {text}"
    elif kind == "AcceleratorError" and not (error == OUT_OF_MEMORY and failed in ALLOCATING):
        if code != error or not text.startswith(f"CUDA driver error: {WORDS[error]}"):
            yield f"says {code}: {text}"
    else:
        yield f"{kind}: {text}"


def attempt(shared_tensors):
    try:
        train(shared_tensors)
    except RuntimeError as error:
        return type(error).__name__, getattr(error, "error_code", None), str(error).splitlines()[0]
    return None


def case(functions, nth, error, once, normal, shared_tensors=3):
    """Runs one case; returns None if no such call was made, else how it ended and what did not hold."""
    log_calls(True)
    plan(f"{functions}@{nth}{'' if once else '+'}={error}")
    how = attempt(shared_tensors)
    plan()
    log_calls(False)
    calls = [name_of(call) for call in our_calls() if name_of(call) in functions.split("|")]
    if len(calls) < nth:
        give_everything_back()
        return None
    failed = calls[nth - 1]
    problems = list(problems_of_error(failed, error, how, once))
    try:
        problems += problems_of_state()
        give_everything_back()
        problems += problems_of_state()
        problems += problems_of_what_is_kept(normal)
        if how and "MEMTRACE_PLAN" in os.environ:
            find_the_plan_again()
            problems += problems_of_what_is_kept(normal)
        log_calls(True)
        train()
        log_calls(False)
        if (calls := our_calls()) != normal["calls"]:
            problems.append(f"the next training calls the driver otherwise: {difference(normal['calls'], calls)}")
        give_everything_back()
        if (kept := live()) != normal["live"] or torch.cuda.memory_reserved() != normal["reserved"]:
            problems.append(f"after the next training the card has {kept}, {torch.cuda.memory_reserved()} reserved")
    except RuntimeError as later:
        problems.append(f"later {type(later).__name__}: {str(later).splitlines()[0]}")
        give_everything_back()
    where = f"call {nth} ({failed}), {error} {'once' if once else 'for ever'}, ended with {how}"
    return how[0] if how else "nothing", [f"{where}: {problem}" for problem in problems]


def find_the_plan_again():
    """Trains once: a failed training leaves the allocator amid its plan, so only the training after this is normal."""
    train()
    give_everything_back()


def problems_of_what_is_kept(normal):
    """Yields leaks, except for one more reservation: the first may have been too short; both are kept for later use."""
    kept, before = live(), normal["live"]
    if kept == before | {"reservations": before["reservations"] + 1}:
        normal["live"] = kept  # later cases must not have more
        normal["longer"] += 1
    elif kept != before:
        yield f"the card has {kept}, not {before}"


def difference(expected, got):
    lost = collections.Counter(expected) - collections.Counter(got)
    more = collections.Counter(got) - collections.Counter(expected)
    return f"without {dict(lost)}, with {dict(more)}"


def capture_nothing():
    """Returns a graph to be kept, so that it stays the first of the process.

    torch's random generator allocates with its first graph, and the process ends if that fails: the graph's destructor
    throws.
    """
    kept = torch.cuda.CUDAGraph()
    with warnings.catch_warnings(action="ignore"), torch.cuda.graph(kept):  # warns that it is empty
        pass
    return kept


def main():
    kept = capture_nothing()
    for _ in range(4 if sys.argv[1] == "record" else 2):
        train()
        give_everything_back()
    if sys.argv[1] == "record":
        return
    gc.freeze()  # because each case collects
    log_calls(True)
    train()
    log_calls(False)
    give_everything_back()
    normal = {"longer": 0, "live": live(), "reserved": torch.cuda.memory_reserved(), "calls": our_calls()}
    begin = time.monotonic()
    ends = collections.Counter()
    problems = []
    error, once = int(sys.argv[1]), sys.argv[2] == "once"
    for nth in itertools.count(1):
        done = case(OURS, nth, error, once, normal)
        if done is None:
            break
        ends[done[0]] += 1
        problems += done[1]
    # Events are kept, so one is made only if more are waited for at once than ever before.
    for more in range(1, 4):
        done = case("cuEventCreate", 1, error, once, normal, shared_tensors=3 + 2 * more)
        ends[done[0]] += 1
        problems += done[1]
    del kept
    print(
        json.dumps(
            {
                "calls": len(normal["calls"]),
                "functions": sorted({name_of(call) for call in normal["calls"]}),
                "cases": sum(ends.values()),
                "more reservations": normal["longer"],
                "ends": ends,
                "seconds": round(time.monotonic() - begin, 1),
                "problems": problems,
            }
        )
    )


if __name__ == "__main__":
    sys.exit(main())
