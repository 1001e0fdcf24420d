# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Random allocations by torch's own allocator, on threads and streams, shared, from pools, with too little memory.

Arguments: the seed, the number of rounds. Between rounds prints one JSON line: torch's statistics, and the numbers of
allocations, frees and completed frees so far, which identify the moment in a trace.
"""

import json
import random
import sys
import threading

import torch

MIB = 1 << 20
THREADS = 3
TOLD = {
    "born": "allocation.all.allocated",
    "gone": "allocation.all.freed",
    "completed": "active.all.freed",
    "allocated": "allocated_bytes.all.current",
    "active": "active_bytes.all.current",
    "requested": "requested_bytes.all.current",
    "reserved": "reserved_bytes.all.current",
}


class Worker:
    """A thread's streams, pools, tensors and random numbers."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.streams = [torch.cuda.Stream() for _ in range(2)]
        expands = "expandable_segments:True" in torch.cuda.memory._snapshot()["allocator_settings"].get(
            "PYTORCH_CUDA_ALLOC_CONF", ""
        )
        # With segments that expand, the rest that such a pool's blocks keep is not known (docs/design/recording.md).
        self.pools = [torch.cuda.MemPool(), torch.cuda.MemPool(no_split=not expands)]
        self.tensors: list[torch.Tensor] = []

    def run(self, instructions: int) -> None:
        kinds = {self.allocate: 52, self.free: 44, self.share: 6, self.use_pool: 6, self.empty: 1}
        for instruct in self.random.choices(list(kinds), list(kinds.values()), k=instructions):
            instruct()

    def size(self) -> int:
        most = self.random.choice((600, 4096, MIB, 3 * MIB, 12 * MIB, 50 * MIB))
        return self.random.randint(1, most)

    def allocate(self) -> None:
        with torch.cuda.stream(self.random.choice(self.streams)):
            try:
                self.tensors.append(torch.empty(self.size(), dtype=torch.uint8, device="cuda"))
            except torch.OutOfMemoryError:
                self.tensors.clear()

    def free(self) -> None:
        if self.tensors:
            self.tensors.pop(self.random.randrange(len(self.tensors)))

    def share(self) -> None:
        if self.tensors:
            self.random.choice(self.tensors).record_stream(self.random.choice(self.streams))

    def use_pool(self) -> None:
        with torch.cuda.use_mem_pool(self.random.choice(self.pools)):
            self.allocate()

    def empty(self) -> None:
        torch.cuda.empty_cache()


def main(seed: str, rounds: int) -> None:
    """Runs rounds in which all threads continue with their state of the previous round."""
    workers = [Worker(f"{seed} {thread}") for thread in range(THREADS)]
    for _ in range(rounds):
        threads = [threading.Thread(target=worker.run, args=(60,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        own = torch.cuda.memory_stats()
        print(json.dumps({name: own[key] for name, key in TOLD.items()}), flush=True)


main(sys.argv[1], int(sys.argv[2]))
