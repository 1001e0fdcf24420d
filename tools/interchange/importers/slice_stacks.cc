// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/slice_stacks.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <tuple>

namespace memtrace::interchange {
namespace {

struct PythonFunction {
  std::string_view file;
  std::string_view function;
  uint32_t line = 0;
};

// Parses "train.py(12): step"; anything else ("<built-in method ...>", "nn.Module: Linear_0") is a
// name.
PythonFunction ParsePython(std::string_view name) {
  const size_t colon = name.find("): ");
  const size_t open = colon == std::string_view::npos ? colon : name.rfind('(', colon);
  if (open == std::string_view::npos) return {"", name, 0};
  PythonFunction function{name.substr(0, open), name.substr(colon + 3), 0};
  const char* digits = name.data() + open + 1;
  const auto [end, error] = std::from_chars(digits, name.data() + colon, function.line);
  if (error != std::errc() || end != name.data() + colon) return {"", name, 0};
  return function;
}

}  // namespace

void SliceStacks::Add(const KinetoSlice& slice) {
  threads_[slice.thread].push_back({slice.begin_ns, slice.end_ns, names_.String(slice.name),
                                    slice.kind == KinetoSlice::Kind::kOperator});
}

trace::StackId SliceStacks::StackOf(const Slice& slice, trace::StackId parent) {
  const std::string name(names_.Text(slice.name));
  if (slice.is_operator) return names_.Stack(parent, name, "", 0);
  const PythonFunction function = ParsePython(name);
  return names_.Stack(parent, function.function, function.file, function.line);
}

void SliceStacks::Resolve(uint64_t thread, const std::vector<Moment>& moments) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return;
  std::vector<Slice>& slices = found->second;
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tie(a.begin_ns, b.end_ns) < std::tie(b.begin_ns, a.end_ns);
  });
  std::vector<Open> open;
  auto next = slices.begin();
  for (const Moment& moment : moments) {
    for (; next != slices.end() && next->begin_ns <= moment.time_ns; ++next) {
      while (!open.empty() && open.back().end_ns <= next->begin_ns) open.pop_back();
      if (next->end_ns < moment.time_ns) continue;  // already over: its stack is not needed
      open.push_back({next->end_ns, StackOf(*next, open.empty() ? 0 : open.back().stack)});
    }
    while (!open.empty() && open.back().end_ns < moment.time_ns) open.pop_back();
    *moment.stack = open.empty() ? 0 : open.back().stack;
  }
}

}  // namespace memtrace::interchange
