// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_PREFIX_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_PREFIX_H_

#include <cstddef>
#include <span>
#include <vector>

#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

// What a pickle was in the middle of when it ended.
struct PickleCut {
  bool is_cut = false;
  size_t kept_bytes = 0;                // up to where what was left out begins
  std::vector<PickleValue> unfinished;  // lists that may have had more items
};

// A machine's stack as its pickle ended, and where marks lie in it: in the stack, in the file.
struct UnfinishedStack {
  std::span<const PickleValue> values;
  std::span<const size_t> marks;
  std::span<const size_t> mark_offsets;
};

// Gives a tree the root that it would have had, had the pickle ended each list that was begun and
// left out each dict (and tuple) that was. The root itself is kept whatever it is. What is on the
// stack but not yet in its list or dict is put there, as picklers do: they begin a container, set a
// mark, push what is in it, then add all of it; a single item without a mark.
PickleCut CloseStack(const UnfinishedStack& stack, PickleTree& tree);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_PREFIX_H_
