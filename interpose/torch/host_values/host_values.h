// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_VALUES_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::shim {

// True values for small tensors on the simulated card (docs/host_values.md). Kernels are inert
// there; so an operator whose inputs are known is done by the CPU on copies of the card's memory,
// and its results are written back. The operator itself runs as ever: what it allocates, copies and
// launches is what it would without us, and nothing here allocates on the card.
//
// It is a boxed fallback in torch's dispatcher, switched on per thread; autograd's threads inherit
// it from the thread that calls backward.

// Reads the policies, later ones winning, and registers with the dispatcher, for the life of the
// process. Returns "" or one sentence that says why not (a policy cannot be read, or torch
// uses our place in its dispatcher for itself); "-" if there is no simulated card.
std::string StartHostValues(const std::vector<std::string>& policy_files);

// The calling thread's operators are looked at from now on. REQUIRES: started.
void EnterHostValuesThread();

// The allocator hands out this memory: whatever it held is of no meaning now. May be called under
// an allocator's lock.
void ForgetFreshMemory(uint64_t address, size_t bytes);

// A training step begins: how often a line read unknown values is counted anew.
void BeginHostValuesStep();

// The counts of reads, into the trace.
void AnnotateHostValues();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_VALUES_H_
