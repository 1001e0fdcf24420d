# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Captured graphs share the memory of their intermediate values. Prints what was seen, as a line of JSON.

A simulated card does not compute what a replay writes, so nothing is said of values. It faults where a replay uses
memory that is not mapped, or that unfinished work of another stream uses.
"""

import json

import memtrace
import torch
from support.seen_in_program import refused, used

MIB = 1 << 20
SIZES = (320, 256, 192, 256)  # MiB of the graphs' intermediate values
told = {}


class Captured:
    """A graph that passes its input through a large intermediate value on to its output."""

    def __init__(self, mib, side=None, capture=True):
        self.input = torch.zeros(1024, device="cuda")
        self.graph = torch.cuda.CUDAGraph()
        if not capture:
            return
        with torch.cuda.graph(self.graph, stream=side):
            large = torch.empty(mib * MIB // 4, device="cuda")
            large[:1024].copy_(self.input)
            large[-1024:].copy_(large[:1024])
            self.output = torch.empty(1024, device="cuda")
            self.output.copy_(large[-1024:])
            del large

    def run(self, value, stream=None):
        self.input.fill_(value)
        with torch.cuda.stream(stream or torch.cuda.current_stream()):
            self.graph.replay()


def share():
    graphs = [Captured(mib) for mib in SIZES]
    before = used(), torch.cuda.memory_reserved()
    told["one"] = refused(memtrace.graphs_take_turns, graphs[0].graph, graphs[0].graph)
    told["uncaptured"] = refused(memtrace.graphs_take_turns, graphs[0].graph, Captured(1, capture=False).graph)
    saved = memtrace.graphs_take_turns(*(one.graph for one in graphs))
    told["saved"] = saved
    told["card"] = before[0] - used()
    told["reserved"] = before[1] - torch.cuda.memory_reserved()
    for turn in range(3):
        for number, one in enumerate(graphs):
            one.run(10 * turn + number)
    torch.cuda.synchronize()
    told["shared"] = used()
    return graphs


def replays_wait_across_streams(graphs):
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    for stream in streams:
        stream.wait_stream(torch.cuda.current_stream())
    graphs[0].run(1.0, streams[0])
    graphs[1].run(2.0, streams[1])
    first_was_running = not streams[0].query()
    streams[1].synchronize()  # on a lazy card only what it waits for is done with it
    told["waited"] = [first_was_running, streams[0].query()]


def later_capture_stays_apart(graphs):
    kept = torch.cuda.CUDAGraph()
    with torch.cuda.graph(kept, pool=graphs[1].graph.pool()):
        output = torch.full((MIB,), 7.0, device="cuda")
    kept.replay()
    graphs[0].run(3.0)
    torch.cuda.synchronize()
    told["later"] = used() - told["shared"]
    del output


def graphs_end_one_after_the_other(graphs):
    while graphs:
        first = graphs.pop(0)
        if graphs:
            graphs[-1].run(len(graphs))
            torch.cuda.synchronize()
        del first
        torch.cuda.empty_cache()
    told["after"] = torch.cuda.memory_reserved()


def sleeping_graph_is_refused():
    with memtrace.tag("policy", movable=True):
        one = Captured(8)
    memtrace.sleep("policy")
    told["asleep"] = refused(one.graph.replay)
    memtrace.wake("policy")
    one.run(5.0)
    torch.cuda.synchronize()
    told["awake"] = "ran"


graphs = share()
replays_wait_across_streams(graphs)
later_capture_stays_apart(graphs)
graphs_end_one_after_the_other(graphs)
del graphs
sleeping_graph_is_refused()
print(json.dumps(told))
