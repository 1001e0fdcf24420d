// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_PREFIX_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_PREFIX_H_

#include <cstddef>
#include <span>
#include <vector>

#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

// The state in which a pickle ended before its end.
struct PickleCut {
  bool is_cut = false;
  size_t kept_bytes = 0;                // up to the first byte that was left out
  std::vector<PickleValue> unfinished;  // lists that may have had more items
};

// A machine's stack as its pickle ended, and the places of marks: in the stack, and in the file.
struct UnfinishedStack {
  std::span<const PickleValue> values;
  std::span<const size_t> marks;
  std::span<const size_t> mark_offsets;
};

// Gives a tree the root that it would have if the pickle had ended each list that was begun and
// left out each dict (and tuple) that was. The root itself is always kept. Values on the stack that
// are not yet in their list or dict are put there, in the way of picklers: they begin a container,
// set a mark, push its contents, then add all of them; a single item is added without a mark.
PickleCut CloseStack(const UnfinishedStack& stack, PickleTree& tree);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_PREFIX_H_
