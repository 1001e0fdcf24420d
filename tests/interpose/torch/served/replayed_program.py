# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes random allocations with torch's own allocator, independent of its answers.

Arguments: seed, number of instructions, snapshot to write, and what may occur: empty_cache, pools, fraction. Prints one
JSON line with torch's statistics of each card. A request that fails leaves nothing, and the program goes on.
"""

import json
import random
import sys

import torch

MIB = 1 << 20
ODD = (512, MIB, MIB + 1, 2 * MIB, 10 * MIB - 512, 10 * MIB, 20 * MIB)
TOLD = {
    "peak_reserved": "reserved_bytes.all.peak",
    "peak_allocated": "allocated_bytes.all.peak",
    "failures": "num_ooms",
}


class Program:
    """The random numbers, and the living blocks; `None` for a refused one."""

    def __init__(self, seed: int, features: list[str]) -> None:
        self.dice = random.Random(seed)
        self.cards = range(torch.cuda.device_count())
        self.streams = {card: self.streams_of(card, self.dice.choice((0, 2))) for card in self.cards}
        self.largest = self.dice.choice((20, 60, 200, 300)) * MIB
        self.pools = [torch.cuda.MemPool() for _ in range(2)] if "pools" in features else []
        self.empties = "empty_cache" in features
        self.live: list[torch.Tensor | None] = []
        if "fraction" in features:
            torch.cuda.set_per_process_memory_fraction(self.dice.choice((0.3, 0.6, 0.9)))

    @staticmethod
    def streams_of(card: int, more: int) -> list[torch.cuda.Stream]:
        return [torch.cuda.default_stream(card), *(torch.cuda.Stream(card) for _ in range(more))]

    def run(self, instructions: int) -> None:
        kinds = {self.allocate: 53, self.free: 44, self.empty: 1, self.wait: 1}
        for instruct in self.dice.choices(list(kinds), list(kinds.values()), k=instructions):
            instruct()

    def size(self) -> int:
        kind = self.dice.random()
        if kind < 0.1:
            return self.dice.choice(ODD)
        return self.dice.randint(1, MIB if kind < 0.45 else 12 * MIB if kind < 0.8 else self.largest)

    def allocate(self) -> None:
        card = self.dice.choice(self.cards)
        size, stream, pool = self.size(), self.dice.choice(self.streams[card]), self.dice.choice([None, *self.pools])
        with torch.cuda.stream(stream):
            if pool is None or card != 0:
                self.live.append(self.tensor(size))
                return
            with torch.cuda.use_mem_pool(pool):
                self.live.append(self.tensor(size))

    @staticmethod
    def tensor(size: int) -> torch.Tensor | None:
        try:
            return torch.empty(size, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            return None

    def free(self) -> None:
        if not self.live:
            return
        tensor = self.live.pop(self.dice.randrange(len(self.live)))
        is_used_elsewhere = self.dice.random() < 0.3
        if tensor is not None and is_used_elsewhere:
            tensor.record_stream(self.streams[tensor.device.index][-1])

    def empty(self) -> None:
        if self.empties:
            torch.cuda.empty_cache()

    def wait(self) -> None:
        for card in self.cards:
            torch.cuda.synchronize(card)


def main() -> None:
    seed, instructions, snapshot, *features = sys.argv[1:]
    torch.cuda.memory._record_memory_history(max_entries=1_000_000, context=None)
    program = Program(int(seed), features)
    program.run(int(instructions))
    torch.cuda.memory._dump_snapshot(snapshot)
    stats = [torch.cuda.memory_stats(card) for card in program.cards]
    print(json.dumps([{name: stat[key] for name, key in TOLD.items()} for stat in stats]))


if __name__ == "__main__":
    main()
