// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_PACKING_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_PACKING_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/units.h"

namespace memtrace::analysis {

// A buffer that is alive in [begin, end) of any totally ordered time and needs `size` contiguous
// bytes. If the time or the size is empty, it gets offset 0 and does not constrain others.
struct PackingItem {
  uint64_t begin = 0;
  uint64_t end = 0;
  Bytes size = 0;
};

// The limits at which packing stops. Work is counted, not timed, so that the same input gives the
// same packing everywhere.
struct PackingBudget {
  Bytes capacity = 0;  // a height that is good enough; 0: only the lower bound is
  // Each step is a look at an item in a section of time and takes about 1 ns. Even 0 gives a
  // packing.
  uint64_t steps = 2'000'000'000;
};

struct Packing {
  std::vector<Bytes> offsets;  // one an item, in the items' order
  Bytes height = 0;            // the highest end of an item
  Bytes lower_bound = 0;       // no packing is lower: the most bytes alive at one time
  bool is_optimal = false;     // no packing is lower than `height`: it is the lower bound, or the
                               // search has tried all others
  uint64_t steps = 0;          // of the budget, used
};

// Gives every item an offset such that no two that are alive at one time share a byte, aiming for
// the lowest height ("dynamic storage allocation", docs/design/packing.md). Every offset is a sum
// of sizes of other items, so sizes that are multiples of an alignment give offsets that also are.
// If the items do not fit into 2^64 - 1 bytes, that is the height and the offsets have no meaning.
// Safe from any thread.
Packing Pack(absl::Span<const PackingItem> items, const PackingBudget& budget = {});

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_PACKING_H_
