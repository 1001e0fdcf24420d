// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_VALUES_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::shim {

// Gives small tensors on the simulated card true values (docs/design/host_values.md). Kernels have
// no effect there, so the CPU computes an operator whose inputs are known on copies of the card's
// memory, and its results are written back. The operator itself runs as usual: it allocates, copies
// and launches as it would without us, and nothing here allocates on the card.
//
// It is a boxed fallback in torch's dispatcher, switched on per thread; autograd's threads inherit
// it from the thread that calls backward.

// Reads the policies, where later ones win, and registers with the dispatcher for the life of the
// process. Returns "" or one sentence that tells why not (a policy cannot be read, or torch itself
// uses our place in its dispatcher); "-" if there is no simulated card.
std::string StartHostValues(const std::vector<std::string>& policy_files);

// From now on, the calling thread's operators are followed. REQUIRES: started.
void EnterHostValuesThread();

// The allocator hands out this memory, so its old contents have no meaning now. May be called under
// an allocator's lock.
void ForgetFreshMemory(uint64_t address, size_t bytes);

// A training step begins: the count of each line's unknown reads starts again.
void BeginHostValuesStep();

// Writes the counts of reads into the trace.
void AnnotateHostValues();

// If set, a router's unknown choices are as uneven as they may be (Answers::SetUneven).
void SetUnevenChoices(bool is_uneven);

// Returns the line whose sizes follow from such choices: HostReads::LineOfChosenSizes.
std::string LineOfChosenSizes();

// Returns the lines of Python that read assumed values: HostReads::AssumedReads.
std::string AssumedReads();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_VALUES_H_
