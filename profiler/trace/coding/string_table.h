// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_STRING_TABLE_H_
#define MEMTRACE_PROFILER_TRACE_CODING_STRING_TABLE_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// The strings of one file. A writer interns them, a reader adds the file's definitions; both look
// up.
//
// Bounded: past kMaxStrings or kMaxTextBytes Intern returns 0, so that a program that tags each
// step differently uses at most some 200 MiB of host memory. Thread rule: one thread at a time.
class StringTable {
 public:
  static constexpr size_t kMaxStrings = 1 << 20;
  static constexpr size_t kMaxTextBytes = 64 << 20;

  struct Interned {
    StringId id = 0;
    bool is_new = false;
  };
  // Returns the id of `text`, a new one if it is not known. Ids count from 1; the empty string is
  // 0.
  Interned Intern(std::string_view text);

  // Makes Intern return 0 for unknown strings from now on.
  void StopInterning() { interns_new_ = false; }

  // Adds a definition of the file; the first definition of an id counts.
  void Define(StringId id, std::string_view text);

  // Returns "(lost)" if the id is unknown. Valid as long as the table.
  std::string_view Text(StringId id) const;

  bool Contains(StringId id) const { return id == 0 || texts_.contains(id); }

  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> storage_;  // of `texts_`; never moves
  std::unordered_map<StringId, std::string_view> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
  size_t text_bytes_ = 0;
  bool interns_new_ = true;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_STRING_TABLE_H_
