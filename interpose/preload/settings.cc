// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/settings.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace memtrace::preload {
namespace {

enum : int { kUnread, kOther, kEqual };

// Two threads that read it at once read the same.
bool Is(std::atomic<int>& known, const char* name, const char* value) {
  int state = known.load(std::memory_order_relaxed);
  if (state == kUnread) {
    const char* set = std::getenv(name);
    state = set != nullptr && std::strcmp(set, value) == 0 ? kEqual : kOther;
    known.store(state, std::memory_order_relaxed);
  }
  return state == kEqual;
}

std::atomic<int> switched_off;
std::atomic<int> cache_wanted;

}  // namespace

bool IsSwitchedOff() { return Is(switched_off, "MEMTRACE", "0"); }
bool IsCacheWanted() { return Is(cache_wanted, "MEMTRACE_CACHE", "1"); }
bool IsCardSimulated() {
  const char* cards = std::getenv("MEMTRACE_CARD");
  return cards != nullptr && *cards != '\0';
}

}  // namespace memtrace::preload
