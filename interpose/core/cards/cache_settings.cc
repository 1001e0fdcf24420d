// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/cache_settings.h"

#include "absl/strings/numbers.h"
#include "profiler/trace/events/amount.h"

namespace memtrace {

CacheSettings ReadCacheSettings(std::string_view limit, std::string_view age) {
  CacheSettings settings;
  if (!limit.empty()) {
    const auto bytes = trace::BytesOf(limit);
    if (bytes.has_value()) settings.bounds.limit = *bytes;
    if (!bytes.has_value()) {
      settings.problems.push_back("MEMTRACE_CACHE_LIMIT is ignored: '" + std::string(limit) +
                                  "' is not a size; write for example 2GiB.");
    }
  }
  uint32_t steps = 0;
  const bool is_read = age.empty() || absl::SimpleAtoi(std::string(age), &steps);
  if (is_read) settings.bounds.age = steps;
  if (!is_read) {
    settings.problems.push_back("MEMTRACE_CACHE_AGE is ignored: '" + std::string(age) +
                                "' is not a number of steps.");
  }
  return settings;
}

}  // namespace memtrace
