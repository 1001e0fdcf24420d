// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_GRAPH_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_GRAPH_MEMORY_H_

// Allocation and free nodes, made by hand or by a capture.
#include <cstdint>

#include "interpose/simulated_card/driver/driver_api.h"

namespace memtrace::card {

// Returns the work that the node of this step does when it runs.
HostWork WorkOf(Machine& machine, const GraphMemoryStep& step);

// Implement cuMemAllocAsync and cuMemFreeAsync in a stream that is capturing: they add a node.
Result AllocateInCapture(Machine& machine, int device, CUstream stream, std::uint64_t bytes,
                         Address* begin);
Result FreeInCapture(Machine& machine, int device, CUstream stream, Address begin);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_GRAPH_MEMORY_H_
