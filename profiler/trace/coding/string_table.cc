// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/coding/string_table.h"

namespace memtrace::trace {

StringTable::Interned StringTable::Intern(std::string_view text) {
  if (text.empty()) return {};
  if (const auto known = ids_.find(text); known != ids_.end()) return {.id = known->second};
  if (!interns_new_ || texts_.size() >= kMaxStrings || text_bytes_ + text.size() > kMaxTextBytes)
    return {};
  const auto id = static_cast<StringId>(texts_.size() + 1);
  Define(id, text);
  ids_.emplace(storage_.back(), id);
  return {.id = id, .is_new = true};
}

void StringTable::Define(StringId id, std::string_view text) {
  if (id == 0 || texts_.contains(id)) return;
  texts_.emplace(id, storage_.emplace_back(text));
  text_bytes_ += text.size();
}

std::string_view StringTable::Text(StringId id) const {
  if (id == 0) return {};
  const auto found = texts_.find(id);
  return found == texts_.end() ? std::string_view("(lost)") : found->second;
}

}  // namespace memtrace::trace
