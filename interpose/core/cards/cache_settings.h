// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_CACHE_SETTINGS_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_CACHE_SETTINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "allocator/heap/parts/cache_rules.h"

namespace memtrace {

// The bounds of what is cached, as a person sets them (MEMTRACE_CACHE_LIMIT, MEMTRACE_CACHE_AGE).
// What cannot be read sets no bound, and a sentence says so.
struct CacheSettings {
  CacheBounds bounds;
  std::vector<std::string> problems;
};
CacheSettings ReadCacheSettings(std::string_view limit, std::string_view age);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_CACHE_SETTINGS_H_
