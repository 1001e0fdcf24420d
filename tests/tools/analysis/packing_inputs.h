// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_ANALYSIS_PACKING_INPUTS_H_
#define MEMTRACE_TESTS_TOOLS_ANALYSIS_PACKING_INPUTS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "base/units.h"
#include "tools/analysis/packing/packing.h"

namespace memtrace::analysis {

// The capacity that every instance of MiniMalloc fits into.
inline constexpr Bytes kMiniMallocCapacity = 1_MiB;

// Returns an instance of tests/tools/analysis/minimalloc/ by its letter, 'A' to 'K'.
std::vector<PackingItem> MiniMallocItems(char letter);

// Returns the allocations of a training program: parameters and optimizer states for ever, and in
// each step activations that die in the reverse order of their births, gradients, and values that
// die soon. `vary` gives every step a batch of another size. About 40 items a layer and step.
std::vector<PackingItem> TrainingItems(uint32_t layers, uint32_t steps, bool vary);

// Returns items with no pattern: begins in [0, span), lifetimes in [1, longest], sizes multiples of
// 512.
std::vector<PackingItem> RandomItems(std::mt19937_64& random, size_t count, uint64_t span,
                                     uint64_t longest, Bytes largest);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TESTS_TOOLS_ANALYSIS_PACKING_INPUTS_H_
