// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/settings.h"

#include <atomic>
#include <string_view>

#include "base/environment.h"

namespace memtrace::preload {
namespace {

enum : int { kUnread, kOther, kEqual };

// Needs no lock: two threads that read the variable at once read the same value.
bool VariableEquals(std::atomic<int>& known, env::Variable variable, std::string_view value) {
  int state = known.load(std::memory_order_relaxed);
  if (state == kUnread) {
    state = env::Is(variable, value) ? kEqual : kOther;
    known.store(state, std::memory_order_relaxed);
  }
  return state == kEqual;
}

std::atomic<int> switched_off;
std::atomic<int> cache_wanted;

}  // namespace

bool IsSwitchedOff() { return VariableEquals(switched_off, env::kSwitch, "0"); }
bool IsCacheWanted() { return VariableEquals(cache_wanted, env::kCache, "1"); }
bool IsCardSimulated() { return !env::Text(env::kCard).empty(); }

}  // namespace memtrace::preload
