// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_UNUSED_NAME_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_UNUSED_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace memtrace::trace {

// Memory that moved to the host because no operation used it in that step and the one before has a
// `Moved::owner` of its own:
//
//   UnusedName("parameter")              "parameter, unused"
//   NameOfUnused("parameter, unused")    "parameter"
//   NameOfUnused("parameter")            nothing
inline constexpr std::string_view kUnusedEnd = ", unused";

inline std::string UnusedName(std::string_view name) {
  return std::string(name).append(kUnusedEnd);
}

inline std::optional<std::string_view> NameOfUnused(std::string_view name) {
  if (!name.ends_with(kUnusedEnd)) return std::nullopt;
  return name.substr(0, name.size() - kUnusedEnd.size());
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_UNUSED_NAME_H_
