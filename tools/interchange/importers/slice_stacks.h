// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_SLICE_STACKS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_SLICE_STACKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/interchange/importers/imported_run.h"
#include "tools/interchange/importers/kineto_events.h"

namespace memtrace::interchange {

// Finds what was running: the slices of a profile around a moment of a thread, as a stack.
class SliceStacks {
 public:
  explicit SliceStacks(ImportedNames& names) : names_(names) {}

  void Add(const KinetoSlice& slice);

  // Sets the stacks of the moments of one thread, which ascend. Sorts the thread's slices.
  struct Moment {
    uint64_t time_ns = 0;
    trace::StackId* stack = nullptr;
  };
  void Resolve(uint64_t thread, const std::vector<Moment>& moments);

 private:
  struct Slice {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    trace::StringId name = 0;
    bool is_operator = false;
  };
  struct Open {
    uint64_t end_ns = 0;
    trace::StackId stack = 0;
  };

  trace::StackId StackOf(const Slice& slice, trace::StackId parent);

  ImportedNames& names_;
  absl::flat_hash_map<uint64_t, std::vector<Slice>> threads_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_SLICE_STACKS_H_
