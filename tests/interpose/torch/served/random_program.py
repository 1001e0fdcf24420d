# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Random work with torch on a card that reports work as done only when the host has waited for it.

Arguments: the seed, the number of instructions, and "careless" for a program that forgets every record_stream; it has
one thread, so that it does the same, and causes the same faults, in every run. All work names the memory that it uses.
Prints one line of JSON: what was done, and the card's faults.
"""

import collections
import ctypes
import json
import random
import sys
import threading

import torch

MIB = 1 << 20
THREADS = 3

card = ctypes.CDLL("libcuda.so.1")
card.memtrace_card_note_use.argtypes = [
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_char_p,
]
Visitor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


def faults():
    """Returns the faults that are certain.

    The card can only guess the memory that a launch, here of a graph, may use, and with threads it guesses too much: a
    stream that was waited for has new work a moment later.
    """
    said = []
    card.memtrace_card_visit_faults(Visitor(lambda _, fault, __: said.append(fault.decode())), None)
    return [fault for fault in said if " may use it " not in fault]


class Worker:
    """A thread's streams, tensors and random numbers."""

    def __init__(self, seed, careless):
        self.random = random.Random(seed)
        self.careless = careless
        self.streams = [torch.cuda.Stream() for _ in range(2)]
        self.pool = torch.cuda.MemPool()
        self.graphs = []
        self.tensors = []
        self.done = collections.Counter()

    def run(self, instructions):
        kinds = {self.allocate: 46, self.free: 40, self.share: 8, self.wait: 2, self.empty: 1, self.use_pool: 1}
        choices = self.random.choices(list(kinds), list(kinds.values()), k=instructions)
        for instruct in choices:
            self.done[instruct.__name__] += 1
            instruct()

    def size(self):
        most = self.random.choice((4096, 4096, MIB, 9 * MIB, 40 * MIB))
        return self.random.randint(1, most)

    def allocate(self):
        stream = self.random.choice(self.streams)
        with torch.cuda.stream(stream):
            try:
                tensor = torch.empty(self.size(), dtype=torch.uint8, device="cuda")
            except torch.OutOfMemoryError:
                self.done["out of memory"] += 1
                return
        self.use(tensor, stream)
        self.tensors.append(tensor)

    def use(self, tensor, stream):
        """Does what a kernel on the stream would do."""
        with torch.cuda.stream(stream):
            tensor[:1].zero_()
        card.memtrace_card_note_use(tensor.data_ptr(), tensor.nbytes, stream.cuda_stream, 0, b"a kernel")

    def free(self):
        if self.tensors:
            self.tensors.pop(self.random.randrange(len(self.tensors)))

    def share(self):
        """Uses a tensor on another stream; it may then be freed."""
        if not self.tensors:
            return
        tensor = self.random.choice(self.tensors)
        stream = self.random.choice(self.streams)
        self.use(tensor, stream)
        if not self.careless:
            tensor.record_stream(stream)

    def wait(self):
        self.random.choice(self.streams).synchronize()

    def empty(self):
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(self.random.choice((0.7, 0.9, 1.0)))

    def use_pool(self):
        with torch.cuda.use_mem_pool(self.pool):
            self.allocate()


def capture(worker):
    """Returns a graph whose memory is written at each replay, even after the allocator counts it as free."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=worker.streams[0]):
        written = [torch.zeros(worker.random.randint(1, 4 * MIB), dtype=torch.uint8, device="cuda") for _ in range(5)]
        ranges = [(tensor.data_ptr(), tensor.nbytes) for tensor in written]
        del written
    for _ in range(3):
        with torch.cuda.stream(worker.streams[1]):
            graph.replay()
        for address, size in ranges:
            card.memtrace_card_note_use(address, size, worker.streams[1].cuda_stream, 0, b"a replay")
    return graph


def main(seed, instructions, careless):
    workers = [Worker(f"{seed} {thread}", careless) for thread in range(1 if careless else THREADS)]
    # A first capture that runs out of memory ends the process, also with torch's own allocator ("The graph should be
    # registered to the state", thrown by a destructor), so it comes before the rest.
    workers[0].graphs.append(capture(workers[0]))
    rounds = 10
    for _ in range(rounds):
        threads = [threading.Thread(target=w.run, args=(instructions // rounds // len(workers),)) for w in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        try:
            capture(workers[0])
        except torch.OutOfMemoryError:
            workers[0].done["capture out of memory"] += 1
    statistics = torch.cuda.memory_stats()
    done = sum((w.done for w in workers), collections.Counter())
    live = sum(tensor.nbytes for w in workers for tensor in w.tensors)
    print(
        json.dumps(
            {
                **done,
                "live": live,
                "requested": statistics["requested_bytes.all.current"],
                "waiting": statistics["active_bytes.all.current"] - statistics["allocated_bytes.all.current"],
                "retries": statistics["num_alloc_retries"],
                "unmapped": statistics["num_device_free"],
                "faults": faults(),
            }
        )
    )


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["careless"])
